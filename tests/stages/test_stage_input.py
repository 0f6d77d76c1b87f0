"""Stages refuse input they could not finish with, such as nan and cycles; at once, and with a way out."""

import faulthandler

import numpy as np
import pytest

from pathforest import _core
from pathforest.distances import make_engine
from pathforest.forest import conquer, grow_forest, grow_forest_complete, path_to_root
from pathforest.graph import KnnGraph, SpanningTree, knn_graph, spanning_tree, spanning_tree_by_asking
from pathforest.membership import density, fuzzy_membership, search_k, values_to_membership

pytestmark = pytest.mark.kernel

X = np.random.default_rng(0).random((12, 3))
ENGINE = make_engine(X)
LISTS = knn_graph(ENGINE, 4)
TREE = spanning_tree(ENGINE, LISTS)
ONES = np.ones(12)
ORDER = np.arange(12, dtype=np.int32)


@pytest.fixture(autouse=True)
def _time_limit():
    faulthandler.dump_traceback_later(60, exit=True)  # kernels that never end hear no Python signal
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
