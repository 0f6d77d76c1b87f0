"""What the paths of a forest add to the distances: python -m benchmarks.studies.paths.

A training sample q offers max{C(q), d(q, x)}. Here its path cost C(q) is set to 0, which leaves the distance
alone, and the same models are tuned and tested again: first the plain call of FuzzyOPFClassifierCV on the
datasets of the accuracy experiment, then plain OPF with few labels on thin structures. There a last column
lets the paths run through the samples without a label as well, which only a transductive method can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import numpy as np
from sklearn.datasets import load_iris, make_circles, make_moons

from benchmarks.studies.problems import Data, problems, split
from benchmarks.tables import gain, head, line, parser
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest._search.training import Settings, SharedTraining
from pathforest.distances import make_engine
from pathforest.forest import Forest, grow_forest
from pathforest.graph import SpanningTree, knn_graph, spanning_tree

NOISE = (0.0, 0.1, 0.2)
LABELS = (2, 3, 5, 10, 40)  # per class


def spirals(n: int = 600) -> Data:
    """Two thin spirals that turn once and a half."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    t = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
    X = np.column_stack([t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)])
    return Data(X + rng.normal(0, 0.1, X.shape), y)


THIN = {
    "spirals": spirals(),
    "moons": Data(*make_moons(600, noise=0.05, random_state=0)),
    "circles": Data(*make_circles(600, noise=0.03, factor=0.6, random_state=0)),
    "iris": Data(*load_iris(return_X_y=True)),  # for comparison: three clouds
}


@contextmanager
def without_paths() -> Iterator[None]:
    """Let every forest that a search grows have path costs of 0."""
    grow = SharedTraining.forests

    def flat(self: SharedTraining, settings: Sequence[Settings]) -> Iterator[Forest]:
        for forest in grow(self, settings):
            yield forest._replace(cost=np.zeros_like(forest.cost))

    with mock.patch.object(SharedTraining, "forests", flat):
        yield


def forget_paths(model: OPFClassifier) -> OPFClassifier:
    """Set the path costs of a fitted classifier to 0."""
    model.cost_ = np.zeros_like(model.cost_)
    model._fit_cache = {}
    return model


def compare_tuned(data: Data, name: str, noise: float, repeat: int) -> tuple[float, float]:
    """Test accuracy of the plain call with paths, and without."""
    X, y, Q, answers, _ = split(data, name, repeat, noise)
    whole = FuzzyOPFClassifierCV(transforms=None).fit(X, y).score(Q, answers)
    with without_paths():
        return whole, FuzzyOPFClassifierCV(transforms=None).fit(X, y).score(Q, answers)


def tree_of(data: Data) -> SpanningTree:
    """Join all samples, labelled or not."""
    engine = make_engine(data.X)
    return spanning_tree(engine, knn_graph(engine, 10))


def spread(tree: SpanningTree, y: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """Give every sample the label of the labelled one whose path reaches it at the lowest cost."""
    return y[grow_forest(tree, labelled).root]


def compare_few(data: Data, tree: SpanningTree, n_labels: int, draw: int) -> tuple[float, float, float]:
    """Accuracy on all other samples, given few labels to a class.

    That of plain OPF with paths, and without; and that of paths through all samples.
    """
    rng = np.random.default_rng(draw)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(data.y == c), n_labels, replace=False) for c in np.unique(data.y)]
    )
    rest = np.setdiff1d(np.arange(len(data.y)), chosen)
    model = OPFClassifier().fit(data.X[chosen], data.y[chosen])
    whole = model.score(data.X[rest], data.y[rest])
    flat = forget_paths(model).score(data.X[rest], data.y[rest])
    return whole, flat, float(np.mean(spread(tree, data.y, np.sort(chosen))[rest] == data.y[rest]))


def cells(title: str, scores: list[tuple[float, ...]]) -> list[str]:
    """Give the means in %, and the difference of the first two with its standard error."""
    whole, flat, *others = 100 * np.array(scores).T
    return [
        title,
        f"{whole.mean():.2f}",
        f"{flat.mean():.2f}",
        gain(whole - flat),
        *(f"{other.mean():.2f}" for other in others),
    ]


def main() -> None:
    """Measure and print two tables."""
    options = parser("benchmarks.studies.paths", __doc__)
    options.add_argument("--repeats", type=int, default=3, help="splits of each dataset of the first table")
    options.add_argument("--draws", type=int, default=200, help="draws of labels of the second table")
    args = options.parse_args()
    columns = ["max{C, d}", "d alone", "difference"]
    chosen = {name: load() for name, load in problems().items()}
    print(head([f"plain call, {len(chosen)} datasets", *columns]))
    for noise in NOISE:
        pairs = [
            compare_tuned(data, name, noise, repeat)
            for name, data in chosen.items()
            for repeat in range(args.repeats)
        ]
        print(line(cells(f"{noise:.0%} wrong labels", pairs)), flush=True)
    print("\n" + head(["plain OPF, labels per class", *columns, "paths through all"]))
    for name, data in THIN.items():
        tree = tree_of(data)
        for n_labels in LABELS:
            scores = [compare_few(data, tree, n_labels, draw) for draw in range(args.draws)]
            print(line(cells(f"{name}, {n_labels}", scores)), flush=True)


if __name__ == "__main__":
    main()
