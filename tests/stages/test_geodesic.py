"""Paths over neighbour lists that cost the sum of their arcs equal Dijkstra's algorithm as it is written."""

import checks
import numpy as np
import pytest
import reference
from engine_cases import every_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from strategies import make_samples, problems

from pathforest import _core
from pathforest.forest import grow_forest_geodesic
from pathforest.graph import knn_graph

pytestmark = pytest.mark.kernel


def some(n):
    """Indices of a few of n samples, or of many."""
    return st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True).map(sorted)


@every_engine
@given(data=st.data())
def test_geodesic_forest_equals_dijkstra_as_it_is_written(case, data):
    X, _, Q, k = data.draw(problems(largest=50, non_negative=needs_non_negative(case)))
    opened = open_engine(case, X, Q)
    seeds, n_threads = data.draw(some(len(X))), data.draw(st.sampled_from([1, 3]))
    factor = np.random.default_rng(len(seeds)).choice([0.3, 0.5, 1.0, 1.7], len(X))
    factor = data.draw(st.sampled_from([None, factor]))
    graph = knn_graph(opened.engine, k, n_threads)
    got = grow_forest_geodesic(opened.engine, graph, seeds, factor, n_threads)
    expected = reference.geodesic(opened.D, k, seeds, None if factor is None else factor[seeds])
    checks.same_arrays(got, expected)


@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates", "collinear", "far clusters"])
@pytest.mark.parametrize("n_seeds", [1, 5])
def test_geodesic_forest_equals_dijkstra_on_hundreds_of_samples(recipe, n_seeds):
    X, Q = make_samples(recipe, 6, 250, 3)
    opened = open_engine(("kd_tree", "euclidean", 2.0), X, Q)
    seeds = np.random.default_rng(1).choice(250, n_seeds, replace=False)
    graph = knn_graph(opened.engine, 4)
    got = grow_forest_geodesic(opened.engine, graph, seeds)
    checks.same_arrays(got, reference.geodesic(opened.D, 4, seeds))
    if recipe == "gaussian":  # SciPy takes arcs of length 0 for none
        lengths = csr_array((graph.distances.ravel(), graph.indices.ravel(), np.arange(0, 1001, 4)))
        expected = dijkstra(lengths, directed=False, indices=seeds, min_only=True)
        np.testing.assert_allclose(got.cost, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("lengths", "predecessor"), [((1, 3, 2, 2), 4), ((2, 2, 2, 2), 2), ((3, 1, 2, 2), 2)]
)
def test_of_equal_paths_the_one_with_the_first_last_arc_wins(lengths, predecessor):
    """Sample 3 lies at 4 from both seeds: from 0 past sample 2, and from 1 past sample 4."""
    from_0, from_2, from_1, from_4 = map(float, lengths)
    distances = np.array([[from_0], [from_1], [from_2], [from_4], [from_1]])
    indices = np.array([[2], [4], [3], [4], [1]], dtype=np.int32)
    paths = _core.geodesic_paths(distances, indices, np.array([0, 1], dtype=np.int32), np.ones(2))
    assert [array[3] for array in paths] == [4.0, predecessor, 0 if predecessor == 2 else 1]
