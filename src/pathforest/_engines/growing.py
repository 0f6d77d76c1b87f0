"""The engine of samples that come and go: neighbour lists and spanning tree are updated, not made anew.

New samples change the list of an old one only if they are nearer than its last entry. And the tree of all
samples consists of arcs of the old samples' tree and arcs that end at a new sample: an arc between two old
samples that was not needed before is not needed now. So old samples ask only for new ones.

When samples leave, the arcs between those that stay remain in the tree, and the lists that name only those
remain right. Indices are counted anew without changing their order, so ties are settled as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._core import KnownTree, TreeBuilder
from pathforest._engines.lists import Lists, merge, without_self
from pathforest._engines.local import LocalAnswers
from pathforest._engines.protocol import Engine, KnnGraph, SpanningTree
from pathforest._engines.spanning_tree import tree_without_lists

# Up to so many new samples, a scan for each takes less time than one for each old sample.
FEW = 16

# If new samples are more than this share of the old ones, starting from nothing takes less time.
MOST_NEW = 0.5


class Parts(NamedTuple):
    """Consecutive samples that share an engine, which is made when it is needed."""

    bounds: tuple[int, ...] = (0,)  # ascending, from 0 to the number of samples
    # By first sample and end: of parts, and there may be one of all samples.
    engines: Mapping[tuple[int, int], _core.Engine] = MappingProxyType({})

    def extended(self, n_samples: int) -> Parts:
        """Add a part of new samples at the end."""
        if n_samples == self.bounds[-1]:
            return self
        return Parts((*self.bounds, n_samples), self.engines)

    def balanced(self) -> Parts:
        """Join small parts at the end, so that each is at least twice as large as the next.

        So there are few parts, and a sample is seldom part of a new engine. If there is an engine of all
        samples, it takes the place of those of parts.
        """
        whole = (0, self.bounds[-1])
        bounds = list(whole if whole in self.engines else self.bounds)
        while len(bounds) > 2 and bounds[-2] - bounds[-3] < 2 * (bounds[-1] - bounds[-2]):
            del bounds[-2]
        return self._with(bounds)

    def without(self, leaving: np.ndarray) -> Parts:
        """Leave out samples; parts that lose none keep their engines."""
        stay = np.concatenate([[0], np.cumsum(~leaving)])
        engines = {
            (int(stay[start]), int(stay[stop])): engine
            for (start, stop), engine in self.engines.items()
            if not leaving[start:stop].any()
        }
        return Parts(tuple(np.unique(stay[list(self.bounds)]).tolist()), engines).balanced()

    def _with(self, bounds: list[int]) -> Parts:
        return Parts(tuple(bounds), {p: self.engines[p] for p in pairwise(bounds) if p in self.engines})


class Known(NamedTuple):
    """What is remembered of samples: the first ones of those that are there now."""

    n_samples: int = 0
    graph: KnnGraph | None = None  # None: not asked for
    tree: SpanningTree | None = None  # None: not asked for; if samples have left, the arcs that remain
    parts: Parts = Parts()
    outdated: np.ndarray = np.empty(0, dtype=np.intp)  # samples whose lists named some that have left

    def without(self, leaving: np.ndarray) -> Known:
        """Return what remains when samples leave, given as a mask."""
        stays = ~leaving
        number = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
        graph, tree, outdated = self.graph, self.tree, self.outdated
        if graph is not None:
            graph = KnnGraph(graph.distances[stays], number[graph.indices[stays]])
            outdated = np.flatnonzero((graph.indices < 0).any(axis=1))
        if tree is not None:
            source, target = number[tree.source], number[tree.target]
            kept = (source >= 0) & (target >= 0)
            tree = SpanningTree(source[kept], target[kept], tree.weight[kept])
        return Known(int(stays.sum()), graph, tree, self.parts.without(leaving), outdated)


class Nearest(NamedTuple):
    """The nearest sample of each of some."""

    distances: np.ndarray  # inf if there is none so near
    indices: np.ndarray  # -1 if there is none
    searched: np.ndarray  # how far


class GrowingEngine(LocalAnswers):
    """The :class:`Engine` of samples of which the first are known.

    `build` makes an engine of some samples in C++. `build_on_device` makes that of all samples on a device,
    which is used if nothing is known; None if there is no device.
    """

    def __init__(
        self,
        X: np.ndarray,
        known: Known,
        name: str,
        build: Callable[[np.ndarray], _core.Engine],
        build_on_device: Callable[[], Engine] | None = None,
    ) -> None:
        self.name, self.dtype = name, X.dtype.name
        self.n_samples, self.n_features = X.shape
        if self.n_samples - known.n_samples > MOST_NEW * known.n_samples:
            known = Known()
        if name == "kd_tree" and known.tree is not None and len(known.tree.weight) < known.n_samples - FEW:
            known = known._replace(tree=None)  # pieces that search for each other would take longer
        self._X, self._build, self._build_on_device = X, build, build_on_device
        self._known, self._n_known = known, known.n_samples
        self._parts = known.parts.extended(self.n_samples)
        self._graph: KnnGraph | None = None
        self._tree: SpanningTree | None = None
        self._nearest: Nearest | None = None

    def remembered(self) -> Known:
        """Return what the next engine can use: of lists and tree, those that were asked for."""
        return Known(self.n_samples, self._graph, self._tree, self._parts.balanced())

    def knn(self, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the `k` nearest others of every sample, by (distance, index)."""
        old = self._known.graph
        if old is None or old.indices.shape[1] < min(k, self._n_known - 1):
            self._graph = KnnGraph(*self._scratch.knn(k, n_threads))
        else:
            self._graph = KnnGraph(*self._updated_lists(old, k, n_threads))
        return self._graph

    def spanning_tree(
        self, distances: np.ndarray, indices: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Build the minimum spanning tree as (source, target, weight), ascending."""
        return self._keep_tree(lambda: self._scratch.spanning_tree(distances, indices, n_threads), n_threads)

    def spanning_tree_without_lists(self, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Build the same from no lists."""
        return self._keep_tree(lambda: tree_without_lists(self._scratch, n_threads), n_threads)

    def query(self, queries: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest samples of each query, by (distance, index)."""
        found = np.full((len(queries), k), np.inf), np.full((len(queries), k), -1, dtype=np.int32)
        for start, _, engine in self._engines():
            distances, indices = engine.query(queries, min(k, engine.n_samples), n_threads)
            found = merge(*found, distances, indices + np.int32(start))
        return found

    def distances(self, queries: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Compute the distance of each query to each sample."""
        return np.hstack([engine.distances(queries, n_threads) for _, _, engine in self._engines()])

    @cached_property
    def _scratch(self) -> Engine:
        """The engine of all samples if nothing is known about them."""
        return self._local if self._build_on_device is None else self._build_on_device()

    @property
    def _local(self) -> _core.Engine:
        """An engine of all samples on this machine; the parts stay, for updates need where new ones begin."""
        return self._engine(0, self.n_samples)

    def _engine(self, start: int, stop: int) -> _core.Engine:
        if (start, stop) not in self._parts.engines:
            engines = {**self._parts.engines, (start, stop): self._build(self._X[start:stop])}
            self._parts = self._parts._replace(engines=engines)
        return self._parts.engines[start, stop]

    def _engines(self, first: int = 0, end: int | None = None) -> Iterator[tuple[int, int, _core.Engine]]:
        """Yield engines of the samples from `first` to `end`: first sample, end and engine of each."""
        end = self.n_samples if end is None else end
        bounds = (first, end) if (first, end) in self._parts.engines else self._parts.bounds
        for start, stop in pairwise(bounds):
            if first <= start and stop <= end:
                yield start, stop, self._engine(start, stop)

    def _updated_lists(self, old: KnnGraph, k: int, n_threads: int) -> Lists:
        """Return lists of length `k` from those of known samples, which are complete if they are shorter."""
        shape, width = (self.n_samples, k), min(k, old.indices.shape[1])
        distances, indices = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int32)
        distances[: self._n_known, :width] = old.distances[:, :width]
        indices[: self._n_known, :width] = old.indices[:, :width]
        if k and self._n_new:
            last = distances[: self._n_known, -1].copy()
            nearest = self._nearest_new(last, n_threads)
            changed = np.flatnonzero(nearest.distances < last)  # on ties the old sample stays
            found = self._new.query(self._X[changed], min(k, self._n_new), n_threads)
            rows = merge(distances[changed], indices[changed], found[0], found[1] + np.int32(self._n_known))
            distances[changed], indices[changed] = rows
        asked = np.concatenate([self._known.outdated, np.arange(self._n_known, self.n_samples)])
        distances[asked], indices[asked] = self._nearest_others(asked, k, n_threads)
        return distances, indices

    def _keep_tree(self, build: Callable[[], tuple[np.ndarray, ...]], n_threads: int) -> SpanningTree:
        """Remember the tree: that of `build` if none is known, else the one known, updated."""
        known = self._known.tree
        self._tree = SpanningTree(*build()) if known is None else self._updated_tree(known, n_threads)
        return self._tree

    def _updated_tree(self, old: SpanningTree, n_threads: int) -> SpanningTree:
        """Return the tree, given that of the known samples, or if some have left what remains of theirs."""
        nothing = np.empty((self.n_samples, 0)), np.empty((self.n_samples, 0), dtype=np.int32)
        if self._n_new:
            builder = TreeBuilder(*nothing)
            nearest = self._nearest_new(np.zeros(self._n_known), n_threads)
            others = self._nearest_others(np.arange(self._n_known, self.n_samples), 1, n_threads)
            others = Nearest(others[0][:, 0], others[1][:, 0], np.full(self._n_new, np.inf))
            builder.know(
                self._known_tree, *(np.concatenate(pair) for pair in zip(nearest, others, strict=True))
            )
        else:
            builder = TreeBuilder(*(nothing if self._graph is None else self._graph))
            builder.keep(*old)
        while True:
            samples, component, reach = builder.ask()
            if not len(samples):
                return SpanningTree(*builder.arcs())
            builder.answer(*self._nearest_foreign(samples, component, reach, n_threads))

    def _nearest_foreign(
        self, samples: np.ndarray, component: np.ndarray, reach: np.ndarray, n_threads: int
    ) -> Lists:
        """Find the nearest sample of another component; known samples look only among new ones, if any."""
        distances, indices = reach.copy(), np.full(len(samples), -1, dtype=np.int32)
        is_old = samples < self._n_known if self._n_new else np.zeros(len(samples), dtype=bool)
        for first, asking in ((self._n_known, np.flatnonzero(is_old)), (0, np.flatnonzero(~is_old))):
            queries, own = self._X[samples[asking]], component[samples[asking]]
            for start, stop, engine in self._engines(first) if len(asking) else ():
                limit = distances[asking]
                near, index = engine.nearest_foreign(queries, own, component[start:stop], limit, n_threads)
                near, index = near[:, 0], index[:, 0]
                # Of equally near samples in two parts the first stays, whose index is lower.
                better = (index >= 0) & ((near < limit) | (indices[asking] < 0))
                distances[asking[better]] = near[better]
                indices[asking[better]] = index[better] + np.int32(start)
        return np.where(indices < 0, np.inf, distances), indices

    @cached_property
    def _known_tree(self) -> KnownTree:
        return KnownTree(*self._known.tree)

    @property
    def _n_new(self) -> int:
        return self.n_samples - self._n_known

    @property
    def _new(self) -> _core.Engine:
        """The engine of the new samples."""
        return self._engine(self._n_known, self.n_samples)

    def _nearest_new(self, reach: np.ndarray, n_threads: int) -> Nearest:
        """Find the new sample that is nearest to each known one, no farther than its reach."""
        if self._nearest is None or (self._nearest.searched < reach).any():
            if self._known.tree is not None:  # the tree will ask as well
                reach = np.maximum(reach, self._known_tree.levels())
            if self.name == "kd_tree" or self._n_new <= FEW:
                new = self._X[self._n_known :]
                parts = self._engines(0, self._n_known)
                found = [e.nearest_query(new, reach[start:stop], n_threads) for start, stop, e in parts]
                distances, index = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            else:
                found = self._new.query(self._X[: self._n_known], 1, n_threads, reach)
                distances, index = (array[:, 0] for array in found)
            index = np.where(index < 0, -1, index + self._n_known).astype(np.int32)
            self._nearest = Nearest(distances, index, reach)
        return self._nearest

    def _nearest_others(self, samples: np.ndarray, k: int, n_threads: int) -> Lists:
        """Find the `k` nearest others of some samples."""
        return without_self(*self.query(self._X[samples], k + 1, n_threads), samples)
