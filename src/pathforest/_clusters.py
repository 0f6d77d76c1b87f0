"""Clusters and densities of the training samples, common to clustering and outlier detection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from pathforest import _core
from pathforest._estimator import OPFEstimator
from pathforest._stages import StageTimer
from pathforest._validation import largest_neighborhood, thread_count
from pathforest.distances import build_engine
from pathforest.graph import KnnGraph, knn_graph
from pathforest.membership import DensityEstimate, estimate_density


class BaseClusters(OPFEstimator):
    """What an estimator without labels learns, and who is near a new sample."""

    def _fit_clusters(self, X: Any) -> Self:
        """Estimate the density of the training samples and find their clusters."""
        metric, n_threads = self._check_settings()
        X, metric = self._check_samples(X, metric, squares=True)
        k = largest_neighborhood(len(X), self.k_max, self.n_neighbors)
        timed = StageTimer(self)
        engine = timed(build_engine, X, metric, self.algorithm, n_threads, self.verbose)
        graph = timed(knn_graph, engine, k, n_threads)
        estimate = timed(estimate_density, graph, k, self.n_neighbors is None, metric.squared, n_threads)
        timed(self._cluster, graph, estimate)
        self.density_, self.best_k_, self.cuts_ = estimate
        self._keep_samples(X, metric, engine)
        return self

    def _cluster(self, graph: KnnGraph, estimate: DensityEstimate) -> None:
        """Let the maxima of the density compete for the samples."""
        k = estimate.best_k
        scaled = _core.scale_density(estimate.density)
        labels, predecessor, root, cost, _ = _core.cluster(graph.distances, graph.indices, k, scaled)
        self.labels_ = labels.astype(np.intp)
        self.predecessor_ = predecessor.astype(np.intp)
        self.root_ = root.astype(np.intp)
        self.cost_ = cost
        # Each cluster has one root, so sorting the roots by label lists the clusters in order of birth.
        roots = np.flatnonzero(self.predecessor_ < 0)
        self.cluster_roots_ = roots[np.argsort(self.labels_[roots])]
        self._fit_largest_arc = float(graph.distances[:, :k].max(initial=0.0))  # d_f of Eq. 3

    def _nearest(self, Q: np.ndarray, k: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of checked queries: the distances and indices of their k nearest training samples."""
        n_threads = thread_count(self.n_jobs)
        engine = self._cached(Q.dtype.char, lambda: self._build_engine(Q.dtype, np.arange(len(self.labels_))))
        for rows, block in self._query_blocks(Q, width=k):
            yield rows, *engine.query(block, k, n_threads)
