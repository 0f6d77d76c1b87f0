"""The engines of this process that compute distances from features."""

from __future__ import annotations

import numpy as np

from pathforest import _core
from pathforest._engines.gower import engine_ranges
from pathforest._engines.metric import Metric


def features_engine(
    X: np.ndarray, metric: Metric, algorithm: str, n_threads: int = 1, keep_order: bool = False
) -> _core.Engine:
    """Build the engine over features; `algorithm` is ``"kd_tree"`` or ``"brute"``.

    `keep_order` has a scan go through the samples as given, for those that hold the likeliest answers first.
    """
    if algorithm == "kd_tree":
        return _core.Engine.kd_tree(X, metric.name, metric.p, n_threads)
    of_features = (engine_ranges(metric.params), metric.params["weights"]) if metric.name == "gower" else ()
    return _core.Engine.brute(X, metric.name, metric.p, keep_order, n_threads, *of_features)
