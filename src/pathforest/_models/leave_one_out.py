"""What each class offers every training sample when the sample itself is left out, from one pass over all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine, KnnGraph
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.samples import blocks, without_self
from pathforest._models.base import KeptSamples
from pathforest._models.labels import by_class
from pathforest._models.offers import LARGE, NONE, Contenders, mean_offers
from pathforest._utils.checks import map_threads

# How far a class is searched for a training sample, as a multiple of the cost that it has to beat: what it
# has there nearly always proves that it does not; if not, it is searched again without a limit.
REACH = 1.1


class NearestOthers(NamedTuple):
    """The nearest others of each sample, by (distance, index); behind the last one inf and -1."""

    distances: np.ndarray  # (n, r) float64
    indices: np.ndarray  # (n, r) int32

    def take(self, rows: np.ndarray) -> NearestOthers:
        """Return the lists of some samples."""
        return NearestOthers(self.distances[rows], self.indices[rows])

    def put(self, rows: np.ndarray, new: tuple[np.ndarray, np.ndarray]) -> None:
        """Replace the lists of some samples."""
        self.distances[rows], self.indices[rows] = new

    def begin_before(self, others: NearestOthers) -> np.ndarray:
        """Say which lists begin with a sample that is nearer, or as near and has the lower index."""
        nearest, other = self.distances[:, 0], others.distances[:, 0]
        return (nearest < other) | (nearest == other) & (self.indices[:, 0] < others.indices[:, 0])


class Offers(NamedTuple):
    """Leave-one-out costs of the given class and of its rival, with the samples behind them."""

    own: np.ndarray  # (n,) cost of the given class, inf if it has no other sample
    own_lists: NearestOthers
    rival: np.ndarray  # (n,) code of the other class that is compared, -1 if there is none
    rival_cost: np.ndarray  # (n,) inf if there is none
    rival_lists: NearestOthers
    nearest: KnnGraph  # of any class


def leave_one_out_offers(
    samples: KeptSamples, codes: np.ndarray, n_conquerors: int, rivals: np.ndarray | None = None
) -> Offers:
    """Let each class offer every sample the mean distance of its members nearest to it."""
    # The rival is the cheapest other class, or one of `rivals` (samples x classes); of several the one with
    # the nearer member, then the one whose member comes first.
    n = len(codes)
    r = min(n_conquerors, n)  # no class has more
    classes = _classes(samples, codes, r)
    own, other = no_lists(n, r), no_lists(n, r)
    for code, one in enumerate(classes):
        given = np.flatnonzero(codes == code)
        if samples.metric.kind == "features" and 1 < len(one.members) == len(given):
            own.put(given, one.others(r))
            continue
        for rows in one.parts(given, r):
            own.put(rows, without_self(*one.ask(rows, r + 1), rows))
    nearest = NearestOthers(own.distances.copy(), own.indices.copy())
    cost, cheapest = np.full(n, np.inf), np.full(n, NONE)
    few = np.bincount(codes) <= LARGE * (rivals is None)
    if np.count_nonzero(few) > 1:  # one scan of all their members
        _scan_few(classes[0].samples, codes, few, nearest, other)
        is_found = other.indices[:, 0] >= 0
        cost, cheapest[is_found] = mean_offers(other.distances, r), codes[other.indices[is_found, 0]]
    else:
        few[:] = False
    for code, one in enumerate(classes):
        if few[code]:
            continue
        for rows in one.parts(np.flatnonzero(codes != code), r):
            to_beat = cost[rows] if rivals is None else np.where(rivals[rows, code], np.inf, -np.inf)
            reach = np.maximum(REACH * to_beat, nearest.distances[rows, -1])
            lists = one.ask(rows, r, reach)
            useful = lists.distances[:, 0] <= nearest.distances[rows, -1]
            near = rows[useful]
            nearest.put(near, _core.merge_lists(*nearest.take(near), *lists.take(useful)))
            # A sum of larger terms is not smaller, rounding included: missing members count as much as reach.
            size = min(r, one.size)
            known = np.where(lists.indices[:, :size] == NONE, reach[:, None], lists.distances[:, :size])
            value = mean_offers(known, size)
            again = np.flatnonzero((lists.indices[:, size - 1] == NONE) & (value <= to_beat))
            if len(again):
                lists.put(again, one.ask(rows[again], r))
                value[again] = mean_offers(lists.distances[again], size)
            wins = (value <= to_beat) & (value < np.inf) & lists.begin_before(other.take(rows))
            if rivals is None:
                wins |= value < to_beat
            cost[rows[wins]], cheapest[rows[wins]] = value[wins], code
            other.put(rows[wins], lists.take(wins))
    graph = KnnGraph(*(np.ascontiguousarray(array[:, : min(r, n - 1)]) for array in nearest))
    return Offers(mean_offers(own.distances, r), own, cheapest, cost, other, graph)


def _scan_few(
    samples: KeptSamples, codes: np.ndarray, few: np.ndarray, nearest: NearestOthers, other: NearestOthers
) -> None:
    """List the members of the cheapest other class marked, in one scan; merge them into the nearest."""
    X, n_threads, r = samples.X, samples.n_threads, other.indices.shape[1]
    members = samples.without_spare_copies(np.flatnonzero(few[codes]), r + 1, codes)
    asked = Contenders(samples, members, codes, len(few), None, X.dtype)
    (group,), engine = asked.groups, samples.engine(members, X.dtype, False)
    own = np.where(few[codes], np.searchsorted(group.codes, codes), NONE).astype(np.int32)
    for rows in blocks(len(codes), max(X.shape[1], r)):
        found = asked.cheapest(group, X[rows], r, n_threads, own[rows], True)
        for target, array in zip(other, found, strict=True):
            target[rows, : array.shape[1]] = array
        k = min(r + 1, len(members))
        distances, places = engine.query(samples.take(X[rows], members), k, n_threads)
        near = no_lists(len(distances), r + 1)
        near.distances[:, :k], near.indices[:, :k] = distances, members[places]
        is_few, numbers = few[codes[rows]], np.arange(len(codes))[rows]
        both = _core.merge_lists(*nearest.take(rows), *near)
        alone = without_self(*near, numbers)
        nearest.put(rows, tuple(np.where(is_few[:, None], a, b) for a, b in zip(alone, both, strict=True)))


class _Class(NamedTuple):
    """The members of a class that can be in a list."""

    samples: KeptSamples
    members: np.ndarray
    engine: Engine
    size: int  # of all members

    def parts(self, rows: np.ndarray, r: int) -> list[np.ndarray]:
        """Divide samples into parts that bound memory."""
        # A device is quick with a part of any length, and slow to start.
        width = r if self.samples.device != "cpu" else max(self.samples.X.shape[1], r)
        return [rows[part] for part in blocks(len(rows), width)]

    def ask(self, rows: np.ndarray, width: int, reach: np.ndarray | None = None) -> NearestOthers:
        """List the members nearest to samples; those beyond reach may be missing."""
        X, is_matrix = self.samples.X, self.samples.metric.kind != "features"
        queries = X[np.ix_(rows, self.members)] if is_matrix else self._copies(rows)
        k, n_threads = min(width, self.size), self.samples.n_threads
        return self._lists(width, *self.engine.query(queries, k, n_threads, reach))

    def others(self, width: int) -> NearestOthers:
        """List for each member the others nearest to it."""
        return self._lists(width, *self.engine.knn(min(width, self.size - 1), self.samples.n_threads))

    def _lists(self, width: int, distances: np.ndarray, places: np.ndarray) -> NearestOthers:
        lists, k = no_lists(len(places), width), places.shape[1]
        lists.distances[:, :k] = distances
        lists.indices[:, :k] = np.append(self.members, NONE).astype(np.int32)[places]
        return lists

    def _copies(self, rows: np.ndarray) -> np.ndarray:
        X = self.samples.X
        if self.samples.device == "cpu":
            return X[rows]
        found = np.empty((len(rows), X.shape[1]), X.dtype)

        def copy(part: slice) -> None:
            np.take(X, rows[part], axis=0, out=found[part], mode="clip")

        list(map_threads(copy, self.samples.n_threads, blocks(len(rows), X.shape[1])))
        return found


def _classes(samples: KeptSamples, codes: np.ndarray, r: int) -> list[_Class]:
    X, metric = samples.X, samples.metric
    if metric.kind != "features":
        X = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric)
        metric = metric._replace(kind="precomputed")
    samples = samples._replace(X=X, metric=metric, cache={})
    # No list takes more than r + 1 equal rows. A sample left out here has that many before it.
    members = samples.without_spare_copies(np.arange(len(codes)), r + 1, codes)
    sizes = np.bincount(codes).tolist()
    chosen = by_class(codes, members, len(sizes))
    return [
        _Class(samples, own, samples.engine(own, X.dtype, False), size)
        for own, size in zip(chosen, sizes, strict=True)
    ]


def no_lists(n: int, r: int) -> NearestOthers:
    return NearestOthers(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))
