"""What each class offers new samples: the answer behind predictions, explanations, pruning and searches.

A training sample offers a query the larger of its own cost and their distance; a class offers the mean of its
r cheapest ones. One forest is asked for exactly that. Several forests over the same samples share one search:
it lists the members of each class nearest to each query. All other members offer at least the last distance
of the list, so the lists settle nearly all answers of every forest; the engine is asked for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine, KnnGraph, merge, without_self
from pathforest._engines.matrix import distance_matrix, symmetric
from pathforest._engines.samples import blocks
from pathforest._models.base import KeptSamples
from pathforest._utils.checks import map_threads
from pathforest._utils.progress import SILENCE
from pathforest.forest import Conquest

# Members of a class listed beyond those that decide: without them an offer that costs more than its distance
# would leave the answer open. On overlapping classes, such lists settled all but 4 answers in 10,000.
EXTRA_MEMBERS = 2

# How far a class is searched for a training sample, as a multiple of the cost that it has to beat: what it
# has there nearly always proves that it does not; if not, it is searched again without a limit.
REACH = 1.1

NONE = -1  # no sample, no class

WORTH_THREADS = 1024  # queries whose answers are worth the start of threads


class KeptForest(NamedTuple):
    """A forest as new samples see it."""

    samples: KeptSamples
    cost: np.ndarray  # (n,) path cost
    order: np.ndarray  # (n,) samples by ascending cost: of equal offers the first wins
    code: np.ndarray  # (n,) propagated class
    n_classes: int
    r: int = 1  # how many offers of a class decide; a class with fewer offers all it has
    n_neighbors: int | None = None  # how many neighbours make a query an offer; None: all samples
    factors: np.ndarray | None = None  # of each class, for the offers of neighbours

    @property
    def rank(self) -> np.ndarray:
        """Place of each sample in the order; one more entry, the last, stands for no sample."""
        return self.samples.cached("rank", lambda: np.append(ranks(self.order), np.int32(len(self.order))))

    def on(self, device: str) -> KeptForest:
        """Return the forest with its distances computed elsewhere."""
        return self._replace(samples=self.samples._replace(device=device))

    def asked_for(self, n_conquerors: int) -> KeptForest:
        """Return the forest with another number of offers that decide."""
        most = len(self.order) if self.n_neighbors is None else self.n_neighbors
        return self._replace(r=min(int(n_conquerors), most))

    def take(self, rows: np.ndarray) -> KeptForest:
        """Return the part of the forest that consists of some samples: their offers are the same."""
        X = None if self.samples.X is None else self.samples.X[rows]
        order = np.argsort(self.rank[rows], kind="stable")
        samples = self.samples._replace(X=X, cache={})
        return self._replace(samples=samples, cost=self.cost[rows], order=order, code=self.code[rows])


class Carriers(NamedTuple):
    """Training samples that carry one class, or any; those that can make one of the cheapest offers."""

    samples: KeptSamples
    engine: Engine  # over the members, in their order
    members: np.ndarray  # (n_members,) their indices in the forest's order: cheap ones first, ties settled
    cost: np.ndarray  # (n_members,) their costs

    def offers(self, block: np.ndarray, r: int, n_threads: int) -> Conquest:
        """Return the `r` cheapest offers to each query, and the training samples that make them."""
        order = np.arange(len(self.members), dtype=np.int32)
        # Queries have been checked; `forest.conquer` would check them again, which doubles the time of rows.
        queries = self.samples.take(block, self.members)
        offers, positions = self.engine.conquer(queries, self.cost, order, r, n_threads)
        return Conquest(offers, self.members[positions])


class Bids(NamedTuple):
    """The cheapest offers of one class to some queries."""

    rows: slice  # of the queries
    code: int  # class
    offers: np.ndarray  # (m, r) ascending; inf, or fewer columns, if the class has fewer
    indices: np.ndarray  # (m, r) the training samples that make them, -1 for none


class ClassCosts(NamedTuple):
    """What each class of one forest offers queries."""

    cost: np.ndarray  # (n_r, m, n_classes) mean of the r cheapest offers, for each r asked for
    first: np.ndarray  # (m, n_classes) rank of the cheapest offer, n for a class without samples

    def winner(self, r: int) -> np.ndarray:
        """Class of the smallest cost; on ties the one whose cheapest offer comes first in the order."""
        return cheapest_class(self.cost[r], self.first)


class Decision(NamedTuple):
    """The winner for each query."""

    code: np.ndarray  # (m,) class
    conqueror: np.ndarray  # (m,) training sample


def decide(forest: KeptForest, Q: np.ndarray, bar: Any = SILENCE) -> Decision:
    """Find the winner for each query: the class of the cheapest offer, or of the cheapest mean.

    On ties it is the one whose cheapest offer comes first in the order.
    """
    if forest.r > 1 or forest.n_neighbors is not None:
        ((cost, first),) = class_costs([forest], Q, bar)
        code = cheapest_class(cost[0], first)
        return Decision(code, forest.order[first[np.arange(len(Q)), code]])
    everyone, conqueror = carriers(forest, Q.dtype), np.empty(len(Q), dtype=np.intp)
    for rows, block in bar.over(forest.samples.blocks(Q, width=1)):
        conqueror[rows] = everyone.offers(block, 1, forest.samples.n_threads).indices[:, 0]
    return Decision(forest.code[conqueror], conqueror)


def class_costs(forests: Sequence[KeptForest], Q: np.ndarray, bar: Any = SILENCE) -> list[ClassCosts]:
    """Return what each class offers the queries, for several forests over the same samples."""
    shape = len(Q), forests[0].n_classes
    found = [
        ClassCosts(np.full((1, *shape), np.inf), np.full(shape, len(one.order), np.int32)) for one in forests
    ]
    if len(forests) == 1:
        (forest,), ((cost, first),) = forests, found
        for rows, code, offers, indices in bids(forest, Q, bar):
            cost[0, rows, code] = mean_offers(offers, forest.r)
            first[rows, code] = forest.rank[indices[:, 0]]
        return found
    samples, counts = forests[0].samples, [np.array([one.r], np.int32) for one in forests]

    def ask() -> tuple[ClassGroups, list[AskedForest], Sequence[KeptForest]]:
        groups = ClassGroups(samples, forests[0].code, forests[0].n_classes, Q.dtype)
        return groups, [AskedForest(groups, one.cost, one.order, one.code) for one in forests], forests

    # The forests are kept, and with them their arrays, so that no later one can take an id.
    key = "together", Q.dtype.char, *(id(one.cost) for one in forests)
    groups, asked, _ = samples.cached(key, ask)
    width = 2 * shape[1] * (int(max(counts)[0]) + EXTRA_MEMBERS)
    for rows, block in bar.over(samples.blocks(Q, width)):
        nearest = groups.nearest(block, int(max(counts)[0]))
        for (cost, first), part in zip(found, answer_each(asked, block, nearest, counts), strict=True):
            cost[:, rows], first[rows] = part
    return found


def bids(forest: KeptForest, Q: np.ndarray, bar: Any = SILENCE) -> Iterator[Bids]:
    """Yield the offers of every class to every query, block by block."""
    if forest.n_neighbors is not None:
        yield from _bids_of_neighbors(forest, Q, bar)
        return
    present = np.unique(forest.code).tolist()
    for rows, block in forest.samples.blocks(Q, width=forest.r):
        for code in present:
            bar.expect(len(block) / len(present))
            offers = carriers(forest, Q.dtype, code).offers(block, forest.r, forest.samples.n_threads)
            yield Bids(rows, code, *offers)
            bar.update(len(block) / len(present))


def carriers(forest: KeptForest, dtype: np.dtype, code: int | None = None) -> Carriers:
    """Gather the samples whose offers can be among the `r` cheapest, of one class or of all."""
    samples = forest.samples
    most = 1 if forest.r == 1 else min(forest.r, samples.most_copies())

    def gather() -> Carriers:
        members = forest.order if code is None else forest.order[forest.code[forest.order] == code]
        members = samples.without_spare_copies(members, most)
        return Carriers(samples, samples.engine(members, dtype), members, forest.cost[members])

    return samples.cached(("carriers", code, most, dtype.char), gather)


def _bids_of_neighbors(forest: KeptForest, Q: np.ndarray, bar: Any) -> Iterator[Bids]:
    """Yield the offers of the nearest samples: their cost and the distance, times the factor of the class."""
    near = forest.samples.nearest(Q, forest.n_neighbors, len(forest.order), bar)
    for rows, distances, indices in near:
        offers = forest.cost[indices] + forest.factors[forest.code[indices]] * distances
        ascending = np.lexsort((forest.rank[indices], offers))
        offers, indices = (np.take_along_axis(a, ascending, axis=1) for a in (offers, indices))
        codes = forest.code[indices]
        for code in np.unique(codes).tolist():
            own_first = np.argsort(codes != code, axis=1, kind="stable")
            is_own = np.take_along_axis(codes, own_first, axis=1) == code
            values = np.where(is_own, np.take_along_axis(offers, own_first, axis=1), np.inf)
            members = np.where(is_own, np.take_along_axis(indices, own_first, axis=1), -1)
            yield Bids(rows, code, values, members)


Lists = tuple[np.ndarray, np.ndarray]  # distances (m, k), ascending, and places among the members of a class


class ClassGroups:
    """The training samples class by class, each class with an engine.

    `code` is the class of each sample. Any grouping is right; the fewer samples carry another class in a
    forest, the less it costs.
    """

    def __init__(self, samples: KeptSamples, code: np.ndarray, n_classes: int, dtype: np.dtype) -> None:
        self.samples, self.code, self.dtype = samples, code, dtype
        self.members = [np.flatnonzero(code == c) for c in range(n_classes)]
        self._listed: tuple[int, list[tuple[np.ndarray, Engine | None]]] = (-1, [])  # for the longest so far

    def listed(self, length: int) -> list[tuple[np.ndarray, Engine | None]]:
        """Return the members of each class that can be in lists of a length, and an engine over them."""
        longest, found = self._listed
        if length > longest:
            chosen = [self.samples.without_spare_copies(members, length) for members in self.members]
            found = [
                (own, self.samples.engine(own, self.dtype, False) if len(own) else None) for own in chosen
            ]
            self._listed = length, found
        return found

    def nearest(self, block: np.ndarray, r: int) -> list[Lists]:
        """List the members of each class nearest to each query, for its `r` cheapest offers."""
        length, found = r + EXTRA_MEMBERS, []
        for members, (chosen, engine) in zip(self.members, self.listed(length), strict=True):
            if engine is None:
                found.append((np.empty((len(block), 0)), np.empty((len(block), 0), dtype=np.int32)))
                continue
            queries, k = self.samples.take(block, chosen), min(length, len(members))
            distances, indices = engine.query(queries, k, self.samples.n_threads)
            if len(chosen) < len(members):
                indices = np.searchsorted(members, chosen).astype(np.int32)[indices]
            found.append((distances, indices))
        return found

    def carriers(self, members: np.ndarray, cost: np.ndarray) -> Carriers | None:
        """Gather samples that ascend by rank, given what all samples cost; None if there are none."""
        if not len(members):
            return None
        return Carriers(self.samples, self.samples.engine(members, self.dtype), members, cost[members])


class AskedForest:
    """Class costs of one forest, from the lists that it shares with others over the same samples."""

    def __init__(self, groups: ClassGroups, cost: np.ndarray, order: np.ndarray, code: np.ndarray) -> None:
        self._groups, self._cost, self._code, self._rank = groups, cost, code, ranks(order)
        strangers = np.flatnonzero(code != groups.code)
        strangers = strangers[np.argsort(self._rank[strangers])]
        # Who makes the offers of each class: its members' costs, inf for those that carry another class, and
        # their ranks; and others that took it, if there are any.
        self._contenders = []
        for c, members in enumerate(groups.members):
            own = np.where(code[members] == c, cost[members], np.inf)
            others = groups.carriers(strangers[code[strangers] == c], cost)
            self._contenders.append((own, self._rank[members], others))
        self._searched: dict[tuple[int, int], Carriers | None] = {}

    def answer(
        self, block: np.ndarray, nearest: Sequence[Lists], counts: np.ndarray, n_threads: int
    ) -> ClassCosts:
        """Return what each class offers the queries, for ascending numbers of conquerors."""
        n, shape = len(self._cost), (len(block), len(nearest))
        found = ClassCosts(np.empty((len(counts), *shape)), np.empty(shape, dtype=np.int32))
        for code, (lists, (*own, others)) in enumerate(zip(nearest, self._contenders, strict=True)):
            further = self._conquer(others, block, counts, n_threads)
            cost, first = _core.class_costs(*lists, *own, *further, counts, n, n_threads)
            left = np.flatnonzero(first < 0)
            if left.size:
                rest = further[0][left], further[1][left]
                cost[:, left], first[left] = self._search(code, block[left], rest, counts, n_threads)
            found.cost[:, :, code], found.first[:, code] = cost, first
        return found

    def _conquer(
        self, carriers: Carriers | None, block: np.ndarray, counts: np.ndarray, n_threads: int
    ) -> Lists:
        """Return the cheapest offers, and the rank of the first of them."""
        if carriers is None:
            return np.empty((len(block), 0)), np.full(len(block), len(self._cost), dtype=np.int32)
        r = min(int(counts[-1]), len(carriers.members))
        offers, indices = carriers.offers(block, r, n_threads)
        return offers, self._rank[indices[:, 0]]

    def _search(
        self, code: int, block: np.ndarray, further: Lists, counts: np.ndarray, n_threads: int
    ) -> Lists:
        """Answer by a search of all members that carry the class, where their lists left it open."""
        most = int(counts[-1])
        if (code, most) not in self._searched:  # cheap ones first
            cost, rank, _ = self._contenders[code]
            kept = np.flatnonzero(np.isfinite(cost))
            members = self._groups.members[code][kept[np.argsort(rank[kept])]]
            members = self._groups.samples.without_spare_copies(members, most)
            self._searched[code, most] = self._groups.carriers(members, self._cost)
        offers, first = self._conquer(self._searched[code, most], block, counts, n_threads)
        both = np.concatenate([offers, further[0]], axis=1)
        cheapest = [one.min(axis=1, initial=np.inf) for one in (offers, further[0])]
        rank = np.where(cheapest == np.min(cheapest, axis=0), [first, further[1]], len(self._cost))
        return _core.mean_offers(np.sort(both, axis=1), counts), rank.min(axis=0)


def answer_each(
    forests: Sequence[AskedForest],
    block: np.ndarray,
    nearest: Sequence[Lists],
    counts: Sequence[np.ndarray],
) -> Iterator[ClassCosts]:
    """Return the class costs of each forest, one by one, with its own numbers of conquerors."""
    # A thread per forest meets the others once; threads inside would for every class, and wait each time.
    outside, inside = forests[0]._groups.samples.n_threads, 1
    if len(forests) == 1 or len(block) < WORTH_THREADS:
        outside, inside = inside, outside
    return map_threads(lambda one, r: one.answer(block, nearest, r, inside), outside, forests, counts)


def ranks(order: np.ndarray) -> np.ndarray:
    """Return the place of each sample in an order of all, as int32."""
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def mean_offers(offers: np.ndarray, r: int) -> np.ndarray:
    """Return the mean of the `r` cheapest of ascending offers, or of those that are finite, if fewer."""
    return _core.mean_offers(offers, np.array([r], dtype=np.int32))[0]


def cheapest_class(costs: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the class of the smallest cost; on ties the one whose cheapest offer has the smallest rank."""
    tied = costs == lowest_costs(costs)
    if np.count_nonzero(tied) == len(tied):
        return tied.argmax(axis=1)
    return np.where(tied, rank, np.iinfo(rank.dtype).max).argmin(axis=1)


def lowest_costs(costs: np.ndarray) -> np.ndarray:
    """Return the smallest cost of each query, as a column."""
    # Along short rows NumPy takes ten times as long.
    return np.ascontiguousarray(costs.T).min(axis=0)[:, None]


def cost_ratios(costs: np.ndarray) -> np.ndarray:
    """Return smallest cost / cost for each query and class, 1 where they are equal."""
    lowest = lowest_costs(costs)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = lowest / costs
    ratio[costs == lowest] = 1
    return ratio


def probabilities(costs: np.ndarray, beta: float) -> np.ndarray:
    """Turn class costs into probabilities, proportional to (smallest cost / cost) ** beta."""
    weight = cost_ratios(costs) ** float(beta)
    return weight / row_sums(weight)[:, None]


def row_sums(weight: np.ndarray) -> np.ndarray:
    """Add up each row, as ``weight.sum(axis=1)`` does."""
    # Fewer than 8 terms are added one after the other either way, and down the columns many times as fast.
    return np.ascontiguousarray(weight.T).sum(axis=0) if weight.shape[1] < 8 else weight.sum(axis=1)


# What each class offers every sample when the sample itself is left out, from one pass over all samples


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
    """Let each class offer every sample the mean distance of its members nearest to it.

    The rival of the given class is the cheapest other one or, if they are given as a mask of samples and
    classes, one of the `rivals`. Of several the one with the nearer member wins, then the one whose member
    comes first.
    """
    n = len(codes)
    r = min(n_conquerors, n)  # no class has more
    classes = _classes(samples, codes, r)
    own, other = no_lists(n, r), no_lists(n, r)
    for code, one in enumerate(classes):
        for rows in one.parts(np.flatnonzero(codes == code), r):
            own.put(rows, without_self(*one.ask(rows, r + 1), rows))
    nearest = NearestOthers(own.distances.copy(), own.indices.copy())
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

    def ask(self, rows: np.ndarray, width: int, reach: np.ndarray | None = None) -> NearestOthers:
        """List the members nearest to samples; those beyond reach may be missing."""
        k, found = min(width, self.size), no_lists(len(rows), width)
        X, is_matrix = self.samples.X, self.samples.metric.kind != "features"
        queries = X[np.ix_(rows, self.members)] if is_matrix else X[rows]
        found.distances[:, :k], places = self.engine.query(queries, k, self.samples.n_threads, reach)
        found.indices[:, :k] = np.where(places == NONE, NONE, self.members[places])
        return found


def _classes(samples: KeptSamples, codes: np.ndarray, r: int) -> list[_Class]:
    X, metric = samples.X, samples.metric
    if metric.kind != "features":
        X = symmetric(X) if metric.kind == "precomputed" else distance_matrix(X, metric)
        metric = metric._replace(kind="precomputed")
    samples = samples._replace(X=X, metric=metric, cache={})
    groups = ClassGroups(samples, codes, int(codes.max()) + 1, X.dtype)
    # No list takes more than r + 1 equal rows. A sample left out here has that many before it.
    listed = zip(groups.members, groups.listed(r + 1), strict=True)
    return [_Class(samples, *chosen, len(members)) for members, chosen in listed]


def no_lists(n: int, r: int) -> NearestOthers:
    return NearestOthers(np.full((n, r), np.inf), np.full((n, r), NONE, dtype=np.int32))
