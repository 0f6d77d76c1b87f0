"""What runs on the workers: blocks of samples with their engines, and the questions they answer."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from pathforest._core import Engine
from pathforest._engines.engine import features_engine, merge
from pathforest._engines.metric import Metric


class Block:
    """Consecutive training samples. Their engine is built at the first question, where the block then is.

    Tasks use one thread each: a worker of several threads runs several tasks, which share the engine.
    """

    def __init__(self, X: np.ndarray, first: int, metric: Metric, algorithm: str) -> None:
        self.X, self.first = X, first  # `first` is the number of the first sample among all
        self._metric, self._algorithm = metric, algorithm
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def engine(self) -> Engine:
        """Return the engine of these samples alone."""
        with self._lock:
            if self._engine is None:
                self._engine = features_engine(self.X, self._metric, self._algorithm)
        return self._engine

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.X, self.first, self._metric, self._algorithm)

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a worker needs: the engine has a copy of the samples."""
        return object.__sizeof__(self) + 2 * self.X.nbytes


class Lists(NamedTuple):
    """Nearest neighbours of some samples in the blocks seen so far, sorted by (distance, index)."""

    distances: np.ndarray  # (m, k) float64, inf where there are fewer
    indices: np.ndarray  # (m, k) int32, among all samples; -1 where there are fewer
    queries: np.ndarray | None  # (m, n_features) the samples, as long as blocks are to come


def neighbours_at_home(block: Block, start: int, stop: int, k: int, is_last: bool) -> Lists:
    """Find the `k` nearest others of a block's samples from `start` to `stop` in the block itself."""
    engine = block.engine()
    distances, indices = engine.knn(min(k, engine.n_samples - 1), 1, start, stop)
    missing = (0, 0), (0, k - distances.shape[1])
    distances = np.pad(distances, missing, constant_values=np.inf)
    indices = np.pad(indices + np.int32(block.first), missing, constant_values=-1)
    return Lists(distances, indices, None if is_last else block.X[start:stop])


def neighbours_abroad(block: Block, lists: Lists, is_last: bool) -> Lists:
    """Go on with the lists in another block, which is searched no farther than they reach."""
    engine, k = block.engine(), lists.distances.shape[1]
    reach = np.ascontiguousarray(lists.distances[:, -1])
    distances, indices = engine.query(lists.queries, min(k, engine.n_samples), 1, reach)
    found = np.flatnonzero(indices[:, 0] >= 0)
    indices = np.where(indices[found] < 0, -1, indices[found] + np.int32(block.first))
    merged = merge(lists.distances[found], lists.indices[found], distances[found], indices)
    result = Lists(lists.distances.copy(), lists.indices.copy(), None if is_last else lists.queries)
    result.distances[found], result.indices[found] = merged
    return result


class Questions(NamedTuple):
    """Samples that look for the nearest one of another component."""

    queries: np.ndarray  # (m, n_features)
    own: np.ndarray  # (m,) int32 component of each
    reach: np.ndarray  # (m,) how far each has to look


def foreign_neighbours(
    block: Block, component: np.ndarray, questions: Questions
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest sample of another component in a block; `component` is that of its samples."""
    queries, own, reach = questions
    distances, indices = block.engine().nearest_foreign(queries, own, component, reach, 1)
    return distances[:, 0], np.where(indices[:, 0] < 0, -1, indices[:, 0] + np.int32(block.first))
