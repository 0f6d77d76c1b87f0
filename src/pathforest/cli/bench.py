"""`pathforest bench`: how long training and prediction take on this machine."""

from __future__ import annotations

import time
from functools import partial
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer

from pathforest.cli import options

PEER = "KNeighborsClassifier"
SEED = 0


def bench(
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="A file to measure on; drawn samples if none is given."),
    ] = None,
    label: options.Label = None,
    samples: Annotated[int, typer.Option(min=10, help="Samples to draw.")] = 20_000,
    dimensions: Annotated[int, typer.Option(min=1, help="Features to draw.")] = 8,
    features: options.Features = None,
    ignore: options.Ignore = None,
    repeat: Annotated[int, typer.Option(min=1, help="Repetitions; the median counts.")] = 3,
    from_: options.From = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Measure training and prediction beside scikit-learn's nearest neighbours.

    Half of the samples train, the other half is predicted. The classifiers take turns, so that a busy machine
    slows all of them alike; ratios are worth more than seconds.

    Examples
    --------
      pathforest bench

      pathforest bench data.csv --label species --ignore name --repeat 5
    """
    from pathforest.cli.models import threads
    from pathforest.cli.output import counted, show_facts, show_table
    from pathforest.cli.tables import read_samples

    if data is None:
        X, y = _draw(samples, dimensions)
    else:
        choice = {"features": options.names(features), "ignore": options.names(ignore)}
        table = read_samples(data, ending=from_, label=label, **choice)
        X, y = table.X, table.y
    order = np.random.default_rng(SEED).permutation(len(X))
    train, test = order[: (len(X) + 1) // 2], order[(len(X) + 1) // 2 :]
    if not len(test):
        raise ValueError(f"{data}: one sample is too few to train and to predict")
    times: dict[str, list[tuple[float, float]]] = {}
    with counted("runs") as advance, threads(jobs):
        for _ in range(repeat + 1):
            for name, make in _classifiers().items():
                times.setdefault(name, []).append(_time(make(), X, y, train, test))
                advance(1)
    # The first round warms up.
    medians = {
        name: [median(column) for column in zip(*runs[1:], strict=True)] for name, runs in times.items()
    }
    facts = {
        "n_train": len(train),
        "n_test": len(test),
        "n_features": X.shape[1],
        "seconds": {name: dict(zip(("fit", "predict"), pair, strict=True)) for name, pair in medians.items()},
    }
    if not as_json:
        show_table(
            ["classifier", "fit", "ratio", "predict", "ratio"], [_row(name, medians) for name in medians]
        )
    text = (
        f"seconds, median of {repeat}, and their ratios to {PEER}'s; {len(train)} samples to train, "
        f"{len(test)} to predict, {X.shape[1]} features"
    )
    show_facts(facts, text, as_json)


def _draw(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw overlapping Gaussian clouds, 15 in 5 classes."""
    rng = np.random.default_rng(SEED)
    centres = rng.normal(size=(15, n_features)) * 2
    cloud = rng.integers(15, size=n_samples)
    return (centres[cloud] + rng.normal(size=(n_samples, n_features))).astype(np.float32), cloud % 5


def _classifiers() -> dict[str, Any]:
    from sklearn.neighbors import KNeighborsClassifier

    from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFKNNClassifier

    tree = partial(FuzzyOPFClassifier, competition="tree")
    classes = (OPFClassifier, FuzzyOPFClassifier, OPFKNNClassifier, KNeighborsClassifier)
    return {made.__name__: tree if made is FuzzyOPFClassifier else made for made in classes}


def _time(
    model: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[float, float]:
    start = time.perf_counter()
    model.fit(X[train], y[train])
    middle = time.perf_counter()
    model.predict(X[test])
    return middle - start, time.perf_counter() - middle


def _row(name: str, medians: dict[str, list[float]]) -> list[str]:
    pairs = zip(medians[name], medians[PEER], strict=True)
    return [name, *(cell for own, peer in pairs for cell in (f"{own:.4f}", f"{own / peer:.2f}"))]
