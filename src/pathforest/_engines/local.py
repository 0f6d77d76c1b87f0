"""What an engine on this machine answers for another one, which does the large work elsewhere or in parts."""

from __future__ import annotations

import numpy as np

from pathforest._engines.protocol import Engine


class LocalAnswers:
    """The questions of an :class:`Engine` that are about few samples at a time, or wait for one another."""

    _local: Engine  # of all samples

    def nearest_outsiders(
        self, samples: np.ndarray, component: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find for each of some samples the nearest one of another component, by (distance, index)."""
        return self._local.nearest_outsiders(samples, component, n_threads)

    def compete(
        self,
        distances: np.ndarray,
        indices: np.ndarray,
        prototypes: np.ndarray,
        membership: np.ndarray,
        source_side: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Run the competition over the complete graph as (cost, predecessor, root, order)."""
        return self._local.compete(distances, indices, prototypes, membership, source_side)

    def conquer(
        self,
        queries: np.ndarray,
        cost: np.ndarray,
        order: np.ndarray,
        n_conquerors: int = 1,
        n_threads: int = 1,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the smallest offers max(cost, distance) to each query, and the samples that make them."""
        return self._local.conquer(queries, cost, order, n_conquerors, n_threads)
