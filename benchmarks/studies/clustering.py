"""Clusters found without their number: python -m benchmarks.studies.clustering.

Shapes with three seeds each, and tables whose classes are taken for clusters: standardised, at most 3,000
samples. The score is the adjusted Rand index with the true clusters, over the samples that have one. All
methods have their defaults. HDBSCAN runs with min_cluster_size 5 and 15, and samples that it leaves out go to
the cluster of the nearest one that it keeps; "best" is the better of the two on each set, a choice that takes
the truth. k-means is given the true number. Nothing was chosen on these sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks import study
from benchmarks.studies.problems import REPORT, Data, load
from benchmarks.studies.shapes import SHAPES
from benchmarks.tables import bold_best, gain, markdown
from pathforest import OPFClustering

LARGEST = 3000  # samples of a table
BLOBS = [f"blob {n} x {d}" for n in (300, 2000) for d in (2, 5, 10)]


def hdbscan(X: np.ndarray, size: int) -> np.ndarray:
    """Cluster, and give what was left out to the nearest sample that was not."""
    labels = HDBSCAN(min_cluster_size=size).fit_predict(X)
    kept = labels >= 0
    if kept.any() and not kept.all():
        nearest = NearestNeighbors(n_neighbors=1).fit(X[kept]).kneighbors(X[~kept], return_distance=False)
        labels[~kept] = labels[kept][nearest[:, 0]]
    return labels


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "`OPFClustering`": lambda X, k: OPFClustering().fit_predict(X),
    '`selection="cut"`': lambda X, k: OPFClustering(selection="cut").fit_predict(X),
    "HDBSCAN(5)": lambda X, k: hdbscan(X, 5),
    "HDBSCAN(15)": lambda X, k: hdbscan(X, 15),
    "HDBSCAN, best": lambda X, k: np.zeros(len(X)),  # of the two, when both are known
    "k-means, true k": lambda X, k: KMeans(k, n_init=5, random_state=0).fit_predict(X),
}


def units(repeats: int) -> Iterator[study.Unit]:
    """List shapes and blobs with each seed, and tables."""
    for seed in range(100, 100 + repeats):
        yield from ((name, "shapes", seed) for name in SHAPES)
        yield from ((f"{blob} {kind}", "blobs", seed) for blob in BLOBS for kind in ("normal", "uniform"))
    yield from ((name, "tables", 0) for name in REPORT)


def samples(name: str, kind: str, seed: int) -> Data:
    """Draw or load a set; the label -1 is background."""
    if kind == "shapes":
        return SHAPES[name](np.random.default_rng([seed, *name.encode()]))
    if kind == "blobs":
        n, d = (int(name.split()[i]) for i in (1, 3))
        rng = np.random.default_rng([seed, n, d])
        normal, uniform = rng.normal(size=(n, d)), rng.uniform(size=(n, d))
        return Data(normal if name.endswith("normal") else uniform, np.zeros(n))
    X, y = load(name)
    chosen = np.random.default_rng([*name.encode()]).permutation(len(X))[:LARGEST]
    return Data(StandardScaler().fit_transform(X[chosen]), y[chosen])


def measure(name: str, kind: str, seed: int) -> list[study.Row]:
    """Score every method on one set."""
    X, y = samples(name, kind, seed)
    known = y >= 0
    scores, counts = {}, {}
    for method, find in METHODS.items():
        labels = find(X, len(np.unique(y[known])))
        scores[method] = adjusted_rand_score(y[known], labels[known])
        counts[method] = len(np.unique(labels))
    scores["HDBSCAN, best"] = max(scores["HDBSCAN(5)"], scores["HDBSCAN(15)"])
    return [
        {"set": name, "kind": kind, "method": m, "score": scores[m], "clusters": counts[m]} for m in METHODS
    ]


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write the means of shapes and tables, what ours gains, and how many clusters one blob has."""
    rows, every = [], []
    for kind, found in table[table.kind != "blobs"].groupby("kind"):
        here = found.pivot_table(values="score", index="set", columns="method")[[*METHODS]]
        gains = [gain((here.iloc[:, 0] - here[method]).to_numpy(), 3) for method in METHODS][1:]
        rows.append([f"mean of {len(here)} {kind}", *bold_best(here.mean().tolist(), ".3f")])
        rows.append([f"`OPFClustering` above it, {kind}", "", *gains])
        every += [[name, *(f"{score:.2f}" for score in scores)] for name, scores in here.iterrows()]
    counts = table[table.kind == "blobs"].groupby("method").clusters.median()
    shown = ["" if "best" in m or "means" in m else f"{counts.get(m, np.nan):g}" for m in METHODS]
    rows.append(["median number of clusters in one blob", *shown])
    return {
        "clustering": markdown(["", *METHODS], rows),
        "clustering_each": markdown(["set", *METHODS], every),
    }


if __name__ == "__main__":
    study.main("clustering", __doc__, units, measure, report, repeats=3)
