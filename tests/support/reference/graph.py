"""Neighbour lists by a full sort, and the spanning tree by Kruskal over every arc."""

import numpy as np


def nearest(D, k):
    """The k smallest entries of each row of D, by (distance, index)."""
    lists = [sorted((w, j) for j, w in enumerate(row))[:k] for row in D.tolist()]
    return _split_lists(lists, k)


def knn(D, k):
    """The k nearest others of every sample, by (distance, index)."""
    lists = [sorted((w, j) for j, w in enumerate(row) if j != i)[:k] for i, row in enumerate(D.tolist())]
    return _split_lists(lists, k)


def _split_lists(lists, k):
    distances = np.array([[w for w, _ in row] for row in lists], dtype=np.float64).reshape(len(lists), k)
    indices = np.array([[j for _, j in row] for row in lists], dtype=np.int32).reshape(len(lists), k)
    return distances, indices


def spanning_tree(D):
    """Kruskal over every arc in the order (weight, lower endpoint, higher endpoint)."""
    return joining_arcs(D, range(len(D)), range(len(D)))


def joining_arcs(D, own, component, reach=None):
    """Kruskal over the arcs from a row to a column of another component, within its reach."""
    joined = list(range(max([*own, *component]) + 1))
    arcs = [
        (w, i, j)
        for i, row in enumerate(D.tolist())
        for j, w in enumerate(row)
        if own[i] != component[j] and (reach is None or w <= reach[own[i], component[j]])
    ]
    tree = []
    for w, i, j in sorted(arcs):
        old, new = joined[component[j]], joined[own[i]]
        if old != new:
            joined = [new if c == old else c for c in joined]
            tree.append((w, i, j))
    source = np.array([i for _, i, _ in tree], dtype=np.int32)
    target = np.array([j for _, _, j in tree], dtype=np.int32)
    return source, target, np.array([w for w, _, _ in tree], dtype=np.float64)


def components(samples, indices):
    """Connected components of some samples, arcs of the neighbour lists taken in both directions."""
    rest, found = set(samples), []
    while rest:
        grown, fresh = set(), {min(rest)}
        while fresh:
            grown |= fresh
            fresh = {u for u in rest - grown if any(u in indices[q] or q in indices[u] for q in fresh)}
        rest -= grown
        found.append(frozenset(grown))
    return found
