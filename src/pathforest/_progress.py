"""A progress bar for long searches: on a terminal that has tqdm, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

DELAY = 1.0  # seconds before the bar appears: short searches need none


class Progress(Protocol):
    """What is told about the work done."""

    def update(self, n: int = 1) -> object:
        """Say that `n` more steps are done."""


class _Silence:
    def update(self, n: int = 1) -> None:
        pass


@contextmanager
def progress(total: int, description: str, unit: str = "model") -> Iterator[Progress]:
    """Show how far a search has come, on the error stream, and leave no trace of it at the end.

    In a pipe, or without tqdm, nothing is shown.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        yield _Silence()
        return
    # disable=None: off unless the stream is a terminal.
    with tqdm(total=total, desc=description, unit=unit, delay=DELAY, leave=False, disable=None) as bar:
        yield bar
