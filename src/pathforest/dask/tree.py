"""The spanning tree of samples on the workers, by Borůvka's rounds.

The client sends out the component of every sample, and workers name the lightest arc that their lists know
out of each. Where lists do not suffice, samples ask every block, or each pair of blocks is joined. The order
of arcs (weight, lower end, higher end) makes the tree unique, so it is the one that a single machine finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pathforest._engines.engine import SpanningTree, TreeArrays
from pathforest.dask.engine import Block, Lists
from pathforest.dask.futures import Sent, run_all

NONE = np.iinfo(np.int32).max  # stands for a sample behind all others

# Of more components a table of all pairs would not be small.
MOST_JOINED = 1024

# A round that few components are settled for costs as much as another, and brings the tree less far.
SETTLED = 0.25


# The spanning tree, as the client sees it


class Arcs(NamedTuple):
    """Arcs between samples, in the order (weight, lower end, higher end)."""

    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def between(cls, weight: np.ndarray, one: np.ndarray, other: np.ndarray) -> Arcs:
        """Name the ends by their order."""
        return cls(weight, np.minimum(one, other), np.maximum(one, other))

    @classmethod
    def of_none(cls, n: int) -> Arcs:
        """Return arcs that come after all others."""
        return cls(np.full(n, np.inf), *(np.full(n, NONE, dtype=np.int32) for _ in range(2)))

    def take(self, rows: np.ndarray) -> Arcs:
        """Return some of them."""
        return Arcs(*(column[rows] for column in self))

    def before(self, other: Arcs) -> np.ndarray:
        """Say which arcs come before others."""
        lower = (self.low < other.low) | ((self.low == other.low) & (self.high < other.high))
        return (self.weight < other.weight) | ((self.weight == other.weight) & lower)

    def improve(self, places: np.ndarray, arcs: Arcs) -> None:
        """Put arcs where they come before those that are there; no place is named twice."""
        better = arcs.before(self.take(places))
        for mine, theirs in zip(self, arcs, strict=True):
            mine[places[better]] = theirs[better]


class Asking(NamedTuple):
    """Samples of a piece whose lists do not say who is their nearest outsider."""

    rows: np.ndarray  # among all samples
    own: np.ndarray  # the component of each
    reach: np.ndarray  # how far it has to look


class State(NamedTuple):
    """What workers need for a round."""

    component: np.ndarray  # (n,) int32
    asked: np.ndarray  # samples that have asked, ascending
    distance: np.ndarray  # of the nearest outsider that each has found, or how far it has looked
    outsider: np.ndarray  # that sample; NONE for none


class Known(NamedTuple):
    """What the lists say of the components together."""

    best: Arcs  # the lightest arc known out of each
    is_largest: np.ndarray  # bool, of the one that waits for the others


class Rounds:
    """Borůvka's algorithm over lists on the workers."""

    def __init__(
        self, client: Client, blocks: Any, lists: Any, tour: Sequence[int], questions_are_cheap: bool
    ) -> None:
        self._client, self._blocks, self._lists = client, blocks, lists
        self._tour, self._are_cheap = tour, questions_are_cheap
        n, nothing = len(blocks), np.empty(0, dtype=np.int32)
        self._state = State(np.arange(n, dtype=np.int32), nothing, np.empty(0), nothing)
        self._found: list[Arcs] = []

    def tree(self) -> TreeArrays:
        """Return the arcs of the tree, ascending."""
        n_components = len(self._blocks)
        while n_components > 1:
            with closing(Sent(self._client, [self._state])) as sent:
                n_components = self._round(n_components, sent)
        arcs = Arcs(*map(np.concatenate, zip(*self._found, strict=True)))
        order = np.lexsort((arcs.high, arcs.low, arcs.weight))
        return SpanningTree(arcs.low[order], arcs.high[order], arcs.weight[order])

    def _round(self, n_components: int, sent: Sent) -> int:
        """Join components along arcs that are certain; return how many are left."""
        best, bound = Arcs.of_none(n_components), Arcs.of_none(n_components)
        for known, unknown in self._lists.ask(read_lists, sent, of_rows=True):
            best.improve(*known)
            bound.improve(*unknown)
        is_open = bound.before(best)
        if np.count_nonzero(~is_open) >= SETTLED * n_components:
            return self._merge(best.take(~is_open))
        component = self._state.component
        sizes = np.bincount(component, minlength=n_components)
        is_largest = np.arange(n_components) == sizes.argmax()
        with closing(Sent(self._client, [Known(best, is_largest)])) as known:
            found = enumerate(self._lists.ask(open_samples, sent, known, of_rows=True))
        asking = {i: some for i, some in found if len(some.rows)}
        pairs = (float(len(component)) ** 2 - (sizes.astype(float) ** 2).sum()) / 2
        is_sooner = pairs < len(component) * sum(len(some.rows) for some in asking.values())
        if is_sooner and n_components <= MOST_JOINED and not self._are_cheap:
            return self._join(self._joining(sent), n_components)
        for arcs in self._foreign(asking, sent):
            self._remember(arcs)
            arcs = arcs.take(arcs.high < NONE)
            best.improve(*lightest(component[arcs.low], Arcs.between(*arcs)))
        return self._merge(best.take(~is_largest))

    def _foreign(self, asking: dict[int, Asking], sent: Sent) -> list[Arcs]:
        """Return the nearest sample of another component for those asking: every block is asked."""
        asked, tour = list(asking), self._tour

        def submit(i: int) -> Future:
            question, home = asking[asked[i]], tour.index(self._lists.pieces[asked[i]].home)
            for block in [*tour[home:], *tour[:home]]:
                question = self._blocks.ask(block, ask_block, question, sent[0], block == tour[home - 1])
            return question

        found = run_all(self._client, len(asked), submit)
        return [Arcs(one.distances, asking[i].rows, one.indices) for i, one in zip(asked, found, strict=True)]

    def _joining(self, sent: Sent) -> list[Arcs]:
        """Return arcs that join all components: those within each block and between each two."""
        pairs = list(combinations_with_replacement(range(len(self._blocks.rows)), 2))

        def submit(i: int) -> Future:
            low, high = pairs[i]
            return self._blocks.ask(high, join_blocks, self._blocks.futures[low], sent[0])

        return run_all(self._client, len(pairs), submit)

    def _remember(self, arcs: Arcs) -> None:
        """Keep answers for later rounds; what a sample knew before is no longer outside."""
        component, asked, distance, outsider = self._state
        stay = ~np.isin(asked, arcs.low)
        rows = np.concatenate([asked[stay], arcs.low])
        order = np.argsort(rows)
        distance = np.concatenate([distance[stay], arcs.weight])[order]
        outsider = np.concatenate([outsider[stay], arcs.high])[order]
        self._state = State(component, rows[order], distance, outsider)

    def _merge(self, arcs: Arcs) -> int:
        """Take arcs into the tree, of which several components may have chosen the same."""
        arcs = arcs.take(arcs.high < NONE)
        arcs = arcs.take(np.unique(arcs.low.astype(np.int64) << 32 | arcs.high, return_index=True)[1])
        self._found.append(arcs)
        component = self._state.component
        n = int(component.max()) + 1
        ends = component[arcs.low], component[arcs.high]
        joined = coo_array((np.ones(len(arcs.low), dtype=bool), ends), shape=(n, n))
        n_left, part = connected_components(joined, directed=False)
        self._state = self._state._replace(component=part[component].astype(np.int32))
        return int(n_left)

    def _join(self, found: list[Arcs], n_components: int) -> int:
        """Join all components along some of the arcs found."""
        while n_components > 1:
            best, component = Arcs.of_none(n_components), self._state.component
            for arcs in found:
                outside = arcs.take(component[arcs.low] != component[arcs.high])
                for ends in (outside.low, outside.high):
                    best.improve(*lightest(component[ends], outside))
            n_components = self._merge(best)
        return n_components


def lightest(groups: np.ndarray, arcs: Arcs) -> tuple[np.ndarray, Arcs]:
    """Return the first arc of each group that has one."""
    if not len(groups):
        return groups, arcs
    order = np.argsort(groups, kind="stable")  # a sort by weight and ends too takes several times as long
    groups, arcs = groups[order], arcs.take(order)
    first = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    weight = np.minimum.reduceat(arcs.weight, first)
    is_tied = arcs.weight == np.repeat(weight, np.diff(np.append(first, len(groups))))
    ends = arcs.low.astype(np.int64) << 32 | arcs.high
    ends = np.minimum.reduceat(np.where(is_tied, ends, np.iinfo(np.int64).max), first)
    return groups[first], Arcs(weight, (ends >> 32).astype(np.int32), (ends & NONE).astype(np.int32))


# What runs on the workers


def _last_known(state: State, lists: Lists, rows: slice) -> tuple[np.ndarray, ...]:
    """Return for each sample the first one of its list that lies outside, or behind the list the last known.

    These are distances, samples, whether it lies outside, and whether the sample speaks for its component.
    """
    own, component = state.component[rows, None], state.component
    outside = component[lists.indices] != own
    place = np.where(outside.any(axis=1), outside.argmax(axis=1), outside.shape[1] - 1)[:, None]
    distance = np.take_along_axis(lists.distances, place, axis=1)[:, 0]
    sample = np.take_along_axis(lists.indices, place, axis=1)[:, 0]
    some = slice(*np.searchsorted(state.asked, [rows.start, rows.stop]))
    at = state.asked[some] - rows.start
    distance[at], sample[at] = state.distance[some], state.outsider[some]
    is_outside = (sample < NONE) & (component[np.minimum(sample, len(component) - 1)] != own[:, 0])
    # A copy and the one before it are in one component after the first round. Of the equally long arcs from
    # these two to an outsider, that of the other comes first.
    speaks = ~(lists.is_copy & (lists.distances[:, 0] == 0) & ~outside[:, 0])
    return distance, sample, is_outside, speaks


def _arcs(distance: np.ndarray, sample: np.ndarray, rows: slice) -> Arcs:
    """Return arcs to the samples known; behind all others of its length if none is."""
    own = np.arange(rows.start, rows.stop, dtype=np.int32)
    arcs = Arcs.between(distance, own, sample)
    arcs.low[sample == NONE] = NONE
    return arcs


def read_lists(lists: Lists, rows: slice, state: State) -> tuple[tuple[np.ndarray, Arcs], ...]:
    """Return the lightest known arc out of each component, and the first that might be before it."""
    distance, sample, is_outside, speaks = _last_known(state, lists, rows)
    arcs, own = _arcs(distance, sample, rows), state.component[rows]
    chosen = speaks & is_outside, speaks & ~is_outside
    return tuple(lightest(own[some], arcs.take(some)) for some in chosen)


def open_samples(lists: Lists, rows: slice, state: State, known: Known) -> Asking:
    """Return the samples that might know a lighter arc out of their component."""
    distance, sample, is_outside, speaks = _last_known(state, lists, rows)
    own = state.component[rows]
    best = known.best.take(own)
    asks = speaks & ~is_outside & ~known.is_largest[own] & _arcs(distance, sample, rows).before(best)
    return Asking(rows.start + np.flatnonzero(asks).astype(np.int32), own[asks], best.weight[asks])


class Question(NamedTuple):
    """Samples that go from block to block, and their nearest outsiders so far."""

    queries: np.ndarray | None  # None at the end
    own: np.ndarray
    distances: np.ndarray  # how far each still looks
    indices: np.ndarray  # NONE as long as there is no outsider


def ask_block(block: Block, asked: Asking | Question, state: State, is_last: bool) -> Question:
    """Ask one block for samples of other components; the first is the block of those who ask."""
    if isinstance(asked, Asking):
        none_yet = np.full(len(asked.rows), NONE, dtype=np.int32)
        asked = Question(block.X[asked.rows - block.first], asked.own, asked.reach, none_yet)
    queries, own, distances, indices = asked
    component = np.ascontiguousarray(state.component[block.first : block.first + len(block)])
    found = block.engine().nearest_foreign(queries, own, component, distances, 1)
    near, index = (array[:, 0] for array in found)
    index = np.where(index < 0, NONE, index + np.int32(block.first)).astype(np.int32)
    better = (index < NONE) & ((near < distances) | ((near == distances) & (index < indices)))
    distances, indices = np.where(better, near, distances), np.where(better, index, indices)
    return Question(None if is_last else queries, own, distances, indices)


def join_blocks(block: Block, other: Block, state: State) -> Arcs:
    """Find the arcs that join components within a block, or between it and an earlier one."""
    component, own = (
        np.ascontiguousarray(state.component[one.first : one.first + len(one)]) for one in (block, other)
    )
    if block.first == other.first:
        source, target, weight = block.engine().joining_arcs(component, 1)
    else:
        source, target, weight = block.engine().joining_arcs(component, 1, None, other.X, own)
    return Arcs.between(weight, source + np.int32(other.first), target + np.int32(block.first))
