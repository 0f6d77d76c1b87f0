"""Base of the estimators that rest on the density of their training samples."""

from __future__ import annotations

import numpy as np

from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.metric import Metric
from pathforest._engines.protocol import Engine
from pathforest._models.base import OPFEstimator
from pathforest._models.parameters import largest_neighborhood
from pathforest._utils.timers import StageTimer
from pathforest.graph import KnnGraph, knn_graph
from pathforest.membership import DensityEstimate, estimate_density


class DensityEstimator(OPFEstimator):
    """Density of the training samples."""

    @property
    def _squares(self) -> bool:
        return True

    def _estimate_density(
        self,
        X: np.ndarray,
        metric: Metric,
        n_threads: int,
        timed: StageTimer,
        make_engine: EngineFactory = build_engine,
    ) -> tuple[Engine, KnnGraph, DensityEstimate]:
        """Find the neighbours of the training samples, and the density that the parameters ask for."""
        k, search = self._neighborhood(len(X))
        engine = self._make_engine(timed, X, metric, n_threads, make_engine)
        graph = timed(knn_graph, engine, k, n_threads)
        estimate = timed(estimate_density, graph, k, search, metric.squared, n_threads)
        return engine, graph, estimate

    def _neighborhood(self, n_samples: int) -> tuple[int, bool]:
        """Return the size of the neighbourhood, and whether smaller ones are tried too."""
        return largest_neighborhood(n_samples, self.k_max, self.n_neighbors), self.n_neighbors is None


def largest_arc(graph: KnnGraph, k: int) -> float:
    """Return the longest distance to one of the `k` nearest neighbours, d_f of Eq. 3."""
    return float(graph.distances[:, :k].max(initial=0.0))
