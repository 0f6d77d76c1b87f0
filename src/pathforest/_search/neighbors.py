"""One neighbour pass over all samples, from which every training part of a search takes its lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathforest import _core
from pathforest._engines.engine import Engine, KnnGraph, without_self
from pathforest.graph import knn_graph

# A pass over all samples pays if parts of this size in all would otherwise be searched, as multiples of it:
# its lists are longer, and a scan of a part costs the square of its size.
WORTH = 2.5


def is_worth_it(parts: Sequence[np.ndarray], n_samples: int) -> bool:
    """Tell whether parts of the samples, given by their indices, had better share a pass over all of them."""
    return sum(map(len, parts)) >= WORTH * n_samples


class SharedLists:
    """Neighbour lists of all samples, so long that those of large parts can be read from them.

    `share` is the size of the smallest of these parts, as a part of all samples, and `k` the length of their
    lists.
    """

    def __init__(self, engine: Engine, k: int, share: float, n_threads: int) -> None:
        # So many that two standard deviations fewer than expected in a random part are still enough.
        length = int(np.ceil((k + np.sqrt(k)) / share))
        self._graph = knn_graph(engine, min(length, engine.n_samples - 1), n_threads)

    def of_part(
        self, chosen: np.ndarray, engine: Engine, X: np.ndarray, k: int, n_threads: int = 1
    ) -> KnnGraph:
        """Return the lists of some samples among themselves, given their ascending indices.

        `X` are those samples, and `engine` the one over them: it is asked where a list ran out.
        """
        *lists, short = _core.subset_lists(*self._graph, chosen.astype(np.int32), k, n_threads)
        graph = KnnGraph(*lists)
        if len(short):
            found = engine.query(X[short], k + 1, n_threads)
            graph.distances[short], graph.indices[short] = without_self(*found, short)
        return graph
