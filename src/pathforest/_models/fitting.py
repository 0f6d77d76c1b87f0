"""One call of `fit`, as others see it: a progress bar, and the callbacks of scikit-learn 1.9 and later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ClassVar, TypeVar

from pathforest._utils.progress import Progress, hidden_progress, progress
from pathforest._utils.timers import reporter

try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar, with_callbacks
except ImportError:  # scikit-learn before 1.9
    ProgressBar: Any = ()

    class CallbackSupportMixin:
        """Nothing: there are no callbacks to support."""

    def with_callbacks(fit: Fit) -> Fit:
        """Return the method as it is."""
        return fit


Fit = TypeVar("Fit", bound=Callable[..., Any])


class ReportingEstimator(CallbackSupportMixin):
    """An estimator whose `fit`, decorated by :func:`reported`, consists of stages."""

    _n_stages: ClassVar[int] = 0  # the most that `fit` has
    _has_steps: ClassVar[bool] = False  # whether they have bars of their own, by :func:`steps`


def reported(fit: Fit) -> Fit:
    """Let `fit` show a bar of its stages, and tell scikit-learn's callbacks of them."""

    @wraps(fit)
    def wrapper(self: ReportingEstimator, *args: Any, **kwargs: Any) -> Any:
        task, data = None, dict(zip(("X", "y"), args, strict=False)) | kwargs
        data = {name: data.get(name) for name in ("X", "y")}
        if _callbacks_of(self):
            task = self._init_callback_context(max_subtasks=self._n_stages)
            task.call_on_fit_task_begin(estimator=self, **data)
        with _bar_of(self) as bar:
            stages = Stages(self, task, bar)
            tokens = _running.set(stages), reporter.set(stages if bar else None)
            try:
                fitted = fit(self, *args, **kwargs)
            finally:
                _running.reset(tokens[0])
                reporter.reset(tokens[1])
        if task:
            # The estimator is complete, so a copy of it needs no more attributes.
            complete = {} if hasattr(self, "predict") else None
            task.call_on_fit_task_end(estimator=self, **data, reconstruction_attributes=complete)
        return fitted

    return with_callbacks(wrapper)


class Stages:
    """The stages of one fit, reported as they come."""

    def __init__(self, estimator: ReportingEstimator, task: Any, bar: Any) -> None:
        self.estimator, self.task, self._bar, self._stage = estimator, task, bar, None

    def begin(self, name: str) -> None:
        """Report that a stage begins."""
        # Other stages have several loops, of which the core knows one at a time.
        n = 1 if name == "knn graph" else 0
        self._bar.expect(n, f"{type(self.estimator).__name__}: {name}")
        if self.task:
            self._stage = self.task.subcontext(task_name=name)
            self._stage.call_on_fit_task_begin(estimator=self.estimator)

    def end(self) -> None:
        """Report that it has ended."""
        self._bar.update()
        if self._stage:
            self._stage.call_on_fit_task_end(estimator=self.estimator)


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


_running: ContextVar[Stages | None] = ContextVar("_running", default=None)


def _callbacks_of(estimator: Any) -> list[Any]:
    """List the callbacks of an estimator, and of the pipeline or search that fits it."""
    outer = getattr(estimator, "_parent_callback_ctx", None)
    return [*getattr(estimator, "_skl_callbacks", ()), *getattr(outer, "_callbacks", ())]


@contextmanager
def _bar_of(estimator: Any) -> Iterator[Any]:
    """Give the stages of an estimator a bar, unless scikit-learn or the stages themselves show one."""
    if any(isinstance(callback, ProgressBar) for callback in _callbacks_of(estimator)):
        with hidden_progress(), progress(estimator._n_stages, "") as bar:
            yield None if estimator._has_steps else bar
    elif estimator._has_steps or not estimator._n_stages:
        yield None
    else:
        with progress(estimator._n_stages, type(estimator).__name__, "stages") as bar:
            yield bar
