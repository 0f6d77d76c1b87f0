"""Our accuracy beside that of others, with clean and with wrong labels: python -m benchmarks.accuracy.

Each dataset is split 80 to 20, stratified, several times; features are standardised on the training part; 0,
10 and 20 % of the training labels are changed to another class, uniformly; test labels stay clean. All tuning
happens inside the training part. Results are written one by one, so a run that was stopped goes on where it
was; at the end, or with --report, come a table, the tests and a critical-difference diagram.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.accuracy_report import report
from benchmarks.classifiers import CLASSIFIERS, probabilities, quiet
from benchmarks.problems import Data, problems, repeats, thin

NOISE = (0.0, 0.1, 0.2)
Key = tuple[str, float, int, str]  # dataset, noise, repeat, classifier


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description=__doc__.partition(":")[0]
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
    quiet()
    if not args.report:
        measure(path, args)
    print(report(read(path), args.out))


def read(path: Path) -> list[dict[str, Any]]:
    """Read the results so far; a last line cut short by an interruption is dropped."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def measure(path: Path, args: argparse.Namespace) -> None:
    """Fit and score whatever is not in the file yet, repeats outermost: a short run covers every dataset."""
    results = read(path)
    path.write_text("".join(json.dumps(line) + "\n" for line in results))
    done = {key_of(line) for line in results}
    with path.open("a") as file, threadpool_limits(1):
        for key, data in wanted(args):
            if key not in done:
                line = run(key, data)
                file.write(json.dumps(line) + "\n")
                file.flush()
                print(f"{line['accuracy']:.3f} {line['seconds']:7.2f} s  {key}", file=sys.stderr, flush=True)


def key_of(line: dict[str, Any]) -> Key:
    """Tell which run a result belongs to."""
    return line["dataset"], line["noise"], line["repeat"], line["classifier"]


def wanted(args: argparse.Namespace) -> Iterator[tuple[Key, Data]]:
    """List all runs."""
    chosen = {name: load() for name, load in problems().items() if args.only in name}
    for repeat in range(args.repeats):
        for name, data in chosen.items():
            if repeat < repeats(data):
                for noise in NOISE:
                    for classifier in CLASSIFIERS:
                        yield (name, noise, repeat, classifier), data


def run(key: Key, data: Data) -> dict[str, Any]:
    """Split, spoil labels, fit and score, all decided by the key alone."""
    dataset, noise, repeat, classifier = key
    rng = np.random.default_rng([repeat, *dataset.encode()])
    data = thin(data, rng)
    seed = int(rng.integers(2**31))
    X, Q, y, answers = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, Q, y = scaler.transform(X), scaler.transform(Q), spoil(y, noise, rng)
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


def spoil(y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Change a share of the labels to another class, each of the others equally likely."""
    classes, codes = np.unique(y, return_inverse=True)
    changed = rng.permutation(len(y))[: round(noise * len(y))]
    codes[changed] += rng.integers(1, len(classes), len(changed))
    return classes[codes % len(classes)]


def log_loss(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> float:
    """Mean of -log of the probability of the right class; one the model does not know has probability 0."""
    column = np.minimum(np.searchsorted(classes, answers), len(classes) - 1)
    right = np.where(classes[column] == answers, given[np.arange(len(answers)), column], 0)
    return float(-np.log(np.maximum(right, np.finfo(np.float64).eps)).mean())


if __name__ == "__main__":
    main()
