"""What each class offers queries, in any number of forests over the same training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._engines.protocol import Engine

# Members of a class listed beyond those that decide: without them an offer that costs more than its distance
# would leave the answer open. On overlapping classes lists so long settled all but 1 answer in 10,000.
EXTRA_MEMBERS = 4


class GrownForest(NamedTuple):
    """A forest as a query sees it."""

    cost: np.ndarray  # (n,) path cost
    rank: np.ndarray  # (n,) int32, place in the forest's order: of equal offers the first wins
    code: np.ndarray  # (n,) propagated class


def grown_forest(cost: np.ndarray, order: np.ndarray, code: np.ndarray) -> GrownForest:
    """Gather what queries see of a forest; `order` lists its samples by ascending cost."""
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return GrownForest(cost, rank, code)


class ClassCosts(NamedTuple):
    """What each class of one forest offers queries."""

    cost: np.ndarray  # (n_r, m, n_classes) mean of the r cheapest offers, for each r asked for
    first: np.ndarray  # (m, n_classes) rank of the cheapest offer, n for a class without samples

    def winner(self, r: int) -> np.ndarray:
        """Class of the smallest cost; on ties the one whose cheapest offer comes first in the order."""
        return cheapest_class(self.cost[r], self.first)


Nearest = Mapping[int, tuple[np.ndarray, np.ndarray]]


class _Contenders(NamedTuple):
    """Who makes the offers of a class in one forest: members that have kept it, and others that took it."""

    cost: np.ndarray  # (n_members,) inf for members that carry another class
    rank: np.ndarray  # (n_members,)
    others: np.ndarray  # indices, by ascending rank
    others_cost: np.ndarray
    engine: Engine | None  # over the others, None if there are none


class ClassGroups:
    """The training samples class by class, each class with an engine.

    One search per class lists the members nearest to a query. Every other member offers at least the last
    distance of the list, so that it settles nearly all answers of every forest; for the rest the engine is
    asked. `code` is the class of each sample; the fewer samples carry another one in a forest, the less it
    costs. ``build(members, keep_order)`` makes an engine, ``take(block, members)`` the queries as it takes them.
    """

    def __init__(
        self,
        code: np.ndarray,
        build: Callable[[np.ndarray, bool], Engine],
        take: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> None:
        self._code, self._build, self._take = code, build, take
        self._members = {c: np.flatnonzero(code == c) for c in np.unique(code).tolist()}
        self._engines = {c: build(members, False) for c, members in self._members.items()}

    def nearest(self, block: np.ndarray, r: int, n_threads: int) -> Nearest:
        """List the members of each class nearest to each query, for its `r` cheapest offers."""
        found = {}
        for code, members in self._members.items():
            length = min(r + EXTRA_MEMBERS, len(members))
            found[code] = self._engines[code].query(self._take(block, members), length, n_threads)
        return found

    def enter(self, forest: GrownForest) -> ForestCosts:
        """Return what answers for one forest."""
        strangers = np.flatnonzero(forest.code != self._code)
        strangers = strangers[np.argsort(forest.rank[strangers])]
        contenders = {}
        for code, members in self._members.items():
            others = strangers[forest.code[strangers] == code]
            cost = np.where(forest.code[members] == code, forest.cost[members], np.inf)
            engine = self._build(others, True) if len(others) else None
            rank = forest.rank[members]
            contenders[code] = _Contenders(cost, rank, others, forest.cost[others], engine)
        return ForestCosts(self, forest, contenders)


class ForestCosts:
    """Class costs of one forest, from the lists that it shares with others."""

    def __init__(self, groups: ClassGroups, forest: GrownForest, contenders: dict[int, _Contenders]) -> None:
        self._groups, self._forest, self._contenders = groups, forest, contenders

    def answer(
        self, block: np.ndarray, nearest: Nearest, counts: np.ndarray, n_classes: int, n_threads: int
    ) -> ClassCosts:
        """Return what each class offers the queries, for ascending numbers of conquerors."""
        n = len(self._forest.cost)
        cost = np.full((len(counts), len(block), n_classes), np.inf)
        first = np.full((len(block), n_classes), n, dtype=np.int32)
        for code, lists in nearest.items():
            own = self._contenders[code]
            further = self._further(block, own, counts, n_threads)
            found = _core.class_costs(*lists, own.cost, own.rank, *further, counts, n, n_threads)
            cost[:, :, code], first[:, code] = found
            left = np.flatnonzero(found[1] < 0)
            if left.size:
                asked = block[left], code, [array[left] for array in further], counts, n_threads
                cost[:, left, code], first[left, code] = self._search(*asked)
        return ClassCosts(cost, first)

    def _further(
        self, block: np.ndarray, own: _Contenders, counts: np.ndarray, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Collect the offers of samples that took the class in this forest, and the rank of the cheapest."""
        n = len(self._forest.cost)
        if own.engine is None:
            return np.empty((len(block), 0)), np.full(len(block), n, dtype=np.int32)
        queries, order = self._groups._take(block, own.others), np.arange(len(own.others), dtype=np.int32)
        r = min(int(counts[-1]), len(own.others))
        offers, places = own.engine.conquer(queries, own.others_cost, order, r, n_threads)
        return offers, self._forest.rank[own.others[places[:, 0]]]

    def _search(
        self, block: np.ndarray, code: int, further: list[np.ndarray], counts: np.ndarray, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Answer by a search of all members for the cheapest offers, where their lists left it open."""
        groups, own = self._groups, self._contenders[code]
        members, kept = groups._members[code], np.flatnonzero(np.isfinite(own.cost))
        kept = kept[np.argsort(own.rank[kept])]
        values, first = further
        if len(kept):
            if len(kept) == len(members):
                engine, order = groups._engines[code], kept.astype(np.int32)
            else:
                members, engine = members[kept], groups._build(members[kept], True)
                order = np.arange(len(kept), dtype=np.int32)
            cost, rank = self._forest.cost[members], self._forest.rank[members]
            r = min(int(counts[-1]), len(kept))
            offers, places = engine.conquer(groups._take(block, members), cost, order, r, n_threads)
            first = _first_of_cheapest(offers, rank[places[:, 0]], values, first)
            values = np.sort(np.concatenate([offers, values], axis=1), axis=1)
        return _core.mean_offers(np.ascontiguousarray(values), counts), first


def _first_of_cheapest(
    offers: np.ndarray, rank: np.ndarray, others: np.ndarray, others_rank: np.ndarray
) -> np.ndarray:
    """Return the rank of the smaller of two cheapest offers, the smaller rank if they are equal."""
    if others.shape[1] == 0:
        return rank
    mine, theirs = offers[:, 0], others[:, 0]
    nearer = np.where(mine < theirs, rank, others_rank)
    return np.where(mine == theirs, np.minimum(rank, others_rank), nearer)


def cheapest_class(costs: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the class of the smallest cost; on ties the one whose cheapest offer has the smallest rank."""
    tied = costs == lowest_costs(costs)
    if np.count_nonzero(tied) == len(tied):
        return tied.argmax(axis=1)
    return np.where(tied, rank, np.iinfo(rank.dtype).max).argmin(axis=1)


def lowest_costs(costs: np.ndarray) -> np.ndarray:
    """Return the smallest cost of each query, as a column. Along short rows NumPy would take ten times as long."""
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
    ratio = cost_ratios(costs)
    ratio **= float(beta)
    return ratio / ratio.sum(axis=1, keepdims=True)
