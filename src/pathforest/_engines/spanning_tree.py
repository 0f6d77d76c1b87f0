"""The minimum spanning tree for engines that only find nearest samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pathforest._core import TreeBuilder
from pathforest._engines.protocol import Engine, KnnGraph, SpanningTree

# Lists of this length leave few components for the slower search of the tree's remaining arcs.
TREE_NEIGHBORS = 10


def tree_without_lists(engine: Engine, n_threads: int = 1) -> SpanningTree:
    """Build the minimum spanning tree for callers who need no lists."""
    if hasattr(engine, "spanning_tree_without_lists"):
        return SpanningTree(*engine.spanning_tree_without_lists(n_threads))
    lists = engine.knn(min(TREE_NEIGHBORS, engine.n_samples - 1), n_threads)
    return SpanningTree(*engine.spanning_tree(*lists, n_threads))


def spanning_tree_by_asking(
    graph: KnnGraph,
    nearest_foreign: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    X: np.ndarray | None = None,
) -> SpanningTree:
    """Build the minimum spanning tree with the help of any engine, wherever it computes.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of any length; about 10 is a good one.
    nearest_foreign : callable
        Called as ``nearest_foreign(samples, component, reach)`` where the lists cannot answer. For each of
        `samples` it returns the distance and index of the nearest sample whose `component` (one entry per
        training sample) is not its own and that is no farther than its `reach`, by (distance, index); inf
        and -1 if there is no such sample. float64 and int32 arrays.
    X : ndarray of shape (n_samples, n_features), default=None
        The samples, if they are at hand. Of samples with the same features only one is then asked, which
        saves most of the time where few rows are distinct. The tree is the same.

    Returns
    -------
    SpanningTree

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.graph import KnnGraph, spanning_tree_by_asking
    >>> x = np.array([0.0, 1.0, 3.0, 3.5])
    >>> def nearest_foreign(samples, component, reach):
    ...     apart = np.abs(x[samples, None] - x)
    ...     apart[component[samples, None] == component] = np.inf
    ...     return apart.min(axis=1), apart.argmin(axis=1).astype(np.int32)
    >>> nearest = np.array([[1], [0], [3], [2]], dtype=np.int32)
    >>> lists = KnnGraph(np.array([[1.0], [1.0], [0.5], [0.5]]), nearest)
    >>> spanning_tree_by_asking(lists, nearest_foreign).weight.tolist()
    [0.5, 1.0, 2.0]
    """
    builder = TreeBuilder(*graph) if X is None else TreeBuilder(*graph, np.ascontiguousarray(X))
    while True:
        samples, component, reach = builder.ask()
        if not len(samples):
            return SpanningTree(*builder.arcs())
        builder.answer(*nearest_foreign(samples, component, reach))
