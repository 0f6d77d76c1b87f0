"""Clusters found without their number: python -m benchmarks.studies.clustering.

Shapes with three seeds each, and tables whose classes are taken for clusters: standardised, at most 3,000
samples. The score is the adjusted Rand index with the true clusters, over the samples that have one. All
methods have their defaults. HDBSCAN runs with min_cluster_size 5 and 15, and samples that it leaves out go to
the cluster of the nearest one that it keeps; "best" is the better of the two on each set, a choice that takes
the truth. k-means is given the true number. With --choose the rules that were tried run on other shapes and
tables; the report's sets were used for no choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.studies import keel, problems, shapes
from benchmarks.studies.excess_of_mass import most_stable
from benchmarks.studies.problems import Data
from benchmarks.tables import gain, head, line, parser
from pathforest import OPFClustering
from pathforest._models.dome_selection import count_above_gap
from pathforest._models.dome_tree import ATTRIBUTES

SEEDS = {"choose": range(3), "report": range(100, 103)}
LARGEST = {"choose": 1500, "report": 3000}  # samples of a table


class Set(NamedTuple):
    """Samples to cluster."""

    kind: str  # "shape" or "table"
    name: str
    data: Data


def hdbscan(X: np.ndarray, size: int) -> np.ndarray:
    """Cluster, and give what was left out to the nearest sample that was not."""
    labels = HDBSCAN(min_cluster_size=size).fit_predict(X)
    kept = labels >= 0
    if kept.any() and not kept.all():
        nearest = NearestNeighbors(n_neighbors=1).fit(X[kept]).kneighbors(X[~kept], return_distance=False)
        labels[~kept] = labels[kept][nearest[:, 0]]
    return labels


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "OPFClustering": lambda X, k: OPFClustering().fit_predict(X),
    'selection="cut"': lambda X, k: OPFClustering(selection="cut").fit_predict(X),
    "HDBSCAN(5)": lambda X, k: hdbscan(X, 5),
    "HDBSCAN(15)": lambda X, k: hdbscan(X, 15),
    "k-means, true k": lambda X, k: KMeans(k, n_init=5, random_state=0).fit_predict(X),
}


def rules(largest: int = 15) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Name the rules that were tried: a neighbourhood, and what counts as a cluster there."""
    found: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    for k in (5, 8, 10, 12, 15, 20, 30):
        for attribute in ATTRIBUTES:
            found[f"{attribute} gap, k = {k}"] = lambda X, k=k, a=attribute: above_gap(X, k, a)
        for share in (0.03, 0.1, 0.3):
            found[f"volume above {share:.0%} of the largest, k = {k}"] = lambda X, k=k, s=share: above_share(
                X, k, s
            )
        found[f"stability, k = {k}"] = lambda X, k=k: most_stable(X, k, largest)
    return found


def fit(X: np.ndarray, k: int, attribute: str) -> OPFClustering:
    """Find all domes."""
    return OPFClustering(selection="cut", n_neighbors=min(k, len(X) - 1), merge_by=attribute).fit(X)


def above_gap(X: np.ndarray, k: int, attribute: str) -> np.ndarray:
    """Keep the domes above the largest gap."""
    model = fit(X, k, attribute)
    return model.layer(count_above_gap(model.cluster_tree_[attribute]))


def above_share(X: np.ndarray, k: int, share: float) -> np.ndarray:
    """Keep the domes whose volume is this share of the largest."""
    model = fit(X, k, "volume")
    volume = model.cluster_tree_["volume"]
    return model.layer(1 + int(np.sum(volume >= share * volume.max(initial=0.0))))


def sets(part: str) -> Iterator[Set]:
    """Yield the sets to choose on, or those to report on."""
    generators = shapes.CHOICE if part == "choose" else shapes.REPORT
    for name, draw in generators.items():
        for seed in SEEDS[part]:
            yield Set("shape", name, draw(np.random.default_rng([seed, *name.encode()])))
    names = keel.CHOICE if part == "choose" else keel.REPORT
    tables = {name: lambda name=name: Data(*keel.load(name)) for name in names}
    if part == "choose":
        tables |= {name: load for name, load in problems.problems().items() if name not in problems.GENERATED}
    for name, load in tables.items():
        yield Set("table", name, prepared(load(), name, LARGEST[part]))


def prepared(data: Data, name: str, largest: int) -> Data:
    """Draw at most so many samples, and standardise them."""
    chosen = np.random.default_rng([*name.encode()]).permutation(len(data.X))[:largest]
    y = np.unique(data.y, return_inverse=True)[1]
    return Data(StandardScaler().fit_transform(data.X[chosen]), y[chosen])


def score(data: Data, labels: np.ndarray) -> float:
    """Compare with the true clusters; background does not count."""
    known = data.y >= 0
    return float(adjusted_rand_score(data.y[known], labels[known]))


def report() -> None:
    """Print a line per set, the means of shapes and tables, and how many clusters one blob has."""
    print(head(["set", "clusters, found", *METHODS, "HDBSCAN, best"]))
    found: dict[str, dict[str, list[list[float]]]] = {"shape": {}, "table": {}}
    numbers: dict[str, list[int]] = {}
    for kind, name, data in sets("report"):
        n_true = len(np.unique(data.y[data.y >= 0]))
        labels = [find(data.X, n_true) for find in METHODS.values()]
        scores = [score(data, one) for one in labels]
        found[kind].setdefault(name, []).append([*scores, max(scores[2:4])])
        numbers.setdefault(name, [n_true]).append(len(np.unique(labels[0])))
    for kind, by_name in found.items():
        means = {name: np.mean(scores, axis=0) for name, scores in by_name.items()}
        for name, mean in means.items():
            n_true, *n_found = numbers[name]
            print(line([name, f"{n_true}, {'/'.join(map(str, n_found))}", *(f"{x:.2f}" for x in mean)]))
        every = np.array(list(means.values()))
        print(line([f"**mean of {len(every)} {kind}s**", "", *(f"**{x:.3f}**" for x in every.mean(axis=0))]))
        gains = [gain(every[:, 0] - other, 3) for other in every.T[1:]]
        print(line([f"OPFClustering above it, {kind}s", "", "", *gains]))
    print(line(["median number of clusters of one blob", "1", *map(str, clusters_of_one_blob()), ""]))


def clusters_of_one_blob() -> list[float]:
    """Return the median number of clusters that each method finds in Gaussians and cubes."""
    counts = []
    for n, d, seed in product((300, 2000), (2, 5, 10), SEEDS["report"]):
        rng = np.random.default_rng([seed, n, d])
        for X in (rng.normal(size=(n, d)), rng.uniform(size=(n, d))):
            counts.append([len(np.unique(find(X, 1))) for find in METHODS.values()])
    return np.median(counts, axis=0).tolist()


def choose() -> None:
    """Print the mean of shapes and of tables for every rule."""
    print(head(["rule", "shapes", "tables"]))
    data = list(sets("choose"))
    known = {name: lambda X, f=f: f(X, 0) for name, f in METHODS.items() if "k-means" not in name}
    for name, find in (known | rules()).items():
        scores = {"shape": [], "table": []}
        for one in data:
            scores[one.kind].append(score(one.data, find(one.data.X)))
        print(line([name, *(f"{np.mean(values):.3f}" for values in scores.values())]), flush=True)


def main() -> None:
    """Report, or compare the rules."""
    options = parser("benchmarks.studies.clustering", __doc__)
    options.add_argument("--choose", action="store_true", help="compare the rules on the sets to choose on")
    warnings.simplefilter("ignore")  # of sets with fewer distinct samples than k-means has clusters
    choose() if options.parse_args().choose else report()


if __name__ == "__main__":
    main()
