"""From samples and a metric to the engine that answers for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pathforest import _core
from pathforest._engines.features import features_engine
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.metric import Metric, choose_algorithm
from pathforest._engines.protocol import Engine
from pathforest._utils.sparse import SparseSamples

# What a fit calls for its engine: `build_engine`, or a function of the same parameters for another place.
EngineFactory = Callable[..., Engine]


def build_engine(
    X: np.ndarray | SparseSamples,
    metric: Metric,
    algorithm: str = "auto",
    n_threads: int = 1,
    verbose: int = 0,
    keep_order: bool = False,
    device: str = "cpu",
) -> Engine:
    """Build the engine for samples, or a distance matrix, that have been checked.

    `keep_order` has a scan go through the samples as given, for those that hold the likeliest answers first.
    """
    if isinstance(X, SparseSamples):
        return _core.Engine.sparse(X, metric.name)
    if device != "cpu":
        return _build_on_device(X, metric, algorithm, device)
    if metric.kind == "precomputed":
        return _core.Engine.precomputed(symmetric(X))
    if metric.kind == "matrix":
        return _core.Engine.precomputed(distance_matrix(X, metric, verbose))
    chosen = choose_algorithm(metric, X.shape[1], algorithm)
    return features_engine(X, metric, chosen, n_threads, keep_order)


def _build_on_device(X: np.ndarray, metric: Metric, algorithm: str, device: str) -> Engine:
    if metric.kind != "features":
        raise ValueError(
            f"metric={metric.name!r} is not computed on a device; use device='cpu', or metric='euclidean'"
        )
    from pathforest._engines.torch.engine import TorchEngine  # imported by those who ask for it

    return TorchEngine(X, metric, choose_algorithm(metric, X.shape[1], algorithm), device)
