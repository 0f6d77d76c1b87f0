"""Density of training samples, paths that are worth their lowest density, and the domes of the density.

A dome is what lies above a level around a maximum. Domes absorb one another as the level falls; the largest
count as clusters, and the thinnest part of each may count as noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._models.base import FitData
from pathforest._models.parameters import largest_neighborhood
from pathforest._utils.progress import SILENCE
from pathforest.graph import KnnGraph, knn_graph
from pathforest.membership import DensityEstimate, estimate_density

MEASURES = ("height", "area", "volume")


class DensityQuery(NamedTuple):
    """What the paths of a forest are worth to new samples."""

    k: int  # size of the neighbourhood
    cost: np.ndarray  # (n,) values of the paths to the training samples
    lowest: float  # density of the sparsest training sample
    highest: float  # density of the densest
    largest_arc: float  # d_f of Eq. 3
    squared: bool  # whether distances are squares already
    logarithmic: bool = False  # whether logarithms of densities are on the scale from 1 to 1000

    def offers(self, distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what paths through the `k` nearest are worth to new samples; and densities, 1 to 1000."""
        if self.k == 0:  # one training sample, and no density
            return self.cost[indices], np.full(len(indices), np.inf)
        near, indices = np.ascontiguousarray(distances[:, : self.k]), indices[:, : self.k]
        density = _core.query_density(near, self.largest_arc, self.squared)
        scaled = _core.scale_density(density, self.lowest, self.highest, self.k if self.logarithmic else None)
        return np.minimum(self.cost[indices], scaled[:, None]), scaled

    def conquerors(self, distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the training sample whose offer is highest, on ties the nearest, and the densities."""
        values, scaled = self.offers(distances, indices)
        return indices[np.arange(len(indices)), values.argmax(axis=1)], scaled


def graph_and_density(
    data: FitData, k: int | None, k_max: int, n_neighbors: int | None
) -> tuple[KnnGraph, DensityEstimate]:
    """Find neighbours, and the density of `k` of them, or as `k_max` and `n_neighbors` say."""
    search = k is None and n_neighbors is None
    k = largest_neighborhood(len(data.X), k_max, n_neighbors) if k is None else k
    graph = data.stage(knn_graph, data.engine, k, data.n_threads)
    return graph, data.stage(estimate_density, graph, k, search, data.metric.squared, data.n_threads)


def density_conquerors(
    model: Any, Q: np.ndarray, bar: Any = SILENCE, logarithmic: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Find for each new sample the training sample that wins it, and its density from 1 to 1000."""
    winners, scaled = np.zeros(len(Q), dtype=np.intp), np.full(len(Q), np.inf)
    if model.best_k_ == 0:  # one training sample, and no choice
        return winners, scaled
    query = density_query(model, logarithmic)
    for rows, distances, indices in model._samples.nearest(Q, query.k, len(query.cost), bar):
        winners[rows], scaled[rows] = query.conquerors(distances, indices)
    return winners, scaled


def density_query(model: Any, logarithmic: bool = False) -> DensityQuery:
    """Gather what the paths of a fitted model are worth."""
    extremes = float(model.density_.min()), float(model.density_.max())
    metric = model._samples.metric
    return DensityQuery(
        model.best_k_, model.cost_, *extremes, model._fit_largest_arc, metric.squared, logarithmic
    )


def compete_within_classes(
    graph: KnnGraph, k: int, scaled: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let the maxima of the `scaled` density compete for their own class: (cost, predecessor, root)."""
    _, predecessor, root, cost = _core.cluster(*graph, k, scaled, np.ascontiguousarray(codes, dtype=np.int32))
    return cost, predecessor.astype(np.intp), root.astype(np.intp)


def largest_arc(graph: KnnGraph, k: int) -> float:
    """Return the longest distance to one of the `k` nearest neighbours, d_f of Eq. 3."""
    return float(graph.distances[:, :k].max(initial=0.0))


# Domes

# One row per dome that another absorbs.
DOME_TREE = np.dtype(
    [
        ("child", np.intp),  # sample that founded the dome
        ("parent", np.intp),  # sample that founded the cluster that its samples go to
        ("level", np.float64),  # density at which it met a larger one, the saddle
        ("height", np.float64),  # density of the founder above that level
        ("area", np.intp),  # samples of the dome above that level
        ("volume", np.float64),  # sum of their densities above that level
    ]
)


def dome_tree(
    graph: KnnGraph, k: int, scaled: np.ndarray, labels: np.ndarray, founders: np.ndarray, measure: str
) -> np.ndarray:
    """Find the order in which domes cease to count, and where their samples go: a row for each but one."""
    # Domes at level s are the components above s, by arcs in both directions. Where some meet, only that with
    # the largest `measure` counts on, of equals that of the first of `founders`, which come densest first.
    # Rows ascend by the measure at that level, the extinction value: the first m make m domes fewer. Domes
    # that no arc joins meet at 0, in the last rows. Samples go across the highest arc that leads out, because
    # the larger dome may be far away. `labels` are places among the founders, `scaled` from 1 to 1000.
    labels, founders = (np.ascontiguousarray(a, dtype=np.int32) for a in (labels, founders))
    return as_tree(_core.dome_tree(*graph, k, scaled, labels, founders, measure))


def as_tree(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Make a tree of its columns."""
    return np.rec.fromarrays(columns, dtype=DOME_TREE).view(DOME_TREE, np.ndarray)


def merge_domes(
    absorbed: np.ndarray, founders: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Let rows of a tree take effect; return the cluster of each sample and the founders that are left."""
    # `root` has the founder of each sample's path. Clusters are numbered in the order of `founders`.
    samples = (absorbed["child"], absorbed["parent"], founders, root)
    labels, roots = _core.merge_domes(*(np.ascontiguousarray(s, dtype=np.int32) for s in samples))
    return labels.astype(np.intp), roots.astype(np.intp)


# With noise="auto", noise lies this many times as far below the median of its cluster as the 95th percentile
# lies above, which noise does not reach; chosen on other data than docs/guide/clustering.md shows.
FAR = 3.0


def noise_levels(scaled: np.ndarray, labels: np.ndarray, roots: np.ndarray, share: float | str) -> np.ndarray:
    """Return for each cluster the density below which its samples are noise; its root never is."""
    # At most this share of a cluster, of equal densities all or none; "auto": those far below the median.
    sizes = np.bincount(labels, minlength=len(roots))
    starts = np.cumsum(sizes) - sizes
    by_cluster = scaled[np.lexsort([scaled, labels])]

    def quantile(q: float) -> np.ndarray:
        return by_cluster[starts + (q * sizes).astype(np.intp)]

    levels = quantile(share if share != "auto" else 0.5)
    if share == "auto":
        least = levels - FAR * (quantile(0.95) - levels)
        levels = by_cluster[starts + np.add.reduceat(by_cluster < np.repeat(least, sizes), starts)]
    return np.minimum(levels, scaled[roots])
