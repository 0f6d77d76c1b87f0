"""From the name of a metric to the engine that answers questions about its distances.

===================  ==================================================  ============
metric               distance between a and b                            engine
===================  ==================================================  ============
``euclidean, l2``    root of the sum of (a - b)^2                        tree, brute
``sqeuclidean``      sum of (a - b)^2                                    tree, brute
``log_sqeuclidean``  1e5 log(1 + sum of (a - b)^2), LibOPF's default     tree, brute
``manhattan``        sum of abs(a - b); also ``l1``, ``cityblock``       tree, brute
``chebyshev``        largest abs(a - b)                                  tree, brute
``minkowski``        p-th root of the sum of abs(a - b)^p, p >= 1        tree, brute
``cosine``           1 - a.b / (norm of a times norm of b)               brute
``chi2``             sum of (a - b)^2 / (a + b), features >= 0           brute
``canberra``         sum of abs(a - b) / (abs(a) + abs(b))               brute
``braycurtis``       sum of abs(a - b) / sum of (a + b), features >= 0   brute
any other            :func:`sklearn.metrics.pairwise_distances`          full matrix
a callable           what it returns for two rows                        full matrix
``precomputed``      X is the matrix of distances                        full matrix
===================  ==================================================  ============

A full matrix takes 8 n^2 bytes during `fit`. A verbose estimator logs its size before it is built, and above
1 GiB a warning names it in any case.

Squares of differences below about 1e-154 underflow to 0: rescale such features.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from pathforest import _core
from pathforest._core import Engine
from pathforest._matrix import check_distances, complete_metric, distance_matrix, symmetric
from pathforest._ranges import check_features
from pathforest._validation import check_parameter

# "nan_euclidean" skips missing features; they are refused here, and without them it is Euclidean.
ALIASES = {"l2": "euclidean", "nan_euclidean": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}

# What sklearn.metrics.pairwise_distances knows beyond the engines' own metrics (scikit-learn 1.6 to 1.9), and
# the parameters of each.
MATRIX_METRICS = {
    "correlation": ("w",),
    "dice": ("w",),
    "hamming": ("w",),
    "haversine": (),
    "jaccard": ("w",),
    "mahalanobis": ("VI",),
    "matching": ("w",),
    "rogerstanimoto": ("w",),
    "russellrao": ("w",),
    "seuclidean": ("V",),
    "sokalsneath": ("w",),
    "yule": ("w",),
}

# Metrics that take no negative values.
NONNEGATIVE = ("braycurtis", "chi2", "precomputed")

# Up to this many features a search tree visits few enough of its nodes to beat a vectorised scan: the two
# were level between 7 (overlapping Gaussians) and 16 (separate ones) for 5,000 to 20,000 samples.
TREE_MAX_FEATURES = 8


class Metric(NamedTuple):
    """A metric after its name and parameters have been checked.

    It is kept by fitted models, as a plain tuple, so that a later `set_params` cannot change their answers.
    """

    name: str | Callable[..., float]  # canonical: no alias, no p = 1, 2 or infinity
    kind: str  # "features" (an engine computes it), "matrix" (from X, in full) or "precomputed"
    p: float = 2.0  # exponent of "minkowski"
    params: Mapping[str, Any] = {}  # keyword arguments of a "matrix" metric

    @property
    def squared(self) -> bool:
        """Whether the distance is a square already, so that the density of Eq. 3 does not square it again."""
        return self.name in ("sqeuclidean", "log_sqeuclidean")

    @property
    def nonnegative(self) -> bool:
        """Whether X must not hold negative values."""
        return self.name in NONNEGATIVE


def resolve_metric(
    metric: str | Callable[..., float], metric_params: Mapping[str, Any] | None = None
) -> Metric:
    """Check a metric and its parameters, and reduce aliases to one name.

    Parameters
    ----------
    metric : str or callable
        One of the names in this module's table, or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.

    Returns
    -------
    Metric
        With copies of the parameters, so that it stays as it is when the caller changes them.

    Examples
    --------
    >>> from pathforest.distances import resolve_metric
    >>> resolve_metric("l1").name
    'manhattan'
    >>> resolve_metric("minkowski", {"p": 3}).p
    3.0
    """
    if metric_params is not None and not isinstance(metric_params, Mapping):
        raise TypeError(f"metric_params={metric_params!r} must be None or a dict, such as {{'p': 3}}")
    params = copy.deepcopy(dict(metric_params or {}))
    if callable(metric):
        _check_signature(metric, params)
        return Metric(metric, "matrix", params=params)
    if not isinstance(metric, str):
        raise TypeError(f"metric={metric!r} must be the name of a metric or a callable of two rows")
    name = ALIASES.get(metric, metric)
    if name == "minkowski":
        return _resolve_minkowski(params)
    if name in MATRIX_METRICS:
        _check_names(name, params, MATRIX_METRICS[name])
        return Metric(name, "matrix", params=params)
    if name not in (*_core.METRICS_BRUTE, "precomputed"):
        known = sorted({*_core.METRICS_BRUTE, *MATRIX_METRICS, *ALIASES, "precomputed"})
        raise ValueError(
            f"metric={metric!r} is unknown; use a callable of two rows or one of {', '.join(known)}"
        )
    _check_names(metric, params, ())
    return Metric(name, "precomputed" if name == "precomputed" else "features")


def _check_names(metric: str, params: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse parameters that a named metric does not have."""
    if params.keys() - set(known):
        taken, rest = (f"only {' and '.join(known)} in", "others") if known else ("no", "parameters")
        raise ValueError(
            f"metric={metric!r} takes {taken} metric_params, got {params!r}; leave the {rest} out, or pass a "
            "callable as metric"
        )


def _check_signature(metric: Callable[..., float], params: Mapping[str, Any]) -> None:
    """Refuse a function that cannot be called with two rows and the parameters."""
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):  # some compiled functions do not tell theirs
        return
    try:
        signature.bind(None, None, **params)
    except TypeError as error:
        raise TypeError(
            f"metric={metric!r} cannot be called with two rows and metric_params={params!r}: {error}; pass a "
            "function of two rows, and in metric_params only what it takes"
        ) from None


def _resolve_minkowski(params: dict[str, Any]) -> Metric:
    """Minkowski's p chooses among four engines' metrics; weights need the full matrix."""
    p = params.get("p", 2)
    if isinstance(p, bool) or not isinstance(p, Real):
        raise TypeError(
            f"metric_params={params!r}: p must be a number, not {type(p).__name__}; p=2 is Euclidean"
        )
    if not p >= 1:
        raise ValueError(f"metric_params={params!r}: p must be at least 1; p=1 is Manhattan, p=2 Euclidean")
    _check_names("minkowski", params, ("p", "w"))
    if "w" in params:
        return Metric("minkowski", "matrix", params={"p": float(p), "w": params["w"]})
    if name := {1: "manhattan", 2: "euclidean", math.inf: "chebyshev"}.get(float(p)):
        return Metric(name, "features")
    return Metric("minkowski", "features", p=float(p))


def check_algorithm(metric: Metric, algorithm: str) -> None:
    """Refuse an unknown algorithm, and the tree for a metric it lacks."""
    check_parameter("algorithm", algorithm)
    if algorithm == "tree" and (metric.kind != "features" or metric.name not in _core.METRICS_TREE):
        raise ValueError(
            f"algorithm='tree' does not know metric={metric.name!r}, only {', '.join(_core.METRICS_TREE)}; "
            "use algorithm='auto' or one of these metrics"
        )


def choose_algorithm(metric: Metric, n_features: int, algorithm: str = "auto") -> str:
    """Return ``"tree"`` or ``"brute"`` for a metric on `n_features` features.

    ``"auto"`` takes the tree where it knows the metric and the features are few (`TREE_MAX_FEATURES`).
    Both give the same answers, bit for bit; only time and memory differ.

    Examples
    --------
    >>> from pathforest.distances import choose_algorithm, resolve_metric
    >>> choose_algorithm(resolve_metric("euclidean"), n_features=2)
    'tree'
    >>> choose_algorithm(resolve_metric("euclidean"), n_features=64)
    'brute'
    """
    check_algorithm(metric, algorithm)
    if algorithm != "auto":
        return algorithm
    return "tree" if metric.name in _core.METRICS_TREE and n_features <= TREE_MAX_FEATURES else "brute"


# Who builds engines over features, where it is not this process that computes the distances.
_maker: ContextVar[Callable[[np.ndarray, Metric, str], Any] | None] = ContextVar("_maker", default=None)


@contextmanager
def engines_made_by(make: Callable[[np.ndarray, Metric, str], Any]) -> Iterator[None]:
    """Have models that are fitted meanwhile ask engines of another kind.

    ``make(X, metric, algorithm)`` returns an object with the methods and properties of
    :class:`pathforest._core.Engine` that a `fit` uses, and with its answers; `algorithm` is ``"tree"`` or
    ``"brute"``, what would be used here, and the engine's `name`.
    """
    token = _maker.set(make)
    try:
        yield
    finally:
        _maker.reset(token)


def build_engine(
    X: np.ndarray,
    metric: Metric,
    algorithm: str = "auto",
    n_threads: int = 1,
    verbose: int = 0,
    keep_order: bool = False,
    device: str = "cpu",
) -> Engine:
    """Build the engine for samples, or a distance matrix, that have been checked.

    `keep_order` has a scan go through the samples as given, for those that hold the likeliest answers first.
    """
    if device != "cpu":
        return _build_on_device(X, metric, algorithm, device)
    if metric.kind == "precomputed":
        return Engine.precomputed(symmetric(X))
    if metric.kind == "matrix":
        return Engine.precomputed(distance_matrix(X, metric, verbose))
    chosen = choose_algorithm(metric, X.shape[1], algorithm)
    if (make := _maker.get()) is not None:
        return make(X, metric, chosen)
    return features_engine(X, metric, chosen, n_threads, keep_order)


def features_engine(
    X: np.ndarray, metric: Metric, algorithm: str, n_threads: int = 1, keep_order: bool = False
) -> Engine:
    """Build the engine of this process over features; `algorithm` is ``"tree"`` or ``"brute"``."""
    if algorithm == "tree":
        return Engine.tree(X, metric.name, metric.p, n_threads)
    return Engine.brute(X, metric.name, metric.p, keep_order, n_threads)


def _build_on_device(X: np.ndarray, metric: Metric, algorithm: str, device: str) -> Any:
    if metric.kind != "features":
        raise ValueError(
            f"metric={metric.name!r} is not computed on a device; use device='cpu', or metric='euclidean'"
        )
    if _maker.get() is not None:
        raise ValueError(f"device={device!r} is not for clusters; use device='cpu', or the local class")
    from pathforest.gpu.engine import TorchEngine  # imported by those who ask for it

    return TorchEngine(X, metric, choose_algorithm(metric, X.shape[1], algorithm), device)


def make_engine(
    X: Any,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
) -> Engine:
    """Build the engine that answers every question about distances between samples.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or their distances for ``metric="precomputed"``. float32 stays float32; other types are
        converted to float64.
    metric : str or callable, default="euclidean"
        One of the names in this module's table, or a function of two rows.
    metric_params : dict, default=None
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    algorithm : {"auto", "tree", "brute"}, default="auto"
        How distances are searched. It changes speed, never answers.

    Returns
    -------
    engine : pathforest._core.Engine
        Immutable, and safe to share between threads.

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> engine = make_engine([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> engine.name, engine.n_samples
    ('tree', 3)
    """
    resolved = resolve_metric(metric, metric_params)
    check_algorithm(resolved, algorithm)
    X = check_array(X, input_name="X", **array_options(resolved))
    check_training_values(X, resolved)
    return build_engine(X, complete_metric(resolved, X), algorithm)


def check_training_values(X: np.ndarray, metric: Metric, squares: bool = False) -> None:
    """Refuse values the metric cannot take; `squares` says that a density will square its distances."""
    if metric.kind == "precomputed":
        check_distances(X, square=True, squares=squares)
    elif metric.kind == "features":
        check_features(X, metric, squares)


def array_options(metric: Metric) -> dict[str, Any]:
    """Arguments of scikit-learn's array checks for this metric."""
    return {
        "dtype": np.float64 if metric.kind == "matrix" else [np.float64, np.float32],
        "order": "C",
    }
