"""The engine whose neighbour pass runs on a Dask cluster.

The client holds all samples: the model is made of them, and needs them for predictions. Workers get blocks of
them, large ones, and tasks of (some samples, one block) run the C++ engines. A list goes from block to block,
its own first, and each is searched no farther than the list reaches already; merged lists end at the client,
where density, spanning tree and competition need them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
from distributed import Client, Future

from pathforest import _core
from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.engine import Engine, PythonEngine, Samples
from pathforest._engines.metric import Metric, choose_algorithm, features_engine
from pathforest.dask.futures import Sent, run_tasks, thread_counts

# Samples of one block, at most. A lone block is copied to every worker. Several are distributed, as many to
# each worker as to any other; Dask then moves lists to blocks, which are larger.
BLOCK_BYTES = 2**27

# The same for a device, which is quick with many samples and slow to start.
DEVICE_BLOCK_BYTES = 2**31
DEVICE_TASK = 2**20  # samples that a task asks a device about, at most

# A task costs the scheduler and both ends some 10 ms, and Ctrl-C waits for those that run.
TASK_SECONDS = 1.0

# Tasks for each thread of the cluster: enough that none waits long for the last, and in all no more than the
# scheduler can handle.
TASKS_PER_THREAD, MOST_TASKS = 4, 1000

# A pass that one thread does in this time is not worth sending away.
LOCAL_SECONDS = 0.25


def pass_seconds(n_queries: int, n_samples: int, n_features: int, algorithm: str) -> float:
    """Roughly the time of one thread to search `n_samples` for `n_queries`; it decides sizes, not answers.

    Measured on one thread of a Xeon with AVX-512, k = 10: 38e9 feature differences per second for the scan,
    and 2 to 70 microseconds per query of the tree, for 2 to 8 features.
    """
    scan = n_queries * n_samples * (n_features + 8) / 50e9
    return scan if algorithm == "brute" else min(scan, n_queries * 2e-6 * 1.8 ** (n_features - 2))


def count_blocks(client: Client, n_bytes: int, algorithm: str, device: str = "cpu") -> int:
    """Choose into how many blocks samples are divided."""
    n_blocks = max(1, -(-n_bytes // (BLOCK_BYTES if device == "cpu" else DEVICE_BLOCK_BYTES)))
    if n_blocks == 1 or algorithm == "kd_tree":  # each of several trees would have to be searched
        return n_blocks
    n_workers = max(1, len(thread_counts(client)))
    return n_workers * -(-n_blocks // n_workers)


class Piece(NamedTuple):
    """Samples of one task."""

    home: int  # the block that they are in
    rows: slice  # among all samples


class DaskEngine(PythonEngine):
    """The :class:`Engine` that answers the large questions of a `fit` on a cluster.

    The neighbour pass and the searches of the spanning tree are large. The competition asks about a few
    samples at a time, and each question waits for the answer to the one before: an engine at the client has
    answered before a message would have reached the cluster.
    """

    joins = False  # the client would look at all pairs alone

    def __init__(
        self,
        X: np.ndarray,
        metric: Metric,
        algorithm: str,
        client: Client,
        n_threads: int = 1,
        device: str = "cpu",
    ) -> None:
        super().__init__(X, metric, algorithm, n_threads)
        self._client, self._device = client, device
        n_blocks = count_blocks(client, X.nbytes, algorithm, device)
        bounds = np.linspace(0, len(X), min(len(X), n_blocks) + 1).astype(int).tolist()
        self._rows = [slice(*pair) for pair in pairwise(bounds)]
        self.tour: Sequence[int] = range(len(self._rows))
        how = metric, algorithm, device
        self.blocks = Sent(client, [Block(X[rows], rows.start, *how) for rows in self._rows])

    def knn(
        self, k: int, n_threads: int = 1, start: int = 0, stop: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the `k` nearest others of every sample, or of those from `start` to `stop`."""
        stop = self.n_samples if stop is None else stop
        distances = np.empty((stop - start, k))
        indices = np.empty((stop - start, k), dtype=np.int32)
        parts = self.pieces(start, stop)

        def take(i: int, lists: Lists) -> None:
            rows = slice(parts[i].rows.start - start, parts[i].rows.stop - start)
            distances[rows], indices[rows] = lists.distances, lists.indices

        run_tasks(self._client, len(parts), lambda i: self._lists(parts[i], k), take)
        return distances, indices

    def pieces(self, start: int, stop: int, most: float = np.inf) -> list[Piece]:
        """Divide samples into those of tasks, `most` in each."""
        step = int(min(self.task_size(stop - start), max(most, 1)))
        return [
            Piece(home, slice(first, min(first + step, rows.stop, stop)))
            for home, rows in enumerate(self._rows)
            for first in range(max(rows.start, start), min(rows.stop, stop), step)
        ]

    def _lists(self, part: Piece, k: int) -> Future:
        """Let the lists of some samples go through all blocks."""
        return go_round(self.blocks, self.tour, part, (neighbours_at_home, k), neighbours_abroad)

    def task_size(self, n_queries: int) -> int:
        """Choose how many samples a task asks: enough to be worth it, and few enough for all threads."""
        largest, n_blocks = max(rows.stop - rows.start for rows in self._rows), len(self._rows)
        seconds = pass_seconds(n_queries, largest, self.n_features, self.name)
        # Each part meets every block. Two for each thread, because one may have to wait for its block.
        fewest = max(2, TASKS_PER_THREAD // n_blocks) * sum(thread_counts(self._client).values())
        if self._device != "cpu":
            return min(DEVICE_TASK, max(1, -(-n_queries // fewest)))
        n_parts = np.clip(seconds / TASK_SECONDS, fewest, max(fewest, MOST_TASKS // n_blocks))
        n_parts = min(n_parts, max(1.0, 20 * seconds / TASK_SECONDS))  # none shorter than a twentieth
        return max(1, int(np.ceil(n_queries / n_parts)))

    def nearest_foreign(
        self, queries: Samples, own: np.ndarray, component: np.ndarray, reach: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ask every block, and keep the nearest of what they answer."""
        step = self.task_size(len(queries))
        parts = [slice(start, start + step) for start in range(0, len(queries), step)]
        asked = [(queries[p], own[p].copy(), reach[p].copy()) for p in parts]
        known = [component[rows].copy() for rows in self._rows]
        tasks = [(block, part) for block in range(len(self._rows)) for part in range(len(parts))]
        distances = np.full(len(queries), np.inf)
        indices = np.full(len(queries), -1, dtype=np.int32)

        def submit(i: int) -> Any:
            block, part = tasks[i]
            return self.blocks.ask(block, foreign_neighbours, components[block], questions[part])

        def take(i: int, found: tuple[np.ndarray, np.ndarray]) -> None:
            part = parts[tasks[i][1]]
            near, index = found  # inf and -1 if no sample was found, which beats nothing
            better = (near < distances[part]) | ((near == distances[part]) & (index < indices[part]))
            distances[part][better], indices[part][better] = near[better], index[better]

        sent = closing(Sent(self._client, asked)), closing(Sent(self._client, known))
        with sent[0] as questions, sent[1] as components:
            run_tasks(self._client, len(tasks), submit, take)
        return distances[:, None], indices[:, None]


def go_round(blocks: Any, tour: Sequence[int], part: Piece, at_home: tuple[Any, ...], abroad: Any) -> Future:
    """Ask the block that some samples are in, and then each other one to go on with what it has found."""
    (function, *args), home = at_home, tour.index(part.home)
    future = blocks.ask(part.home, function, part.rows, *args, len(tour) == 1)
    for block in [*tour[home + 1 :], *tour[:home]]:
        future = blocks.ask(block, abroad, future, block == tour[home - 1])
    return future


@contextmanager
def engines_on(client: Client) -> Iterator[EngineFactory]:
    """Yield a factory of engines that search on a cluster where that is worth it, for the time of a fit."""
    made: WeakSet[Sent] = WeakSet()

    def build_on_cluster(
        X: np.ndarray,
        metric: Metric,
        algorithm: str = "auto",
        n_threads: int = 1,
        verbose: int = 0,
        device: str = "cpu",
    ) -> Engine:
        if metric.kind != "features":
            return build_engine(X, metric, algorithm, n_threads, verbose)
        chosen = choose_algorithm(metric, X.shape[1], algorithm)
        if pass_seconds(len(X), *X.shape, chosen) < LOCAL_SECONDS:
            return features_engine(X, metric, chosen, n_threads)
        engine = DaskEngine(X, metric, chosen, client, n_threads, device)
        made.add(engine.blocks)
        return engine

    try:
        yield build_on_cluster
    finally:
        for blocks in made:
            blocks.close()


# What runs on the workers: blocks of samples with their engines, and the questions they answer


class Block:
    """Consecutive training samples. Their engine is built at the first question, where the block then is.

    Tasks use one thread each: a worker of several threads runs several tasks, which share the engine.
    """

    def __init__(
        self, X: np.ndarray, first: int, metric: Metric, algorithm: str, device: str = "cpu"
    ) -> None:
        self.X, self.first = X, first  # `first` is the number of the first sample among all
        self.how = metric, algorithm, device
        self._engine: Any = None
        self._lock = threading.Lock()

    def engine(self) -> Any:
        """Return the engine of these samples alone."""
        with self._lock:
            if self._engine is None:
                self._engine = self._build(*self.how)
        return self._engine

    def _build(self, metric: Metric, algorithm: str, device: str) -> Any:
        return build_engine(self.X, metric, algorithm, device=device)

    def __len__(self) -> int:
        return len(self.X)

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.X, self.first, *self.how)

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a worker needs: the engine has a copy of the samples."""
        return object.__sizeof__(self) + 2 * self.X.nbytes


class Lists(NamedTuple):
    """Nearest neighbours of some samples in the blocks seen so far, sorted by (distance, index)."""

    distances: np.ndarray  # (m, k) float64, inf where there are fewer
    indices: np.ndarray  # (m, k) int32, among all samples; -1 where there are fewer
    is_copy: np.ndarray  # (m,) bool, whether one before it has the same features
    queries: np.ndarray | None  # (m, n_features) the samples, as long as blocks are to come


def neighbours_at_home(block: Block, rows: slice, k: int, is_last: bool) -> Lists:
    """Find the `k` nearest others of some of a block's samples in the block itself."""
    engine, start, stop = block.engine(), rows.start - block.first, rows.stop - block.first
    distances, indices = engine.knn(min(k, engine.n_samples - 1), 1, start, stop)
    missing = (0, 0), (0, k - distances.shape[1])
    distances = np.pad(distances, missing, constant_values=np.inf)
    indices = np.pad(indices + np.int32(block.first), missing, constant_values=-1)
    is_copy = _core.copy_numbers(block.X[start:stop]) > 0
    return Lists(distances, indices, is_copy, None if is_last else block.X[start:stop])


def neighbours_abroad(block: Block, lists: Lists, is_last: bool) -> Lists:
    """Go on with the lists in another block, which is searched no farther than they reach."""
    engine, k = block.engine(), lists.distances.shape[1]
    reach = np.ascontiguousarray(lists.distances[:, -1])
    distances, indices = engine.query(lists.queries, min(k, engine.n_samples), 1, reach)
    found = np.flatnonzero(indices[:, 0] >= 0)
    indices = np.where(indices[found] < 0, -1, indices[found] + np.int32(block.first))
    merged = _core.merge_lists(lists.distances[found], lists.indices[found], distances[found], indices)
    queries = None if is_last else lists.queries
    result = Lists(lists.distances.copy(), lists.indices.copy(), lists.is_copy, queries)
    result.distances[found], result.indices[found] = merged
    return result


def foreign_neighbours(
    block: Block, component: np.ndarray, questions: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest sample of another component in a block; `component` is that of its samples.

    The questions are samples, the component of each, and how far each has to look.
    """
    queries, own, reach = questions
    distances, indices = block.engine().nearest_foreign(queries, own, component, reach, 1)
    return distances[:, 0], np.where(indices[:, 0] < 0, -1, indices[:, 0] + np.int32(block.first))
