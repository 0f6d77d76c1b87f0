"""What an engine answers, wherever it computes."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np


class KnnGraph(NamedTuple):
    """The k nearest others of every sample, each list sorted by (distance, index)."""

    distances: np.ndarray  # (n, k) float64
    indices: np.ndarray  # (n, k) int32


class SpanningTree(NamedTuple):
    """The minimum spanning tree, unique because arcs compare by (weight, lower end, higher end)."""

    source: np.ndarray  # (n - 1,) lower end of each arc
    target: np.ndarray  # (n - 1,) higher end
    weight: np.ndarray  # (n - 1,) length, ascending


@runtime_checkable
class Engine(Protocol):
    """Answers every question about the distances of one metric between the samples it was built from.

    Answers are exact, ties included, and do not depend on the number of threads. Queries are new samples, of
    the engine's dtype. :class:`pathforest._core.Engine` is the one in C++.
    """

    @property
    def name(self) -> str:
        """How distances are searched: "kd_tree", "brute", "sparse", "precomputed" or "rows"."""

    @property
    def dtype(self) -> str:
        """Type of the samples: "float32" or "float64"."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def knn(self, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest others of each sample, by (distance, index), as the fields of a KnnGraph."""

    def query(self, queries: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest samples of each query, by (distance, index)."""

    def spanning_tree(
        self, distances: np.ndarray, indices: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Build the minimum spanning tree from neighbour lists, as the fields of a SpanningTree."""

    def nearest_outsiders(
        self, samples: np.ndarray, component: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find for each of some samples the nearest one of another component, by (distance, index)."""

    def compete(
        self,
        distances: np.ndarray,
        indices: np.ndarray,
        prototypes: np.ndarray,
        membership: np.ndarray,
        source_side: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Run the competition over the complete graph as (cost, predecessor, root, order)."""

    def conquer(
        self,
        queries: np.ndarray,
        cost: np.ndarray,
        order: np.ndarray,
        n_conquerors: int = 1,
        n_threads: int = 1,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the smallest offers max(cost, distance) to each query, and the samples that make them."""

    def distances(self, queries: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Compute the distance of each query to each sample."""
