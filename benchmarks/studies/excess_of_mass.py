"""HDBSCAN's excess of mass on the landscape of OPFClustering: a rule that was tried and not taken."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from pathforest import _core
from pathforest._models.dome_tree import _follow, _highest_tree
from pathforest.distances import make_engine
from pathforest.graph import knn_graph
from pathforest.membership import density


class _Best(NamedTuple):
    """The most stable clusters within a component."""

    volume: float  # of the component above the level at which it was closed
    stability: float
    clusters: list[list[int]]  # their samples


def most_stable(X: np.ndarray, k: int, smallest: int) -> np.ndarray:
    """Cluster by the greatest sum of stabilities, with clusters of `smallest` samples or more.

    Where two such components meet they are children of what they become. A component's stability is its
    volume above the level at which it ends, less that of its children. Samples of no cluster follow the
    arcs that keep to high densities. The whole does not count.
    """
    k = min(k, len(X) - 1)
    graph = knn_graph(make_engine(X), k)
    scaled = _core.scale_density(density(graph, k))
    source, target, levels = (array.tolist() for array in _highest_tree(graph, k, scaled))
    n = len(X)
    leads_to, members, total = list(range(n)), [[i] for i in range(n)], scaled.tolist()
    children: list[_Best | None] = [None] * n

    def close(component: int, level: float) -> _Best:
        volume = total[component] - len(members[component]) * level
        inner = children[component]
        if inner is None or inner.stability <= volume - inner.volume:
            own = volume if inner is None else volume - inner.volume
            return _Best(volume, own, [list(members[component])])
        return _Best(volume, *inner[1:])

    for a, b, level in zip(source, target, levels, strict=True):
        a, b = _follow(leads_to, a), _follow(leads_to, b)
        if len(members[a]) < len(members[b]):
            a, b = b, a
        if len(members[b]) >= smallest:
            one, other = close(a, level), close(b, level)
            children[a] = _Best(*(x + y for x, y in zip(one, other, strict=True)))
        leads_to[b] = a
        members[a] += members[b]
        total[a] += total[b]
    parts = [p for p in {_follow(leads_to, i) for i in range(n)} if len(members[p]) >= smallest]
    whole = len(parts) == 1 and children[parts[0]] is not None
    chosen = [children[p].clusters if whole else close(p, 0.0).clusters for p in parts]
    labels = np.full(n, -1)
    for number, samples in enumerate(chain.from_iterable(chosen)):
        labels[samples] = number
    return _spread(labels, source, target)


def _spread(labels: np.ndarray, source: list[int], target: list[int]) -> np.ndarray:
    """Let labels follow the arcs of a forest; what they do not reach is a cluster together."""
    count = -1
    while count != (count := int(np.sum(labels < 0))):
        for a, b in zip(source, target, strict=True):
            if (labels[a] < 0) != (labels[b] < 0):
                labels[a] = labels[b] = max(labels[a], labels[b])
    return labels
