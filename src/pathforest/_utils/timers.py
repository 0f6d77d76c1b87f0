"""The stages of a fit: timed for the library's logger, and reported to who shows progress."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

from pathforest._utils.progress import clear_line

logger = logging.getLogger("pathforest")

P = ParamSpec("P")
T = TypeVar("T")


class Reporter(Protocol):
    """What learns of the stages of a fit."""

    def begin(self, name: str) -> None:
        """Take note that a stage begins."""

    def end(self) -> None:
        """Take note that it has ended."""


reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)  # of the fit that runs


class StageTimer:
    """Call a stage, report it and, if the estimator is verbose, log how long it took.

    ``timed(knn_graph, engine, k)`` is ``knn_graph(engine, k)``, so `fit` still reads as a list of stages.
    """

    def __init__(self, estimator: Any) -> None:
        self._owner = type(estimator).__name__
        self._verbose = bool(estimator.verbose)
        self._reporter = reporter.get()

    def __call__(self, stage: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        name = stage.__name__.strip("_")
        if self._reporter:
            self._reporter.begin(name.replace("_", " "))
        start = time.perf_counter()
        result = stage(*args, **kwargs)
        if self._verbose:
            clear_line()
            logger.info("%s: %s took %.3f s", self._owner, name, time.perf_counter() - start)
        if self._reporter:
            self._reporter.end()
        return result
