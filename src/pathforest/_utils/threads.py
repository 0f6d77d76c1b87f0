"""Threads: how many scikit-learn's `n_jobs` asks for, and calls on several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import threadpoolctl

from pathforest import _core


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's `n_jobs`, within what the core allows here.

    That is ``OMP_NUM_THREADS``, CPU affinity or a limit of threadpoolctl. joblib sets the variable for each
    worker of a parallel grid search, to keep it from starting a full set of threads.
    """
    # threadpoolctl refuses a numpy integer, which joblib returns as given.
    return max(1, min(int(joblib.effective_n_jobs(n_jobs)), _core.max_threads()))


def map_threads(function: Callable[..., Any], n_threads: int, *arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield what `map` does, with calls on several threads at once."""
    if n_threads == 1:
        yield from map(function, *arguments)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(function, *arguments)


class CoreController(threadpoolctl.LibController):
    """Puts our threads under the limits that users set with threadpoolctl for OpenMP."""

    user_api = "openmp"
    internal_api = "pathforest"
    filename_prefixes = ("_core",)
    # Other packages have a `_core` too, without these.
    check_symbols = ("pathforest_get_num_threads", "pathforest_set_num_threads")

    def get_num_threads(self) -> int:
        """Return the limit of the calling thread."""
        return self.dynlib.pathforest_get_num_threads()

    def set_num_threads(self, num_threads: int) -> None:
        """Set the limit of the calling thread."""
        self.dynlib.pathforest_set_num_threads(num_threads)

    def get_version(self) -> None:
        """Return None: the core has no version of its own."""


threadpoolctl.register(CoreController)
