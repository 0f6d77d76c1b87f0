"""What each class offers every sample when the sample itself is left out, from one pass over all samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pathforest._engines.engine import Engine, merge, without_self
from pathforest._engines.matrix import blocks, distance_matrix, symmetric
from pathforest._models.base import FitData, KeptSamples
from pathforest._models.offers import mean_offers
from pathforest.graph import KnnGraph

NONE = -1  # no sample, no class

# How far a class is searched, as a multiple of the cost that it has to beat: what it has there nearly always
# proves that it does not; if not, it is searched again without a limit.
REACH = 1.1


class Lists(NamedTuple):
    """The nearest others of each sample, by (distance, index); behind the last one inf and -1."""

    distances: np.ndarray  # (n, r) float64
    indices: np.ndarray  # (n, r) int32

    def take(self, rows: np.ndarray) -> Lists:
        """Return the lists of some samples."""
        return Lists(self.distances[rows], self.indices[rows])

    def put(self, rows: np.ndarray, new: tuple[np.ndarray, np.ndarray]) -> None:
        """Replace the lists of some samples."""
        self.distances[rows], self.indices[rows] = new

    def begin_before(self, others: Lists) -> np.ndarray:
        """Say which lists begin with a sample that is nearer, or as near and has the lower index."""
        nearest, other = self.distances[:, 0], others.distances[:, 0]
        return (nearest < other) | (nearest == other) & (self.indices[:, 0] < others.indices[:, 0])


class Offers(NamedTuple):
    """Leave-one-out costs of the given class and of its rival, with the samples behind them."""

    own: np.ndarray  # (n,) cost of the given class, inf if it has no other sample
    own_lists: Lists
    rival: np.ndarray  # (n,) code of the other class that is compared, -1 if there is none
    rival_cost: np.ndarray  # (n,) inf if there is none
    rival_lists: Lists
    nearest: KnnGraph  # of any class


def leave_one_out_offers(data: FitData, question: Any, rivals: np.ndarray | None = None) -> Offers:
    """Let each class offer every sample the mean distance of its members nearest to it.

    The rival of the given class is the cheapest other one or, if they are given as a mask of samples and
    classes, one of the `rivals`. Of several the one with the nearer member wins, then the one whose member
    comes first.
    """
    codes, n = data.labels.codes, len(data.labels.codes)
    r = min(int(question.n_conquerors), n)  # no class has more
    classes = _classes(data, question, r)
    own, other = _empty(n, r), _empty(n, r)
    for code, one in enumerate(classes):
        for rows in one.parts(np.flatnonzero(codes == code), r):
            own.put(rows, without_self(*one.ask(rows, r + 1), rows))
    nearest = Lists(own.distances.copy(), own.indices.copy())
    cost, cheapest = np.full(n, np.inf), np.full(n, NONE)
    for code, one in enumerate(classes):
        for rows in one.parts(np.flatnonzero(codes != code), r):
            to_beat = cost[rows] if rivals is None else np.where(rivals[rows, code], np.inf, -np.inf)
            reach = np.maximum(REACH * to_beat, nearest.distances[rows, -1])
            lists = one.ask(rows, r, reach)
            useful = lists.distances[:, 0] <= nearest.distances[rows, -1]
            near = rows[useful]
            nearest.put(near, merge(*nearest.take(near), *lists.take(useful)))
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


class _Class(NamedTuple):
    """The members of a class that can be in a list."""

    samples: KeptSamples
    members: np.ndarray
    engine: Engine
    size: int  # of all members

    def parts(self, rows: np.ndarray, r: int) -> list[np.ndarray]:
        """Divide samples into parts that bound memory."""
        return [rows[part] for part in blocks(len(rows), max(self.samples.X.shape[1], r))]

    def ask(self, rows: np.ndarray, width: int, reach: np.ndarray | None = None) -> Lists:
        """List the members nearest to samples; those beyond reach may be missing."""
        k, found = min(width, self.size), _empty(len(rows), width)
        X, is_matrix = self.samples.X, self.samples.metric.kind != "features"
        queries = X[np.ix_(rows, self.members)] if is_matrix else X[rows]
        found.distances[:, :k], places = self.engine.query(queries, k, self.samples.n_threads, reach)
        found.indices[:, :k] = np.where(places == NONE, NONE, self.members[places])
        return found


def _classes(data: FitData, question: Any, r: int) -> list[_Class]:
    X, metric, codes = data.X, data.metric, data.labels.codes
    if metric.kind != "features":
        X = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric)
        metric = metric._replace(kind="precomputed")
    samples = KeptSamples(X, metric, question.algorithm, data.n_threads, question.device, {})
    found = []
    for code in range(len(data.labels.values)):
        everyone = np.flatnonzero(codes == code)
        # No list takes more than r + 1 equal rows. A sample left out here has that many before it.
        members = samples.without_spare_copies(everyone, r + 1)
        engine = samples.engine(members, X.dtype, keep_order=False)
        found.append(_Class(samples, members, engine, len(everyone)))
    return found


def _empty(n: int, r: int) -> Lists:
    return Lists(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))
