"""Neighbour lists and the spanning tree: all that the later stages know about distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pathforest._core import Engine, TreeBuilder

# Lists of this length leave few components for the slower search of the tree's remaining arcs.
TREE_NEIGHBORS = 10

# The competition reads whole lists. Of longer ones it reads this much: what lies behind hardly ever wins, and
# where it could the engine is asked.
COMPETITION_NEIGHBORS = 30


class KnnGraph(NamedTuple):
    """The k nearest others of every sample, each list sorted by (distance, index)."""

    distances: np.ndarray  # (n, k) float64
    indices: np.ndarray  # (n, k) int32


class SpanningTree(NamedTuple):
    """The minimum spanning tree, unique because arcs compare by (weight, lower end, higher end)."""

    source: np.ndarray  # (n - 1,) lower end of each arc
    target: np.ndarray  # (n - 1,) higher end
    weight: np.ndarray  # (n - 1,) length, ascending


def shorter_lists(graph: KnnGraph, k: int) -> KnnGraph:
    """Return the first k entries of every list.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.graph import KnnGraph, shorter_lists
    >>> lists = KnnGraph(np.array([[1.0, 2.0]]), np.array([[4, 7]], dtype=np.int32))
    >>> shorter_lists(lists, 1).indices.tolist()
    [[4]]
    """
    if graph.indices.shape[1] <= k:
        return graph
    return KnnGraph(*(np.ascontiguousarray(array[:, :k]) for array in graph))


def knn_graph(engine: Engine, k: int, n_threads: int = 1) -> KnnGraph:
    """Find the `k` nearest others of every sample.

    Parameters
    ----------
    engine : Engine
        From :func:`pathforest.distances.make_engine`.
    k : int
        Length of the lists, at most n - 1. Time and memory grow in proportion.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    KnnGraph

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import knn_graph
    >>> knn_graph(make_engine([[0.0], [1.0], [3.0]]), k=1).indices.tolist()
    [[1], [0], [1]]
    """
    return KnnGraph(*engine.knn(k, n_threads))


def spanning_tree(engine: Engine, graph: KnnGraph, n_threads: int = 1) -> SpanningTree:
    """Build the minimum spanning tree of the complete graph over all samples.

    Parameters
    ----------
    engine : Engine
        The engine `graph` was made with. It is asked only where the lists cannot answer.
    graph : KnnGraph
        Neighbour lists of any length; about 10 is a good one.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    SpanningTree

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import knn_graph, spanning_tree
    >>> engine = make_engine([[0.0], [1.0], [3.0]])
    >>> tree = spanning_tree(engine, knn_graph(engine, k=1))
    >>> list(zip(tree.source.tolist(), tree.target.tolist(), tree.weight.tolist()))
    [(0, 1, 1.0), (1, 2, 2.0)]
    """
    return SpanningTree(*engine.spanning_tree(graph.distances, graph.indices, n_threads))


def spanning_tree_by_asking(
    graph: KnnGraph,
    nearest_foreign: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
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
        and -1 where there is none. float64 and int32 arrays.

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
    builder = TreeBuilder(graph.distances, graph.indices)
    while True:
        samples, component, reach = builder.ask()
        if not len(samples):
            return SpanningTree(*builder.arcs())
        builder.answer(*nearest_foreign(samples, component, reach))
