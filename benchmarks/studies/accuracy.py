"""Our accuracy beside that of others, labels clean and wrong: python -m benchmarks.studies.accuracy.

Each dataset is split 80 to 20, stratified, several times; features are standardised on the training part; 0,
10 and 20 % of the training labels are changed to another class, uniformly; test labels stay clean. All tuning
happens inside the training part. The datasets that something was chosen on and those of `keel.REPORT`, which
nothing was chosen on, are reported apart.

All classifiers of a repeat run one after another in one process, so that their times compare, and become one
line of runs.jsonl with the versions and the machine: a run that was stopped resumes, unless code or versions
have changed. At the end, or with --report, come a table, the tests and a critical-difference diagram.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import islice, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from threadpoolctl import threadpool_limits

from benchmarks.studies import keel
from benchmarks.studies.classifiers import AVERAGES, CLASSIFIERS, probabilities, quiet
from benchmarks.studies.problems import Data, announce, problems, split
from benchmarks.tables import parser
from pathforest._reproduction.run import machine, versions

NOISE = (0.0, 0.1, 0.2)
LARGEST = 800  # samples of a dataset in each repeat
LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm")
HERE = Path(__file__).parent
Unit = tuple[str, float, int]  # dataset, noise, repeat: what all classifiers are compared on


def main() -> None:
    """Measure what is missing, then report."""
    options = parser("benchmarks.studies.accuracy", __doc__)
    options.add_argument("--out", type=Path, default=Path("build/accuracy"), help="folder for the results")
    options.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    options.add_argument("--repeats", type=int, default=10, help="splits of the datasets to report on")
    options.add_argument("--repeats-chosen", type=int, default=3, help="splits of those chosen on")
    options.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    options.add_argument("--minutes", type=float, default=np.inf, help="start nothing after so many")
    options.add_argument("--report", action="store_true", help="report what there is, whatever measured it")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print(announce(args.only), file=sys.stderr)
    runs = recorded(args.out) if args.report else measure(args, provenance())
    from benchmarks.studies.accuracy_report import report  # matplotlib, which measuring does not need

    print(report(runs, args.out))


def provenance() -> dict[str, Any]:
    """Tell what the results depend on: the code, the versions and, for the times, the machine."""
    paths = ["src", "cpp", "benchmarks/studies"]
    commands = ["rev-parse", *(f"HEAD:{path}" for path in paths)], ["diff", "HEAD", "--", *paths]
    said = [subprocess.check_output(["git", *words], cwd=HERE.parents[1]) for words in commands]
    code = hashlib.sha256(b"".join(said)).hexdigest()
    return {"code": code, "versions": versions(LIBRARIES), "machine": machine()}


def measure(args: argparse.Namespace, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of this code and these versions; those that are missing are measured first."""
    start, here = time.monotonic(), {"about": about, "classifiers": [*CLASSIFIERS, *AVERAGES]}
    wanted = list(units(args))
    done = {tuple(old["unit"]): old for old in recorded(args.out) if decisive(old) == decisive(here)}
    found = [done[unit] for unit in wanted if unit in done]
    missing = iter([unit for unit in wanted if unit not in done])

    def next_units(n: int) -> list[Unit]:
        late = time.monotonic() - start > 60 * args.minutes
        return [] if late else list(islice(missing, n))

    with (
        open(args.out / "runs.jsonl", "a") as file,
        ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn"), initializer=prepare) as pool,
    ):
        running = {pool.submit(run, unit) for unit in next_units(args.jobs)}
        while running:
            task = next(as_completed(running))
            running.remove(task)
            running |= {pool.submit(run, unit) for unit in next_units(1)}
            if task.exception():  # one dataset less, and the others go on
                print(f"failed: {task.exception()!r}", file=sys.stderr)
                continue
            runs = {"unit": task.result()[0]["unit"], "lines": task.result(), **here}
            found.append(runs)
            file.write(json.dumps(runs) + "\n")
            file.flush()
            print(f"{len(found)} of {len(wanted)}: {runs['unit']}", file=sys.stderr)
    return found


def decisive(run: dict[str, Any]) -> list[Any]:
    """Return what decides results; the machine has a say in the times only."""
    return [run["about"]["code"], run["about"]["versions"], run["classifiers"]]


def recorded(out: Path) -> list[dict[str, Any]]:
    """Read what was measured before; a line that was not finished is left out."""
    runs = []
    for path in sorted(out.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                runs.append(json.loads(line))
            except ValueError:
                continue
    return runs


def units(args: argparse.Namespace) -> Iterator[Unit]:
    """List all that the classifiers are to be compared on, the datasets to report on first.

    Repeats come before datasets: a short run covers all of them.
    """
    groups = (keel.REPORT, args.repeats), ((*keel.CHOICE, *problems()), args.repeats_chosen)
    for names, n_repeats in groups:
        for repeat, name, noise in product(range(n_repeats), names, NOISE):
            if args.only in name:
                yield name, noise, repeat


@cache
def load(name: str) -> Data:
    """Load a dataset; labels are whole numbers."""
    X, y = problems()[name]() if name in problems() else keel.load(name)
    return Data(X, np.unique(y, return_inverse=True)[1])


def prepare() -> None:
    """Make a process use one thread, and silence expected warnings."""
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)
    quiet()


def run(unit: Unit) -> list[dict[str, Any]]:
    """Split, spoil labels, fit and score every classifier, all decided by the arguments alone."""
    dataset, noise, repeat = unit
    X, y, Q, answers, seed = split(load(dataset), dataset, repeat, noise, LARGEST)
    given: dict[str, np.ndarray] = {}
    lines: dict[str, dict[str, Any]] = {}

    def add(name: str, predicted: np.ndarray, seconds: float) -> None:
        lines[name] = {
            "unit": list(unit),
            "classifier": name,
            "accuracy": float(accuracy_score(answers, predicted)),
            "balanced": float(balanced_accuracy_score(answers, predicted)),
            "log_loss": log_loss(given[name], classes, answers),
            "seconds": seconds,
        }

    classes = np.unique(y)
    for name, fit in CLASSIFIERS.items():
        start = time.perf_counter()
        model = fit(X, y, seed)
        seconds = time.perf_counter() - start
        given[name] = probabilities(model, X, y, seed, Q)
        add(name, model.predict(Q), seconds)
    for name, parts in AVERAGES.items():
        given[name] = np.mean([given[part] for part in parts], axis=0)
        add(name, classes[given[name].argmax(axis=1)], sum(lines[part]["seconds"] for part in parts))
    return list(lines.values())


def log_loss(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> float:
    """Mean of -log of the probability of the right class; one the model does not know has probability 0."""
    column = np.minimum(np.searchsorted(classes, answers), len(classes) - 1)
    right = np.where(classes[column] == answers, given[np.arange(len(answers)), column], 0)
    return float(-np.log(np.maximum(right, np.finfo(np.float64).eps)).mean())


if __name__ == "__main__":
    main()
