"""From samples and a metric to the engine that answers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from pathforest._core import Engine
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.metric import Metric, choose_algorithm

# Who builds engines over features, where it is not this process that computes the distances.
_maker: ContextVar[Callable[[np.ndarray, Metric, str], Any] | None] = ContextVar("_maker", default=None)


@contextmanager
def engines_made_by(make: Callable[[np.ndarray, Metric, str], Any]) -> Iterator[None]:
    """Have models that are fitted meanwhile ask engines of another kind.

    ``make(X, metric, algorithm)`` returns an object with the methods and properties of
    :class:`pathforest._core.Engine` that a `fit` uses, and with its answers; `algorithm` is ``"tree"`` or
    ``"brute"``, what would be used here, and the engine's `name`.
    """
    token = _maker.set(make)
    try:
        yield
    finally:
        _maker.reset(token)


def build_engine(
    X: np.ndarray,
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
    if device != "cpu":
        return _build_on_device(X, metric, algorithm, device)
    if metric.kind == "precomputed":
        return Engine.precomputed(symmetric(X))
    if metric.kind == "matrix":
        return Engine.precomputed(distance_matrix(X, metric, verbose))
    chosen = choose_algorithm(metric, X.shape[1], algorithm)
    if (make := _maker.get()) is not None:
        return make(X, metric, chosen)
    return features_engine(X, metric, chosen, n_threads, keep_order)


def features_engine(
    X: np.ndarray, metric: Metric, algorithm: str, n_threads: int = 1, keep_order: bool = False
) -> Engine:
    """Build the engine of this process over features; `algorithm` is ``"tree"`` or ``"brute"``."""
    if algorithm == "tree":
        return Engine.tree(X, metric.name, metric.p, n_threads)
    return Engine.brute(X, metric.name, metric.p, keep_order, n_threads)


def _build_on_device(X: np.ndarray, metric: Metric, algorithm: str, device: str) -> Any:
    if metric.kind != "features":
        raise ValueError(
            f"metric={metric.name!r} is not computed on a device; use device='cpu', or metric='euclidean'"
        )
    if _maker.get() is not None:
        raise ValueError(f"device={device!r} is not for clusters; use device='cpu', or the local class")
    from pathforest.gpu.engine import TorchEngine  # imported by those who ask for it

    return TorchEngine(X, metric, choose_algorithm(metric, X.shape[1], algorithm), device)
