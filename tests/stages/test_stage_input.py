"""Stages refuse input they could not finish with, such as nan and cycles; at once, and with a way out."""

import faulthandler
import sys

import checks
import numpy as np
import pytest

from pathforest import _core
from pathforest.distances import make_engine
from pathforest.forest import (
    boundary_prototypes,
    conquer,
    grow_forest,
    grow_forest_complete,
    grow_forest_geodesic,
    path_to_root,
)
from pathforest.graph import KnnGraph, SpanningTree, knn_graph, spanning_tree, spanning_tree_by_asking
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

pytestmark = pytest.mark.kernel

X = np.random.default_rng(0).random((12, 3))
ENGINE = make_engine(X)
LISTS = knn_graph(ENGINE, 4)
TREE = spanning_tree(ENGINE, LISTS)
ONES = np.ones(12)
ORDER = np.arange(12, dtype=np.int32)
MATRIX = make_engine(ENGINE.distances(X), "precomputed")
EMPTY = KnnGraph(np.empty((12, 0)), np.empty((12, 0), dtype=np.int32))


@pytest.fixture(autouse=True)
def _time_limit():
    # Kernels that never end hear no Python signal. Not sys.stderr: pytest may have put a text buffer there.
    faulthandler.dump_traceback_later(60, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def changed(array, place, value):
    """A copy of the array with one other entry."""
    copy = array.copy()
    copy[place] = value
    return copy


def lists_with(value, place=(3, 1)):
    return KnnGraph(changed(LISTS.distances, place, value), LISTS.indices)


def tree_with(**arrays):
    return TREE._replace(**arrays)


CYCLE = tree_with(
    source=changed(TREE.source, 10, TREE.source[0]), target=changed(TREE.target, 10, TREE.target[0])
)
USERS_OF_LISTS = {
    "spanning_tree": lambda lists: spanning_tree(ENGINE, lists),
    "spanning_tree_by_asking": lambda lists: spanning_tree_by_asking(lists, None),
    "grow_forest_complete": lambda lists: grow_forest_complete(ENGINE, lists, [0], ONES),
    "grow_forest_geodesic": lambda lists: grow_forest_geodesic(ENGINE, lists, [0]),
    "density": lambda lists: density(lists, 4),
    "search_k": lambda lists: search_k(lists, 4),
    "cluster": lambda lists: _core.cluster(*lists, 4, 500 * ONES),
}
WRONG = {
    "plain forest on a cycle": (
        lambda: grow_forest(CYCLE, [0]),
        "arc 10 from .* closes a cycle.*spanning_tree",
    ),
    "fuzzy forest on a cycle": (lambda: grow_forest(CYCLE, [0], ONES), "arc 10 from .* closes a cycle"),
    "nan in a tree": (
        lambda: grow_forest(tree_with(weight=np.full(11, np.nan)), [0]),
        r"weight\[0\] is -?nan",
    ),
    "negative tree": (
        lambda: grow_forest(tree_with(weight=TREE.weight - 9), [0], ONES),
        r"weight\[0\] is -8",
    ),
    "falling tree": (
        lambda: grow_forest(SpanningTree(*(a[::-1].copy() for a in TREE)), [0]),
        "arc 1 of .* sort",
    ),
    "nan membership": (lambda: grow_forest(TREE, [0], changed(ONES, 2, np.nan)), r"membership\[2\] is -?nan"),
    "negative membership": (
        lambda: grow_forest_complete(ENGINE, LISTS, [0], changed(ONES, 5, -0.5)),
        r"membership\[5\] is -0.5.*factor",
    ),
    "nan cost": (lambda: conquer(ENGINE, X, changed(ONES, 1, np.nan), ORDER), r"cost\[1\] is -?nan"),
    "negative cost": (lambda: conquer(ENGINE, X, -ONES, ORDER), r"cost\[0\] is -1.*costs of a forest"),
    "order of other costs": (
        lambda: conquer(ENGINE, X, changed(ONES, 7, 0.0), ORDER),
        r"order\[7\] is a sample cheaper.*ascending cost",
    ),
    "nan query": (
        lambda: conquer(ENGINE, changed(X, (2, 1), np.nan), ONES, ORDER),
        r"Q\[2, 1\] is nan.*impute",
    ),
    "infinite query": (
        lambda: conquer(ENGINE, changed(X, (4, 0), -np.inf), ONES, ORDER),
        r"Q\[4, 0\] is -inf",
    ),
    "negative distance": (
        lambda: conquer(MATRIX, changed(X @ X.T, (1, 3), -0.5), ONES, ORDER),
        r"Q\[1, 3\] is -0.5.*distance.*at least 0",
    ),
    "infinite distance": (
        lambda: conquer(ENGINE, changed(X, 5, 1e300), ONES, ORDER),
        r"Q\[5\] is infinitely far.*rescale",
    ),
    "order with a repeat": (
        lambda: conquer(ENGINE, X, ONES, changed(ORDER, 3, 2)),
        r"order lacks sample 3.*each of the 12 samples once",
    ),
    "order too short": (
        lambda: conquer(ENGINE, X, ONES, ORDER[:-1]),
        "order has 11 entries.*12 samples once",
    ),
    "order beyond": (
        lambda: conquer(ENGINE, X, ONES, changed(ORDER, 3, 12)),
        r"order\[3\]=12 is not a sample",
    ),
    "codes of other samples": (
        lambda: boundary_prototypes(TREE, np.zeros(9)),
        r"codes has shape \(9,\).*each of 12 samples",
    ),
    "density of empty lists": (lambda: density(EMPTY, 1), "k=1 exceeds the lists' length 0.*knn_graph"),
    "search of empty lists": (lambda: search_k(EMPTY, 1), "k_max=1 exceeds the lists' length 0.*knn_graph"),
    "negative k": (lambda: density(LISTS, -1), "k=-1 must be at least 1"),
    "negative k_max": (lambda: search_k(LISTS, -1), "k_max=-1 must be at least 1"),
    "densities too far apart": (
        lambda: fuzzy_membership(np.array([-1e308, 0.0, 1e308]), 0.5),
        r"-1e\+308 and 1e\+308.*too far apart.*rescale",
    ),
    "values too large": (lambda: values_to_membership([0.5, 1e308], 1e9), r"membership\[1\].*-inf.*\[0, 1\]"),
    "nan value": (lambda: values_to_membership([np.nan, 0.5], 0.5), r"membership\[0\].*nan"),
    "nan sigma of equal densities": (lambda: fuzzy_membership(ONES, np.nan), "sigma=nan is not a positive"),
    "negative sigma of equal densities": (lambda: fuzzy_membership(ONES, -1), "sigma=-1.0 is not a positive"),
    "nan among scaled densities": (
        lambda: _core.cluster(*LISTS, 4, changed(ONES, 2, np.nan)),
        r"scaled_density\[2\] is -?nan.*scale_density",
    ),
    "nan to scale": (lambda: _core.scale_density(changed(ONES, 2, np.nan)), r"density\[2\] is -?nan"),
    "nan density": (lambda: fuzzy_membership(changed(ONES, 2, np.nan), 0.5), "which are not finite"),
    "nan sigma": (lambda: values_to_membership(ONES, np.nan), "sigma=nan is not a positive number"),
    "negative sigma": (lambda: fuzzy_membership(X[:, 0], -0.5), "sigma=-0.5 is not a positive number"),
    "circle": (lambda: path_to_root(np.array([1, 2, 0, -1]), 0), "node=0 lead in a circle.*fitted forest"),
    "predecessor beyond": (lambda: path_to_root(np.array([7, -1]), 0), r"predecessor\[0\]=7 is not a sample"),
    "node beyond": (lambda: path_to_root(np.array([-1, 0]), 2), "node=2 is not a sample.*from 0 to 1"),
    "negative node": (lambda: path_to_root(np.array([-1, 0]), -1), "node=-1 is not a sample"),
}


@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf, 1e-9], ids=["nan", "negative", "inf", "falling"])
@pytest.mark.parametrize("stage", USERS_OF_LISTS)
def test_lists_that_are_not_ascending_numbers_are_refused(stage, value):
    with pytest.raises(ValueError, match=r"distances\[3, 1\] is .*ascending order; make it with knn_graph"):
        USERS_OF_LISTS[stage](lists_with(value))


def test_a_negative_distance_at_the_front_of_a_list_is_refused():
    with pytest.raises(ValueError, match=r"distances\[3, 0\] is -1"):
        spanning_tree(ENGINE, lists_with(-1.0, (3, 0)))


@pytest.mark.parametrize("case", WRONG)
def test_values_that_no_stage_can_work_with_are_refused(case):
    call, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        call()


COMPETITIONS = {
    "plain": lambda prototypes: grow_forest(TREE, prototypes),
    "fuzzy": lambda prototypes: grow_forest(TREE, prototypes, ONES),
    "complete": lambda prototypes: grow_forest_complete(ENGINE, LISTS, prototypes, ONES),
    "geodesic": lambda prototypes: grow_forest_geodesic(ENGINE, LISTS, prototypes),
}
NOT_INDICES = {
    "a boolean mask": ([False, True, True, False], TypeError, r"boolean mask.*np\.flatnonzero"),
    "fractions": ([0.7], TypeError, r"prototypes=\[0.7\] must be integers.*float64"),
    "beyond int64": ([2**70], TypeError, "must be integers"),
    "a table": ([[1, 2]], ValueError, r"shape \(1, 2\).*one list"),
    "beyond int32": ([5, 2**32 + 1], ValueError, r"prototypes\[1\]=4294967297 is not a sample.*from 0 to 11"),
    "far beyond int32": ([2**40], ValueError, r"prototypes\[0\]=1099511627776 is not a sample"),
    "one too large": ([12], ValueError, r"prototypes\[0\]=12 is not a sample"),
    "negative": ([3, -1], ValueError, r"prototypes\[1\]=-1 is not a sample"),
    "none": ([], ValueError, "prototypes is empty.*at least one"),
}


@pytest.mark.parametrize("case", NOT_INDICES)
@pytest.mark.parametrize("competition", COMPETITIONS)
def test_prototypes_that_are_not_indices_of_samples_are_refused(competition, case):
    prototypes, error, message = NOT_INDICES[case]
    with pytest.raises(error, match=message):
        COMPETITIONS[competition](prototypes)


@pytest.mark.parametrize("competition", COMPETITIONS)
def test_repeated_prototypes_count_once(competition):
    once = COMPETITIONS[competition]([1, 2])
    checks.same_arrays(COMPETITIONS[competition](np.array([2, 1, 1, 2], dtype=np.uint8)), once)
    np.testing.assert_array_equal(np.sort(once.order), ORDER)


@pytest.mark.parametrize("dtype", [np.intp, np.uint16])
def test_an_order_of_any_integer_type_is_accepted(dtype):
    checks.same_arrays(conquer(ENGINE, X, ONES, ORDER.astype(dtype)), conquer(ENGINE, X, ONES, ORDER))
    with pytest.raises(TypeError, match=r"order=.* must be integers"):
        conquer(ENGINE, X, ONES, ORDER.astype(float))


def test_lists_are_accepted_as_arrays_are():
    codes = [0, 1] * 6
    np.testing.assert_array_equal(
        boundary_prototypes(TREE, codes), boundary_prototypes(TREE, np.array(codes))
    )
    assert fuzzy_membership([1, 2, 3], 0.5).tolist() == [0.5, 0.625, 1.0]
    assert fuzzy_membership([3, 3], 0.5).tolist() == [1.0, 1.0]
    assert values_to_membership([0, 1], 0.5).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    "answer", [(np.inf, -1), (np.nan, 3), (0.5, 0)], ids=["no sample", "nan", "an own sample"]
)
def test_answers_that_join_nothing_are_refused(answer):
    nearest = np.array([[1], [0], [3], [2]], dtype=np.int32)
    lists = KnnGraph(np.array([[1.0], [1.0], [0.5], [0.5]]), nearest)

    def nearest_foreign(samples, component, reach):
        distance, index = answer
        own = samples if answer[1] == 0 else np.full(len(samples), index)
        return np.full(len(samples), distance), own.astype(np.int32)

    with pytest.raises(ValueError, match=r"join no components.*nearest sample"):
        spanning_tree_by_asking(lists, nearest_foreign)


def test_memberships_of_zero_and_infinite_costs_are_allowed():
    assert grow_forest(TREE, [0], 0 * ONES).cost.max() == 0
    assert grow_forest_complete(ENGINE, LISTS, [0], 0 * ONES).cost.max() == 0
    assert conquer(ENGINE, X, changed(ONES, 11, np.inf), ORDER).offers.max() < np.inf
