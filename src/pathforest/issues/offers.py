"""What each class offers every sample when the sample itself is left out, from one pass over all samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.build import build_engine
from pathforest._engines.lists import merge, without_self
from pathforest._engines.matrix import blocks, distance_matrix, symmetric
from pathforest._engines.metric import Metric
from pathforest.graph import KnnGraph

NONE = -1  # no sample, no class


class Lists(NamedTuple):
    """The nearest others of each sample, by (distance, index); behind the last one inf and -1."""

    distances: np.ndarray  # (n, r) float64
    indices: np.ndarray  # (n, r) int32


class Offers(NamedTuple):
    """Leave-one-out costs of the given class and of its rival, with the samples behind them."""

    own: np.ndarray  # (n,) cost of the given class, inf if it has no other sample
    own_lists: Lists
    rival: np.ndarray  # (n,) code of the other class that is compared, -1 if there is none
    rival_cost: np.ndarray  # (n,) inf if there is none
    rival_lists: Lists
    nearest: KnnGraph  # of any class


def leave_one_out_offers(
    X: np.ndarray,
    codes: np.ndarray,
    r: int,
    metric: Metric,
    algorithm: str,
    device: str,
    n_threads: int,
    rival: np.ndarray | None = None,
) -> Offers:
    """Let each class offer every sample the mean distance of its `r` members nearest to it.

    The rival of the given class is the cheapest other one, the first of several, unless codes are given.
    """
    n, counts = len(X), np.array([r], dtype=np.int32)
    own_cost, rival_cost, cheapest = np.full(n, np.inf), np.full(n, np.inf), np.full(n, NONE)
    own, other, nearest = (_empty(n, r) for _ in range(3))
    search = _MemberSearch(X, metric, algorithm, device, n_threads)
    for code in range(int(codes.max()) + 1):
        for rows, lists in search.nearest(np.flatnonzero(codes == code), r):
            cost = _core.mean_offers(lists.distances, counts)[0]
            is_own = codes[rows] == code
            is_rival = ~is_own & (cost < rival_cost[rows]) if rival is None else rival[rows] == code
            own_cost[rows][is_own] = cost[is_own]
            rival_cost[rows][is_rival], cheapest[rows][is_rival] = cost[is_rival], code
            _replace(_part(own, rows), lists, is_own)
            _replace(_part(other, rows), lists, is_rival)
            known = _part(nearest, rows)
            is_nearer = lists.distances[:, 0] <= known.distances[:, -1]
            merged = merge(*_part(known, is_nearer), *_part(lists, is_nearer))
            known.distances[is_nearer], known.indices[is_nearer] = merged
    graph = KnnGraph(*(np.ascontiguousarray(array[:, : min(r, n - 1)]) for array in nearest))
    return Offers(own_cost, own, cheapest, rival_cost, other, graph)


class _MemberSearch:
    """Finds the members of a class that are nearest to each sample."""

    def __init__(self, X: np.ndarray, metric: Metric, algorithm: str, device: str, n_threads: int) -> None:
        self._metric, self._algorithm, self._device, self._n_threads = metric, algorithm, device, n_threads
        self._has_features = metric.kind == "features"
        if metric.kind == "precomputed":
            X = symmetric(X)
        elif metric.kind == "matrix":
            X = distance_matrix(X, metric)
        self._X = X

    def nearest(self, members: np.ndarray, r: int) -> Iterator[tuple[slice, Lists]]:
        """Yield blocks of rows with their `r` nearest members, each sample without itself."""
        X, k = self._X, min(r + 1, len(members))
        if self._has_features:
            # No list takes more than r + 1 equal rows. A sample left out here has so many before it.
            members = members[_core.copy_numbers(X[members]) <= r]
            engine = build_engine(
                X[members], self._metric, self._algorithm, self._n_threads, device=self._device
            )
        else:
            engine = _core.Engine.rows(len(members), X.dtype.name)
        for rows in blocks(len(X), r + 1 if self._has_features else len(members)):
            queries = X[rows] if self._has_features else np.ascontiguousarray(X[rows, members])
            found = _empty(len(queries), r + 1)
            found.distances[:, :k], places = engine.query(queries, k, self._n_threads)
            found.indices[:, :k] = members[places]
            yield rows, Lists(*without_self(*found, np.arange(rows.start, rows.stop)))


def _empty(n: int, r: int) -> Lists:
    return Lists(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))


def _part(lists: Lists, rows: slice | np.ndarray) -> Lists:
    return Lists(lists.distances[rows], lists.indices[rows])


def _replace(lists: Lists, new: Lists, where: np.ndarray) -> None:
    for array, values in zip(lists, new, strict=True):
        array[where] = values[where]
