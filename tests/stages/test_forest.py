"""Competition and conquest equal Algorithms 1 and 3 with pair costs, node for node."""

from contextlib import nullcontext

import checks
import numpy as np
import pytest
import reference
from engine_cases import every_query_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from strategies import make_codes, make_samples, problems

from pathforest import _core
from pathforest.forest import boundary_prototypes, grow_forest, path_to_root
from pathforest.graph import KnnGraph, SpanningTree
from pathforest.membership import density, fuzzy_membership

pytestmark = pytest.mark.kernel

sides = pytest.mark.parametrize("side", ["target", "source"])


@sides
@pytest.mark.parametrize("sigma", [0.02, 0.6, 3.0])
@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates", "mixed values", "far clusters"])
def test_complete_competition_equals_algorithm_3_on_hundreds_of_samples(recipe, sigma, side):
    X, Q = make_samples(recipe, 6, 250, 4)
    opened = open_engine(("kd_tree", "euclidean", 2.0), X, Q)
    lists = opened.engine.knn(6)
    seeds = reference.prototypes(opened.engine.spanning_tree(lists), make_codes("regions", 6, X))
    F = reference.membership(
        reference.density(lists[0], reference.kernel_width(lists[0], False), False), sigma
    )
    got = opened.engine.compete(*lists, seeds, F, side == "source")
    checks.same_arrays(got, reference.compete(opened.D, seeds, F, side))


@given(st.integers(2, 12), st.data())
def test_arcs_that_close_a_cycle_are_refused(n, data):
    ends = data.draw(st.lists(st.tuples(*2 * [st.integers(0, n - 1)]), min_size=n - 1, max_size=n - 1))
    source, target = np.array(ends, dtype=np.int32).T
    arcs = SpanningTree(source.copy(), target.copy(), np.arange(n - 1.0))
    n_pieces, _ = connected_components(coo_array((arcs.weight + 1, (source, target)), shape=(n, n)))
    refused = pytest.raises(ValueError, match=r"closes a cycle.*spanning_tree")
    for memberships_if_any in ([], [np.ones(n)]):
        with nullcontext() if n_pieces == 1 else refused:
            grow_forest(arcs, [0], *memberships_if_any)


@given(problems(smallest=2), st.data())
def test_plain_cost_is_the_minimax_distance_to_the_nearest_prototype_whichever_these_are(problem, data):
    D = reference.distance_matrix(problem.X, problem.X)
    tree = SpanningTree(*reference.spanning_tree(D))
    minimax = D.copy()
    for via in range(len(D)):
        minimax = np.minimum(minimax, np.maximum(minimax[:, via, None], minimax[None, via]))
    np.fill_diagonal(minimax, 0)
    boundary = reference.prototypes(tree, problem.codes)
    np.testing.assert_array_equal(boundary_prototypes(tree, problem.codes), boundary)
    for seeds in (boundary, sorted(data.draw(st.sets(st.integers(0, len(D) - 1), min_size=1)))):
        forest = grow_forest(tree, seeds)
        checks.same_arrays(forest, grow_forest(tree, seeds, np.ones(len(D))))
        paths = [path_to_root(forest.predecessor, u) for u in range(len(D))]
        assert [(path[0], path[-1]) for path in paths] == list(enumerate(forest.root))
        np.testing.assert_array_equal(forest.cost, minimax[:, seeds].min(axis=1))


@every_query_engine
@given(data=st.data())
def test_conquest_equals_a_full_scan_whatever_the_costs(case, data):
    X, _, Q, _ = data.draw(problems(most_features=16, non_negative=needs_non_negative(case)))
    if data.draw(st.booleans()):
        Q = np.concatenate([Q, X])  # many go through a tree together
    opened = open_engine(case, X, Q)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    largest = data.draw(st.sampled_from([0.0, 1.0, 1e-30, 1e30, *[float(opened.DQ.max())] * 4]))
    cost = largest * (rng.integers(0, 4, len(X)) / 3 if data.draw(st.booleans()) else rng.random(len(X)))
    order = np.lexsort((rng.permutation(len(X)), cost)).astype(np.int32)
    r = data.draw(st.sampled_from([1, 2, 7, len(X), len(X) + 3]))
    n_threads = data.draw(st.sampled_from([1, 2, 3]))
    got = opened.engine.conquer(opened.Q, cost, order, n_conquerors=r, n_threads=n_threads)
    checks.same_arrays(got, reference.conquer(opened.DQ, cost, order, r))


def test_an_arc_that_ties_only_after_rounding_is_looked_at():
    # Sample 2 is offered d by sample 1 and the next number by sample 3, whose cost comes from an arc half as
    # long, times 2. Times f the offers are equal: that of sample 3 wins by its arc, and it is not listed.
    pairs = np.random.default_rng(0).uniform(1, 2, (1000, 2))
    d, f = next((d, f) for d, f in pairs if d * f == np.nextafter(d, 9) * f)
    half = np.nextafter(d, 9) / 2
    D = np.array([[0, 9, 9, half], [9, 0, d, 9], [9, d, 0, d], [half, 9, d, 0]])
    seeds, F = np.array([0, 1], dtype=np.int32), np.array([1, 1, f, 2])
    got = _core.Engine.precomputed(D).compete(*reference.knn(D, 1), seeds, F, False)
    assert got[1].tolist() == [-1, -1, 3, 0]
    checks.same_arrays(got, reference.compete(D, seeds, F, "target"))


# Offers of equal value: the arc that set the cost decides, by its own length first (SPEC 1.1).

ENGINES = {
    "kd_tree": lambda X, D, metric: _core.Engine.kd_tree(X, metric),
    "brute": lambda X, D, metric: _core.Engine.brute(X, metric),
    "precomputed": lambda X, D, metric: _core.Engine.precomputed(D),
}
METRICS = ["manhattan", "euclidean", "chebyshev", "sqeuclidean"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_farther_than_its_product_says_by_rounding_is_found(engine):
    """3 * 1.9 / 1.9 is below 3: sample 1 has waited for 2 and must still see 0, whose arc is shorter."""
    X, F, seeds = np.array([[0.0], [3.0], [5.0]]), np.array([1.0, 1.9, 0.6]), np.array([0], dtype=np.int32)
    D = reference.distance_matrix(X, X, "manhattan")
    got = ENGINES[engine](X, D, "manhattan").compete(*reference.knn(D, 1), seeds, F, False)
    checks.same_arrays(got, reference.compete(D, seeds, F, "target"))


@sides
@pytest.mark.parametrize("engine", ENGINES)
@given(data=st.data())
def test_competition_on_small_grids_equals_the_definition(engine, side, data):
    n = data.draw(st.integers(3, 8))
    points = st.lists(st.integers(0, 5), min_size=2, max_size=2)
    X = np.array(data.draw(st.lists(points, min_size=n, max_size=n)), dtype=float)
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    metric, sigma = data.draw(st.sampled_from(METRICS)), data.draw(st.sampled_from([0.2, 0.5, 0.8, 1.0, 1.2]))
    k, length = data.draw(st.integers(1, n - 1)), data.draw(st.integers(0, n - 1))
    D = reference.distance_matrix(X, X, metric)
    lists = KnnGraph(*reference.knn(D, k))
    F = fuzzy_membership(density(lists, k, metric == "sqeuclidean"), sigma)
    tree = reference.spanning_tree(D)
    seeds = reference.prototypes(tree, codes)
    source = side == "source"
    got = ENGINES[engine](X, D, metric).compete(*reference.knn(D, length), seeds, F, source)
    checks.same_arrays(got, reference.compete(D, seeds, F, side))
    checks.same_arrays(
        _core.compete_tree(*tree, seeds, F, source), reference.compete(D, seeds, F, side, tree)
    )
