"""How far long work has come: bars drawn by tqdm, times printed on request, callbacks of scikit-learn 1.9.

The bars come first, then the stages of a fit, which report to all three.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pathforest import _core

try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar, with_callbacks
except ImportError:  # scikit-learn before 1.9
    ProgressBar: Any = ()

    class CallbackSupportMixin:
        """Nothing: there are no callbacks to support."""

    def with_callbacks(fit: Fit) -> Fit:
        """Return the method as it is."""
        return fit


SWITCH = "PATHFOREST_PROGRESS"  # environment variable: 0 shows no bars, 1 shows them in pipes and files too
DELAY = 1.0  # seconds before a bar appears: short work needs none
INTERVAL = 0.1  # seconds between two pictures of a bar
WIDTH = 80  # characters of a bar on a terminal that says it has none
# tqdm's own, with whole steps, because work reports fractions of them, and a space before the unit.
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]"
# Stages take so different times that nothing can be said of those to come.
STAGES = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total_fmt} stages [{elapsed}]"
COUNT = "{desc}: {n:,.0f}{unit} [{elapsed}]"  # of work whose end is not known

T = TypeVar("T", bound=tuple[Any, ...])
P = ParamSpec("P")
R = TypeVar("R")
Fit = TypeVar("Fit", bound=Callable[..., Any])


class Bar:
    """Work on the main thread, which may come to show a bar."""

    def __init__(self, total: float, description: str, unit: str) -> None:
        self._total, self._description, self._unit = total, description, unit
        self._done = self._expected = self._share = 0.0
        self._start = time.monotonic()
        self._next_picture = self._start + DELAY
        self._shown: Any = None
        self._note = ""

    def update(self, n: float = 1) -> None:
        """Report that `n` more steps are done."""
        self._done = min(self._done + n, self._total)
        self._expected = self._share = 0.0
        self._draw()

    def expect(self, n: float, name: str | None = None) -> None:
        """Announce the next piece of work: how many steps it is, and its name."""
        self._expected, self._share = n, 0.0
        if name is not None:
            self._description, self._note = name, ""
        self._draw()

    def note(self, text: str) -> None:
        """Say more about the piece of work."""
        self._note = text
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
            self._shown.set_description_str(self._description + self._note, refresh=False)
            self._shown.refresh()


SILENCE = Bar(0, "", "")  # for any number of workers at once
SILENCE._next_picture = float("inf")


_outermost: Bar | None = None


@contextmanager
def progress(total: float, description: str, unit: str = "models") -> Iterator[Any]:
    """Show how far long work has come, but not inside other such work or threads; no trace remains."""
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
def hidden_progress() -> Iterator[Bar]:
    """Show no bars meanwhile, for work that has a bar of its own."""
    global _outermost
    before, _outermost = _outermost, SILENCE
    try:
        yield SILENCE
    finally:
        _outermost = before


def note(text: str) -> None:
    """Have the bar that is shown say more about its piece of work."""
    if _outermost is not None:
        _outermost.note(f", {text}")


def say(text: str) -> None:
    """Print a line, as estimators do that are verbose; a bar makes room for it on the terminal."""
    if _outermost is not None:
        _outermost.hide()
    print(text, flush=True)


def _make_bar(total: float, unit: str, seconds: float) -> Any:
    """Make tqdm's bar of work that has taken some time, if a person watches."""
    notebook = {"ipykernel.zmqshell", "IPython.utils._process_emscripten"} & sys.modules.keys()
    stream = sys.stdout if notebook else sys.stderr  # the latter has a red background in a notebook
    is_watched = bool(notebook) or (stream is not None and stream.isatty())
    is_wanted = {"0": False, "1": True}.get(os.environ.get(SWITCH, ""), is_watched)
    # Several workers share one terminal.
    if not is_wanted or multiprocessing.current_process().name != "MainProcess" or not (tqdm := _find_tqdm()):
        return None
    # With a delay it draws nothing before the first refresh.
    form = COUNT if total == float("inf") else STAGES if unit == "stages" else FORMAT
    options = {"leave": False, "disable": False, "delay": 1e-9, "bar_format": form}
    bar = tqdm(total=total, unit=f" {unit}", file=stream, **options)
    bar.start_t -= seconds
    if not notebook and bar.ncols is not None and bar.ncols < 0:  # tqdm takes one from a size of 0 x 0
        bar.ncols, bar.nrows = WIDTH, None
    return bar


def _find_tqdm() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets it advises to install them; bars of text do
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
    return tqdm


def fitting(fit: Fit) -> Fit:
    """Make `fit` start unfitted, stay so if it fails, and report stages: `_n_stages`, `_has_steps`."""

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "sample_weight" in kwargs:
            raise TypeError(
                f"{type(self).__name__}.fit takes no sample_weight, because a path costs its longest step, "
                "however often a sample occurs; leave it out, or use FuzzyOPFClassifierCV(class_weight=...)"
            )
        reset(self)
        try:
            with _reported(self, args, kwargs):
                return fit(self, *args, **kwargs)
        except BaseException:
            reset(self)
            raise

    return with_callbacks(wrapper)


def reset(estimator: Any) -> None:
    """Drop all fitted state: public results, and data for predictions."""
    for name in list(vars(estimator)):
        if name.startswith("_fit_") or (name.endswith("_") and not name.startswith("_")):
            delattr(estimator, name)


class Stages:
    """Calls stages: ``stage(knn_graph, engine, k)``; reports each, and how long it took if verbose."""

    def __init__(self, estimator: Any, task: Any = None, bar: Any = SILENCE) -> None:
        self.estimator, self.task, self._bar = estimator, task, bar
        outer = _running.get()
        self.said: set[str] = set() if outer is None else outer.said  # of the outermost fit

    def __call__(self, stage: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        owner, name, context = type(self.estimator).__name__, stage.__name__.strip("_"), None
        title = name.replace("_", " ")
        # Other stages have several loops, of which the core knows one at a time.
        self._bar.expect(1 if title == "knn graph" else 0, f"{owner}: {title}")
        if self.task:
            context = self.task.subcontext(task_name=title)
            context.call_on_fit_task_begin(estimator=self.estimator)
        start = time.perf_counter()
        result = stage(*args, **kwargs)
        if self.estimator.verbose:
            say(f"{owner}: {name} took {time.perf_counter() - start:.3f} s")
        self._bar.update()
        if context:
            context.call_on_fit_task_end(estimator=self.estimator)
        return result


_running: ContextVar[Stages | None] = ContextVar("_running", default=None)


def stages_of(estimator: Any) -> Stages:
    """Return what calls the stages of an estimator: of the fit that runs, else one that reports nothing."""
    running = _running.get()
    return running if running is not None and running.estimator is estimator else Stages(estimator)


def is_first(topic: str) -> bool:
    """Say whether a topic is new to the outermost fit that runs; always where none does."""
    running = _running.get()
    if running is None:
        return True
    is_new = topic not in running.said
    running.said.add(topic)
    return is_new


@contextmanager
def _reported(estimator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Show a bar of the stages of a fit, and report them to scikit-learn's callbacks."""
    n_stages, has_steps = getattr(estimator, "_n_stages", None), getattr(estimator, "_has_steps", False)
    outer = getattr(estimator, "_parent_callback_ctx", None)  # of the pipeline or search that fits it
    callbacks = [*getattr(estimator, "_skl_callbacks", ()), *getattr(outer, "_callbacks", ())]
    task, data = None, dict(zip(("X", "y"), args, strict=False)) | kwargs
    data = {name: data.get(name) for name in ("X", "y")}
    if callbacks:
        task = estimator._init_callback_context(max_subtasks=n_stages)
        task.call_on_fit_task_begin(estimator=estimator, **data)
    shown: Any = nullcontext(SILENCE)  # the stages show bars, or are too short for one
    if any(isinstance(callback, ProgressBar) for callback in callbacks):
        shown = hidden_progress()
    elif n_stages and not has_steps:
        shown = progress(n_stages, type(estimator).__name__, "stages")
    with shown as bar:
        token = _running.set(Stages(estimator, task, bar))
        try:
            yield
        finally:
            _running.reset(token)
    if task:
        # The estimator is complete, so a copy of it needs no more attributes.
        complete = {} if hasattr(estimator, "predict") else None
        task.call_on_fit_task_end(estimator=estimator, **data, reconstruction_attributes=complete)
