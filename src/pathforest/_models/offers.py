"""What each class offers new samples: the answer behind predictions, explanations, pruning and searches.

A training sample offers a query the larger of its own cost and their distance; a class offers the mean of its
r cheapest ones. Where classes are many, the cheapest offers of all together settle most labels: what is not
listed costs at least as much as the last of them. Several forests over the same samples share one search: it
lists the members of each class nearest to each query. All other members offer at least the last distance of
the list, so the lists settle nearly all answers of every forest; the engine is asked for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine
from pathforest._models.base import KeptSamples
from pathforest._utils.checks import map_threads
from pathforest._utils.progress import SILENCE

# Members of a class listed beyond those that decide: without them an offer that costs more than its distance
# would leave the answer open. On overlapping classes, such lists settled all but 4 answers in 10,000.
EXTRA_MEMBERS = 2

NONE = -1  # no sample, no class

LARGE = 200  # members of a class that are worth an engine of their own
LISTED = 4  # offers of all classes that are listed for a label, as a multiple of those that decide

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


Lists = tuple[np.ndarray, np.ndarray]  # (m, n_classes, k): offers, ascending, and the samples that make them


class Group(NamedTuple):
    """Samples of one class, or of several that share an engine."""

    codes: np.ndarray  # classes
    largest: int  # members of the largest class
    members: np.ndarray  # training samples class by class; one more entry, the last, stands for no sample
    engine: Engine
    cost: np.ndarray  # of the members
    order: np.ndarray  # members by rank
    code: np.ndarray  # place of their class in `codes`


class Contenders:
    """Samples, in an order that settles ties, and the classes that they make offers for."""

    # Large classes have an engine each, which passes over most of it; all others share one, and one scan.

    def __init__(
        self,
        samples: KeptSamples,
        members: np.ndarray,
        code: np.ndarray,
        n_classes: int,
        cost: np.ndarray | None,
        dtype: np.dtype,
    ) -> None:
        self.samples, self.n_classes, self._by_distance = samples, n_classes, cost is None
        carried = code[members]
        self.size = np.bincount(carried, minlength=n_classes)  # of each class
        by_class, ends = np.argsort(carried, kind="stable"), np.cumsum(self.size)
        shared = np.flatnonzero((self.size > 0) & (self.size <= LARGE))
        is_shared = self.size[carried[by_class]] <= LARGE
        parts = [(shared, by_class[is_shared])] if len(shared) else []
        for own in np.flatnonzero(self.size > LARGE):
            parts.append((np.array([own]), by_class[ends[own] - self.size[own] : ends[own]]))
        self.groups, self.n_shared = [], len(shared)
        for codes, places in parts:
            chosen = members[places]
            own_samples, keep_order = samples, cost is not None
            if codes is shared and samples.algorithm != "kd_tree":  # nothing is passed over
                own_samples, keep_order = samples._replace(algorithm="brute"), True
            group = Group(
                codes,
                int(self.size[codes].max()),
                np.append(chosen, NONE).astype(np.int32),
                own_samples.engine(chosen, dtype, keep_order),
                np.zeros(len(chosen)) if cost is None else cost[chosen],
                np.argsort(places).astype(np.int32),
                np.searchsorted(codes, carried[places]).astype(np.int32),
            )
            self.groups.append(group)

    def offers(self, block: np.ndarray, r: int, n_threads: int, reach: np.ndarray | None = None) -> Lists:
        """Return the `r` cheapest offers of each class; inf and -1, or fewer columns, if it has fewer.

        By distance, those beyond the reach of a query (for each class) may be missing.
        """
        # Queries have been checked; `forest.conquer` would check them again, which doubles the time of rows.
        shape = len(block), self.n_classes, min(r, int(self.size.max(initial=0)))
        if len(self.groups) == 1 and len(self.groups[0].codes) == self.n_classes:
            return self._ask(self.groups[0], block, r, n_threads, reach)
        offers, indices = np.full(shape, np.inf), np.full(shape, NONE, dtype=np.int32)
        for group in self.groups:
            places = np.s_[:, group.codes, : min(r, group.largest)]
            offers[places], indices[places] = self._ask(group, block, r, n_threads, reach)
        return offers, indices

    def conquerors(self, block: np.ndarray, r: int, rank: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the rank of the winner's cheapest offer to each query."""
        lowest, first = np.full(len(block), np.inf), np.full(len(block), len(rank) - 1)
        for group in self.groups:
            if len(group.codes) > 1:
                offers, indices = self.cheapest(group, block, r, n_threads)
            else:
                offers, indices = (array[:, 0] for array in self._ask(group, block, r, n_threads))
            cost, place = mean_offers(offers, r), rank[indices[:, 0]]
            wins = (cost < lowest) | (cost == lowest) & (place < first)
            lowest[wins], first[wins] = cost[wins], place[wins]
        return first

    def cheapest(self, group: Group, block: np.ndarray, r: int, n_threads: int, *rule: Any) -> Lists:
        """Return the cheapest offers (m, k) of the best class of a group that has several."""
        queries, k = self.samples.take(block, group.members[:-1]), min(r, group.largest)
        offers, places = group.engine.cheapest_class(queries, *group[4:], k, n_threads, *rule)
        return offers, group.members[places]

    def _ask(
        self, group: Group, block: np.ndarray, r: int, n_threads: int, reach: np.ndarray | None = None
    ) -> Lists:
        queries, k = self.samples.take(block, group.members[:-1]), min(r, group.largest)
        if len(group.codes) > 1:
            offers, places = group.engine.class_offers(queries, *group[4:], k, n_threads)
        elif self._by_distance:
            near = None if reach is None else np.ascontiguousarray(reach[:, group.codes[0]])
            offers, places = group.engine.query(queries, k, n_threads, near)
        else:
            offers, places = group.engine.conquer(queries, group.cost, group.order, k, n_threads)
        shape = len(block), len(group.codes), k
        return offers.reshape(shape), group.members[places].reshape(shape)


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
    """Find the winner: the class of the cheapest mean, of equals that whose cheapest offer comes first."""
    if forest.n_neighbors is not None:
        ((cost, first),) = class_costs([forest], Q, bar)
        code = cheapest_class(cost[0], first)
        return Decision(code, forest.order[first[np.arange(len(Q)), code]])
    r, n_threads, conqueror = forest.r, forest.samples.n_threads, np.full(len(Q), NONE)
    shared = r > 1 and contenders(forest, Q.dtype).n_shared > 1
    k = 1 if r == 1 else LISTED * r * shared
    code = forest.samples.cached("code", lambda: forest.code.astype(np.int32))
    sizes = np.minimum(np.bincount(code), r).astype(np.int32)
    for rows, block in bar.over(forest.samples.blocks(Q, width=max(k, r))):
        if k:
            everyone = contenders(forest, Q.dtype, together=True)
            offers, indices = (array[:, 0] for array in everyone.offers(block, k, n_threads))
            is_all = k >= int(everyone.size[0])
            conqueror[rows] = indices[:, 0]
            if r > 1:
                found = _core.settle_winners(offers, indices, is_all, forest.rank, code, sizes)
                conqueror[rows] = found
        left = np.flatnonzero(conqueror[rows] == NONE)
        if len(left):
            asked = contenders(forest, Q.dtype).conquerors(block[left], r, forest.rank, n_threads)
            conqueror[rows.start + left] = forest.order[asked]
    return Decision(forest.code[conqueror], conqueror)


def class_costs(forests: Sequence[KeptForest], Q: np.ndarray, bar: Any = SILENCE) -> list[ClassCosts]:
    """Return what each class offers the queries, for several forests over the same samples."""
    shape = len(Q), forests[0].n_classes
    found = [
        ClassCosts(np.full((1, *shape), np.inf), np.full(shape, len(one.order), np.int32)) for one in forests
    ]
    if len(forests) == 1:
        (forest,), ((cost, first),) = forests, found
        if forest.n_neighbors is not None:
            for rows, code, offers, indices in _bids_of_neighbors(forest, Q, bar):
                cost[0, rows, code] = mean_offers(offers, forest.r)
                first[rows, code] = forest.rank[indices[:, 0]]
            return found
        for rows, offers, indices in _offers(forest, Q, bar):
            cost[0, rows] = mean_offers(offers, forest.r)
            first[rows] = forest.rank[indices[:, :, 0]]
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


def bids(forest: KeptForest, Q: np.ndarray) -> Iterator[Bids]:
    """Yield the offers of every class to every query, block by block."""
    if forest.n_neighbors is not None:
        yield from _bids_of_neighbors(forest, Q, SILENCE)
        return
    size = contenders(forest, Q.dtype).size
    for rows, offers, indices in _offers(forest, Q, SILENCE):
        for code in np.flatnonzero(size).tolist():
            made = np.s_[:, code, : size[code]]
            yield Bids(rows, code, np.ascontiguousarray(offers[made]), indices[made])


def _offers(forest: KeptForest, Q: np.ndarray, bar: Any) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield the offers of all classes to blocks of queries, and the samples that make them."""
    asked = contenders(forest, Q.dtype)
    for rows, block in bar.over(forest.samples.blocks(Q, width=2 * forest.n_classes * forest.r)):
        yield rows, *asked.offers(block, forest.r, forest.samples.n_threads)


def contenders(forest: KeptForest, dtype: np.dtype, together: bool = False) -> Contenders:
    """Gather the samples whose offers can be among the `r` cheapest of a class, or of all `together`."""
    samples = forest.samples
    most = 1 if forest.r == 1 else min(forest.r, samples.most_copies())

    def gather() -> Contenders:
        group = forest.code if most > 1 or not together else np.zeros_like(forest.code)
        members = samples.without_spare_copies(forest.order, most, group)
        code = np.zeros_like(forest.code) if together else forest.code
        n_classes = 1 if together else forest.n_classes
        return Contenders(samples, members, code, n_classes, forest.cost, dtype)

    return samples.cached(("contenders", together, most, dtype.char), gather)


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


class ClassGroups:
    """The training samples class by class, or by any grouping: the fewer strangers, the less it costs."""

    def __init__(self, samples: KeptSamples, code: np.ndarray, n_classes: int, dtype: np.dtype) -> None:
        self.samples, self.code, self.n_classes, self.dtype = samples, code, n_classes, dtype
        self.sizes = np.bincount(code, minlength=n_classes).astype(np.int32)
        self._listed: tuple[int, Contenders | None] = -1, None  # for the longest lists so far

    def nearest(self, block: np.ndarray, r: int) -> Lists:
        """List the members of each class nearest to each query, for its `r` cheapest offers."""
        length, (longest, asked) = r + EXTRA_MEMBERS, self._listed
        if length > longest:
            members = self.samples.without_spare_copies(np.arange(len(self.code)), length, self.code)
            asked = self.contenders(members, self.code, None)
            self._listed = length, asked
        return asked.offers(block, length, self.samples.n_threads)

    def contenders(self, members: np.ndarray, code: np.ndarray, cost: np.ndarray | None) -> Contenders:
        """Gather samples that ascend by rank, given the class that each of all samples carries."""
        return Contenders(self.samples, members, code, self.n_classes, cost, self.dtype)


class AskedForest:
    """Class costs of one forest, from the lists that it shares with others over the same samples."""

    def __init__(self, groups: ClassGroups, cost: np.ndarray, order: np.ndarray, code: np.ndarray) -> None:
        self._groups, self._cost, self._code = groups, cost, code.astype(np.int32)
        self._order, self._rank = order, np.append(ranks(order), np.int32(len(order)))
        # Samples that carry another class than that of their group.
        self._strangers = groups.contenders(order[code[order] != groups.code[order]], code, cost)
        self._searched: dict[int, Contenders] = {}

    def answer(self, block: np.ndarray, nearest: Lists, counts: np.ndarray, n_threads: int) -> ClassCosts:
        """Return what each class offers the queries, for ascending numbers of conquerors."""
        most, groups, forest = int(counts[-1]), self._groups, (self._cost, self._rank[:-1], self._code)
        further, first = self._ask(self._strangers, block, most, n_threads)
        lists = *nearest, groups.sizes
        cost, first = _core.class_costs(*lists, *forest, further, first, counts, n_threads)
        left = np.flatnonzero((first < 0).any(axis=1))
        if len(left):  # lists leave an answer open
            if most not in self._searched:
                members = groups.samples.without_spare_copies(self._order, most, self._code)
                self._searched[most] = groups.contenders(members, self._code, self._cost)
            offers, first[left] = self._ask(self._searched[most], block[left], most, n_threads)
            found = _core.mean_offers(offers.reshape(-1, offers.shape[2]), counts)
            cost[:, left] = found.reshape(len(counts), *offers.shape[:2])
        return ClassCosts(cost, first)

    def _ask(self, asked: Contenders, block: np.ndarray, r: int, n_threads: int) -> Lists:
        """Return the cheapest offers of each class, and the rank of the first of them."""
        offers, indices = asked.offers(block, r, n_threads)
        if not offers.shape[2]:
            return offers, np.full(offers.shape[:2], self._rank[-1])
        return offers, self._rank[indices[:, :, 0]]


def answer_each(
    forests: Sequence[AskedForest], block: np.ndarray, nearest: Lists, counts: Sequence[np.ndarray]
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
    rows = np.ascontiguousarray(offers).reshape(-1, offers.shape[-1])
    return _core.mean_offers(rows, np.array([r], dtype=np.int32)).reshape(offers.shape[:-1])


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
