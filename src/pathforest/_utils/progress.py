"""A progress bar for long searches, shown on a terminal if tqdm is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

DELAY = 1.0  # seconds before the bar appears: short searches need none
# tqdm's own, with whole steps: work reports fractions of them.
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}]"

_hidden = ContextVar("_hidden", default=False)


class Progress(Protocol):
    """A bar that work is reported to."""

    def update(self, n: float = 1) -> object:
        """Report that `n` more steps are done."""


class Silence:
    """A bar that is not shown."""

    def update(self, n: float = 1) -> None:
        """Take a report and do nothing."""


class Share:
    """Some steps of a bar that one piece of work reports in parts."""

    def __init__(self, bar: Progress, steps: int) -> None:
        self._bar, self._steps, self._left = bar, steps, float(steps)

    def advance(self, part: float) -> None:
        """Report a further part of the work; all parts add up to 1."""
        done = min(part * self._steps, self._left)
        self._left -= done
        self._bar.update(done)

    def finish(self) -> None:
        """Report what is left."""
        self.advance(1.0)


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
        yield Silence()
        return
    # disable=None: off unless the stream is a terminal.
    options = {"delay": DELAY, "leave": False, "disable": None, "bar_format": FORMAT}
    with tqdm(total=total, desc=description, unit=unit, **options) as bar:
        yield bar


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Show no bars meanwhile, for searches inside work that has a bar of its own."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)
