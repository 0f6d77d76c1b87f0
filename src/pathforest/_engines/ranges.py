"""Refusal of features a metric cannot take: negative, too large or too small ones, too many missing ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pathforest._engines.matrix import blocks, check_distances, enlarge
from pathforest._engines.metric import Metric
from pathforest._utils.sparse import SparseSamples

# Rounding adds a little to each sum; half the largest float64 leaves ample room for it.
LIMIT = np.finfo(np.float64).max / 2
TINY = float(np.finfo(np.float64).tiny)  # smaller numbers have lost digits, or all of them
FIRST = 100  # samples that almost always show that the ranges are large enough


class Reach(NamedTuple):
    """Samples already known to a model, and the largest magnitude among their features."""

    X: np.ndarray | SparseSamples
    magnitude: float


def magnitude(X: np.ndarray | SparseSamples) -> float:
    """Largest absolute value in `X`, gaps apart, without a copy of it."""
    if isinstance(X, SparseSamples):
        return float(np.abs(X.data).max(initial=0.0))
    return max(0.0, float(np.fmax.reduce(X, axis=None)), -float(np.fmin.reduce(X, axis=None)))


def check_features(X: np.ndarray, metric: Metric, squares: bool = False, known: Reach | None = None) -> None:
    """Raise if a feature's sign or range, or what is missing, does not suit the metric.

    `squares` says that a density will square the distances; `known` are the training samples that queries `X`
    will be compared with.
    """
    if metric.nonnegative and X.min() < 0:
        row, column = np.unravel_index(np.argmin(X), X.shape)
        raise ValueError(
            f"Negative values in data passed to metric={metric.name!r}, which needs features >= 0: "
            f"X[{row}, {column}] is {X[row, column]:.6g}; shift or clip them, or choose another metric"
        )
    arrays = [X] if known is None else [X, known.X]
    if metric.name == "nan_euclidean":
        _check_in_common(X, arrays[-1])
    # Three tests, from free to thorough: the range of the dtype, the largest magnitude, each feature.
    n_used = _n_used(arrays)
    if _fits(metric, squares, n_used, max(float(np.finfo(array.dtype).max) for array in arrays)):
        return
    if _fits(metric, squares, n_used, max(magnitude(X), known.magnitude if known else 0.0)):
        return
    extremes = [_feature_extremes(array) for array in arrays]
    low = np.fmin.reduce([least for least, _ in extremes]).astype(np.float64)
    high = np.fmax.reduce([most for _, most in extremes]).astype(np.float64)
    low, high = np.where(np.isnan(low), 0.0, [low, high])
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
        bound = _largest_term(metric, squares, width, np.maximum(np.abs(low), np.abs(high)))
    if not bound <= LIMIT:
        widest = int(np.argmax(width))
        raise ValueError(
            f"metric={metric.name!r} could overflow: feature {widest} ranges from {low[widest]:.3g} to "
            f"{high[widest]:.3g}; rescale X, for example with sklearn.preprocessing.MaxAbsScaler"
        )


def _n_used(arrays: Sequence[np.ndarray | SparseSamples]) -> int:
    """Bound the number of features that are not 0 everywhere: sparse samples may have many others."""
    n_features = arrays[0].shape[1]
    if all(isinstance(array, SparseSamples) for array in arrays):
        return max(1, min(n_features, sum(len(array.data) for array in arrays)))
    return n_features


def _feature_extremes(X: np.ndarray | SparseSamples) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of each feature, gaps apart."""
    if isinstance(X, SparseSamples):
        rows = X.tocsr()
        return rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)


def check_training_values(X: np.ndarray, metric: Metric, squares: bool = False) -> None:
    """Refuse values the metric cannot take; `squares` says that a density will square its distances."""
    if metric.kind == "precomputed":
        check_distances(X, square=True, squares=squares)
    elif metric.kind == "features":
        check_features(X, metric, squares)
        check_spread(X, metric, squares)


def check_spread(X: np.ndarray | SparseSamples, metric: Metric, squares: bool = False) -> None:
    """Refuse training samples that differ, but in no feature by so much that powers keep their digits."""
    power = _power(metric, squares)
    least = TINY ** (1 / power) if power else 0.0
    # From free to thorough: the smallest number of the dtype, a few samples, all of them.
    if np.finfo(X.dtype).smallest_subnormal >= least or _widest_range(X[:FIRST]) >= least:
        return
    widest = _widest_range(X)
    if 0 < widest < least and not (metric.name == "cosine" and magnitude(X) >= least):
        raise ValueError(
            f"metric={metric.name!r} would underflow: no feature ranges over more than {widest:.3g}, and "
            f"powers of such differences are lost; {enlarge(widest)}"
        )


def _power(metric: Metric, squares: bool) -> float:
    """Return the power of differences that a distance takes, or the density of it; 0 if units cancel."""
    match metric.name:
        case "euclidean" | "sqeuclidean" | "log_sqeuclidean" | "nan_euclidean" | "cosine" | "chi2":
            return 2
        case "minkowski":
            return max(metric.p, 2 * squares)
        case "manhattan" | "chebyshev":
            return 2 * squares
        case _:
            return 0


def _widest_range(X: np.ndarray | SparseSamples) -> float:
    """Return the largest range of a feature; 0 if none has a value."""
    if isinstance(X, SparseSamples):  # without the features that are 0 everywhere
        used, indices = np.unique(X.indices, return_inverse=True)
        X = SparseSamples(X.indptr, indices, X.data, max(1, len(used)))
    low, high = _feature_extremes(X)
    with np.errstate(over="ignore"):
        return float(np.fmax.reduce(high.astype(np.float64) - low, initial=0.0))


def _check_in_common(X: np.ndarray, known: np.ndarray) -> None:
    """Refuse samples that share no feature with one of the known: their distance would be undefined."""
    has, known_has = ~np.isnan(X), ~np.isnan(known)
    if (has.all(axis=0) & known_has.all(axis=0)).any():
        return
    if has.sum(axis=1).min() + known_has.sum(axis=1).min() > X.shape[1]:
        return
    # One sample stands for all with gaps in the same places.
    (has, first), (known_has, known_first) = (
        np.unique(array, axis=0, return_index=True) for array in (has, known_has)
    )
    columns = known_has.T.astype(np.float32)
    for rows in blocks(len(has), len(known_has), has.shape[1] * len(known_has)):
        n_common = has[rows].astype(np.float32) @ columns
        if not n_common.all():
            row, column = np.argwhere(n_common == 0)[0]
            j = known_first[column]
            other = f"row {j} of X" if known is X else f"training sample {j}"
            raise ValueError(
                f"metric='nan_euclidean' is undefined between row {first[rows.start + row]} of X and "
                f"{other}, which have no feature in common; fill in missing values, drop "
                "such rows, or use metric='gower', where their distance is 1"
            )


def _fits(metric: Metric, squares: bool, n_features: int, magnitude: float) -> bool:
    """Tell whether no distance can overflow as long as no feature exceeds `magnitude`."""
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.full(n_features, 2 * np.float64(magnitude))
        return bool(_largest_term(metric, squares, width, width / 2) <= LIMIT)


def _largest_term(metric: Metric, squares: bool, width: np.ndarray, size: np.ndarray) -> float:
    """Bound what computing a distance can reach, for features of these widths and magnitudes."""
    match metric.name:
        case "euclidean" | "sqeuclidean" | "log_sqeuclidean":
            return np.sum(width * width)
        case "nan_euclidean":
            return len(width) * np.sum(width * width)
        case "gower":
            terms = _gower_terms(metric, width)
            distance, reached = np.max(terms), np.maximum(np.max(width), metric.params["weights"] @ terms)
        case "manhattan":
            distance = reached = np.sum(width)
        case "chebyshev":
            distance = reached = np.max(width)
        case "minkowski":
            distance, reached = np.sum(width), np.sum(width**metric.p)
        case "cosine":
            distance, reached = np.float64(2), np.sum(size * size)
        case "chi2":
            distance, reached = 2 * np.sum(size), np.sum(width * width)
        case "canberra":
            distance, reached = np.float64(len(width)), 2 * np.max(size)
        case "braycurtis":
            distance, reached = np.float64(1), 2 * np.sum(size)
        case _:
            raise NotImplementedError(f"metric={metric.name!r} has no bound here; add its case")
    return max(reached, distance * distance if squares else distance)


def _gower_terms(metric: Metric, width: np.ndarray) -> np.ndarray:
    """Bound the terms of Gower's distance; where they are 0 or 1, by 1."""
    ranges = metric.params["ranges"]
    is_scaled = (ranges > 0) & ~metric.params["categorical"]
    return np.divide(width, ranges, out=np.ones_like(width), where=is_scaled)
