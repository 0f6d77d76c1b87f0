"""Density of training samples, and paths that are worth their lowest density: the part of several models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._models.base import FitData, KeptSamples
from pathforest._models.parameters import largest_neighborhood
from pathforest._utils.progress import SILENCE
from pathforest.graph import KnnGraph, knn_graph
from pathforest.membership import DensityEstimate, estimate_density


class DensityForest(NamedTuple):
    """An optimum-path forest over densities, which may stop at the borders of classes."""

    cost: np.ndarray  # (n,) value of the path that conquered the node: its lowest density, from 1 to 1000
    predecessor: np.ndarray  # (n,) previous node on that path, -1 at a root
    root: np.ndarray  # (n,) node the path starts from, a maximum of the density


class DensityQuery(NamedTuple):
    """What the paths of a forest are worth to new samples."""

    k: int  # size of the neighbourhood
    cost: np.ndarray  # (n,) values of the paths to the training samples
    lowest: float  # density of the sparsest training sample
    highest: float  # density of the densest
    largest_arc: float  # d_f of Eq. 3
    squared: bool  # whether distances are squares already

    def conquerors(self, distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the training sample that offers each new sample the path of the highest value.

        The lists hold `k` or more nearest training samples. On ties the first of them wins, which is the
        nearest. The densities of the new samples come too, on the scale from 1 to 1000.
        """
        near, indices = np.ascontiguousarray(distances[:, : self.k]), indices[:, : self.k]
        density = _core.query_density(near, self.largest_arc, self.squared)
        scaled = _core.scale_density(density, self.lowest, self.highest)
        values = np.minimum(self.cost[indices], scaled[:, None])
        return indices[np.arange(len(indices)), values.argmax(axis=1)], scaled


def graph_and_density(
    data: FitData, k: int | None, k_max: int, n_neighbors: int | None
) -> tuple[KnnGraph, DensityEstimate]:
    """Find the neighbours of the training samples, and their density.

    That of `k` neighbours; without a `k` as the parameters `k_max` and `n_neighbors` say.
    """
    search = k is None and n_neighbors is None
    k = largest_neighborhood(len(data.X), k_max, n_neighbors) if k is None else k
    graph = data.stage(knn_graph, data.engine, k, data.n_threads)
    return graph, data.stage(estimate_density, graph, k, search, data.metric.squared, data.n_threads)


def density_conquerors(model: Any, Q: np.ndarray, bar: Any = SILENCE) -> tuple[np.ndarray, np.ndarray]:
    """Find for each new sample the training sample that wins it, and its density from 1 to 1000."""
    winners, scaled = np.zeros(len(Q), dtype=np.intp), np.full(len(Q), np.inf)
    if model.best_k_ == 0:  # one training sample, and no choice
        return winners, scaled
    samples: KeptSamples = model._samples
    extremes = float(model.density_.min()), float(model.density_.max())
    query = DensityQuery(
        model.best_k_, model.cost_, *extremes, model._fit_largest_arc, samples.metric.squared
    )
    for rows, distances, indices in samples.nearest(Q, model.best_k_, len(model.cost_), bar):
        winners[rows], scaled[rows] = query.conquerors(distances, indices)
    return winners, scaled


def compete_within_classes(graph: KnnGraph, k: int, scaled: np.ndarray, codes: np.ndarray) -> DensityForest:
    """Let the maxima of the density compete for the samples of their own class.

    `scaled` holds the densities on their scale from 1 to 1000. Arcs between classes take no part.
    """
    _, predecessor, root, cost = _core.cluster(*graph, k, scaled, np.ascontiguousarray(codes, dtype=np.int32))
    return DensityForest(cost, predecessor.astype(np.intp), root.astype(np.intp))


def largest_arc(graph: KnnGraph, k: int) -> float:
    """Return the longest distance to one of the `k` nearest neighbours, d_f of Eq. 3."""
    return float(graph.distances[:, :k].max(initial=0.0))
