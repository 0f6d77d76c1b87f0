"""Neighbour lists and the spanning tree: all that the later stages know about distances."""

from __future__ import annotations

import numpy as np

from pathforest._engines.engine import Engine, KnnGraph, SpanningTree, spanning_tree_by_asking

__all__ = [
    "KnnGraph",
    "SpanningTree",
    "knn_graph",
    "shorter_lists",
    "spanning_tree",
    "spanning_tree_by_asking",
]

# The competition over the complete graph reads this much of longer lists: what lies behind hardly ever wins,
# and where it could the engine is asked. Most of its work is to turn the lists round: on 4,000 samples of 21
# features lists of 40 took a third of the time of lists of 150, and on 2,000 of 20 up to 40 all are equal.
COMPETITION_NEIGHBORS = 30


def shorter_lists(graph: KnnGraph, k: int) -> KnnGraph:
    """Return the first k entries of every list."""
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


def spanning_tree(engine: Engine, graph: KnnGraph | None = None, n_threads: int = 1) -> SpanningTree:
    """Build the minimum spanning tree of the complete graph over all samples.

    Parameters
    ----------
    engine : Engine
        The engine `graph` was made with. It is asked only where the lists cannot answer.
    graph : KnnGraph, default=None
        Neighbour lists of any length; about 10 is good. None if they are not needed elsewhere: the engine
        then makes lists that suit it, which is the fastest way to the tree.
    n_threads : int, default=1
        Threads to use. The result does not depend on it.

    Returns
    -------
    SpanningTree

    Examples
    --------
    >>> from pathforest.distances import make_engine
    >>> from pathforest.graph import spanning_tree
    >>> tree = spanning_tree(make_engine([[0.0], [1.0], [3.0]]))
    >>> list(zip(tree.source.tolist(), tree.target.tolist(), tree.weight.tolist()))
    [(0, 1, 1.0), (1, 2, 2.0)]
    """
    return SpanningTree(*engine.spanning_tree(graph, n_threads))
