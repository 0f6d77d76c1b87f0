"""Full distance matrices, for metrics that no engine has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from pathforest._engines.metric import BOOLEAN_METRICS, Metric, sklearn_distances
from pathforest._engines.samples import BLOCK_WORK, blocks
from pathforest._utils.progress import say
from pathforest._utils.text import show, warn

WARN_BYTES = 2**30  # a matrix larger than this is worth a warning: it is rarely what the user had in mind


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
    """Return an n x n matrix of zeros, written to once: later that takes seconds without Ctrl-C."""
    D = np.empty((n, n), dtype=dtype)
    for rows in blocks(n, 8 * n):
        D[rows] = 0
    return D


def distance_matrix(X: np.ndarray, metric: Metric, verbose: int = 0) -> np.ndarray:
    """Distances between all training samples, mirrored; first a warning, or a line, says what they take."""
    n = len(X)
    size = f"{n} x {n} distances, {8 * n * n / 2**20:.1f} MiB"
    text = f"metric={show(metric.name)} needs the full matrix of {size}"
    if verbose:
        say(text)
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
    """Distances between rows, checked and clipped at 0; if `own`, `Y` begins with the samples of `X`."""
    # Both come from `as_metric_takes`; `first_row` numbers the rows of `X` in messages.
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
