"""OPFython beside us on real work: train and predict digits, on the same split, taking turns.

Run `build/bench/venv/bin/python -m benchmarks.speed.opfython` after `make bench-quick`; a minute.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pathforest import OPFClassifier

# opfython prints, and opens a log file in the working directory, unless its logger already has a handler.
logging.getLogger("opfython").addHandler(logging.NullHandler())

ROUNDS = 5


def theirs(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the seconds of fit and predict, and the labels."""
    from opfython.models import SupervisedOPF

    model = SupervisedOPF(distance="log_squared_euclidean")
    return timed(model, X_train, y_train, X_test)


def ours(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the same of our model with the same distance."""
    return timed(OPFClassifier(metric="log_sqeuclidean", n_jobs=1), X_train, y_train, X_test)


def timed(model, X_train, y_train, X_test) -> tuple[float, float, np.ndarray]:
    """Fit and predict."""
    start = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    labels = np.asarray(model.predict(X_test))
    return fitted - start, time.perf_counter() - fitted, labels


def main() -> None:
    """Print both times, the accuracies, and how many predictions are the same."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    contenders: dict[str, Callable] = {"opfython": theirs, "pathforest": ours}
    for run in contenders.values():  # compiles
        run(X_train[:100], y_train[:100], X_test[:10])
    rounds = [
        {name: run(X_train, y_train, X_test) for name, run in contenders.items()} for _ in range(ROUNDS)
    ]
    print(f"digits, {len(X_train)} to train, {len(X_test)} to predict, median of {ROUNDS}, seconds")
    for name in contenders:
        fit, predict = (median(result[name][i] for result in rounds) for i in (0, 1))
        score = (rounds[0][name][2] == y_test).mean()
        print(f"{name:10}  fit {fit:8.4f}  predict {predict:8.4f}  accuracy {score:.4f}")
    same = (rounds[0]["opfython"][2] == rounds[0]["pathforest"][2]).sum()
    ratio = median(sum(r["opfython"][:2]) / sum(r["pathforest"][:2]) for r in rounds)
    print(
        f"{same} of {len(y_test)} predictions are the same; together opfython takes {ratio:.0f} times as long"
    )


if __name__ == "__main__":
    main()
