"""Clusters within classes: arcs between classes take no part, as if they were not in the lists."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from pathforest import _core

pytestmark = pytest.mark.kernel

LEVELS = np.array([1.0, 1.5, 2.0, 500.0, 1000.0])  # few, so that plateaus are common


def compete(distances, indices, rho, codes):
    """Algorithm 2 along the arcs within classes."""
    n, rho = len(rho), rho.tolist()
    arcs = reference.cluster_arcs(distances, indices, rho)
    cost, predecessor, root = [r - 1.0 for r in rho], [-1] * n, list(range(n))
    waiting = set(range(n))
    while waiting:
        q = max(waiting, key=lambda u: (cost[u], -u))
        waiting.remove(q)
        if predecessor[q] == -1:
            cost[q] = rho[q]
        for u, _ in arcs[q]:
            offer = min(cost[q], rho[u])
            if codes[u] == codes[q] and u in waiting and offer > cost[u]:
                cost[u], predecessor[u], root[u] = offer, q, root[q]
    return cost, predecessor, root


@given(data=st.data())
def test_clusters_within_classes_equal_algorithm_2_along_arcs_within_classes(data):
    X, codes, _, k = data.draw(problems(smallest=2))
    distances, indices = reference.knn(reference.distance_matrix(X, X), k)
    rho = LEVELS[np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 5, size=len(X))]
    _, predecessor, root, cost = _core.cluster(distances, indices, k, rho, codes.astype(np.int32))
    expected = compete(distances, indices, rho, codes)
    assert (cost.tolist(), predecessor.tolist(), root.tolist()) == expected


def test_one_class_changes_nothing():
    rng = np.random.default_rng(0)
    distances, indices = _core.Engine.kd_tree(rng.integers(0, 9, (300, 2)).astype(float), "euclidean").knn(5)
    rho = LEVELS[rng.integers(0, 5, size=300)]
    got = _core.cluster(distances, indices, 5, rho, np.zeros(300, dtype=np.int32))
    for one, other in zip(got, _core.cluster(distances, indices, 5, rho), strict=True):
        np.testing.assert_array_equal(one, other)


def test_codes_of_other_samples_are_refused():
    lists = np.zeros((3, 1)), np.zeros((3, 1), dtype=np.int32)
    with pytest.raises(ValueError, match="codes must have one entry per sample"):
        _core.cluster(*lists, 1, np.ones(3), np.zeros(2, dtype=np.int32))
