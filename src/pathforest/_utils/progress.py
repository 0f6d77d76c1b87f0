"""A progress bar for long searches: on a terminal that has tqdm, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

DELAY = 1.0  # seconds before the bar appears: short searches need none

_hidden = ContextVar("_hidden", default=False)


class Progress(Protocol):
    """What is told about the work done."""

    def update(self, n: int = 1) -> object:
        """Say that `n` more steps are done."""


class _Silence:
    def update(self, n: int = 1) -> None:
        pass


class Share:
    """Some steps of a bar that one piece of work has to report: told in parts, passed on as whole steps."""

    def __init__(self, bar: Progress, steps: int) -> None:
        self._bar, self._steps = bar, steps
        self._done, self._reported = 0.0, 0

    def advance(self, part: float) -> None:
        """Say that a further part of the work is done; all parts add up to 1."""
        self._done += part
        self._report(min(self._steps, int(self._done * self._steps + 1e-9)))

    def finish(self) -> None:
        """Report whatever is left."""
        self._report(self._steps)

    def _report(self, steps: int) -> None:
        if steps > self._reported:
            self._bar.update(steps - self._reported)
            self._reported = steps


@contextmanager
def progress(total: int, description: str, unit: str = "model") -> Iterator[Progress]:
    """Show how far a search has come, on the error stream, and leave no trace of it at the end.

    In a pipe, or without tqdm, nothing is shown.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or _hidden.get():
        yield _Silence()
        return
    # disable=None: off unless the stream is a terminal.
    with tqdm(total=total, desc=description, unit=unit, delay=DELAY, leave=False, disable=None) as bar:
        yield bar


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Show no bars meanwhile: for searches that are a small part of something with a bar of its own."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)
