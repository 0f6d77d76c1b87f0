"""Domes of the density: where they meet, and which of them count as clusters."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from pathforest.graph import KnnGraph

ATTRIBUTES = ("height", "area", "volume")

# One row per dome that another absorbs.
DOME_TREE = np.dtype(
    [
        ("child", np.intp),  # sample that founded the dome
        ("parent", np.intp),  # sample that founded the cluster that its samples go to
        ("level", np.float64),  # density at which it met a larger one, the saddle
        ("height", np.float64),  # density of the founder above that level
        ("area", np.intp),  # samples of the dome above that level
        ("volume", np.float64),  # sum of their densities above that level
    ]
)

# Densities lie in [1, 1000], so that this times a density is an integer: volumes add up without rounding, and
# equal domes tie, whatever the order of their samples.
UNIT = 2**52


def dome_tree(
    graph: KnnGraph,
    k: int,
    scaled: np.ndarray,
    labels: np.ndarray,
    founders: np.ndarray,
    attribute: str = "height",
) -> np.ndarray:
    """Find the order in which domes cease to count, and where their samples go.

    Parameters
    ----------
    graph : KnnGraph
        Neighbour lists of length `k` or more. Their arcs count in both directions.
    k : int
        Size of the neighbourhood.
    scaled : ndarray of shape (n,)
        Densities on their scale from 1 to 1000.
    labels : ndarray of shape (n,)
        Cluster of each sample, as a position among `founders`.
    founders : array-like of int
        The samples that founded the clusters, the densest first. Their domes count.
    attribute : {"height", "area", "volume"}, default="height"
        Of domes that meet, only the one with the largest attribute counts from there on; on ties
        the one whose founder comes first.

    Returns
    -------
    tree : ndarray of DOME_TREE, of shape (len(founders) - 1,)
        In ascending order of the attribute, so that the first m rows reduce the number of domes by
        m; then in descending order of the level, and the later founder first. Domes that no arc
        joins meet at level 0; those rows come last.

    Notes
    -----
    The domes at level s are the connected components of the samples with a density above s. As s
    falls they grow and meet. What a dome measures when it meets a larger one is known as its
    extinction value: its founder is still a maximum after openings up to that size. The arcs of a
    spanning tree that keeps to high densities are enough to follow, so that the time grows with
    n k log n.

    The larger dome may be far away, behind others that still count. So the samples go to the
    neighbour: to the cluster across the highest arc that leads out, which is the one whose lower
    end is densest; of arcs of equal level the shortest, then the one with the lower first end, then the
    lower second end. Without equal distances the order of the samples then plays no part.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.distances import make_engine
    >>> from pathforest._models.dome_tree import dome_tree
    >>> from pathforest.graph import knn_graph
    >>> graph = knn_graph(make_engine([[0.0], [1.0], [2.0], [3.1], [4.0]]), k=1)
    >>> labels = np.array([0, 0, 0, 1, 1])
    >>> tree = dome_tree(graph, 1, np.array([5.0, 6.0, 2.0, 3.0, 4.0]), labels, founders=[1, 4])
    >>> tree.dtype.names
    ('child', 'parent', 'level', 'height', 'area', 'volume')
    >>> tree.tolist()
    [(4, 1, 0.0, 4.0, 2, 7.0)]
    """
    tree = _Flood(scaled, founders, attribute).run(*_highest_tree(graph, k, scaled))
    _choose_parents(tree, _borders(graph, k, scaled, labels), founders)
    return tree


def _highest_tree(graph: KnnGraph, k: int, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Span the graph by arcs that keep to high densities: their ends and levels, the highest first."""
    n = len(scaled)
    minus_levels, rank = np.unique(-scaled, return_inverse=True)
    source, target = np.repeat(np.arange(n), k), graph.indices[:, :k].ravel()
    # An arc exists from the level of its lower end on. SciPy takes a weight of 0 for no arc.
    weight = np.maximum(rank[source], rank[target]) + 1
    tree = minimum_spanning_tree(csr_matrix((weight, (source, target)), shape=(n, n))).tocoo()
    order = np.argsort(tree.data, kind="stable")
    return tree.row[order], tree.col[order], -minus_levels[tree.data[order].astype(np.intp) - 1]


class _Dome(NamedTuple):
    """A dome when it meets another; the larger tuple absorbs the smaller."""

    size: float  # its attribute
    precedence: int  # minus the position of its founder: the denser founder wins a tie
    founder: int
    measures: tuple[float, int, float]  # height, area and volume above the level


class _Flood:
    """Components of the samples above a falling level, and the founder that stands for each."""

    def __init__(self, scaled: np.ndarray, founders: np.ndarray, attribute: str) -> None:
        self._scaled, self._attribute = scaled.tolist(), ATTRIBUTES.index(attribute)
        self._founders = [int(sample) for sample in founders]
        n = len(scaled)
        self._next = list(range(n))  # leads to the sample that represents the component
        self._count = [1] * n
        self._total = [int(value * UNIT) for value in self._scaled]
        self._position = [-1] * n  # of the component's founder, -1 if it has none
        self._rank = {sample: position for position, sample in enumerate(self._founders)}
        for sample, position in self._rank.items():
            self._position[sample] = position

    def run(self, source: np.ndarray, target: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """Follow arcs of descending levels; return the tree, with the winners of meetings as parents."""
        arcs = zip(levels.tolist(), source.tolist(), target.tolist(), strict=True)
        rows: list[tuple] = []
        for level, group in groupby(arcs, key=itemgetter(0)):
            rows += self._unite([arc[1:] for arc in group], level)
        rows.sort(key=lambda row: (row[3 + self._attribute], -row[2], -self._rank[row[0]]))
        parts = {_follow(self._next, sample) for sample in self._founders}
        apart = _absorb([dome for part in parts for dome in self._domes(part, 0.0)], 0.0)
        return np.array(rows + apart, dtype=DOME_TREE)

    def _unite(self, arcs: list[tuple[int, int]], level: float) -> list[tuple]:
        """Join components by all arcs of one level; return a row for each dome that is absorbed."""
        if len(arcs) == 1:
            a, b = (_follow(self._next, sample) for sample in arcs[0])
            if self._position[a] < 0 or self._position[b] < 0:  # most arcs: nothing to compare
                self._join(a, b, max(self._position[a], self._position[b]))
                return []
        met: dict[int, list[_Dome]] = {}  # what the components that are growing were made of
        for a, b in arcs:
            a, b = _follow(self._next, a), _follow(self._next, b)
            domes = [met.pop(c) if c in met else self._domes(c, level) for c in (a, b)]
            met[self._join(a, b)] = domes[0] + domes[1]
        rows = []
        for component, domes in met.items():
            self._position[component] = -max(domes).precedence if domes else -1
            rows += _absorb(domes, level)
        return rows

    def _join(self, a: int, b: int, position: int = -1) -> int:
        """Make one component of two, with this founder; return the sample that represents it."""
        if self._count[a] < self._count[b]:
            a, b = b, a
        self._next[b] = a
        self._count[a] += self._count[b]
        self._total[a] += self._total[b]
        self._position[a] = position
        return a

    def _domes(self, component: int, level: float) -> list[_Dome]:
        """Measure a component above a level that no arc within it has reached: no dome, or one."""
        if (position := self._position[component]) < 0:
            return []
        founder, count = self._founders[position], self._count[component]
        # Either all of its samples are above the level, or it is a single one at the level.
        area = count if self._scaled[component] > level else 0
        volume = self._total[component] - count * int(level * UNIT)
        height = self._scaled[founder] - level
        size = (height, area, volume)[self._attribute]
        return [_Dome(size, -position, founder, (height, area, volume / UNIT))]


def _absorb(domes: list[_Dome], level: float) -> list[tuple]:
    """Return a row for each dome but the largest of those that meet, the smallest first."""
    *absorbed, largest = sorted(domes) or [None]
    return [(dome.founder, largest.founder, level, *dome.measures) for dome in absorbed]


def _borders(graph: KnnGraph, k: int, scaled: np.ndarray, labels: np.ndarray) -> list[tuple[int, int]]:
    """List the pairs of clusters that arcs join by their first arc: highest, then in the order of arcs."""
    source, target = np.repeat(np.arange(len(scaled)), k), graph.indices[:, :k].ravel()
    joins = labels[source] != labels[target]
    ends = np.sort(np.column_stack([source[joins], target[joins]]), axis=1)
    lengths = graph.distances[:, :k].ravel()[joins]
    order = np.lexsort([ends[:, 1], ends[:, 0], lengths, -scaled[ends].min(axis=1)])
    pairs = labels[ends[order]]
    _, first = np.unique(pairs.min(axis=1) * len(labels) + pairs.max(axis=1), return_index=True)
    return [tuple(pair) for pair in pairs[np.sort(first)].tolist()]


def _choose_parents(tree: np.ndarray, borders: list[tuple[int, int]], founders: np.ndarray) -> None:
    """Let each row's child join the cluster across its highest arc, where one leads out."""
    position = {int(sample): p for p, sample in enumerate(founders)}
    leads_to = list(range(len(position)))  # each cluster that has been joined to another leads to it
    ways: list[list[tuple[int, int]]] = [[] for _ in position]  # heaps: place in the list, cluster across
    for place, (a, b) in enumerate(borders):
        ways[a].append((place, b))
        ways[b].append((place, a))
    for row in tree:
        child, winner = position[int(row["child"])], position[int(row["parent"])]
        way = ways[child]
        while way and _follow(leads_to, way[0][1]) == child:
            heappop(way)
        parent = _follow(leads_to, way[0][1] if way else winner)
        row["parent"] = founders[parent]
        leads_to[child] = parent
        few, ways[parent] = sorted([way, ways[parent]], key=len)
        for one in few:
            heappush(ways[parent], one)


def _follow(leads_to: list[int], start: int) -> int:
    """Return where the way from `start` ends, and shorten it for the next time."""
    while (following := leads_to[start]) != start:
        leads_to[start] = start = leads_to[following]
    return start


def keep_domes(founders: np.ndarray, absorbed: np.ndarray) -> np.ndarray:
    """Return for each founder the position of the one whose dome it belongs to.

    `absorbed` contains the first rows of a tree, or those whose attribute is below a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._models.dome_tree import DOME_TREE, keep_domes
    >>> tree = np.array([(7, 3, 2.0, 0.5, 1, 0.5), (3, 4, 1.0, 2.0, 9, 8.0)], dtype=DOME_TREE)
    >>> keep_domes([4, 3, 7], tree[:1]).tolist()
    [0, 1, 1]
    >>> keep_domes([4, 3, 7], tree).tolist()
    [0, 0, 0]
    """
    position = {int(sample): p for p, sample in enumerate(founders)}
    owner = np.arange(len(founders))
    # A dome absorbs others before it is absorbed itself, so the last rows come first.
    for child, parent in absorbed[["child", "parent"]][::-1].tolist():
        owner[position[child]] = owner[position[parent]]
    return owner


def merge_domes(
    tree: np.ndarray, founders: np.ndarray, root: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Let the first rows of the tree take effect, until so many clusters are left.

    `root` has the founder of each sample's path. Returns the cluster of each sample, numbered in the
    order of `founders`, and the founders that are left.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest._models.dome_tree import DOME_TREE, merge_domes
    >>> tree = np.array([(3, 1, 2.0, 0.5, 1, 0.5), (0, 1, 1.0, 2.0, 9, 8.0)], dtype=DOME_TREE)
    >>> labels, roots = merge_domes(tree, np.array([0, 1, 3]), np.array([0, 1, 1, 3]), n_clusters=2)
    >>> labels.tolist(), roots.tolist()
    ([0, 1, 1, 1], [0, 1])
    """
    kept, number = np.unique(keep_domes(founders, tree[: len(founders) - n_clusters]), return_inverse=True)
    cluster_of = np.empty(len(root), dtype=np.intp)
    cluster_of[founders] = number
    return cluster_of[root], founders[kept]
