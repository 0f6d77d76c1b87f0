"""One call of `fit`, as others see it: times for the logger, a bar, callbacks of scikit-learn 1.9."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pathforest._utils.progress import Progress, clear_line, hidden_progress, progress

try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar, with_callbacks
except ImportError:  # scikit-learn before 1.9
    ProgressBar: Any = ()

    class CallbackSupportMixin:
        """Nothing: there are no callbacks to support."""

    def with_callbacks(fit: Fit) -> Fit:
        """Return the method as it is."""
        return fit


logger = logging.getLogger("pathforest")

P = ParamSpec("P")
T = TypeVar("T")
Fit = TypeVar("Fit", bound=Callable[..., Any])


def fitting(fit: Fit) -> Fit:
    """Make `fit` start from an unfitted estimator, leave one if it fails, and report on its stages.

    The class says in `_n_stages` how many there are at most, and in `_has_steps` whether they have bars of
    their own, by :func:`steps`.
    """

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        reset(self)
        try:
            with _reported(self, args, kwargs):
                return fit(self, *args, **kwargs)
        except BaseException:
            reset(self)
            raise

    return with_callbacks(wrapper)


def is_fitted_name(name: str) -> bool:
    """Say whether an attribute of this name is fitted state: a public result, or data for predictions."""
    return name.startswith("_fit_") or (name.endswith("_") and not name.startswith("_"))


def reset(estimator: Any) -> None:
    """Drop all fitted state."""
    for name in filter(is_fitted_name, list(vars(estimator))):
        delattr(estimator, name)


class Stages:
    """Calls the stages of a fit, reports each and, if the estimator is verbose, logs how long it took.

    ``stage(knn_graph, engine, k)`` is ``knn_graph(engine, k)``, so `_fit` still reads as a list of stages.
    """

    def __init__(self, estimator: Any, task: Any = None, bar: Any = None) -> None:
        self.estimator, self.task, self._bar = estimator, task, bar

    def __call__(self, stage: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        owner, name, context = type(self.estimator).__name__, stage.__name__.strip("_"), None
        title = name.replace("_", " ")
        if self._bar is not None:
            # Other stages have several loops, of which the core knows one at a time.
            self._bar.expect(1 if title == "knn graph" else 0, f"{owner}: {title}")
            if self.task:
                context = self.task.subcontext(task_name=title)
                context.call_on_fit_task_begin(estimator=self.estimator)
        start = time.perf_counter()
        result = stage(*args, **kwargs)
        if self.estimator.verbose:
            clear_line()
            logger.info("%s: %s took %.3f s", owner, name, time.perf_counter() - start)
        if self._bar is not None:
            self._bar.update()
        if context:
            context.call_on_fit_task_end(estimator=self.estimator)
        return result


_running: ContextVar[Stages | None] = ContextVar("_running", default=None)


def stages_of(estimator: Any) -> Stages:
    """Return what calls the stages of an estimator: of the fit that runs, else one that reports nothing."""
    running = _running.get()
    return running if running is not None and running.estimator is estimator else Stages(estimator)


class Steps:
    """A bar of a stage with many steps, each of which is a task for callbacks."""

    def __init__(self, bar: Progress, estimator: Any, task: Any) -> None:
        self._bar, self._estimator, self._task = bar, estimator, task
        self._done, self._told = 0.0, 0

    def update(self, n: float = 1) -> None:
        """Report that `n` more steps are done."""
        self._bar.update(n)
        self._done += n
        # Fractions of steps add up with some rounding.
        while self._told < min(int(self._done + 1e-6), self._task.max_subtasks):
            self._told += 1
            step = self._task.subcontext(task_name="model").call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)


@contextmanager
def steps(total: int, name: str) -> Iterator[Progress]:
    """Show a bar of a stage that trains many models, and report each to the callbacks of the fit."""
    running = _running.get()
    with progress(total, f"pathforest {name}") as bar:
        if running is None or running.task is None:
            yield bar
            return
        task = running.task.subcontext(task_name=name, max_subtasks=total)
        task.call_on_fit_task_begin(estimator=running.estimator)
        yield Steps(bar, running.estimator, task)
        task.call_on_fit_task_end(estimator=running.estimator)


@contextmanager
def _reported(estimator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Show a bar of the stages of a fit, and report them to scikit-learn's callbacks."""
    task, data = None, dict(zip(("X", "y"), args, strict=False)) | kwargs
    data = {name: data.get(name) for name in ("X", "y")}
    if _callbacks_of(estimator):
        task = estimator._init_callback_context(max_subtasks=getattr(estimator, "_n_stages", 0))
        task.call_on_fit_task_begin(estimator=estimator, **data)
    with _bar_of(estimator) as bar:
        token = _running.set(Stages(estimator, task, bar))
        try:
            yield
        finally:
            _running.reset(token)
    if task:
        # The estimator is complete, so a copy of it needs no more attributes.
        complete = {} if hasattr(estimator, "predict") else None
        task.call_on_fit_task_end(estimator=estimator, **data, reconstruction_attributes=complete)


def _callbacks_of(estimator: Any) -> list[Any]:
    """List the callbacks of an estimator, and of the pipeline or search that fits it."""
    outer = getattr(estimator, "_parent_callback_ctx", None)
    return [*getattr(estimator, "_skl_callbacks", ()), *getattr(outer, "_callbacks", ())]


@contextmanager
def _bar_of(estimator: Any) -> Iterator[Any]:
    """Give the stages of an estimator a bar, unless scikit-learn or the stages themselves show one."""
    n_stages, has_steps = getattr(estimator, "_n_stages", 0), getattr(estimator, "_has_steps", False)
    if any(isinstance(callback, ProgressBar) for callback in _callbacks_of(estimator)):
        with hidden_progress(), progress(n_stages, "") as bar:
            yield None if has_steps else bar
    elif has_steps or not n_stages:
        yield None
    else:
        with progress(n_stages, type(estimator).__name__, "stages") as bar:
            yield bar
