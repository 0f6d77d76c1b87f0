"""Samples that are equal, or nearly so."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pathforest._engines.matrix import blocks, symmetric
from pathforest._engines.metric import Metric
from pathforest._utils.sparse import SparseSamples

# So near, as a share of the median distance from a sample to its nearest other, two samples are nearly equal.
NEAR = 0.1


def duplicate_groups(X: np.ndarray, metric: Metric) -> np.ndarray:
    """Return the number of the group of equal rows that each sample is in; -1 for one without a copy.

    Of a distance matrix those samples are equal that distances of 0 join.
    """
    if metric.kind == "precomputed":
        return number_groups(_joined_by_zeros(symmetric(X)), smallest=2)
    if isinstance(X, SparseSamples):
        return number_groups(np.array(X.row_keys(), dtype=object), smallest=2)
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 + 0.0 is 0.0: equal values have equal bytes
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    return number_groups(np.unique(keys, return_inverse=True)[1], smallest=2)


def number_groups(labels: np.ndarray, smallest: int) -> np.ndarray:
    """Give groups numbers from 0, in the order of their first samples, and -1 to those that are too small."""
    _, first, group, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(size >= smallest)
    number = np.full(len(size), -1)
    number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
    return number[group]


def conflicts(group: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Say which samples have a copy with another label."""
    low, high = np.full(len(group), len(group)), np.full(len(group), -1)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    return (group >= 0) & (low[group] < high[group])


def near_duplicates(nearest: np.ndarray) -> np.ndarray:
    """Say which samples have another one, at the given distance, so near that it is nearly a copy."""
    positive = nearest[(nearest > 0) & np.isfinite(nearest)]
    return nearest <= (NEAR * np.median(positive) if len(positive) else 0.0)


def _joined_by_zeros(D: np.ndarray) -> np.ndarray:
    pairs = [
        np.argwhere(np.triu(D[rows] == 0, rows.start + 1)) + [rows.start, 0] for rows in blocks(*D.shape)
    ]
    source, target = np.concatenate(pairs).T
    graph = coo_array((np.ones(len(source), dtype=bool), (source, target)), shape=D.shape)
    return connected_components(graph, directed=False)[1]
