"""Clusters found without their number: python -m benchmarks.studies.clustering.

Shapes with three seeds each, twelve Gaussians that overlap, single blobs of four kinds, and tables whose
classes are taken for clusters: standardised, at most 3,000 samples. The score is the adjusted Rand index with
the true clusters, over the samples that have one. All methods have their defaults. HDBSCAN runs with
min_cluster_size 5 and 15, and samples that it leaves out go to the cluster of the nearest one that it keeps;
"best" is the better of the two on each set, a choice that takes the truth. Nothing was chosen on these sets.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks import study
from benchmarks.studies.problems import REPORT, Data, load
from benchmarks.tables import bold_best, gain, markdown
from pathforest import OPFClustering

LARGEST = 3000  # samples of a table
SIZES = [f"{n} x {d}" for n in (300, 2000, 10_000) for d in (2, 5, 10)]
KINDS = ("normal", "uniform", "laplace", "gamma")  # of single blobs
SPREADS = {2: 16, 5: 6, 10: 4}  # side of the cube with the centres of Gaussians that overlap, per feature


# Shapes: samples of many forms with the number of their cluster, -1 for background that belongs to none.

Shape = Callable[[np.random.Generator], Data]


def _blobs(rng: np.random.Generator, sizes: Sequence[int], centres: np.ndarray, spreads: Sequence) -> Data:
    """Draw one Gaussian per size; a spread is a factor or a matrix."""
    parts = [
        rng.normal(size=(n, len(centre))) @ (spread if np.ndim(spread) else spread * np.eye(len(centre)))
        + centre
        for n, centre, spread in zip(sizes, np.asarray(centres, float), spreads, strict=True)
    ]
    return Data(np.concatenate(parts), np.repeat(np.arange(len(parts)), sizes))


def _arcs(rng: np.random.Generator, parts: Sequence[tuple], noise: float) -> Data:
    """Draw samples along arcs of circles: (number, centre, radius, first angle, last angle)."""
    X = []
    for n, centre, radius, first, last in parts:
        angle = rng.uniform(first, last, n)
        X.append(np.add(centre, radius * np.column_stack([np.cos(angle), np.sin(angle)])))
    X = np.concatenate(X)
    return Data(X + rng.normal(0, noise, X.shape), np.repeat(np.arange(len(parts)), [p[0] for p in parts]))


def _spirals(rng: np.random.Generator, n_arms: int, n: int, turns: float, noise: float) -> Data:
    """Draw as many spirals around a common centre."""
    y = np.repeat(np.arange(n_arms), n)
    t = np.sqrt(rng.uniform(0.05, 1, len(y))) * turns * 2 * np.pi
    angle = t + 2 * np.pi * y / n_arms
    X = np.column_stack([t * np.cos(angle), t * np.sin(angle)])
    return Data(X + rng.normal(0, noise, X.shape), y)


def _with_background(data: Data, rng: np.random.Generator, n: int) -> Data:
    """Add samples spread evenly over the range and a little beyond."""
    low, high = data.X.min(axis=0), data.X.max(axis=0)
    extra = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (n, data.X.shape[1]))
    return Data(np.concatenate([data.X, extra]), np.append(data.y, np.full(n, -1)))


def _lattice(n: int, step: float) -> np.ndarray:
    return step * np.stack(np.meshgrid(range(n), range(n)), axis=-1).reshape(-1, 2)


CIRCLE = (0, 2 * np.pi)


def _target(rng: np.random.Generator) -> Data:
    """Draw a blob inside a ring inside a ring, all of one thickness."""
    return _arcs(rng, [(150, (0, 0), 0, *CIRCLE), (400, (0, 0), 2, *CIRCLE), (800, (0, 0), 4, *CIRCLE)], 0.3)


def _linked_rings(rng: np.random.Generator) -> Data:
    """Two rings in space that are linked like a chain."""
    angle, y = rng.uniform(0, 2 * np.pi, 1000), np.repeat([0, 1], 500)
    X = np.column_stack([np.cos(angle) + y, np.sin(angle) * (y == 0), np.sin(angle) * (y == 1)])
    return Data(X + rng.normal(0, 0.1, X.shape), y)


def _bananas(rng: np.random.Generator) -> Data:
    """Three bent Gaussians, one of them shorter."""
    y = np.repeat([0, 1, 2], [400, 400, 200])
    t = rng.normal(0, 1, len(y)) * np.array([2, 2, 1])[y]
    X = np.column_stack([t, 0.35 * t**2]) + rng.normal(0, 0.3, (len(y), 2))
    X[y == 1] = [4.0, 1.2] - X[y == 1] * [-1, 1]
    X[y == 2] += [8.5, 0]
    return Data(X, y)


def _frames(rng: np.random.Generator) -> Data:
    """Nested squares, drawn by their outlines."""
    y = np.repeat([0, 1, 2], [200, 400, 600])
    side, along = rng.integers(0, 4, len(y)), rng.uniform(-1, 1, len(y))
    edge = np.where(side % 2 == 0, 1.0, -1.0)
    X = np.where((side < 2)[:, None], np.column_stack([along, edge]), np.column_stack([edge, along]))
    return Data(X * (1.0 + 1.2 * y)[:, None] + rng.normal(0, 0.08, (len(y), 2)), y)


def _necklace(rng: np.random.Generator) -> Data:
    """Six blobs in a circle, with thin links between neighbours."""
    angle = np.arange(6) * np.pi / 3
    centres = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = _blobs(rng, [200] * 6, centres, [0.75] * 6)
    bead, t = rng.integers(0, 6, 90), rng.uniform(0, 1, 90)[:, None]
    links = centres[bead] * (1 - t) + centres[(bead + 1) % 6] * t + rng.normal(0, 0.1, (90, 2))
    return Data(np.concatenate([X, links]), np.append(y, (bead + (t[:, 0] > 0.5)) % 6))


def _waves(rng: np.random.Generator) -> Data:
    """Three parallel waves of different density."""
    y = np.repeat([0, 1, 2], [600, 300, 150])
    t = rng.uniform(0, 4 * np.pi, len(y))
    return Data(np.column_stack([t, np.sin(t) + 2.2 * y]) + rng.normal(0, 0.22, (len(y), 2)), y)


def _sticks(rng: np.random.Generator) -> Data:
    """Four straight sticks on a background."""
    y, t = np.repeat(np.arange(4), 200), rng.uniform(-1, 1, 800)[:, None]
    centre = np.array([[0, 0], [6, 1], [1, 6], [7, 7]])[y]
    direction = np.array([[2.5, 0.6], [0.3, 2.2], [1.8, 1.8], [2, -1.5]])[y]
    return _with_background(Data(centre + t * direction + rng.normal(0, 0.18, (800, 2)), y), rng, 160)


def _ellipses(rng: np.random.Generator) -> Data:
    """Five Gaussians, each stretched three times in a direction of its own."""
    angle = rng.uniform(0, np.pi, 5)
    turns = np.stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)], axis=1).reshape(5, 2, 2)
    return _blobs(rng, [250] * 5, _lattice(3, 8.0)[:5], list(np.array([[1.8], [0.6]]) * turns))


SHAPES: dict[str, Shape] = {
    "target": _target,
    "three spirals": lambda rng: _spirals(rng, 3, 400, 1.1, 0.25),
    "four moons": lambda rng: _arcs(
        rng,
        [
            (250, (0, 0), 1, 0, np.pi), (250, (1, 0.4), 1, np.pi, 2 * np.pi),
            (250, (5, 0), 1, -np.pi / 2, np.pi / 2), (250, (5.4, 1), 1, np.pi / 2, 1.5 * np.pi),
        ],
        0.09,
    ),
    "unequal sizes": lambda rng: _blobs(
        rng, [1500, 300, 100, 50], [[0, 0], [6, 0], [0, 6], [-5, -4]], [1.2, 0.9, 0.7, 0.5]
    ),
    "unequal densities": lambda rng: _blobs(
        rng, [300] * 4, [[0, 0], [3, 0], [10, 2], [4, 14]], [0.25, 0.5, 1.5, 2.5]
    ),
    "ellipses": _ellipses,
    "bananas": _bananas,
    "grid of 25": lambda rng: _blobs(
        rng, rng.integers(40, 160, 25), _lattice(5, 5.0), rng.uniform(0.5, 0.9, 25)
    ),
    "nested squares": _frames,
    "linked rings": _linked_rings,
    "necklace": _necklace,
    "waves": _waves,
    "sticks, background": _sticks,
    "sixteen features": lambda rng: _blobs(
        rng, [120] * 8, 2.5 * rng.normal(size=(8, 16)), rng.uniform(0.7, 1.3, 8)
    ),
}  # fmt: skip


# The study


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
    """List shapes, overlapping and single blobs with each seed, and tables; the largest blobs once."""
    for seed in range(100, 100 + repeats):
        yield from ((name, "shapes", seed) for name in SHAPES)
        for size in SIZES if seed == 100 else SIZES[:6]:
            yield from ((f"{size} {kind}", "single blobs", seed) for kind in KINDS)
        yield from ((size, "overlapping blobs", seed) for size in SIZES[3:])
    yield from ((name, "tables", 0) for name in REPORT)


def samples(name: str, kind: str, seed: int) -> Data:
    """Draw or load a set; the label -1 is background."""
    if kind == "shapes":
        return SHAPES[name](np.random.default_rng([seed, *name.encode()]))
    if "blobs" in kind:
        n, d = (int(name.split()[i]) for i in (0, 2))
        rng = np.random.default_rng([seed, n, d])
        if kind == "overlapping blobs":
            y = rng.choice(12, n, p=rng.dirichlet(np.full(12, 5.0)))
            centres, spreads = rng.uniform(0, SPREADS[d], (12, d)), rng.uniform(0.7, 1.3, 12)
            return Data(centres[y] + spreads[y, None] * rng.normal(size=(n, d)), y)
        shape = (2.0,) if name.endswith("gamma") else ()
        return Data(getattr(rng, name.split()[3])(*shape, size=(n, d)), np.zeros(n))
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
    """Write the means of shapes, overlapping blobs and tables, and how often one blob is one cluster."""
    rows = []
    for kind, found in table[table.kind != "single blobs"].groupby("kind"):
        here = found.pivot_table(values="score", index="set", columns="method")[[*METHODS]]
        gains = [gain((here.iloc[:, 0] - here[method]).to_numpy(), 3) for method in METHODS][1:]
        rows.append([f"mean of {len(here)} {kind}", *bold_best(here.mean().tolist(), ".3f")])
        rows.append([f"`OPFClustering` above it, {kind}", "", *gains])
    single = table[table.kind == "single blobs"]
    shares = single.assign(one=single.clusters == 1).groupby("method").one.mean()
    shown = ["" if "best" in m or "means" in m else f"{shares.get(m, np.nan):.0%}" for m in METHODS]
    rows.append(["single blobs with one cluster", *shown])
    return {"clustering": markdown(["", *METHODS], rows)}


if __name__ == "__main__":
    study.main("clustering", __doc__, units, measure, report, repeats=3)
