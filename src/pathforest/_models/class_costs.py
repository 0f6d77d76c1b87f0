"""What each class offers queries, in any number of forests over the same training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.protocol import Engine
from pathforest._utils.threads import map_threads

# Members of a class listed beyond those that decide: without them an offer that costs more than its distance
# would leave the answer open. On overlapping classes lists so long settled all but 4 answers in 10,000.
EXTRA_MEMBERS = 2

WORTH_THREADS = 1024  # queries whose answers are worth the start of threads


class GrownForest(NamedTuple):
    """A forest as a query sees it."""

    cost: np.ndarray  # (n,) path cost
    rank: np.ndarray  # (n,) int32, place in the forest's order: of equal offers the first wins
    code: np.ndarray  # (n,) propagated class


def grown_forest(cost: np.ndarray, order: np.ndarray, code: np.ndarray) -> GrownForest:
    """Gather what queries see of a forest; `order` lists its samples by ascending cost."""
    return GrownForest(cost, ranks(order), code)


def ranks(order: np.ndarray) -> np.ndarray:
    """Return the place of each sample in an order of all, as int32."""
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


class ClassCosts(NamedTuple):
    """What each class of one forest offers queries."""

    cost: np.ndarray  # (n_r, m, n_classes) mean of the r cheapest offers, for each r asked for
    first: np.ndarray  # (m, n_classes) rank of the cheapest offer, n for a class without samples

    def winner(self, r: int) -> np.ndarray:
        """Class of the smallest cost; on ties the one whose cheapest offer comes first in the order."""
        return cheapest_class(self.cost[r], self.first)


Lists = tuple[np.ndarray, np.ndarray]  # distances (m, k), ascending, and places among the members of a class


class ClassGroups:
    """The training samples class by class, each class with an engine.

    One search per class lists the members nearest to each query. All other members offer at least the last
    distance of the list, so the lists settle nearly all answers of every forest; the engine is asked for the
    rest. Any grouping is right; the fewer samples carry another class in a forest, the less it costs.

    Parameters: `code` is the class of each sample. ``build(members, keep_order)`` makes an engine over some
    of them, and ``take(block, members)`` turns queries into those of that engine. ``thin(members, most)``
    leaves out copies of samples that `most` others come before.
    """

    def __init__(
        self,
        code: np.ndarray,
        n_classes: int,
        build: Callable[[np.ndarray, bool], Engine],
        take: Callable[[np.ndarray, np.ndarray], np.ndarray],
        thin: Callable[[np.ndarray, int], np.ndarray],
    ) -> None:
        self.code, self.build, self.take, self.thin = code, build, take, thin
        self.members = [np.flatnonzero(code == c) for c in range(n_classes)]
        # The longest lists so far; per class the members that can be in one, and an engine over them.
        self._listed: tuple[int, list[np.ndarray], list[Engine | None]] = (-1, [], [])

    def nearest(self, block: np.ndarray, r: int, n_threads: int) -> list[Lists]:
        """List the members of each class nearest to each query, for its `r` cheapest offers."""
        length, found = r + EXTRA_MEMBERS, []
        longest, listed, engines = self._listed
        if length > longest:
            listed = [self.thin(members, length) for members in self.members]
            engines = [self.build(chosen, False) if len(chosen) else None for chosen in listed]
            self._listed = length, listed, engines
        for members, chosen, engine in zip(self.members, listed, engines, strict=True):
            if engine is None:
                found.append((np.empty((len(block), 0)), np.empty((len(block), 0), dtype=np.int32)))
                continue
            queries, k = self.take(block, chosen), min(length, len(members))
            distances, indices = engine.query(queries, k, n_threads)
            if len(chosen) < len(members):
                indices = np.searchsorted(members, chosen).astype(np.int32)[indices]
            found.append((distances, indices))
        return found


class ForestCosts:
    """Class costs of one forest, from the lists that it shares with others over the same samples."""

    def __init__(self, groups: ClassGroups, forest: GrownForest) -> None:
        self._groups, self._forest = groups, forest
        strangers = np.flatnonzero(forest.code != groups.code)
        strangers = strangers[np.argsort(forest.rank[strangers])]
        self._contenders = [self._find_contenders(c, strangers) for c in range(len(groups.members))]
        self._searched: dict[tuple[int, int], tuple[np.ndarray, Engine | None]] = {}

    def answer(
        self, block: np.ndarray, nearest: Sequence[Lists], counts: np.ndarray, n_threads: int
    ) -> ClassCosts:
        """Return what each class offers the queries, for ascending numbers of conquerors."""
        n, shape = len(self._forest.cost), (len(block), len(nearest))
        found = ClassCosts(np.empty((len(counts), *shape)), np.empty(shape, dtype=np.int32))
        for code, (lists, own) in enumerate(zip(nearest, self._contenders, strict=True)):
            further = self._conquer(own.others, own.engine, block, counts, n_threads)
            cost, first = _core.class_costs(*lists, own.cost, own.rank, *further, counts, n, n_threads)
            left = np.flatnonzero(first < 0)
            if left.size:
                rest = further[0][left], further[1][left]
                cost[:, left], first[left] = self._search(code, block[left], rest, counts, n_threads)
            found.cost[:, :, code], found.first[:, code] = cost, first
        return found

    def _find_contenders(self, code: int, strangers: np.ndarray) -> _Contenders:
        forest, members = self._forest, self._groups.members[code]
        cost = np.where(forest.code[members] == code, forest.cost[members], np.inf)
        others = strangers[forest.code[strangers] == code]
        engine = self._groups.build(others, True) if len(others) else None
        return _Contenders(cost, forest.rank[members], others, engine)

    def _conquer(
        self,
        samples: np.ndarray,
        engine: Engine | None,
        block: np.ndarray,
        counts: np.ndarray,
        n_threads: int,
    ) -> Lists:
        """Return the cheapest offers of samples that ascend by rank, and the rank of the first of them."""
        if engine is None:
            return np.empty((len(block), 0)), np.full(len(block), len(self._forest.cost), dtype=np.int32)
        cost, rank = self._forest.cost[samples], self._forest.rank[samples]
        r, order = min(int(counts[-1]), len(samples)), np.arange(len(samples), dtype=np.int32)
        queries = self._groups.take(block, samples)
        offers, places = engine.conquer(queries, cost, order, r, n_threads)
        return offers, rank[places[:, 0]]

    def _search(
        self, code: int, block: np.ndarray, further: Lists, counts: np.ndarray, n_threads: int
    ) -> Lists:
        """Answer by a search of all members that carry the class, where their lists left it open."""
        samples, engine = self._carriers(code, int(counts[-1]))
        offers, first = self._conquer(samples, engine, block, counts, n_threads)
        both = np.concatenate([offers, further[0]], axis=1)
        cheapest = [_column(offers), _column(further[0])]
        ranks = np.where(cheapest == np.min(cheapest, axis=0), [first, further[1]], len(self._forest.cost))
        return _core.mean_offers(np.sort(both, axis=1), counts), ranks.min(axis=0)

    def _carriers(self, code: int, most: int) -> tuple[np.ndarray, Engine | None]:
        """Return the members that carry the class, cheap ones first, and an engine over them."""
        if (code, most) not in self._searched:
            groups, own = self._groups, self._contenders[code]
            kept = np.flatnonzero(np.isfinite(own.cost))
            samples = groups.thin(groups.members[code][kept[np.argsort(own.rank[kept])]], most)
            engine = groups.build(samples, True) if len(samples) else None
            self._searched[code, most] = samples, engine
        return self._searched[code, most]


def answer_each(
    forests: Sequence[ForestCosts],
    block: np.ndarray,
    nearest: Sequence[Lists],
    counts: Sequence[np.ndarray],
    n_threads: int,
) -> Iterator[ClassCosts]:
    """Return the class costs of each forest, one by one, with its own numbers of conquerors."""
    # A thread per forest meets the others once; threads inside would for every class, and wait each time.
    if len(forests) == 1 or len(block) < WORTH_THREADS:
        n_threads, inside = 1, n_threads
    else:
        inside = 1

    def answer(forest: ForestCosts, counts: np.ndarray) -> ClassCosts:
        return forest.answer(block, nearest, counts, inside)

    return map_threads(answer, n_threads, forests, counts)


class _Contenders(NamedTuple):
    """Who makes the offers of a class in one forest: its members, and others that took it."""

    cost: np.ndarray  # (n_members,) inf for members that carry another class
    rank: np.ndarray  # (n_members,)
    others: np.ndarray  # indices, by ascending rank
    engine: Engine | None  # over the others, None if there are none


def _column(offers: np.ndarray) -> np.ndarray:
    """Return the cheapest of each row of ascending offers, inf if there are none."""
    return offers[:, 0] if offers.shape[1] else np.full(len(offers), np.inf)


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
