"""Our accuracy beside that of others, labels clean and wrong: python -m benchmarks.studies.accuracy.

Each dataset is split 80 to 20, stratified, several times; features are standardised on the training part; 0,
10 and 20 % of the training labels are changed to another class, uniformly; test labels stay clean. All tuning
happens inside the training part. All classifiers of a repeat run one after another, so that their times
compare, and are written together: a run that was stopped resumes. Results of other code or other
versions of the libraries are ignored. At the end, or with --report, come a table, the tests and a
critical-difference diagram.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from threadpoolctl import threadpool_limits

from benchmarks.studies.accuracy_report import report
from benchmarks.studies.classifiers import CLASSIFIERS, probabilities, quiet
from benchmarks.studies.problems import Data, announce, problems, repeats, split
from benchmarks.tables import parser
from pathforest.reproduction.provenance import code_checksum
from pathforest.reproduction.store import load, save

NOISE = (0.0, 0.1, 0.2)
Unit = tuple[str, float, int]  # dataset, noise, repeat: what all classifiers are compared on


def main() -> None:
    """Measure what is missing, then report."""
    options = parser("benchmarks.studies.accuracy", __doc__)
    options.add_argument("--out", type=Path, default=Path("build/accuracy"), help="folder for the results")
    options.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    options.add_argument("--repeats", type=int, default=10, help="repeats at most")
    options.add_argument("--report", action="store_true", help="report what there is, without measuring")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print(announce(args.only), file=sys.stderr)
    quiet()
    here = Path(__file__).parent
    code = code_checksum(*(here / f"{name}.py" for name in ("accuracy", "classifiers", "problems")))
    print(report(measure(args, code), args.out))


def measure(args: argparse.Namespace, code: str) -> list[dict[str, Any]]:
    """Return the results of this code; what has none is measured first, unless only a report is asked for.

    Repeats are outermost: a short run covers every dataset.
    """
    results, missing = [], 0
    with threadpool_limits(1):
        for unit, data in wanted(args):
            dataset, noise, repeat = unit
            path = args.out / "runs" / dataset / f"{repeat:02d}-{noise:g}.json"
            key = {"unit": list(unit), "classifiers": list(CLASSIFIERS), "code": code}
            lines = load(path, key)
            if lines is None and args.report:
                missing += 1
                continue
            if lines is None:
                lines = [run(unit, name, data) for name in CLASSIFIERS]
                save(path, key, lines)
                for line in lines:
                    about = (*unit, line["classifier"])
                    print(f"{line['accuracy']:.3f} {line['seconds']:7.2f} s  {about}", file=sys.stderr)
            results += lines
    if missing:
        print(f"{missing} units have no results of this code and these libraries", file=sys.stderr)
    return results


def wanted(args: argparse.Namespace) -> Iterator[tuple[Unit, Data]]:
    """List all that the classifiers are to be compared on."""
    chosen = {name: load() for name, load in problems().items() if args.only in name}
    for repeat in range(args.repeats):
        for name, data in chosen.items():
            if repeat < repeats(data):
                for noise in NOISE:
                    yield (name, noise, repeat), data


def run(unit: Unit, classifier: str, data: Data) -> dict[str, Any]:
    """Split, spoil labels, fit and score, all decided by the arguments alone."""
    dataset, noise, repeat = unit
    X, y, Q, answers, seed = split(data, dataset, repeat, noise)
    start = time.perf_counter()
    model = CLASSIFIERS[classifier](X, y, seed)
    seconds = time.perf_counter() - start
    predicted = model.predict(Q)
    loss = log_loss(probabilities(model, X, y, seed, Q), model.classes_, answers)
    return {
        "dataset": dataset,
        "noise": noise,
        "repeat": repeat,
        "classifier": classifier,
        "accuracy": float(accuracy_score(answers, predicted)),
        "balanced": float(balanced_accuracy_score(answers, predicted)),
        "log_loss": loss,
        "seconds": seconds,
    }


def log_loss(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> float:
    """Mean of -log of the probability of the right class; one the model does not know has probability 0."""
    column = np.minimum(np.searchsorted(classes, answers), len(classes) - 1)
    right = np.where(classes[column] == answers, given[np.arange(len(answers)), column], 0)
    return float(-np.log(np.maximum(right, np.finfo(np.float64).eps)).mean())


if __name__ == "__main__":
    main()
