"""Progress bars for long work where a person watches: on a terminal or in a notebook, drawn by tqdm."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

from pathforest import _core

SWITCH = "PATHFOREST_PROGRESS"  # environment variable: 0 shows no bars, 1 shows them in pipes and files too
DELAY = 1.0  # seconds before a bar appears: short work needs none
INTERVAL = 0.1  # seconds between two pictures of a bar
WIDTH = 80  # characters of a bar on a terminal that says it has none
# tqdm's own, with whole steps, because work reports fractions of them, and a space before the unit.
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]"
# Stages take so different times that nothing can be said of those to come.
STAGES = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total_fmt} stages [{elapsed}]"

T = TypeVar("T", bound=tuple[Any, ...])


class Progress(Protocol):
    """A bar that work is reported to."""

    def update(self, n: float = 1) -> object:
        """Report that `n` more steps are done."""


class Silence:
    """A bar that is not shown."""

    def update(self, n: float = 1) -> None:
        """Take a report and do nothing."""

    def expect(self, n: float, name: str | None = None) -> None:
        """Take an announcement and do nothing."""

    def over(self, pieces: Iterable[T]) -> Iterable[T]:
        """Return the pieces."""
        return pieces


SILENCE = Silence()


class Bar:
    """Work on the main thread, which may come to show a bar."""

    def __init__(self, total: float, description: str, unit: str) -> None:
        self._total, self._description, self._unit = total, description, unit
        self._done = self._expected = self._share = 0.0
        self._start = time.monotonic()
        self._next_picture = self._start + DELAY
        self._shown: Any = None

    def update(self, n: float = 1) -> None:
        """Report that `n` more steps are done."""
        self._done = min(self._done + n, self._total)
        self._expected = self._share = 0.0
        self._draw()

    def expect(self, n: float, name: str | None = None) -> None:
        """Announce the next piece of work: how many steps it is, and its name."""
        self._expected, self._share = n, 0.0
        if name is not None:
            self._description = name
        self._draw()

    def over(self, pieces: Iterable[T]) -> Iterator[T]:
        """Yield pieces of work that begin with a slice of the steps, and report each."""
        for piece in pieces:
            n = piece[0].stop - piece[0].start
            self.expect(n)
            yield piece
            self.update(n)

    def watch(self, share: float) -> None:
        """Take from the core which share of its loop is done."""
        # A piece of work may have several loops, and a bar never goes back.
        self._share = max(self._share, share)
        self._draw()

    def hide(self) -> None:
        """Clear the line for something else; the next report brings the bar back."""
        if self._shown:
            self._shown.clear()

    def close(self) -> None:
        """Remove the bar."""
        if self._shown:
            self._shown.total = None  # in a notebook an unfinished bar would stay, in red
            self._shown.close()

    def _draw(self) -> None:
        now = time.monotonic()
        if now < self._next_picture:
            return
        self._next_picture = now + INTERVAL
        if self._shown is None:
            self._shown = _make_bar(self._total, self._unit, now - self._start) or False
        if self._shown:
            self._shown.n = self._done + self._expected * self._share
            self._shown.set_description_str(self._description, refresh=False)
            self._shown.refresh()


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


_outermost: Bar | Silence | None = None


@contextmanager
def progress(total: float, description: str, unit: str = "models") -> Iterator[Any]:
    """Show how far long work has come, and leave no trace of it at the end.

    Work inside other work that has a bar shows none, nor does work on other threads than the main one.
    """
    global _outermost
    if _outermost is not None or threading.current_thread() is not threading.main_thread():
        yield SILENCE
        return
    bar = _outermost = Bar(total, description, unit)
    _core.set_watcher(bar.watch)
    try:
        yield bar
    finally:
        _core.set_watcher(None)
        _outermost = None
        bar.close()


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Show no bars meanwhile, for work that has a bar of its own."""
    global _outermost
    before, _outermost = _outermost, SILENCE
    try:
        yield
    finally:
        _outermost = before


def clear_line() -> None:
    """Make room for a message on the terminal."""
    if isinstance(_outermost, Bar):
        _outermost.hide()


def is_wanted(stream: Any) -> bool:
    """Say whether a bar belongs on a stream: if it is a terminal, and the switch does not say otherwise."""
    wish = os.environ.get(SWITCH)
    return wish == "1" or (wish != "0" and stream is not None and stream.isatty())


def _make_bar(total: float, unit: str, seconds: float) -> Any:
    """Make tqdm's bar of work that has taken some time, if a person watches."""
    if multiprocessing.current_process().name != "MainProcess":  # several workers share one terminal
        return None
    notebook = {"ipykernel.zmqshell", "IPython.utils._process_emscripten"} & sys.modules.keys()
    if not (os.environ.get(SWITCH) != "0" if notebook else is_wanted(sys.stderr)):
        return None
    tqdm = _find_tqdm()
    if tqdm is None:
        return None
    # In a notebook the error stream has a red background.
    stream = sys.stdout if notebook else sys.stderr
    # With a delay it draws nothing before the first refresh.
    form = STAGES if unit == "stages" else FORMAT
    options = {"leave": False, "disable": False, "delay": 1e-9, "bar_format": form}
    bar = tqdm(total=total, unit=f" {unit}", file=stream, **options)
    bar.start_t -= seconds
    if not notebook and bar.ncols is not None and bar.ncols < 0:  # tqdm takes one from a size of 0 x 0
        bar.ncols, bar.nrows = WIDTH, None
    return bar


@cache
def _find_tqdm() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets it advises to install them; bars of text do
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
    return tqdm
