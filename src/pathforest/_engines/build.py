"""From samples and a metric to the engine that answers for them, here or on a device."""

from __future__ import annotations

from collections.abc import Callable

from pathforest import _core
from pathforest._engines.engine import Engine, Samples
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.metric import DEVICE_METRICS, Metric, choose_algorithm, features_engine
from pathforest._engines.samples import SparseSamples
from pathforest._utils.text import show

# What a fit calls for its engine: `build_engine`, or a function of the same parameters for another place.
EngineFactory = Callable[..., Engine]


def build_engine(
    X: Samples,
    metric: Metric,
    algorithm: str = "auto",
    n_threads: int = 1,
    verbose: int = 0,
    keep_order: bool = False,
    device: str = "cpu",
) -> Engine:
    """Build the engine for checked samples; `keep_order` suits those with the likeliest answers first."""
    if isinstance(X, SparseSamples):
        return _core.Engine.sparse(X, metric.name)
    if device != "cpu":
        if metric.name not in DEVICE_METRICS:
            raise ValueError(
                f"metric={show(metric.name)} is not available with device={device!r}, only "
                f"{', '.join(DEVICE_METRICS)}; use one of these, or device='cpu'"
            )
        from pathforest._engines.torch import find_device

        found = find_device(device)  # says what is missing
        from pathforest._engines.torch.engine import TorchEngine

        return TorchEngine(X, metric, choose_algorithm(metric, X.shape[1], algorithm), found, n_threads)
    if metric.kind == "features":
        chosen = choose_algorithm(metric, X.shape[1], algorithm)
        return features_engine(X, metric, chosen, n_threads, keep_order)
    D = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric, verbose)
    return _core.Engine.precomputed(D)
