"""Running an experiment: datasets and runs are shared out to processes, results come back as tidy tables."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from pathforest import OPFClassifier
from pathforest._progress import hidden_progress
from pathforest.experiments import contestants, sources, store, textbook
from pathforest.experiments.splits import PRESETS, split_rows
from pathforest.experiments.types import (
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
    """One run on one dataset, and what of it is still to do."""

    samples: Samples
    keys: dict[str, store.Key]  # by classifier
    missing: tuple[str, ...]
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
    units = list(_units(settings, samples, out))
    total = sum(unit.work for unit in units)
    # The largest first: a long unit started last would leave the other processes idle.
    waiting = sorted((unit for unit in units if unit.missing), key=lambda unit: -unit.work)
    advance(1 - sum(unit.work for unit in waiting) / total)
    calls = (delayed(_run_unit)(unit, settings, out) for unit in waiting)
    with _uninterrupted():
        done = Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)
    for work in done:
        advance(work / total)
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


def _units(settings: Settings, samples: dict[str, Samples], out: Path) -> Iterator[Unit]:
    for dataset, data in samples.items():
        checksum = store.data_checksum(data)
        names = [*settings.classifiers]
        if len(data.y) <= textbook.LARGEST:
            names.append(TIES)
        for run in range(settings.runs):
            keys = {
                name: store.Key(
                    dataset, run, name, settings.preset, settings.seed, checksum, store.code_checksum()
                )
                for name in names
            }
            missing = tuple(name for name, key in keys.items() if store.load(out, key) is None)
            yield Unit(data, keys, missing, work=data.X.size * len(data.y) + 1e6)


def _run_unit(unit: Unit, settings: Settings, out: Path) -> float:
    """Do what is missing of one unit, saving each outcome as it comes; return the work done."""
    key = next(iter(unit.keys.values()))

    def rng() -> np.random.Generator:
        return np.random.default_rng([settings.seed, key.run, *key.dataset.encode()])

    with threadpool_limits(1), hidden_progress():
        if TIES in unit.missing:
            store.save(out, unit.keys[TIES], _lost_to_ties(unit.samples, rng))
        parts = PRESETS[settings.preset](unit.samples, rng())
        for names in _groups(unit.missing):
            for name, outcome in contestants.run(names, parts).items():
                store.save(out, unit.keys[name], outcome._asdict())
    return unit.work


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


def _groups(missing: Sequence[str]) -> list[list[str]]:
    """Put the classifiers together that share a search."""
    fuzzy = [name for name in missing if name in contestants.COMPETITION_OF]
    return [*([fuzzy] if fuzzy else []), *([name] for name in missing if name not in (*fuzzy, TIES))]


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
