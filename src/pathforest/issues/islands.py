"""Small groups of a class that lie apart from the rest of it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pathforest.graph import KnnGraph
from pathforest.issues.duplicates import number_groups


def islands(graph: KnnGraph, codes: np.ndarray, largest: int) -> np.ndarray:
    """Return the number of the island that each sample is in; -1 for those in none.

    Two samples of a class are joined if one is in the other's neighbour list. An island is a group so joined
    that has 2 to `largest` samples and is smaller than the largest group of its class.
    """
    n, k = graph.indices.shape
    source, target = np.repeat(np.arange(n), k), graph.indices.ravel()
    same = codes[source] == codes[target]
    arcs = coo_array((np.ones(same.sum(), dtype=bool), (source[same], target[same])), shape=(n, n))
    part = connected_components(arcs, directed=False)[1]
    _, first, size = np.unique(part, return_index=True, return_counts=True)
    most = np.zeros(codes.max() + 1, dtype=np.intp)
    np.maximum.at(most, codes[first], size)
    is_island = (size <= largest) & (size < most[codes[first]])
    alone = np.arange(n) + len(size)  # a group of one each, for all samples that are in no island
    return number_groups(np.where(is_island[part], part, alone), smallest=2)
