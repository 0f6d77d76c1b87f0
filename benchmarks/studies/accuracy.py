"""Our accuracy beside that of others, labels clean and wrong: python -m benchmarks.studies.accuracy.

Each dataset is split 80 to 20, stratified, several times; features are standardised on the training part; 0,
10 and 20 % of the training labels are changed to another class, uniformly; test labels stay clean. All tuning
happens inside the training part. All classifiers of a repeat run one after another, so that their times
compare, and are written together: a run that was stopped goes on where it was. Results of other code or other
versions of the libraries are ignored. At the end, or with --report, come a table, the tests and a
critical-difference diagram.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.studies.accuracy_report import report
from benchmarks.studies.classifiers import CLASSIFIERS, probabilities, quiet
from benchmarks.studies.fingerprint import fingerprint
from benchmarks.studies.problems import Data, announce, problems, repeats, thin
from pathforest.noise import flip_labels

NOISE = (0.0, 0.1, 0.2)
Unit = tuple[str, float, int]  # dataset, noise, repeat: what all classifiers are compared on
FIELDS = {"dataset", "noise", "repeat", "classifier", "accuracy", "balanced", "log_loss", "seconds"}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.accuracy", description=__doc__.partition(":")[0]
    )
    parser.add_argument("--out", type=Path, default=Path("build/accuracy"), help="folder for the results")
    parser.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    parser.add_argument("--repeats", type=int, default=10, help="repeats at most")
    parser.add_argument("--report", action="store_true", help="report what there is, without measuring")
    return parser.parse_args()


def main() -> None:
    """Measure what is missing, then report."""
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "results.jsonl"
    mark = fingerprint("accuracy", "classifiers", "problems")
    print(announce(args.only), file=sys.stderr)
    quiet()
    if not args.report:
        measure(path, args, mark)
    print(report(read(path, mark), args.out))


def read(path: Path, mark: str) -> list[dict[str, Any]]:
    """Read the results so far: those with this fingerprint, without lines that an interruption cut short."""
    lines = [_parse(line) for line in path.read_text().splitlines()] if path.exists() else []
    whole = [line for line in lines if line is not None]
    own = [line for line in whole if line["fingerprint"] == mark]
    if len(own) < len(lines):
        torn = len(lines) - len(whole)
        print(
            f"{path}: {len(whole) - len(own)} results of other code or libraries ignored, {torn} lines torn",
            file=sys.stderr,
        )
    return own


def _parse(line: str) -> dict[str, Any] | None:
    try:
        result = json.loads(line)
    except ValueError:
        return None
    if not (isinstance(result, dict) and result.keys() >= FIELDS):
        return None
    return {"fingerprint": None} | result


def measure(path: Path, args: argparse.Namespace, mark: str) -> None:
    """Fit and score whatever is not in the file yet, repeats outermost: a short run covers every dataset."""
    finished: dict[Unit, set[str]] = {}
    for line in read(path, mark):
        finished.setdefault((line["dataset"], line["noise"], line["repeat"]), set()).add(line["classifier"])
    with path.open("a+") as file, threadpool_limits(1):
        end_last_line(file)
        for unit, data in wanted(args):
            if finished.get(unit, set()) >= CLASSIFIERS.keys():
                continue
            lines = [{"fingerprint": mark} | run(unit, name, data) for name in CLASSIFIERS]
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            for line in lines:
                name = line["classifier"]
                print(f"{line['accuracy']:.3f} {line['seconds']:7.2f} s  {(*unit, name)}", file=sys.stderr)


def end_last_line(file: TextIO) -> None:
    """Close a line that an interruption cut short, so that the next result starts a line of its own."""
    file.seek(0)
    text = file.read()
    if text and not text.endswith("\n"):
        file.write("\n")


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
    rng = np.random.default_rng([repeat, *dataset.encode()])
    data = thin(data, rng)
    seed = int(rng.integers(2**31))
    X, Q, y, answers = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, Q, y = scaler.transform(X), scaler.transform(Q), flip_labels(y, noise, rng)
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
