"""Full distance matrices: computed for metrics that no engine has, and checked where they are given."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from pathforest._engines.metric import BOOLEAN_METRICS, Metric, sklearn_distances
from pathforest._utils.text import show, warn

logger = logging.getLogger("pathforest")

BLOCK_BYTES = 2**26  # rows of distances held at once, beside a full matrix
BLOCK_WORK = 5 * 10**7  # feature values read in one call, well under a second: Ctrl-C waits for its end
TINY = float(np.finfo(np.float64).tiny)  # smaller numbers have lost digits, or all of them
SYMMETRY = 1e-10  # accepted |D - D^T|, as a share of the largest distance
WARN_BYTES = 2**30  # a matrix larger than this is worth a warning: it is rarely what the user had in mind


def blocks(n_rows: int, row_length: int, row_work: int = 1) -> Iterator[slice]:
    """Slices of rows that stay within `BLOCK_BYTES` of float64 and `BLOCK_WORK` operations, or of one row."""
    step = max(1, min(BLOCK_BYTES // (8 * max(1, row_length)), BLOCK_WORK // row_work))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def distance_blocks(n_rows: int, X: np.ndarray, metric: Metric) -> Iterator[slice]:
    """Slices of rows whose distances to all of `X` are computed in one call."""
    n, d = X.shape
    return blocks(n_rows, n, n * (d * d if metric.name == "mahalanobis" else d))


def symmetric(D: np.ndarray) -> np.ndarray:
    """Return `D` itself if it is exactly symmetric, else a copy that mirrors the entries i < j."""
    if all(np.array_equal(D[rows], D[:, rows].T) for rows in blocks(*D.shape)):
        return D
    upper = _blank_matrix(len(D), D.dtype)
    for rows in blocks(*D.shape):
        upper[rows] = np.triu(D[rows], rows.start + 1)
        upper[rows, : rows.stop] += upper[: rows.stop, rows].T
    return upper


def _blank_matrix(n: int, dtype: Any = np.float64) -> np.ndarray:
    """Return an n x n matrix of zeros, written to once.

    The system hands out memory when it is first written to, and takes its time: a column of a new matrix
    touches all of it in one call, for seconds without Ctrl-C.
    """
    D = np.empty((n, n), dtype=dtype)
    for rows in blocks(n, 8 * n):
        D[rows] = 0
    return D


def distance_matrix(X: np.ndarray, metric: Metric, verbose: int = 0) -> np.ndarray:
    """Distances between all training samples: those of pairs i < j, mirrored.

    A warning, or the log if `verbose`, says how much memory they take before they are computed.
    """
    n = len(X)
    size = f"{n} x {n} distances, {8 * n * n / 2**20:.1f} MiB"
    text = f"metric={show(metric.name)} needs the full matrix of {size}"
    if verbose:
        logger.info(text)
    if 8 * n * n > WARN_BYTES:
        warn(f"{text}; the metrics with an engine of their own need no matrix")
    D = _blank_matrix(n)
    X = as_metric_takes(X, metric)
    # Python functions are called row by row, which asks for each pair once and lets Ctrl-C in.
    for rows in blocks(n, 1, BLOCK_WORK) if callable(metric.name) else distance_blocks(n, X, metric):
        block = pairwise(X[rows], X[rows.start :], metric, rows.start, own=True)
        size = len(block)
        D[rows, rows] = symmetric(block[:, :size])
        D[rows, rows.stop :] = block[:, size:]
        D[rows.stop :, rows] = block[:, size:].T
    return D


def as_metric_takes(X: np.ndarray, metric: Metric) -> np.ndarray:
    """Give samples the type the metric computes with: some are defined for booleans only."""
    if metric.name not in BOOLEAN_METRICS:
        return X
    if not np.isin(X, (0, 1)).all():
        warn(f"Data was converted to boolean for metric {metric.name}", DataConversionWarning)
    return X.astype(bool)


def _call_metric(X: np.ndarray, Y: np.ndarray, metric: Metric) -> np.ndarray:
    """Ask the user's function for the distance of every pair."""
    D = np.empty((len(X), len(Y)))
    for i, a in enumerate(X):
        for j, b in enumerate(Y):
            value = metric.name(a, b, **metric.params)
            try:
                D[i, j] = value
            except (TypeError, ValueError):
                raise TypeError(
                    f"metric={show(metric.name)} with metric_params={show(metric.params)} returned "
                    f"{show(value)} for two rows; it must return one number, their distance"
                ) from None
    return D


def pairwise(
    X: np.ndarray, Y: np.ndarray, metric: Metric, first_row: int = 0, own: bool = False
) -> np.ndarray:
    """Distances between the rows of `X` and those of `Y`, checked and clipped at 0.

    Both come from `as_metric_takes`. `first_row` is the number of the first row of `X` in error messages.
    `own` says that `Y` begins with the samples of `X`, which are 0 from themselves.
    """
    D = (_call_metric if callable(metric.name) else sklearn_distances)(X, Y, metric)
    if own:
        np.fill_diagonal(D, 0)
    if not np.isfinite(D).all():
        row, column = np.argwhere(~np.isfinite(D))[0]
        raise ValueError(
            f"metric={show(metric.name)} gives {D[row, column]} between samples {row + first_row} and "
            f"{column + first_row * own}; check those rows for constant or very large features, or choose "
            "another metric"
        )
    # A correlation distance can round to just below zero; anything more is not a distance.
    if (smallest := D.min()) < -1e-12 * max(1.0, D.max()):
        raise ValueError(
            f"metric={show(metric.name)} gives the negative distance {smallest:.6g}; distances are >= 0"
        )
    return np.maximum(D, 0) if smallest < 0 else D


# Given by users


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
    if not square:
        return
    largest = float(D.max())
    for rows in blocks(*D.shape):
        gap = np.abs(D[rows] - D[:, rows].T)
        if gap.max() > SYMMETRY * largest:
            row, column = np.unravel_index(np.argmax(gap), gap.shape)
            raise ValueError(
                f"metric='precomputed' needs a symmetric matrix, but X[{row + rows.start}, {column}] and its "
                f"mirror image differ by {gap[row, column]:.3g}; symmetrise it, for example (X + X.T) / 2"
            )
    if squares:
        check_squares(largest, least=TINY)


def check_squares(longest: float, least: float) -> None:
    """Raise if the longest distance has a square, which Eq. 3 takes, that overflows or is below `least`."""
    if longest > np.sqrt(np.finfo(np.float64).max):
        raise ValueError(f"distances up to {longest:.3g} overflow when the density squares them; rescale X")
    if longest > 0 and longest * longest < least:
        raise ValueError(
            f"distances up to {longest:.3g} underflow when the density squares them; {enlarge(longest)}"
        )


def enlarge(size: float) -> str:
    """Say by what to multiply samples so small."""
    return f"multiply X by {10.0 ** min(300, int(-np.log10(size))):.0e}"
