"""Timing of the stages of a fit, reported through the library's logger."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

logger = logging.getLogger("pathforest")

P = ParamSpec("P")
T = TypeVar("T")


class StageTimer:
    """Call a stage and, if the estimator is verbose, log how long it took.

    ``timed(knn_graph, engine, k)`` is ``knn_graph(engine, k)``, so `fit` still reads as a list of stages.
    """

    def __init__(self, estimator: Any) -> None:
        self._owner = type(estimator).__name__
        self._verbose = bool(estimator.verbose)

    def __call__(self, stage: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._verbose:
            return stage(*args, **kwargs)
        start = time.perf_counter()
        result = stage(*args, **kwargs)
        seconds = time.perf_counter() - start
        logger.info("%s: %s took %.3f s", self._owner, stage.__name__.strip("_"), seconds)
        return result
