"""Offers of equal value: the arc that set the cost decides, by its own length first (SPEC 1.1)."""

from pathlib import Path

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from pathforest import FuzzyOPFClassifier, OPFClassifier, _core
from pathforest.graph import KnnGraph
from pathforest.membership import density, fuzzy_membership

pytestmark = pytest.mark.kernel

ENGINES = {
    "kd_tree": lambda X, D, metric: _core.Engine.kd_tree(X, metric),
    "brute": lambda X, D, metric: _core.Engine.brute(X, metric),
    "precomputed": lambda X, D, metric: _core.Engine.precomputed(D),
}
METRICS = ["manhattan", "euclidean", "chebyshev", "sqeuclidean"]
sides = pytest.mark.parametrize("side", ["target", "source"])


def test_of_equal_products_the_shorter_arc_wins():
    # Sample 3 is offered 2 * 0.5 by sample 0 and 1 * 1 by sample 1, whose arc is the shorter one.
    X, y = np.array([[2.0, 4.0], [4.0, 5.0], [3.0, 5.0], [4.0, 4.0]]), [0, 1, 2, 1]
    model = FuzzyOPFClassifier(sigma=0.5, n_neighbors=3, membership_side="source", metric="manhattan")
    model.fit(X, y)
    assert (model.cost_[3], model.predecessor_[3]) == (1.0, 1)
    np.testing.assert_array_equal(model.label_, y)


@pytest.mark.parametrize("competition", ["complete", "tree"])
def test_nodes_of_equal_cost_leave_by_the_length_of_the_arc_that_set_it(competition):
    # Samples 1 and 2 both cost 2, by arcs of length 4 and 2; sample 2 is first although its index is higher.
    D = np.array([[0.0, 4.0, 2.0], [4.0, 0.0, 9.0], [2.0, 9.0, 0.0]])
    seeds, F = np.array([0], dtype=np.int32), np.array([1.0, 0.5, 1.0])
    tree = reference.spanning_tree(D)
    if competition == "complete":
        forest = _core.Engine.precomputed(D).compete(*reference.knn(D, 2), seeds, F, False)
    else:
        forest = _core.compete_tree(*tree, seeds, F, False)
    assert (forest[0].tolist(), forest[3].tolist()) == ([0.0, 2.0, 2.0], [0, 2, 1])


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


def test_where_equal_distances_cost_textbook_opf_most_of_a_class_ours_keeps_every_label():
    rows = np.loadtxt(Path(__file__).parents[1] / "data" / "tied_grid.csv", delimiter=",", skiprows=1)
    X, y = rows[:, :2], rows[:, 2].astype(int)
    found = reference.textbook_opf(reference.distance_matrix(X, X), y)
    assert min(np.mean(found[y == c] == c) for c in range(3)) < 0.2
    for model in (OPFClassifier(), *(FuzzyOPFClassifier(sigma=s, competition="tree") for s in (0.2, 0.8, 1))):
        np.testing.assert_array_equal(model.fit(X, y).label_, y)
