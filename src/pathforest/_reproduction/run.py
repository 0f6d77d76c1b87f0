"""Running an experiment: datasets and runs are distributed to processes, and every outcome is kept."""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from pathforest._reproduction import contestants, data
from pathforest._reproduction.experiment import (
    CLASSIFIERS,
    COMPETITION_OF,
    LANDSCAPE_COLUMNS,
    RESULT_COLUMNS,
    Experiment,
    Samples,
    Settings,
)
from pathforest._utils.files import replace_file
from pathforest._utils.progress import hidden_progress, progress

LIBRARIES = ("pathforest", "numpy", "scipy", "scikit-learn")  # other versions may give other numbers

Place = tuple[str, int, str]  # dataset, run, classifier


class Task(NamedTuple):
    """Classifiers that share their work, in one run on one dataset."""

    dataset: str
    run: int
    names: list[str]
    samples: Samples

    @property
    def work(self) -> float:
        """An estimate, for the time that remains."""
        return self.samples.X.size * len(self.samples.y) + 1e6


def reproduce(settings: Settings, out: Path, *, jobs: int = 1) -> Experiment:
    """Run what is missing under `out`, and return everything; `jobs` changes time, never numbers."""
    settings = check_settings(settings)
    start = time.perf_counter()
    samples = {name: data.load(name) for name in settings.datasets}
    keys = _keys(settings, samples)
    paths = {place: out / "runs" / place[0] / f"{place[1]:03d}" / f"{place[2]}.json" for place in keys}
    outcomes = {place: _kept(paths[place], key) for place, key in keys.items()}
    missing = [place for place, outcome in outcomes.items() if outcome is None]
    # The largest first: a long task started last would leave the other processes idle.
    waiting = [
        Task(dataset, run, names, samples[dataset])
        for (dataset, run), here in groupby(missing, key=lambda place: place[:2])
        for names in contestants.groups([name for *_, name in here])
    ]
    waiting.sort(key=lambda task: -task.work)
    with _uninterrupted():
        calls = (delayed(_run)(task, settings) for task in waiting)
        done = Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)
    step = len(missing) / max(sum(task.work for task in waiting), 1)
    with progress(len(missing), "reproducing", "runs") as bar:
        try:
            for work, found in done:
                # Here, because a process that Ctrl-C stops has no time to remove a file half-written.
                for place, outcome in found.items():
                    paths[place].parent.mkdir(parents=True, exist_ok=True)
                    content = {"key": keys[place], "outcome": outcome}
                    replace_file(paths[place], json.dumps(content).encode())
                outcomes |= found
                bar.update(work * step)
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's about tasks that were cancelled, as they should be
                done.close()
    return Experiment(settings, *_tables(outcomes), samples, seconds=time.perf_counter() - start)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that start now ignore Ctrl-C: this one stops them, and a traceback from each is noise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def check_settings(settings: Settings) -> Settings:
    """Check the names in the settings before any work, and put them in the order of the report."""
    if settings.preset not in data.PRESETS:
        raise ValueError(f"preset {settings.preset!r} is unknown; choose from {', '.join(data.PRESETS)}")
    unknown = [name for name in settings.classifiers if name not in CLASSIFIERS]
    if unknown or not settings.classifiers:
        raise ValueError(
            f"classifiers {', '.join(unknown) or 'none'}: not known; choose from {', '.join(CLASSIFIERS)}"
        )
    ordered = tuple(name for name in CLASSIFIERS if name in settings.classifiers)
    return settings._replace(datasets=data.check_names(settings.datasets), classifiers=ordered)


def _keys(settings: Settings, samples: dict[str, Samples]) -> dict[Place, dict[str, Any]]:
    """Give each outcome of the experiment, in the order of the tables, everything that decides it."""
    rest = {"preset": settings.preset, "seed": settings.seed}
    rest |= {"versions": versions(LIBRARIES), "processor": platform.machine()}
    keys = {}
    for dataset, here in samples.items():
        for run, name in product(range(settings.runs), settings.classifiers):
            place = {"dataset": dataset, "run": run, "classifier": name, "data": here.checksum}
            keys[dataset, run, name] = place | rest
    return keys


def _kept(path: Path, key: Mapping[str, Any]) -> Any:
    """Return what was kept under this key; None if nothing was, or if the file is torn or another's."""
    try:
        content = json.loads(path.read_bytes())
        return content["outcome"] if content["key"] == key else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _run(task: Task, settings: Settings) -> tuple[float, dict[Place, dict[str, Any]]]:
    """Return the work done, and the outcome of each classifier."""
    dataset, run, names, samples = task

    rng = np.random.default_rng([settings.seed, run, *dataset.encode()])
    with threadpool_limits(1), hidden_progress():
        parts = data.PRESETS[settings.preset](samples, rng)
        found = {(dataset, run, name): one._asdict() for name, one in contestants.run(names, parts)}
    return task.work, found


def _tables(outcomes: dict[Place, dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Gather results and landscapes, in the order of datasets, runs and classifiers."""
    results, landscapes = [], []
    for (dataset, run, name), outcome in outcomes.items():
        results.append({"dataset": dataset, "run": run, "classifier": name} | outcome["result"])
        competition = COMPETITION_OF.get(name)
        landscapes += [(dataset, run, competition, *cell) for cell in outcome["landscape"]]
    return (
        pd.DataFrame(results, columns=RESULT_COLUMNS).astype({"k_max": "Int64", "best_k": "Int64"}),
        pd.DataFrame(landscapes, columns=LANDSCAPE_COLUMNS),
    )


# The software and the machine behind the numbers


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the version of Python and of each package."""
    return {"Python": platform.python_version()} | {name: version(name) for name in packages}


def machine() -> str:
    """Describe the processor and the system."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} logical cores, {platform.system()} {platform.release()}"
