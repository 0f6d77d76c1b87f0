"""Running an experiment: datasets and runs are shared out to processes, results come back as tidy tables."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from pathforest import OPFClassifier
from pathforest._utils.progress import hidden_progress
from pathforest.reproduction import contestants, sources, store, textbook
from pathforest.reproduction.splits import PRESETS, split_rows
from pathforest.reproduction.types import (
    CLASSIFIERS,
    LANDSCAPE_COLUMNS,
    RESULT_COLUMNS,
    TIE_COLUMNS,
    Experiment,
    Samples,
    Settings,
)

# What the tie story saves its numbers as, beside the classifiers.
TIES = "textbook"


class Unit(NamedTuple):
    """One run on one dataset."""

    samples: Samples
    keys: dict[str, store.Key]  # by classifier


class Task(NamedTuple):
    """Classifiers of one unit that have no result yet and share their work."""

    unit: Unit
    names: list[str]
    work: float  # estimate, to tell the time that remains


def reproduce(
    settings: Settings,
    out: Path,
    *,
    jobs: int = 1,
    advance: Callable[[float], Any] = lambda share: None,
) -> Experiment:
    """Run what is missing under `out`, and return everything.

    Numbers depend on the settings alone, not on `jobs`. `advance` is told each share of the work that is
    done, one in all.
    """
    settings = check_settings(settings)
    start = time.perf_counter()
    samples = {name: sources.load(name) for name in settings.datasets}
    units = list(_units(settings, samples))
    total = sum(task.work for unit in units for task in _tasks(unit, unit.keys))
    waiting = [task for unit in units for task in _tasks(unit, _missing(unit, out))]
    advance(1 - sum(task.work for task in waiting) / total)
    # The largest first: a long task started last would leave the other processes idle.
    calls = (delayed(_run)(task, settings) for task in sorted(waiting, key=lambda task: -task.work))
    with _uninterrupted():
        done = Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)
    try:
        for work, outcomes in done:
            # Here, because a process that is stopped with Ctrl-C has no time to remove a file half-written.
            for key, outcome in outcomes.items():
                store.save(out, key, outcome)
            advance(work / total)
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's about tasks that were cancelled, as they should be
            done.close()
    return _collect(units, settings, out, samples)._replace(seconds=time.perf_counter() - start)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Have processes that start now ignore Ctrl-C: this one stops them, and one traceback each is noise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def check_settings(settings: Settings) -> Settings:
    """Check the settings before any work."""
    if settings.preset not in PRESETS:
        raise ValueError(f"preset {settings.preset!r} is unknown; choose from {', '.join(PRESETS)}")
    if settings.runs < 1:
        raise ValueError(f"runs={settings.runs} leaves nothing to do; pass 1 or more, the paper has 20")
    if settings.seed < 0:
        raise ValueError(f"seed={settings.seed} is negative; pass 0 or more")
    unknown = [name for name in settings.classifiers if name not in CLASSIFIERS]
    if unknown or not settings.classifiers:
        raise ValueError(
            f"classifiers {', '.join(unknown) or 'none'}: not known; choose from {', '.join(CLASSIFIERS)}"
        )
    ordered = tuple(name for name in CLASSIFIERS if name in settings.classifiers)
    return settings._replace(datasets=sources.check_names(settings.datasets), classifiers=ordered)


def _units(settings: Settings, samples: dict[str, Samples]) -> Iterator[Unit]:
    for dataset, data in samples.items():
        checksum = store.data_checksum(data)
        names = [*settings.classifiers]
        if len(data.y) <= textbook.LARGEST:
            names.append(TIES)
        for run in range(settings.runs):
            rest = (settings.preset, settings.seed, checksum, store.code_checksum())
            yield Unit(data, {name: store.Key(dataset, run, name, *rest) for name in names})


def _missing(unit: Unit, out: Path) -> list[str]:
    return [name for name, key in unit.keys.items() if store.load(out, key) is None]


def _tasks(unit: Unit, names: Iterable[str]) -> list[Task]:
    """Share out classifiers of a unit: those that share a search stay together."""
    fuzzy = [name for name in names if name in contestants.COMPETITION_OF]
    groups = [*([fuzzy] if fuzzy else []), *([name] for name in names if name not in fuzzy)]
    work = unit.samples.X.size * len(unit.samples.y) + 1e6
    return [Task(unit, group, work) for group in groups]


def _run(task: Task, settings: Settings) -> tuple[float, dict[store.Key, dict[str, Any]]]:
    """Return the work done, and the outcome of each classifier."""
    samples, keys = task.unit
    first = keys[task.names[0]]

    def rng() -> np.random.Generator:
        return np.random.default_rng([settings.seed, first.run, *first.dataset.encode()])

    with threadpool_limits(1), hidden_progress():
        if task.names == [TIES]:
            return task.work, {first: _lost_to_ties(samples, rng)}
        parts = PRESETS[settings.preset](samples, rng())
        outcomes = contestants.run(task.names, parts)
    return task.work, {keys[name]: outcome._asdict() for name, outcome in outcomes.items()}


def _lost_to_ties(samples: Samples, rng: Callable[[], np.random.Generator]) -> dict[str, float]:
    """Train the textbook's OPF and ours on the same samples in the same orders; features as they come.

    Scaling would round equal distances apart here and there.
    """
    rows, *_ = split_rows(samples.y, rng())
    X, y = samples.X[rows], samples.y[rows]
    errors = {
        "textbook_error": textbook.training_error,
        "training_error": lambda X, y: OPFClassifier().fit(X, y).training_error_,
    }
    return {name: textbook.worst_training_error(error, X, y, rng()) for name, error in errors.items()}


def _collect(units: list[Unit], settings: Settings, out: Path, samples: dict[str, Samples]) -> Experiment:
    """Read every outcome back, in the order of datasets, runs and classifiers."""
    results, landscapes, ties = [], [], []
    for unit in units:
        outcomes = {name: store.load(out, key) for name, key in unit.keys.items()}
        key = next(iter(unit.keys.values()))
        place = {"dataset": key.dataset, "run": key.run}
        for name in settings.classifiers:
            results.append(place | {"classifier": name} | outcomes[name]["result"])
            for k_max, sigma, accuracy in outcomes[name]["landscape"]:
                cell = {"k_max": k_max, "sigma": sigma, "accuracy": accuracy}
                landscapes.append(place | {"competition": contestants.COMPETITION_OF[name]} | cell)
        if TIES in outcomes:
            ties.append(place | outcomes[TIES])
    return Experiment(
        settings,
        pd.DataFrame(results, columns=RESULT_COLUMNS).astype({"k_max": "Int64", "best_k": "Int64"}),
        pd.DataFrame(landscapes, columns=LANDSCAPE_COLUMNS),
        pd.DataFrame(ties, columns=TIE_COLUMNS),
        samples,
        seconds=0.0,
    )
