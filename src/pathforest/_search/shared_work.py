"""Work that several representations of the same samples have in common, done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

_results: ContextVar[dict[Any, Any] | None] = ContextVar("results", default=None)


@contextmanager
def sharing_work() -> Iterator[None]:
    """Keep the results of :func:`shared` functions until the end, so that equal calls are made once."""
    token = _results.set({})
    try:
        yield
    finally:
        _results.reset(token)


def shared(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function of arrays of numbers and plain values share its results, which must not be changed.

    Equal arrays are the same whatever made them: each pipeline of a preset scales the samples for itself.
    """

    @wraps(function)
    def once(*args: P.args, **kwargs: P.kwargs) -> T:
        results = _results.get()
        if results is None:
            return function(*args, **kwargs)
        key = function.__qualname__, *map(_key, args), *((k, _key(v)) for k, v in sorted(kwargs.items()))
        if key not in results:
            results[key] = function(*args, **kwargs)
        return results[key]

    return once


def _key(value: Any) -> Any:
    """Return something short that differs where values do."""
    if not isinstance(value, np.ndarray):
        return value
    return value.dtype.str, value.shape, blake2b(value.tobytes(), digest_size=16).digest()
