"""What must hold of any neighbour graph, spanning tree and forest, whatever made them."""

import numpy as np


def valid_knn_graph(distances, indices, n):
    """Lists of distinct others, sorted by (distance, index)."""
    assert distances.shape == indices.shape == (n, indices.shape[1])
    assert distances.dtype == np.float64
    assert indices.dtype == np.int32
    for i, (row, near) in enumerate(zip(distances.tolist(), indices.tolist(), strict=True)):
        assert i not in near
        assert set(near) <= set(range(n))
        assert list(zip(row, near, strict=True)) == sorted(set(zip(row, near, strict=True)))


def valid_spanning_tree(source, target, weight, n):
    """n - 1 arcs with source < target, in ascending order, joining everything."""
    assert source.shape == target.shape == weight.shape == (n - 1,)
    arcs = list(zip(weight.tolist(), source.tolist(), target.tolist(), strict=True))
    assert arcs == sorted(arcs)
    component = np.arange(n)
    for _, i, j in arcs:
        assert 0 <= i < j < n
        assert component[i] != component[j]
        component[component == component[j]] = component[i]


def valid_forest(cost, predecessor, root, order, prototypes):
    """Paths end at prototypes, which cost 0 and are their own roots; order sorts cost."""
    n = len(cost)
    assert sorted(order.tolist()) == list(range(n))
    assert np.all(np.diff(cost[order]) >= 0)
    assert np.array_equal(np.flatnonzero(predecessor == -1), prototypes)
    assert np.array_equal(root[prototypes], prototypes)
    assert np.all(cost[prototypes] == 0)
    for u in range(n):
        node = u
        for _ in range(n):
            if predecessor[node] == -1:
                break
            node = predecessor[node]
        assert node == root[u]


def same_arrays(got, expected):
    """Equal shapes and values, bit for bit up to the sign of zero."""
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(e))
        assert np.shape(g) == np.shape(e)
