"""What the paths of a forest add to the distances: python -m benchmarks.studies.paths.

A training sample q offers max{C(q), d(q, x)}. Here its path cost C(q) is set to 0, which leaves the distance
alone, and the same models are tuned and tested again: first the plain call of FuzzyOPFClassifierCV on the
datasets of the accuracy experiment, then plain OPF with few labels on thin structures. There a last column
lets the paths run through the samples without a label as well, which only a transductive method can do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.studies.problems import THIN, problems, split
from benchmarks.tables import gain, markdown
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest._search import folds
from pathforest.distances import make_engine
from pathforest.forest import Forest, grow_forest
from pathforest.graph import knn_graph, spanning_tree

NOISE = (0.0, 0.1, 0.2)
LABELS = (2, 3, 5, 10, 40)  # per class
DRAWS = 200  # of labels
COLUMNS = ("max{C, d}", "d alone", "difference")


@contextmanager
def without_paths() -> Iterator[None]:
    """Let every forest that a search grows have path costs of 0."""

    def flat(*args: Any) -> Iterator[Forest]:
        for forest in grow(*args):
            yield forest._replace(cost=np.zeros_like(forest.cost))

    grow = folds.grow
    with mock.patch.object(folds, "grow", flat):
        yield


def forget_paths(model: OPFClassifier) -> OPFClassifier:
    """Set the path costs of a fitted classifier to 0."""
    model.cost_ = np.zeros_like(model.cost_)
    model._fit_cache = {}
    return model


def units(repeats: int) -> Iterator[study.Unit]:
    """List the datasets of the plain call, then the thin structures."""
    yield from ((name, "tuned", noise, i) for noise in NOISE for name in problems() for i in range(repeats))
    yield from ((name, "thin", labels, 0) for name in THIN for labels in LABELS)


def measure(name: str, kind: str, amount: float, repeat: int) -> list[study.Row]:
    """Accuracies in % with paths, and without; of thin structures also that of paths through all samples."""
    about = {"kind": kind, "title": f"{100 * amount:.0f} %" if kind == "tuned" else f"{name}, {amount}"}
    if kind == "tuned":
        X, y, Q, answers, _ = split(problems()[name](), name, repeat, amount)
        whole = FuzzyOPFClassifierCV(transforms=None).fit(X, y).score(Q, answers)
        with without_paths():
            flat = FuzzyOPFClassifierCV(transforms=None).fit(X, y).score(Q, answers)
        return [about | {"whole": 100 * whole, "flat": 100 * flat}]
    X, y = THIN[name]()
    engine = make_engine(X)
    tree, rows = spanning_tree(engine, knn_graph(engine, 10)), []
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        of_classes = (rng.choice(np.flatnonzero(y == c), int(amount), replace=False) for c in np.unique(y))
        chosen = np.concatenate(list(of_classes))
        rest = np.setdiff1d(np.arange(len(y)), chosen)
        model = OPFClassifier().fit(X[chosen], y[chosen])
        whole = model.score(X[rest], y[rest])
        flat = forget_paths(model).score(X[rest], y[rest])
        through = np.mean(y[grow_forest(tree, np.sort(chosen)).root][rest] == y[rest])
        rows.append(about | {"whole": 100 * whole, "flat": 100 * flat, "through": 100 * through})
    return rows


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write the means in %, and the difference of the first two with its standard error."""
    rows: dict[str, list[list[str]]] = {"tuned": [], "thin": []}
    for (kind, title), here in table.groupby(["kind", "title"], sort=False):
        means = [
            f"{here.whole.mean():.2f}",
            f"{here.flat.mean():.2f}",
            gain((here.whole - here.flat).to_numpy()),
        ]
        rows[kind].append([title, *means, *([f"{here.through.mean():.2f}"] if kind == "thin" else [])])
    return {
        "paths": markdown(["wrong training labels", *COLUMNS], rows["tuned"]),
        "paths_few_labels": markdown(["data, labels per class", *COLUMNS, "paths through all"], rows["thin"]),
    }


if __name__ == "__main__":
    study.main("paths", __doc__, units, measure, report, repeats=3)
