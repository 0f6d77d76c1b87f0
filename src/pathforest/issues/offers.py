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
from pathforest._engines.protocol import Engine
from pathforest.graph import KnnGraph

NONE = -1  # no sample, no class

# How far a class is searched, as a multiple of the cost that it has to beat: what it has there nearly always
# proves that it does not; if not, it is searched again without a limit.
REACH = 1.1


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
    rivals: np.ndarray | None = None,
) -> Offers:
    """Let each class offer every sample the mean distance of its `r` members nearest to it.

    The rival of the given class is the cheapest other one or, if they are given as a mask of samples and
    classes, one of the `rivals`. Of several the one with the nearer member wins, then the one whose member
    comes first.
    """
    n, classes = len(X), range(int(codes.max()) + 1)
    search = _MemberSearch(X, codes, r, metric, algorithm, device, n_threads)
    own, other = _empty(n, r), _empty(n, r)
    for code in classes:
        for rows in search.blocks(np.flatnonzero(codes == code)):
            _replace(own, rows, search.without_self(code, rows))
    nearest = Lists(own.distances.copy(), own.indices.copy())
    cost, cheapest = np.full(n, np.inf), np.full(n, NONE)
    for code in classes:
        for rows in search.blocks(np.flatnonzero(codes != code)):
            to_beat = cost[rows] if rivals is None else np.where(rivals[rows, code], np.inf, -np.inf)
            reach = np.maximum(REACH * to_beat, nearest.distances[rows, -1])
            lists = search.members(code, rows, reach)
            _merge(nearest, rows, lists)
            value, is_complete = search.mean(code, lists, reach)
            again = np.flatnonzero(~is_complete & (value <= to_beat))
            if len(again):
                _replace(lists, again, search.members(code, rows[again]))
                value[again], _ = search.mean(code, _part(lists, again))
            wins = (value <= to_beat) & (value < np.inf) & _comes_first(lists, _part(other, rows))
            if rivals is None:
                wins |= value < to_beat
            cost[rows[wins]], cheapest[rows[wins]] = value[wins], code
            _replace(other, rows[wins], _part(lists, wins))
    graph = KnnGraph(*(np.ascontiguousarray(array[:, : min(r, n - 1)]) for array in nearest))
    return Offers(_means(own.distances), own, cheapest, cost, other, graph)


class _MemberSearch:
    """Finds the members of a class that are nearest to samples."""

    def __init__(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        r: int,
        metric: Metric,
        algorithm: str,
        device: str,
        n_threads: int,
    ) -> None:
        self._r, self._n_threads, self._has_features = r, n_threads, metric.kind == "features"
        if not self._has_features:
            X = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric)
        self._X = X
        self._sizes = np.bincount(codes)
        self._members, self._engines = [], []
        for code in range(len(self._sizes)):
            members = np.flatnonzero(codes == code)
            if self._has_features:
                # No list takes more than r + 1 equal rows. A sample left out here has so many before it.
                members = members[_core.copy_numbers(X[members]) <= r]
                engine: Engine = build_engine(X[members], metric, algorithm, n_threads, device=device)
            else:
                engine = _core.Engine.rows(len(members), X.dtype.name)
            self._members.append(members)
            self._engines.append(engine)

    def blocks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Divide samples into parts that bound memory."""
        width = max(self._X.shape[1], self._r)
        return (rows[part] for part in blocks(len(rows), width))

    def without_self(self, code: int, rows: np.ndarray) -> Lists:
        """List the nearest other members for members of a class."""
        return Lists(*without_self(*self._ask(code, rows, self._r + 1), rows))

    def members(self, code: int, rows: np.ndarray, reach: np.ndarray | None = None) -> Lists:
        """List the nearest members for samples of other classes; those beyond reach may be missing."""
        return self._ask(code, rows, self._r, reach)

    def mean(self, code: int, lists: Lists, reach: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return what a class offers, and where its lists are complete; elsewhere it offers no less."""
        size = min(self._r, self._sizes[code])
        # A sum of larger terms is not smaller, rounding included: missing members count as much as reach.
        is_missing = lists.indices[:, :size] == NONE
        distances = np.where(is_missing, np.reshape(reach, (-1, 1)), lists.distances[:, :size])
        return _means(distances), ~is_missing[:, -1]

    def _ask(self, code: int, rows: np.ndarray, width: int, reach: np.ndarray | None = None) -> Lists:
        members, engine = self._members[code], self._engines[code]
        k, found = min(width, self._sizes[code]), _empty(len(rows), width)
        queries = self._X[rows] if self._has_features else self._X[np.ix_(rows, members)]
        # Engines on a device have no reach, and list all.
        limit = (reach,) if reach is not None and isinstance(engine, _core.Engine) else ()
        found.distances[:, :k], places = engine.query(queries, int(k), self._n_threads, *limit)
        found.indices[:, :k] = np.where(places == NONE, NONE, members[places])
        return found


def _empty(n: int, r: int) -> Lists:
    return Lists(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))


def _part(lists: Lists, rows: np.ndarray) -> Lists:
    return Lists(lists.distances[rows], lists.indices[rows])


def _replace(lists: Lists, rows: np.ndarray, new: Lists) -> None:
    lists.distances[rows], lists.indices[rows] = new


def _comes_first(lists: Lists, others: Lists) -> np.ndarray:
    """Say which lists begin with a sample that is nearer, or as near and has the lower index."""
    nearest, other = lists.distances[:, 0], others.distances[:, 0]
    return (nearest < other) | (nearest == other) & (lists.indices[:, 0] < others.indices[:, 0])


def _merge(lists: Lists, rows: np.ndarray, new: Lists) -> None:
    """Merge new lists into those of some samples, if they have something for them."""
    useful = new.distances[:, 0] <= lists.distances[rows, -1]
    rows = rows[useful]
    _replace(lists, rows, Lists(*merge(*_part(lists, rows), *_part(new, useful))))


def _means(distances: np.ndarray) -> np.ndarray:
    """Return the mean of ascending distances, without those that are infinite."""
    return _core.mean_offers(distances, np.array([distances.shape[1]], dtype=np.int32))[0]
