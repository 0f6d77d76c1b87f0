"""From the name of a metric and its parameters to one checked description of it."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._tables.columns import Coded, is_text
from pathforest._utils.checks import check_choice
from pathforest._utils.text import shorten, show

ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}

# Metrics of matrices that are defined for booleans only.
BOOLEAN_METRICS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")

# What sklearn.metrics.pairwise_distances knows beyond the engines' own metrics (scikit-learn 1.6 to 1.9), and
# the parameters of each.
MATRIX_METRICS = {"haversine": (), "mahalanobis": ("VI",), "seuclidean": ("V",)} | dict.fromkeys(
    ("correlation", "hamming", "matching", *BOOLEAN_METRICS), ("w",)
)

# Metrics that take no negative values.
NONNEGATIVE = ("braycurtis", "chi2", "precomputed")

# Metrics that take missing values, NaN.
WITH_GAPS = ("gower", "nan_euclidean")

# Metrics that take sparse matrices.
SPARSE_METRICS = ("cosine", "euclidean", "sqeuclidean")

# Metrics that a device computes.
DEVICE_METRICS = ("euclidean", "sqeuclidean", "log_sqeuclidean", "cosine")

# Parameters of "gower".
GOWER_PARAMS = ("categorical", "ranges", "weights")

# The parameter that these metrics learn from the training samples, unless it is given.
LEARNED = {"gower": "ranges", "mahalanobis": "VI", "seuclidean": "V"}

# Up to this many features a search tree visits few enough of its nodes to beat a vectorised scan: the two
# were level between 7 (overlapping Gaussians) and 16 (separate ones) for 5,000 to 20,000 samples.
TREE_MAX_FEATURES = 8

# How distances between features are searched.
ALGORITHMS = ("auto", "kd_tree", "brute")


class Metric(NamedTuple):
    """A checked metric, kept by models as a plain tuple: a later `set_params` cannot change their answers."""

    name: str | Callable[..., float]  # canonical: no alias, no p = 1, 2 or infinity
    kind: str  # "features" (an engine computes it), "matrix" (from X, in full) or "precomputed"
    p: float = 2.0  # exponent of "minkowski"
    params: Mapping[str, Any] = {}  # keyword arguments of a "matrix" metric; those of "gower"

    @property
    def squared(self) -> bool:
        """Whether the distance is a square already, so that the density of Eq. 3 does not square it again."""
        return self.name in ("sqeuclidean", "log_sqeuclidean")

    @property
    def takes_gaps(self) -> bool:
        """Whether X may hold missing values."""
        return self.name in WITH_GAPS

    @property
    def learns(self) -> bool:
        """Whether something of it is still to be learned from the training samples: variances, ranges."""
        return self.name in LEARNED and self.params.get(LEARNED[self.name]) is None

    @property
    def grows(self) -> bool:
        """Whether an engine computes it, and distances stay as they are when samples come or leave."""
        return self.kind == "features" and self.name not in LEARNED


def resolve_metric(
    metric: str | Callable[..., float], metric_params: Mapping[str, Any] | None = None
) -> Metric:
    """Check a metric and its parameters, and reduce aliases to one name.

    Parameters
    ----------
    metric : str or callable
        Distance between samples: a name from :mod:`pathforest.distances`, ``"precomputed"`` if X is a matrix
        of distances, or a function of two rows. Metrics without an engine of their own take 8 n^2 bytes.
        ``"log_sqeuclidean"`` is that of LibOPF and the paper; ``"gower"`` takes text and missing values.
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
        raise TypeError(f"metric_params={show(metric_params)} must be None or a dict, such as {{'p': 3}}")
    params = copy.deepcopy(dict(metric_params or {}))
    if callable(metric):
        _check_signature(metric, params)
        return Metric(metric, "matrix", params=params)
    if not isinstance(metric, str):
        raise TypeError(f"metric={show(metric)} must be the name of a metric or a callable of two rows")
    name = ALIASES.get(metric, metric)
    if name == "minkowski":
        return _resolve_minkowski(params)
    if name in MATRIX_METRICS:
        _check_names(name, params, MATRIX_METRICS[name])
        return Metric(name, "matrix", params=params)
    if name == "gower":
        _check_names(name, params, GOWER_PARAMS)
        return Metric(name, "features", params={k: v for k, v in params.items() if v is not None})
    if name not in (*_core.METRICS_BRUTE, "precomputed"):
        known = sorted({*_core.METRICS_BRUTE, *MATRIX_METRICS, *ALIASES, "precomputed"})
        raise ValueError(
            f"metric={show(metric)} is unknown; use a callable of two rows or one of {', '.join(known)}"
        )
    _check_names(metric, params, ())
    return Metric(name, "precomputed" if name == "precomputed" else "features")


def before_learning(completed: Metric, asked: Metric) -> Metric:
    """Return a completed metric without what it learned from the samples, where `asked` left that to it."""
    if not asked.learns:
        return completed
    known = {k: v for k, v in completed.params.items() if k != LEARNED[asked.name]}
    return completed._replace(params=known)


def _check_names(metric: str, params: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse parameters that a named metric does not have."""
    if params.keys() - set(known):
        taken, rest = (f"only {' and '.join(known)} in", "others") if known else ("no", "parameters")
        raise ValueError(
            f"metric={show(metric)} takes {taken} metric_params, got {show(params)}; leave the {rest} out, "
            "or pass a callable as metric"
        )


def _check_signature(metric: Callable[..., float], params: Mapping[str, Any]) -> None:
    """Refuse a function that cannot be called with two rows and the parameters."""
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):  # some compiled functions do not report theirs
        return
    try:
        signature.bind(None, None, **params)
    except TypeError as error:
        raise TypeError(
            f"metric={show(metric)} cannot be called with two rows and metric_params={show(params)}: "
            f"{shorten(str(error))}; pass a function of two rows, and in metric_params only what it takes"
        ) from None


def _resolve_minkowski(params: dict[str, Any]) -> Metric:
    """Minkowski's p chooses among four engines' metrics; weights need the full matrix."""
    p = params.get("p", 2)
    if isinstance(p, bool) or not isinstance(p, Real):
        raise TypeError(
            f"metric_params={show(params)}: p must be a number, not {type(p).__name__}; p=2 is Euclidean"
        )
    if not p >= 1:
        raise ValueError(
            f"metric_params={show(params)}: p must be at least 1; p=1 is Manhattan, p=2 Euclidean"
        )
    _check_names("minkowski", params, ("p", "w"))
    if "w" in params:
        return Metric("minkowski", "matrix", params={"p": float(p), "w": params["w"]})
    if name := {1: "manhattan", 2: "euclidean", math.inf: "chebyshev"}.get(float(p)):
        return Metric(name, "features")
    return Metric("minkowski", "features", p=float(p))


def check_algorithm(metric: Metric, algorithm: str) -> None:
    """Refuse an unknown algorithm, and the tree for a metric it lacks."""
    check_choice("algorithm", algorithm, ALGORITHMS)
    if algorithm == "kd_tree" and (metric.kind != "features" or metric.name not in _core.METRICS_KD_TREE):
        raise ValueError(
            f"algorithm='kd_tree' does not know metric={show(metric.name)}, only "
            f"{', '.join(_core.METRICS_KD_TREE)}; use algorithm='auto' or one of these metrics"
        )


def choose_algorithm(metric: Metric, n_features: int, algorithm: str = "auto") -> str:
    """Return ``"kd_tree"`` or ``"brute"`` for a metric on `n_features` features.

    ``"auto"`` takes the tree where it knows the metric and the features are few (`TREE_MAX_FEATURES`).
    Both give the same answers, bit for bit; only time and memory differ.

    Examples
    --------
    >>> from pathforest.distances import choose_algorithm, resolve_metric
    >>> choose_algorithm(resolve_metric("euclidean"), n_features=2)
    'kd_tree'
    >>> choose_algorithm(resolve_metric("euclidean"), n_features=64)
    'brute'
    """
    check_algorithm(metric, algorithm)
    if algorithm != "auto":
        return algorithm
    return "kd_tree" if metric.name in _core.METRICS_KD_TREE and n_features <= TREE_MAX_FEATURES else "brute"


def array_options(metric: Metric) -> dict[str, Any]:
    """Arguments of scikit-learn's array checks for this metric."""
    return {
        "dtype": np.float64 if metric.kind == "matrix" else [np.float64, np.float32],
        "ensure_all_finite": "allow-nan" if metric.takes_gaps else True,
        "order": "C",
    }


def features_engine(
    X: np.ndarray, metric: Metric, algorithm: str, n_threads: int = 1, keep_order: bool = False
) -> _core.Engine:
    """Build the engine in C++ over features; `algorithm` is ``"kd_tree"`` or ``"brute"``."""
    if algorithm == "kd_tree":
        return _core.Engine.kd_tree(X, metric.name, metric.p, n_threads)
    of_features = (engine_ranges(metric.params), metric.params["weights"]) if metric.name == "gower" else ()
    return _core.Engine.brute(X, metric.name, metric.p, keep_order, n_threads, *of_features)


def engine_ranges(params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the ranges as the engine takes them: 0 marks categories, infinity features that are constant."""
    ranges = np.where(params["ranges"] > 0, params["ranges"], np.inf)
    return np.where(params["categorical"], 0.0, ranges)


def complete_metric(metric: Metric, X: np.ndarray) -> Metric:
    """Fix what a metric takes from the training samples, such as variances; try one of a matrix on some."""
    if metric.name == "gower":
        return metric._replace(params=complete_gower(metric.params, X))
    if metric.kind != "matrix" or callable(metric.name):
        return metric
    params, d, learned = dict(metric.params), X.shape[1], LEARNED.get(metric.name)
    if learned and params.get(learned) is None:
        params[learned] = _learn_of_matrix(metric.name, X)
    if learned == "VI" and np.shape(params["VI"]) != (d, d):  # SciPy would read past its end
        raise ValueError(
            f"metric='mahalanobis' needs VI of shape ({d}, {d}) for {d} feature(s), got shape "
            f"{np.shape(params['VI'])}; pass their inverse covariance in metric_params, or leave VI out"
        )
    completed = metric._replace(params=params)
    first = X[:1].astype(bool) if metric.name in BOOLEAN_METRICS else X[:1]
    try:
        sklearn_distances(first, first, completed)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"metric={show(metric.name)} cannot be computed for {d} feature(s) with metric_params="
            f"{show(metric.params)}: {shorten(str(error).rstrip('.'))}; correct metric_params or the "
            "features, or choose another metric"
        ) from error
    return completed


def _learn_of_matrix(name: str, X: np.ndarray) -> np.ndarray:
    """Estimate the parameter of a metric of matrices that is not given."""
    if len(X) < 2:
        raise ValueError(
            f"metric={name!r} cannot be estimated from 1 sample; pass {LEARNED[name]} in metric_params"
        )
    if name == "seuclidean":
        return np.var(X, 0, ddof=1)
    try:
        return np.linalg.inv(np.atleast_2d(np.cov(X.T))).T
    except np.linalg.LinAlgError:
        raise ValueError(
            "metric='mahalanobis' needs an invertible covariance and that of X is singular; drop "
            "constant or dependent features, or pass VI in metric_params"
        ) from None


def sklearn_distances(X: np.ndarray, Y: np.ndarray, metric: Metric) -> np.ndarray:
    """Compute the distances of a named metric that no engine has between the rows of `X` and of `Y`."""
    from sklearn.metrics import pairwise_distances  # here, because few need it and it is slow to import

    D = pairwise_distances(X, Y, metric=metric.name, n_jobs=1, **metric.params)
    return np.ascontiguousarray(D, dtype=np.float64)


# Gower


def categorical_features(given: Any, n_features: int, names: Sequence[str] | None = None) -> np.ndarray:
    """Return which features are categories: given by indices, by a boolean mask, or by names."""
    chosen = np.asarray(given)
    if chosen.dtype == bool and chosen.shape == (n_features,):
        return chosen.copy()
    if chosen.dtype.kind in "OU" and chosen.ndim == 1 and all(isinstance(name, str) for name in chosen):
        known = [] if names is None else list(names)
        if unknown := [name for name in chosen.tolist() if name not in known]:
            raise ValueError(
                f"metric_params: categorical has {show(unknown[0])}, which is not a column of X; use names "
                f"of its columns{'' if known else ' (X has none)'}, or indices from 0 to {n_features - 1}"
            )
        chosen = np.array([known.index(name) for name in chosen.tolist()], dtype=int)
    is_index = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not chosen.size)
    if not is_index or (chosen.size and not (chosen.min() >= 0 and chosen.max() < n_features)):
        raise ValueError(
            f"metric_params: categorical={show(given)} does not choose among {n_features} feature(s); pass "
            f"indices from 0 to {n_features - 1}, a boolean for each feature, or names of columns"
        )
    mask = np.zeros(n_features, dtype=bool)
    mask[chosen.astype(int)] = True
    return mask


def complete_gower(params: Mapping[str, Any], X: np.ndarray) -> dict[str, np.ndarray]:
    """Return all parameters as arrays, one entry per feature; ranges not given are those of the samples."""
    n_features = X.shape[1]
    ranges, weights = params.get("ranges"), params.get("weights")
    weights = np.ones(n_features) if weights is None else _per_feature("weights", weights, n_features)
    if not weights.any():
        raise ValueError("metric_params: weights are all 0; give some feature a weight above 0")
    categorical = categorical_features(params.get("categorical", ()), n_features)
    if ranges is None:
        low, high = (reduce(X, axis=0).astype(np.float64) for reduce in (np.fmin.reduce, np.fmax.reduce))
        with np.errstate(over="ignore"):  # such widths are refused with the samples
            ranges = np.where(np.isnan(low), 0.0, high - low)  # 0 where all values are missing
    else:
        ranges = _per_feature("ranges", ranges, n_features)
    return {"categorical": categorical, "ranges": ranges, "weights": weights}


def with_categories(metric: Metric, coded: Coded, names: Sequence[str] | None) -> Metric:
    """Let a metric know the categories of a table: text always, others unless the parameters name them."""
    categorical, given = coded.categorical, metric.params.get("categorical")
    if given is not None:
        has_text = [is_text(known) for known in coded.categories]
        categorical = categorical_features(given, len(categorical), names) | has_text
    return metric._replace(params={**metric.params, "categorical": categorical})


def gower_terms(a: np.ndarray, b: np.ndarray, params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return what each feature adds to the distance of two samples, NaN where one of them lacks it."""
    apart, ranges = np.abs(a - b), engine_ranges(params)
    terms = np.divide(apart, ranges, out=(apart > 0).astype(np.float64), where=ranges > 0)
    return np.where(np.isnan(apart), np.nan, terms * params["weights"])


def _per_feature(name: str, given: Any, n_features: int) -> np.ndarray:
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (n_features,) or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"metric_params: {name}={show(given)} must have one finite number >= 0 for each of {n_features} "
            "feature(s)"
        )
    return values
