"""The textbook's supervised OPF, which compares nothing but costs: to show what ties do to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

LARGEST = 2000  # samples, at most: the algorithm is quadratic


def worst_training_error(
    error: Callable[[np.ndarray, np.ndarray], float], X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> float:
    """Return the largest share of labels lost over five orders of the samples, which should not matter."""
    n = len(y)
    orders = [np.arange(n), np.arange(n)[::-1], *(rng.permutation(n) for _ in range(3))]
    return max(error(X[order], y[order]) for order in orders)


def training_error(X: np.ndarray, y: np.ndarray) -> float:
    """Return the share of training samples that the textbook algorithm gives to another class."""
    # Prim's tree, prototypes at its arcs between classes, Dijkstra with f_max over the complete graph. Of
    # equal costs the first to come leaves first, and an equal offer conquers nothing. If no two arcs weigh
    # the same, no label is lost.
    D = cdist(X, X, "sqeuclidean")
    prototypes = _boundary(D, y)
    if not prototypes.any():
        return 0.0
    cost, label = np.where(prototypes, 0.0, np.inf), y.copy()
    waiting, arrival = np.ones(len(X), dtype=bool), np.zeros(len(X), dtype=int)
    for step in range(1, len(X) + 1):
        ready = np.flatnonzero(waiting & (cost == cost[waiting].min()))
        node = ready[np.argmin(arrival[ready])]
        waiting[node] = False
        offer = np.maximum(cost[node], D[node])
        conquered = waiting & (offer < cost)
        cost[conquered], label[conquered], arrival[conquered] = offer[conquered], label[node], step
    return float((label != y).mean())


def _boundary(D: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mark both ends of each arc of Prim's tree that joins two classes."""
    prototypes = np.zeros(len(D), dtype=bool)
    waiting = np.ones(len(D), dtype=bool)
    waiting[0] = False
    reach, parent = D[0].copy(), np.zeros(len(D), dtype=int)
    for _ in range(len(D) - 1):
        node = np.argmin(np.where(waiting, reach, np.inf))
        waiting[node] = False
        if y[node] != y[parent[node]]:
            prototypes[[node, parent[node]]] = True
        closer = waiting & (D[node] < reach)
        reach[closer], parent[closer] = D[node][closer], node
    return prototypes
