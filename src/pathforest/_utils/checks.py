"""Checks of plain values, each with a message that names the way out; random numbers; threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
import threadpoolctl
from sklearn.utils import check_random_state

from pathforest import _core
from pathforest._utils.text import show


def demand(holds: Any, message: str) -> None:
    """Raise ValueError unless something holds."""
    if not holds:
        raise ValueError(message)


def check_integer(name: str, value: Any, minimum: int, advice: str) -> None:
    """Refuse anything but an integer of at least `minimum`; numpy integers pass, bools do not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}={show(value)} must be an integer, not {type(value).__name__}; {advice}")
    if value < minimum:
        raise ValueError(f"{name}={show(value)} must be at least {minimum}; {advice}")


def check_number(name: str, value: Any, advice: str) -> None:
    """Refuse anything but a number; numpy's pass, bools do not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={show(value)} must be a number, not {type(value).__name__}; {advice}")


def check_positive(name: str, value: Any, advice: str) -> None:
    """Refuse anything but a finite number above zero."""
    check_number(name, value, advice)
    try:
        usable = math.isfinite(value) and float(value) > 0
    except OverflowError:  # an integer or a fraction beyond float64
        usable = False
    if not usable:
        raise ValueError(f"{name}={show(value)} must be finite and greater than 0; {advice}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of `choices`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name}={show(value)} is unknown; use one of {', '.join(map(repr, choices))}")


def check_sample_indices(name: str, given: Any, n: int) -> np.ndarray:
    """Return indices of samples in the type of the core; refuse values that the cast would change."""
    indices = np.atleast_1d(given)
    if indices.dtype == bool:
        raise TypeError(f"{name}={show(given)} is a boolean mask, not indices; give np.flatnonzero(mask)")
    if indices.dtype.kind not in "iu":
        raise TypeError(
            f"{name}={show(given)} must be integers from 0 to {n - 1}, not {indices.dtype}; give the indices "
            "of samples"
        )
    if indices.ndim != 1:
        raise ValueError(f"{name} has shape {indices.shape}; give the indices of samples as one list")
    outside = np.flatnonzero((indices < 0) | (indices >= n))
    if outside.size:
        first = outside[0]
        raise ValueError(f"{name}[{first}]={indices[first]} is not a sample; give indices from 0 to {n - 1}")
    return np.ascontiguousarray(indices, dtype=np.int32)


def random_generator(random_state: Any) -> np.random.Generator:
    """Take a `random_state` as scikit-learn does: equal integers draw the same, a RandomState goes on."""
    if isinstance(random_state, Integral):
        return np.random.default_rng(random_state)
    return np.random.Generator(check_random_state(random_state)._bit_generator)


# Threads, within the limits that users set


def thread_count(n_jobs: int | None) -> int:
    """Threads for `n_jobs`, within ``OMP_NUM_THREADS``, CPU affinity and limits of threadpoolctl."""
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
