"""Full distance matrices: how they are checked, built and searched."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathforest.distances import Metric

logger = logging.getLogger("pathforest")

WARN_BYTES = 2**30  # a matrix larger than this is worth a warning: it is rarely what the user had in mind
BLOCK_BYTES = 2**26  # rows of distances held at once while predicting
SYMMETRY = 1e-10  # accepted |D - D^T|, as a share of the largest distance
BOOLEAN_METRICS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


def blocks(n_rows: int, row_length: int) -> Iterator[slice]:
    """Slices of rows whose float64 values fill at most `BLOCK_BYTES`."""
    step = max(1, BLOCK_BYTES // (8 * max(1, row_length)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def check_distances(D: np.ndarray, square: bool, squares: bool = False) -> None:
    """Raise unless `D` can be a matrix of distances.

    `square` says that they are those between training samples, `squares` that a density will square them.
    """
    if square and D.shape[0] != D.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs the square matrix of distances between training samples, got shape "
            f"{D.shape}; pass all of them, or choose another metric for features"
        )
    if (smallest := D.min()) < 0:
        row, column = np.unravel_index(np.argmin(D), D.shape)
        raise ValueError(
            f"Negative values in data passed to metric='precomputed', which needs distances >= 0: "
            f"X[{row}, {column}] is {smallest:.6g}; clip rounding errors with np.maximum(X, 0)"
        )
    if square:
        _check_symmetry(D)
    if squares and float(D.max()) > np.sqrt(np.finfo(np.float64).max):
        raise ValueError(f"distances up to {D.max():.3g} overflow when the density squares them; rescale X")


def _check_symmetry(D: np.ndarray) -> None:
    tolerance = SYMMETRY * float(D.max())
    for rows in blocks(*D.shape):
        gap = np.abs(D[rows] - D[:, rows].T)
        if gap.max() > tolerance:
            row, column = np.unravel_index(np.argmax(gap), gap.shape)
            raise ValueError(
                f"metric='precomputed' needs a symmetric matrix, but X[{row + rows.start}, {column}] and its "
                f"mirror image differ by {gap[row, column]:.3g}; symmetrise it, for example (X + X.T) / 2"
            )


def symmetric(D: np.ndarray) -> np.ndarray:
    """Return `D` itself if it is exactly symmetric, else a copy that mirrors the entries i < j."""
    if all(np.array_equal(D[rows], D[:, rows].T) for rows in blocks(*D.shape)):
        return D
    upper = np.triu(D, 1)
    upper += upper.T
    return upper


def distance_matrix(X: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances between all training samples, after saying how much memory they take."""
    n = len(X)
    text = f"metric={metric.name!r} needs the full matrix of {n} x {n} distances, {8 * n * n / 2**20:.1f} MiB"
    logger.info(text)
    if 8 * n * n > WARN_BYTES:
        warnings.warn(
            f"{text}; the metrics with an engine of their own need no matrix", UserWarning, stacklevel=6
        )
    return symmetric(pairwise(X, None, metric))


def pairwise(X: np.ndarray, Y: np.ndarray | None, metric: Metric, first_row: int = 0) -> np.ndarray:
    """Distances between the rows of `X` and those of `Y` (or among those of `X`), checked.

    `first_row` is the number of the first row of `X` in error messages.
    """
    D = np.ascontiguousarray(_raw_pairwise(X, Y, metric), dtype=np.float64)
    if not np.isfinite(D).all():
        row, column = np.argwhere(~np.isfinite(D))[0]
        raise ValueError(
            f"metric={metric.name!r} gives {D[row, column]} between samples {row + first_row} and {column}; "
            "check those rows for constant or very large features, or choose another metric"
        )
    if (smallest := D.min()) < 0:
        # A correlation distance can round to just below zero; anything more is no distance.
        if smallest < -1e-12 * max(1.0, D.max()):
            raise ValueError(
                f"metric={metric.name!r} gives the negative distance {smallest:.6g}; distances are >= 0"
            )
        D = np.maximum(D, 0)
    return D


def _raw_pairwise(X: np.ndarray, Y: np.ndarray | None, metric: Metric) -> np.ndarray:
    from sklearn.metrics import pairwise_distances  # here, because few need it and it is slow to import

    if metric.name in BOOLEAN_METRICS:
        X, Y = _as_booleans(X), None if Y is None else _as_booleans(Y)
    return pairwise_distances(X, Y, metric=metric.name, n_jobs=1, **metric.params)


def _as_booleans(X: np.ndarray) -> np.ndarray:
    """Give 0 and 1 their own type; other values stay, and scikit-learn warns that it converts them."""
    return X.astype(bool) if np.isin(X, (0, 1)).all() else X


def complete_params(name: Any, params: dict[str, Any], X: np.ndarray) -> dict[str, Any]:
    """Add what scikit-learn would estimate anew in each call: prediction needs the training data's."""
    if name == "seuclidean" and params.get("V") is None:
        _need_two_samples(name, "V", X)
        params["V"] = np.var(X, axis=0, ddof=1)
    if name == "mahalanobis" and params.get("VI") is None:
        _need_two_samples(name, "VI", X)
        try:
            params["VI"] = np.linalg.inv(np.atleast_2d(np.cov(X.T))).T
        except np.linalg.LinAlgError:
            raise ValueError(
                "metric='mahalanobis' needs an invertible covariance and that of X is singular; drop "
                "constant or dependent features, or pass VI in metric_params"
            ) from None
    return params


def _need_two_samples(name: str, param: str, X: np.ndarray) -> None:
    if len(X) < 2:
        raise ValueError(f"metric={name!r} cannot be estimated from 1 sample; pass {param} in metric_params")
