"""Models that grow: samples come and leave, labels change, and every array equals that of a new fit.

What `fit` computes from neighbour lists and the spanning tree is cheap, and is computed again. The lists and
the tree are updated, by :class:`pathforest._engines.growing.GrowingEngine`.

`_fit_grown` of a model has what the next call needs, as files can store it. After `fit` that is, of
classifiers, the labels as they were given, ``values`` and ``codes``. After `partial_fit` there are also the
classes that were ``named``, the ``magnitude`` that no feature exceeds and, if the model uses them, the
neighbour lists ``distances`` and ``indices`` and the spanning tree ``source``, ``target`` and ``weight``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pathforest._engines.engine import KnnGraph, SpanningTree
from pathforest._engines.growing import GrowingEngine, Known, Parts
from pathforest._engines.metric import Metric, array_options, choose_algorithm
from pathforest._engines.samples import (
    SVD,
    check_features,
    check_spread,
    from_torch,
    is_sparse,
    magnitude,
    validated,
)
from pathforest._models.base import FitData, OPFEstimator, check_training, warn_of_units
from pathforest._models.labels import Labels, check_labels
from pathforest._utils.checks import check_sample_indices
from pathforest._utils.progress import reset
from pathforest._utils.text import show

Change = TypeVar("Change", bound=Callable[..., Any])

# They describe the columns, and stay as earlier calls have set them.
COLUMNS = ("n_features_in_", "feature_names_in_", "label_name_")


def unchanged_on_failure(change: Change) -> Change:
    """Make a method leave the estimator as it was if it fails or is interrupted."""

    @wraps(change)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return change(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return wrapper


class Growing(OPFEstimator):
    """An estimator that takes and removes samples after `fit`."""

    @unchanged_on_failure
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add samples: every fitted array is then that of a `fit` to all samples so far, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples. Those of later calls get the type of the first, float32 or float64.
        y : None
            Ignored; there so that pipelines can pass it.

        Returns
        -------
        self : object
            The estimator. If the call fails or is interrupted, it stays as it was.
        """
        return retrain(self, *add(self, X))

    @unchanged_on_failure
    def forget(self, indices: Any) -> Self:
        """Remove samples: every fitted array is then that of a `fit` to those that remain, in their order.

        Parameters
        ----------
        indices : array-like of int
            Indices of samples, in the order in which they came. Afterwards the remaining ones are counted
            from 0 again.

        Returns
        -------
        self : object
            The estimator. If the call fails or is interrupted, it stays as it was.
        """
        grown, known = growth(self, "forget")
        n = len(self._fit_X)
        leaving = np.zeros(n, dtype=bool)
        leaving[_check_indices(indices, n)] = True
        if leaving.all():
            raise ValueError(
                f"all {n} samples would leave, and a model needs one; fit to other samples instead"
            )
        if "codes" in grown:
            labels = Labels(grown["values"], grown["codes"][~leaving]).in_use(grown["named"])
            grown = grown | labels._asdict()
        return retrain(self, self._fit_X[~leaving], grown, known.without(leaving))

    def save(self, path: Any, *, growable: bool = False) -> None:
        if growable:
            growth(self, "growable=True")
        super().save(path, growable=growable)


def add(
    model: Growing, X: Any, add_labels: Callable[[dict[str, Any], int], dict[str, Any]] = lambda *_: {}
) -> tuple[np.ndarray, dict[str, Any], Known, np.ndarray | None]:
    """Return what :func:`retrain` takes when samples come.

    `add_labels` gets what was kept and the number of new samples, and returns what their labels change in it.
    """
    settings = model._settings()
    _check_grows(settings.metric, X)
    if "_fit_algorithm" not in vars(model):
        X, metric = check_training(model, X, settings)
        warn_of_units(model, X, metric)
        grown: dict[str, Any] = {"magnitude": magnitude(X)}
        return X, grown | add_labels(grown, len(X)), Known(), None
    grown, known = growth(model, "partial_fit")
    metric, _, squares = settings
    with np.errstate(over="ignore"):  # what is too large for float32 is refused as infinite
        options = {**array_options(metric), "dtype": model._fit_X.dtype}
        new = validated(model, from_torch(X), reset=False, **options)
    largest = grown.get("magnitude") or magnitude(model._fit_X)
    check_features(new, metric, squares)  # among each other
    check_features(new, metric, squares, model._fit_X, largest)
    grown = grown | {"magnitude": max(largest, magnitude(new))} | add_labels(grown, len(new))
    n, stop, buffer = len(model._fit_X), len(model._fit_X) + len(new), model._fit_cache.get("buffer")
    if buffer is None or len(buffer) < stop:
        # Twice as much, so that a sample is seldom copied; the system hands out memory as it is used.
        buffer = np.empty((max(stop, 2 * n), new.shape[1]), dtype=model._fit_X.dtype)
        buffer[:n] = model._fit_X
    buffer[n:stop] = new
    return buffer[:stop], grown, known, buffer


def changed_labels(
    model: Growing, indices: Any, y: Any
) -> tuple[np.ndarray, dict[str, Any], Known, np.ndarray | None]:
    """Return what :func:`retrain` takes when samples get other labels."""
    grown, known = growth(model, "set_labels")
    n = len(model._fit_X)
    chosen = _check_indices(indices, n)
    labels = Labels.of(check_labels(y) if np.size(y) else grown["values"][:0])
    check_consistent_length(chosen, labels.codes)
    both = Labels(grown["values"], grown["codes"]).extended(labels)
    codes = both.codes[:n].copy()
    codes[chosen] = both.codes[n:]
    labels = Labels(both.values, codes).in_use(grown["named"])
    return model._fit_X, grown | labels._asdict(), known, model._fit_cache.get("buffer")


def growth(model: Growing, wish: str) -> tuple[dict[str, Any], Known]:
    """Return what is kept for growing, as it is in files and as engines take it."""
    check_is_fitted(model)
    _check_grows(Metric(*model._fit_metric), model._fit_X)
    grown = vars(model).get("_fit_grown")
    if grown is None:
        raise ValueError(
            f"{wish} needs labels, neighbour lists or the spanning tree, and this {type(model).__name__} "
            "has not kept them: it comes from a file. Save models with growable=True, or fit to all samples"
        )
    graph = tree = None
    if grown.get("indices") is not None:
        graph = KnnGraph(*(grown[name] for name in KnnGraph._fields))
    if grown.get("weight") is not None:
        tree = SpanningTree(*(grown[name] for name in SpanningTree._fields))
    n = len(model._fit_X)
    return grown, Known(n, graph, tree, model._fit_cache.get("parts", Parts((0, n))))


def retrain(
    model: Growing, X: np.ndarray, grown: dict[str, Any], known: Known, buffer: np.ndarray | None = None
) -> Any:
    """Fit to samples, the first of which are known, and keep what the next call needs."""
    settings = model._settings()
    metric = settings.metric
    _check_grows(metric, X)
    if tuple(metric) != vars(model).get("_fit_metric", tuple(metric)):
        if not metric.takes_gaps:
            assert_all_finite(X, input_name="X")
        check_features(X, metric, settings.squares)
        known = Known()
    check_spread(X, metric, settings.squares)
    columns = {name: value for name, value in vars(model).items() if name in COLUMNS}
    reset(model)
    vars(model).update(columns)
    labels = Labels(grown["values"], grown["codes"]) if "codes" in grown else None
    data = FitData(model, X, settings, labels)
    chosen = choose_algorithm(metric, X.shape[1], model.algorithm)
    data.engine = engine = GrowingEngine(X, known, metric, chosen, settings.n_threads, model.device)
    model._fit(data)
    after = engine.remembered()
    graph, tree = after.graph or KnnGraph(None, None), after.tree or SpanningTree(None, None, None)
    model._fit_grown = grown | graph._asdict() | tree._asdict()
    model._fit_cache |= {"parts": after.parts, "buffer": buffer}
    return model


def _check_indices(indices: Any, n: int) -> np.ndarray:
    """Return indices of samples; there may be none."""
    # numpy takes [] for real numbers
    return check_sample_indices("indices", indices if np.size(indices) else np.empty(0, np.int32), n)


def _check_grows(metric: Metric, X: Any) -> None:
    """Refuse sparse samples, and metrics whose distances are a given matrix or change with the samples."""
    if is_sparse(X):
        raise ValueError(f"models of sparse matrices cannot grow; fit to all samples again, or {SVD}")
    if metric.grows:
        return
    reason = "it is a full matrix of distances" if metric.kind != "features" else "it learns from all samples"
    raise ValueError(
        f"metric={show(metric.name)} cannot grow: {reason}; fit to all samples again, or use one of the "
        "metrics with an engine of their own, such as 'euclidean'"
    )
