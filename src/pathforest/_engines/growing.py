"""The engine of samples that come and go: neighbour lists and spanning tree are updated, not made anew.

New samples change the list of an old one only if they are nearer than its last entry. And the tree of all
samples consists of arcs of the old samples' tree and arcs that end at a new sample: an arc between two old
samples that was not needed before is not needed now. So old samples ask only for new ones.

When samples leave, the arcs between those that stay remain in the tree, and the lists that name only those
remain right. Indices are counted anew without changing their order, so ties are settled as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._core import KnownTree, TreeBuilder
from pathforest._engines.build import build_engine
from pathforest._engines.engine import (
    Engine,
    KnnGraph,
    Lists,
    PythonEngine,
    SpanningTree,
    TreeArrays,
    answered,
)
from pathforest._engines.metric import Metric, features_engine
from pathforest._engines.samples import without_self

# Up to this many new samples, a scan for each takes less time than one for each old sample.
FEW = 16

# If new samples are more than this share of the old ones, starting from nothing takes less time.
MOST_NEW = 0.5


class Parts(NamedTuple):
    """Consecutive samples that share an engine, which is made when it is needed."""

    bounds: tuple[int, ...] = (0,)  # ascending, from 0 to the number of samples
    # By first sample and end: of parts, and there may be one of all samples.
    engines: Mapping[tuple[int, int], _core.Engine] = MappingProxyType({})

    def balanced(self) -> Parts:
        """Join small parts at the end, so that each is at least twice as large as the next.

        So there are few parts, and a sample is seldom part of a new engine. If there is an engine of all
        samples, it replaces those of parts.
        """
        whole = (0, self.bounds[-1])
        bounds = list(whole if whole in self.engines else self.bounds)
        while len(bounds) > 2 and bounds[-2] - bounds[-3] < 2 * (bounds[-1] - bounds[-2]):
            del bounds[-2]
        parts = pairwise(bounds)
        return Parts(tuple(bounds), {part: self.engines[part] for part in parts if part in self.engines})

    def without(self, leaving: np.ndarray) -> Parts:
        """Leave out samples; parts that lose none keep their engines."""
        stay = np.concatenate([[0], np.cumsum(~leaving)])
        engines = {
            (int(stay[start]), int(stay[stop])): engine
            for (start, stop), engine in self.engines.items()
            if not leaving[start:stop].any()
        }
        return Parts(tuple(np.unique(stay[list(self.bounds)]).tolist()), engines).balanced()


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


class GrowingEngine(PythonEngine):
    """The :class:`Engine` of samples of which the first are known.

    If nothing is known, an engine of all samples answers, on the device asked for; the rest is computed here.
    """

    def __init__(
        self, X: np.ndarray, known: Known, metric: Metric, algorithm: str, n_threads: int, device: str = "cpu"
    ) -> None:
        super().__init__(X, metric, algorithm, n_threads)
        if self.n_samples - known.n_samples > MOST_NEW * known.n_samples:
            known = Known()
        tree = known.tree
        if algorithm == "kd_tree" and tree is not None and len(tree.weight) < known.n_samples - FEW:
            known = known._replace(tree=None)  # pieces that search for each other would take longer
        self._known, self._n_known, self._n_new = known, known.n_samples, self.n_samples - known.n_samples
        bounds = known.parts.bounds + (self.n_samples,) * (self._n_new > 0)  # new samples are a part
        self._parts, self._device = known.parts._replace(bounds=bounds), device
        self._found = Known(self.n_samples)

    def remembered(self) -> Known:
        """Return what the next engine can use: of lists and tree, those that were asked for."""
        return self._found._replace(parts=self._parts.balanced())

    def knn(self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None) -> Lists:
        if (start, stop or self.n_samples) != (0, self.n_samples):
            return self._nearest_others(np.arange(start, stop or self.n_samples), k, n_threads)
        old = self._known.graph
        is_useful = old is not None and old.indices.shape[1] >= min(k, self._n_known - 1)
        lists = self._updated_lists(old, k, n_threads) if is_useful else self._scratch.knn(k, n_threads)
        graph = KnnGraph(*lists)
        self._found = self._found._replace(graph=graph)
        return graph

    def spanning_tree(self, graph: KnnGraph | None = None, n_threads: int = 1) -> TreeArrays:
        known = self._known.tree
        if known is None:
            tree = SpanningTree(*self._scratch.spanning_tree(graph, n_threads))
        else:
            tree = self._updated_tree(known, graph, n_threads)
        self._found = self._found._replace(tree=tree)
        return tree

    def query(
        self, queries: np.ndarray, k: int, n_threads: int = 1, reach: np.ndarray | None = None
    ) -> Lists:
        found = np.full((len(queries), k), np.inf), np.full((len(queries), k), -1, dtype=np.int32)
        for start, _, engine in self._engines():
            distances, indices = engine.query(queries, min(k, engine.n_samples), n_threads, reach)
            indices = np.where(indices < 0, -1, indices + start).astype(np.int32)
            found = _core.merge_lists(*found, distances, indices)
        return found

    def nearest_foreign(
        self,
        queries: np.ndarray,
        own: np.ndarray,
        component: np.ndarray,
        reach: np.ndarray,
        n_threads: int = 1,
        first: int = 0,
    ) -> Lists:
        """Find for each query the nearest sample whose component is not its own, from the first on."""
        distances, indices = reach.copy(), np.full(len(queries), -1, dtype=np.int32)
        for start, stop, engine in self._engines(first):
            near, index = engine.nearest_foreign(queries, own, component[start:stop], distances, n_threads)
            near, index = near[:, 0], index[:, 0]
            # Of equally near samples in two parts the first stays, whose index is lower.
            better = (index >= 0) & ((near < distances) | (indices < 0))
            distances[better], indices[better] = near[better], index[better] + np.int32(start)
        return np.where(indices < 0, np.inf, distances)[:, None], indices[:, None]

    def nearest_query(
        self, queries: np.ndarray, reach: np.ndarray, n_threads: int = 1, end: int | None = None
    ) -> Lists:
        """Find for each sample up to the end the nearest query, the first of equally near ones."""
        parts = self._engines(0, end)
        found = [e.nearest_query(queries, reach[start:stop], n_threads) for start, stop, e in parts]
        return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))

    def distances(self, queries: np.ndarray, n_threads: int = 1) -> np.ndarray:
        return np.hstack([engine.distances(queries, n_threads) for _, _, engine in self._engines()])

    @cached_property
    def _scratch(self) -> Engine:
        """The engine of all samples if nothing is known about them."""
        if self._device == "cpu":
            return self._local
        return build_engine(self._X, self._metric, self.name, self._n_threads, device=self._device)

    @property
    def _local(self) -> _core.Engine:
        """An engine of all samples on this machine; the parts stay, for updates need where new ones begin."""
        return self._engine(0, self.n_samples)

    def _engine(self, start: int, stop: int) -> _core.Engine:
        if (start, stop) not in self._parts.engines:
            engine = features_engine(self._X[start:stop], self._metric, self.name, self._n_threads)
            self._parts = self._parts._replace(engines={**self._parts.engines, (start, stop): engine})
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
        shape, width, n = (self.n_samples, k), min(k, old.indices.shape[1]), self._n_known
        distances, indices = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int32)
        distances[:n, :width], indices[:n, :width] = old.distances[:, :width], old.indices[:, :width]
        if k and self._n_new:
            last = distances[:n, -1].copy()
            nearest, _ = self._nearest_new(last, n_threads)
            changed = np.flatnonzero(nearest < last)  # on ties the old one stays
            new = self._engine(n, self.n_samples)
            found = new.query(self._X[changed], min(k, self._n_new), n_threads)
            rows = _core.merge_lists(distances[changed], indices[changed], found[0], found[1] + np.int32(n))
            distances[changed], indices[changed] = rows
        asked = np.concatenate([self._known.outdated, np.arange(n, self.n_samples)])
        distances[asked], indices[asked] = self._nearest_others(asked, k, n_threads)
        return distances, indices

    def _updated_tree(self, old: SpanningTree, graph: KnnGraph | None, n_threads: int) -> SpanningTree:
        """Return the tree, given that of the known samples, or if some have left what remains of theirs."""
        nothing = np.empty((self.n_samples, 0)), np.empty((self.n_samples, 0), dtype=np.int32)
        if self._n_new:
            builder, tree = TreeBuilder(*nothing), KnownTree(*old)
            if graph is None or not graph[0].shape[1]:
                builder.know(tree, *self._nearest_of_all(tree.levels(), n_threads))
            else:
                builder.know(tree, *self._nearest_listed(*graph))
        else:
            builder = TreeBuilder(*(graph or nothing))
            builder.keep(*old)

        def nearest_foreign(samples: np.ndarray, component: np.ndarray, reach: np.ndarray) -> Lists:
            """Known samples look only among new ones, if there are any."""
            distances, indices = np.empty(len(samples)), np.empty(len(samples), dtype=np.int32)
            is_old = samples < self._n_known if self._n_new else np.zeros(len(samples), dtype=bool)
            for first, asking in ((self._n_known, np.flatnonzero(is_old)), (0, np.flatnonzero(~is_old))):
                if len(asking):
                    rows = samples[asking]
                    limits = self._X[rows], component[rows], component, reach[asking]
                    found = self.nearest_foreign(*limits, n_threads, first)
                    distances[asking], indices[asking] = found[0][:, 0], found[1][:, 0]
            return distances, indices

        return answered(builder, nearest_foreign)

    def _nearest_of_all(self, reach: np.ndarray, n_threads: int) -> tuple[np.ndarray, ...]:
        """Return the nearest new sample of known ones within reach, and the nearest other of new ones.

        These are distances and indices, and how far was searched.
        """
        near = self._nearest_new(reach, n_threads)
        others = self._nearest_others(np.arange(self._n_known, self.n_samples), 1, n_threads)
        searched = np.concatenate([reach, np.full(self._n_new, np.inf)])
        return *(np.concatenate([a, b[:, 0]]) for a, b in zip(near, others, strict=True)), searched

    def _nearest_listed(self, distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the same as far as lists of all samples tell."""
        counts = indices >= self._n_known
        counts[self._n_known :] = True
        place, rows = counts.argmax(axis=1), np.arange(self.n_samples)
        is_listed = counts[rows, place]
        # Of samples as far as the last one some may have been left out.
        searched = np.where(is_listed, np.inf, np.nextafter(distances[:, -1], -1))
        near = np.where(is_listed, distances[rows, place], np.inf)
        return near, np.where(is_listed, indices[rows, place], -1).astype(np.int32), searched

    def _nearest_new(self, reach: np.ndarray, n_threads: int) -> Lists:
        """Find the new sample that is nearest to each known one, no farther than its reach."""
        new = self._X[self._n_known :]
        if self.name == "kd_tree" or self._n_new <= FEW:
            distances, index = self.nearest_query(new, reach, n_threads, self._n_known)
        else:
            new_engine = self._engine(self._n_known, self.n_samples)
            found = new_engine.query(self._X[: self._n_known], 1, n_threads, reach)
            distances, index = (array[:, 0] for array in found)
        return distances, np.where(index < 0, -1, index + self._n_known).astype(np.int32)

    def _nearest_others(self, samples: np.ndarray, k: int, n_threads: int) -> Lists:
        """Find the `k` nearest others of some samples."""
        return without_self(*self.query(self._X[samples], k + 1, n_threads), samples)
