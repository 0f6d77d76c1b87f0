"""What each class offers every training sample when the sample itself is left out, from one pass over all."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine, KnnGraph, Lists
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.samples import blocks, rows_of, without_self
from pathforest._models.base import KeptSamples
from pathforest._models.labels import by_class
from pathforest._models.offers import LARGE, NONE, Contenders, mean_offers
from pathforest._utils.checks import map_threads

# How far a class is searched for a training sample, as a multiple of the cost that it has to beat: what it
# has there nearly always proves that it does not; if not, it is searched again without a limit.
REACH = 1.1

JUDGED = 2**15  # samples that one thread judges at a time
DEVICE_PART = 32  # features of a sample that count as one value where a device takes long parts


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
            own.put(rows, without_self(*one.lists(r + 1, *one.ask(rows, r + 1)), rows))
    nearest = NearestOthers(own.distances.copy(), own.indices.copy())
    cost, cheapest = np.full(n, np.inf), np.full(n, NONE)
    few = np.bincount(codes) <= LARGE * (rivals is None)
    if np.count_nonzero(few) > 1:  # one scan of all their members
        _scan_few(classes[0].samples, codes, few, nearest, other)
        is_found = other.indices[:, 0] >= 0
        cost, cheapest[is_found] = mean_offers(other.distances, r), codes[other.indices[is_found, 0]]
    else:
        few[:] = False
    race = _Race(nearest, other, cost, cheapest, rivals, r)
    for code, one in enumerate(classes):
        if not few[code]:
            for rows in one.parts(np.flatnonzero(codes != code), r):
                race.enter(one, code, rows)
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


class _Race(NamedTuple):
    """What samples know while one class after the other offers them its members."""

    nearest: NearestOthers
    other: NearestOthers
    cost: np.ndarray
    cheapest: np.ndarray
    rivals: np.ndarray | None
    r: int

    def enter(self, one: _Class, code: int, rows: np.ndarray) -> None:
        """Let a class offer its members to some samples."""
        reach = np.maximum(REACH * self._to_beat(rows, code), self.nearest.distances[rows, -1])
        while len(rows):
            found = one.ask(rows, self.r, reach)
            parts = [slice(i, i + JUDGED) for i in range(0, len(rows), JUDGED)]
            cut = ([array[part] for part in parts] for array in (rows, reach, *found))
            judge = partial(self._judge, one, code)
            is_open = np.concatenate(list(map_threads(judge, one.samples.n_threads, *cut)))
            rows, reach = rows[is_open], np.full(np.count_nonzero(is_open), np.inf)

    def _to_beat(self, rows: np.ndarray, code: int) -> np.ndarray:
        return self.cost[rows] if self.rivals is None else np.where(self.rivals[rows, code], np.inf, -np.inf)

    def _judge(
        self,
        one: _Class,
        code: int,
        rows: np.ndarray,
        reach: np.ndarray,
        distances: np.ndarray,
        places: np.ndarray,
    ) -> np.ndarray:
        """Take what counts; say for which samples more than was in reach may count."""
        lists, to_beat = one.lists(self.r, distances, places), self._to_beat(rows, code)
        size = min(self.r, one.size)
        # A sum of larger terms is not smaller, rounding included: missing members count as much as reach.
        is_missing = lists.indices[:, :size] == NONE
        value = mean_offers(np.where(is_missing, reach[:, None], lists.distances[:, :size]), size)
        is_open = is_missing[:, -1] & (value <= to_beat) & (reach < np.inf)
        useful = (lists.distances[:, 0] <= self.nearest.distances[rows, -1]) & ~is_open
        near = rows[useful]
        self.nearest.put(near, _core.merge_lists(*self.nearest.take(near), *lists.take(useful)))
        wins = (value <= to_beat) & (value < np.inf) & lists.begin_before(self.other.take(rows))
        if self.rivals is None:
            wins |= value < to_beat
        wins &= ~is_open
        self.cost[rows[wins]], self.cheapest[rows[wins]] = value[wins], code
        self.other.put(rows[wins], lists.take(wins))
        return is_open


class _Class(NamedTuple):
    """The members of a class that can be in a list."""

    samples: KeptSamples
    members: np.ndarray
    engine: Engine
    size: int  # of all members

    def parts(self, rows: np.ndarray, r: int) -> list[np.ndarray]:
        """Divide samples into parts that bound memory."""
        width = self.samples.X.shape[1]
        # A device is quick with a part of any length, and slow to start.
        width = width // DEVICE_PART if self.samples.device != "cpu" else max(width, r)
        return [rows[part] for part in blocks(len(rows), width)]

    def ask(self, rows: np.ndarray, width: int, reach: np.ndarray | None = None) -> Lists:
        """Find the members nearest to samples; those beyond reach may be missing."""
        X, is_matrix = self.samples.X, self.samples.metric.kind != "features"
        k, n_threads = min(width, self.size), self.samples.n_threads
        queries = X[np.ix_(rows, self.members)] if is_matrix else rows_of(X, rows, n_threads)
        return self.engine.query(queries, k, n_threads, reach)

    def others(self, width: int) -> NearestOthers:
        """List for each member the others nearest to it."""
        return self.lists(width, *self.engine.knn(min(width, self.size - 1), self.samples.n_threads))

    def lists(self, width: int, distances: np.ndarray, places: np.ndarray) -> NearestOthers:
        """Name the members that were found by their places."""
        lists, k = no_lists(len(places), width), places.shape[1]
        lists.distances[:, :k] = distances
        lists.indices[:, :k] = np.append(self.members, NONE).astype(np.int32)[places]
        return lists


def _classes(samples: KeptSamples, codes: np.ndarray, r: int) -> list[_Class]:
    X, metric = samples.X, samples.metric
    if metric.kind != "features":
        X = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric)
        metric = metric._replace(kind="precomputed")
    samples, n_classes = samples._replace(X=X, metric=metric, cache={}), int(codes.max()) + 1

    def gather(given: np.ndarray) -> _Class:
        # No list takes more than r + 1 equal rows. A sample left out here has that many before it.
        members = samples.without_spare_copies(given, r + 1, codes)
        return _Class(samples, members, samples.engine(members, X.dtype, False), len(given))

    return list(map_threads(gather, samples.n_threads, by_class(codes, np.arange(len(codes)), n_classes)))


def no_lists(n: int, r: int) -> NearestOthers:
    return NearestOthers(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))
