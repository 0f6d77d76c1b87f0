"""Threads: calls on several of them, and the limits that users set for those of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import threadpoolctl


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
