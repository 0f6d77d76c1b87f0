"""Stages and engines refuse input they could not finish with, at once and with a way out."""

import faulthandler
import sys

import checks
import numpy as np
import pytest

from pathforest import _core, forest, graph, membership
from pathforest._engines.metric import features_engine
from pathforest._engines.samples import SparseSamples
from pathforest.distances import make_engine, resolve_metric
from pathforest.forest import conquer, grow_forest, grow_forest_complete, grow_forest_geodesic
from pathforest.graph import KnnGraph, SpanningTree, knn_graph, spanning_tree, spanning_tree_by_asking
from pathforest.membership import density, search_k

pytestmark = pytest.mark.kernel

X = np.random.default_rng(0).random((12, 3))
ENGINE = make_engine(X)
LISTS = knn_graph(ENGINE, 4)
TREE = spanning_tree(ENGINE, LISTS)
ONES = np.ones(12)
ORDER, SEEDS = np.arange(12, dtype=np.int32), np.array([0, 5], dtype=np.int32)
MATRIX = make_engine(ENGINE.distances(X), "precomputed")
EMPTY = KnnGraph(np.empty((12, 0)), np.empty((12, 0), dtype=np.int32))
ROWS = _core.Engine.rows(12, "float32")
GAP = np.nan


@pytest.fixture(autouse=True)
def _time_limit():
    # Kernels that never end hear no Python signal. Not sys.stderr: pytest may have put a text buffer there.
    faulthandler.dump_traceback_later(600, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def changed(array, place, value):
    """A copy of the array with one other entry."""
    copy = array.copy()
    copy[place] = value
    return copy


def integers(*values):
    return np.array(values, dtype=np.int32)


def ask_for_tree(distance, index):
    """Build the tree of two pairs with the help of one who always gives the same answer; None is oneself."""

    def nearest_foreign(samples, component, reach):
        found = samples if index is None else np.full(len(samples), index)
        return np.full(len(samples), distance), found.astype(np.int32)

    lists = KnnGraph(np.array([[1.0], [1.0], [0.5], [0.5]]), integers(1, 0, 3, 2)[:, None])
    return spanning_tree_by_asking(lists, nearest_foreign)


def answer_builder(n_more, index):
    """Answer a builder of the same tree for more samples than it asked for, or with this index."""
    builder = _core.TreeBuilder(np.array([[1.0], [1.0], [0.5], [0.5]]), integers(1, 0, 3, 2)[:, None])
    n = len(builder.ask()[0]) + n_more
    builder.answer(np.zeros(n), np.full(n, index, dtype=np.int32))


def class_costs(**change):
    arguments = {
        "distances": np.zeros((2, 1, 3)),
        "samples": np.zeros((2, 1, 3), dtype=np.int32),
        "sizes": integers(3),
        "cost": np.zeros(4),
        "rank": np.arange(4, dtype=np.int32),
        "code": np.zeros(4, dtype=np.int32),
        "further": np.empty((2, 1, 0)),
        "further_first": np.zeros((2, 1), dtype=np.int32),
        "n_conquerors": np.ones(1, dtype=np.int32),
    }
    return _core.class_costs(**arguments | change)


def subset_lists(**change):
    indices = np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32)
    arguments = {"distances": np.zeros((3, 2)), "indices": indices, "chosen": integers(0, 2), "k": 1}
    return _core.subset_lists(**arguments | change)


def sparse_engine(*arrays):
    """An engine of the core over rows of three features."""
    indptr, indices, data = (np.array(array, kind) for array, kind in zip(arrays, "lid", strict=True))
    return _core.Engine.sparse(SparseSamples(indptr, indices, data, n_features=3), "cosine")


def gower(**params):
    return make_engine([[0.0, 1.0], [2.0, 3.0]], "gower", params)


def far_apart(algorithm):
    engine = features_engine(np.array([[1e200], [-1e200], [1.0]]), resolve_metric("euclidean"), algorithm, 1)
    return engine.spanning_tree((np.empty((3, 0)), np.empty((3, 0), dtype=np.int32)))


FALLING = SpanningTree(*(array[::-1].copy() for array in TREE))
TOO_LONG = KnnGraph(np.full((4, 1), 1.5e308), integers(1, 2, 3, 2)[:, None])
NO_SAMPLES, ONE_NUMBER = "knows no distances between its samples", "one finite number >= 0"
MOST = 2**31 - 1024  # the steps of a loop over samples must end at a 32-bit index too

NOT_ROWS = [
    ([0, 2], [1, 0], [1.0, 2.0]),  # descending
    ([0, 2], [1, 1], [1.0, 2.0]),  # twice
    ([0, 1], [3], [1.0]),
    ([0, 1], [-1], [1.0]),
    ([0, 2], [0], [1.0]),  # too short
    ([0, 2, 1, 2], [0, 1], [1.0, 2.0]),
    ([1, 2], [0, 1], [1.0, 2.0]),  # late
    ([0], [], []),
]
TYPE, NO_SAMPLE = "incompatible function arguments", "contains an index that does not belong to a sample"
LONGER, ONE_EACH = "^k=5 exceeds the lists' length 4$", "must have one entry per training sample$"

# Calls and what is said; ValueError but where another is named.
NAMES = vars(forest) | vars(graph) | vars(membership) | globals()
REFUSED = {
    # trees and competitions
    "grow_forest(TREE._replace(weight=TREE.weight * np.nan), [0])": r"weight\[0\] is -?nan",
    "grow_forest(TREE._replace(weight=TREE.weight - 9), [0], ONES)": r"weight\[0\] is -8",
    "grow_forest(FALLING, [0])": "arc 1 of .* sort",
    "grow_forest(TREE, [0], changed(ONES, 2, np.nan))": r"membership\[2\] is -?nan",
    "grow_forest_complete(ENGINE, LISTS, [0], changed(ONES, 5, -0.5))": r"membership\[5\] is -0.5.*factor",
    "grow_forest_geodesic(make_engine(np.eye(4)), TOO_LONG, [0])": "to sample 2 is infinitely long.*resc",
    "boundary_prototypes(TREE, np.zeros(9))": r"codes has shape \(9,\).*each of 12 samples",
    "path_to_root(np.array([1, 2, 0, -1]), 0)": "node=0 lead in a circle.*fitted forest",
    "path_to_root(np.array([7, -1]), 0)": r"predecessor\[0\]=7 is not a sample",
    "spanning_tree(ENGINE, LISTS._replace(distances=-LISTS.distances))": r"distances\[0, 0\] is -",
    "ask_for_tree(np.inf, -1)": "join no components.*nearest sample",
    "answer_builder(1, 0)": "one answer per sample",
    "answer_builder(0, 4)": "not a sample",
    **{f"far_apart('{algorithm}')": (OverflowError, "infinitely far") for algorithm in ("kd_tree", "brute")},
    # offers
    "conquer(ENGINE, X, changed(ONES, 1, np.nan), ORDER)": r"cost\[1\] is -?nan",
    "conquer(ENGINE, X, -ONES, ORDER)": r"cost\[0\] is -1.*costs of a forest",
    "conquer(ENGINE, X, changed(ONES, 7, 0.0), ORDER)": r"order\[7\] is a sample cheaper.*ascending cost",
    "conquer(ENGINE, changed(X, (2, 1), np.nan), ONES, ORDER)": r"Q\[2, 1\] is nan.*impute",
    "conquer(MATRIX, changed(X @ X.T, (1, 3), -0.5), ONES, ORDER)": r"Q\[1, 3\] is -0.5.*dist.*at least 0",
    "conquer(ENGINE, changed(X, 5, 1e+300), ONES, ORDER)": r"Q\[5\] is infinitely far.*rescale",
    "conquer(ENGINE, X, ONES, changed(ORDER, 3, 2))": "order lacks sample 3.*each of the 12 samples",
    "conquer(ENGINE, X, ONES, changed(ORDER, 3, 12))": r"order\[3\]=12 is not a sample",
    "conquer(ENGINE, X, ONES, ORDER.astype(float))": (TypeError, "order=.* must be integers"),
    "class_costs(samples=np.zeros((2, 1, 2), dtype=np.int32))": "differ in shape",
    "class_costs(samples=np.full((2, 1, 3), 4, dtype=np.int32))": "samples contains an index",
    "class_costs(further_first=np.zeros((1, 1), dtype=np.int32))": "one entry per query",
    "class_costs(n_conquerors=integers(0))": "at least 1",
    "class_costs(n_conquerors=integers(2, 1))": "ascending",
    # densities, clusters and lists
    "density(EMPTY, 1)": "k=1 exceeds the lists' length 0.*knn_graph",
    "search_k(EMPTY, 1)": "k_max=1 exceeds the lists' length 0.*knn_graph",
    "fuzzy_membership(np.array([-1e308, 0.0, 1e308]), 0.5)": r"-1e\+308 and 1e\+308.*too far apart.*rescale",
    "fuzzy_membership(changed(ONES, 2, np.nan), 0.5)": "which are not finite",
    "fuzzy_membership(X[:, 0], -0.5)": "sigma=-0.5 is not a positive number",
    "values_to_membership([0.5, 1e+308], 1000000000.0)": r"membership\[1\].*-inf.*\[0, 1\]",
    "values_to_membership([np.nan, 0.5], 0.5)": r"membership\[0\].*nan",
    "_core.cluster(*LISTS, 4, changed(ONES, 2, np.nan))": r"scaled_density\[2\] is -?nan.*scale_density",
    "_core.cluster(*LISTS, 4, ONES, integers(0, 1))": "codes must have one entry per sample",
    "subset_lists(chosen=integers(0, 3))": "chosen contains an index",
    "subset_lists(k=2)": "less than the number of samples chosen",
    "subset_lists(distances=np.array([[2.0, 1.0]] * 3))": "ascending order",
    # engines
    "ROWS.knn(1)": NO_SAMPLES,
    "ROWS.compete(*EMPTY, integers(0), ONES, False)": NO_SAMPLES,
    "ENGINE.query(X[:3], 2, 1, np.zeros(2))": "reach must have one entry per query",
    **{f"ENGINE.knn(2, 1, {rows})": "start and stop" for rows in ("-1, 3", "3, 2", "0, 13")},
    **{
        f"_core.Engine.rows({count}, 'float64')": rf"{count} samples are more than the {MOST} .* fewer"
        for count in (MOST + 1, 2**31 - 1, 2**31, 2**40)
    },
    # metrics with gaps
    "gower(weights=[1.0, -1.0])": ONE_NUMBER,
    "gower(weights=[0, 0])": "weights are all 0",
    "gower(ranges=[GAP, 1.0])": f"ranges=.* {ONE_NUMBER}",
    "gower(categorical=[2])": "indices from 0 to 1",
    "gower(categorical=['town'])": "'town', which is not a column",
    "gower(p=2)": "takes only categorical and ranges and weights",
    "make_engine([[-1e+308], [1e+308]], 'gower')": "could overflow: feature 0 ranges",
    **{
        f"make_engine([[0.0], [GAP]], '{metric}', None, 'kd_tree')": "algorithm='kd_tree' does not know"
        for metric in ("gower", "nan_euclidean")
    },
    **{
        f"make_engine({samples}, 'nan_euclidean')": "row [12] of X and row [12] of X, which have no feat"
        for samples in ("[[1.0, 2.0], [3.0, 4.0], [GAP, GAP]]", "[[1.0, 2.0], [GAP, 4.0], [3.0, GAP]]")
    },
    # arrays of the wrong type or shape, instead of reading past their end
    "_core.Engine.kd_tree(X.astype(int), 'euclidean')": (TypeError, rf"^kd_tree\(\): {TYPE}"),
    "_core.Engine.brute(X, 'no such metric')": "^unknown metric 'no such metric'$",
    "_core.Engine.kd_tree(X, 'cosine')": "^the .*tree engine does not .* 'cosine'$",
    "_core.Engine.precomputed(X)": "^the distance matrix is not square$",
    "ENGINE.knn(12)": "^k=12 is not between 0 and 11$",
    "ENGINE.query(X, 13)": "^k=13 is not between 0 and 12$",
    "ENGINE.query(X.astype(np.float32), 2)": "^the queries .* another type",
    "ENGINE.query(X[:, :2].copy(), 2)": "^the queries have another width",
    "ENGINE.spanning_tree(knn_graph(make_engine(X[:5]), 4))": f"^the neighbour lists {ONE_EACH}",
    "ENGINE.spanning_tree((LISTS[0][:5], LISTS[1][:5]))": f"^indices {NO_SAMPLE}",
    "ENGINE.spanning_tree((LISTS[0], LISTS[1][:, :3].copy()))": "^distances and indices differ in shape$",
    "ENGINE.spanning_tree((LISTS[0], LISTS[1].astype(np.int64)))": (TypeError, rf"^spanning_tree.*{TYPE}"),
    "ENGINE.compete(*LISTS, SEEDS, ONES[:5], False)": f"^membership {ONE_EACH}",
    "ENGINE.compete(*LISTS, SEEDS.astype(np.int64), ONES, False)": (TypeError, rf"^compete\(\): {TYPE}"),
    "_core.follow_tree(*TREE, SEEDS + 99)": f"^prototypes {NO_SAMPLE}",
    "_core.compete_tree(*TREE, SEEDS, ONES[:5], False)": "^membership must have one entry more than the tree",
    "ENGINE.conquer(X, ONES, ORDER[:5])": f"^order {ONE_EACH}",
    "ENGINE.conquer(X, ONES, ORDER, n_conquerors=0)": "^n_conquerors must be at least 1$",
    "_core.cluster(*LISTS, 5, ONES)": LONGER,
    "_core.cluster(*LISTS, 4, ONES[:5])": "^scaled_density must have one entry per sample$",
    "_core.search_k(*LISTS, 5, False)": LONGER,
    **{f"sparse_engine{rows}": r"rows|ascend|samples and features" for rows in NOT_ROWS},
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_what_could_not_be_finished_is_refused(call):
    error, message = REFUSED[call] if isinstance(REFUSED[call], tuple) else (ValueError, REFUSED[call])
    with pytest.raises(error, match=message):
        eval(call, NAMES)


def test_what_is_changed_above_would_pass_as_it_is():
    class_costs()
    subset_lists()


USERS_OF_LISTS = {
    "spanning_tree": lambda lists: spanning_tree(ENGINE, lists),
    "spanning_tree_by_asking": lambda lists: spanning_tree_by_asking(lists, None),
    "grow_forest_complete": lambda lists: grow_forest_complete(ENGINE, lists, [0], ONES),
    "grow_forest_geodesic": lambda lists: grow_forest_geodesic(ENGINE, lists, [0]),
    "density": lambda lists: density(lists, 4),
    "search_k": lambda lists: search_k(lists, 4),
    "cluster": lambda lists: _core.cluster(*lists, 4, 500 * ONES),
}


@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf, 1e-9], ids=["nan", "negative", "inf", "falling"])
@pytest.mark.parametrize("stage", USERS_OF_LISTS)
def test_lists_that_are_not_ascending_numbers_are_refused(stage, value):
    lists = LISTS._replace(distances=changed(LISTS.distances, (3, 1), value))
    with pytest.raises(ValueError, match=r"distances\[3, 1\] is .*ascending order; make it with knn_graph"):
        USERS_OF_LISTS[stage](lists)


COMPETITIONS = {
    "plain": lambda prototypes: grow_forest(TREE, prototypes),
    "fuzzy": lambda prototypes: grow_forest(TREE, prototypes, ONES),
    "complete": lambda prototypes: grow_forest_complete(ENGINE, LISTS, prototypes, ONES),
    "geodesic": lambda prototypes: grow_forest_geodesic(ENGINE, LISTS, prototypes),
}
NOT_INDICES = [
    ([False, True, True, False], TypeError, r"boolean mask.*np\.flatnonzero"),
    ([0.7], TypeError, r"prototypes=\[0.7\] must be integers.*float64"),
    ([2**70], TypeError, "must be integers"),
    ([[1, 2]], ValueError, r"shape \(1, 2\).*one list"),
    ([5, 2**32 + 1], ValueError, r"prototypes\[1\]=4294967297 is not a sample.*from 0 to 11"),
    ([12], ValueError, r"prototypes\[0\]=12 is not a sample"),
    ([3, -1], ValueError, r"prototypes\[1\]=-1 is not a sample"),
    ([], ValueError, "prototypes is empty.*at least one"),
]


@pytest.mark.parametrize(("prototypes", "error", "message"), NOT_INDICES)
@pytest.mark.parametrize("competition", COMPETITIONS)
def test_prototypes_that_are_not_indices_of_samples_are_refused(competition, prototypes, error, message):
    with pytest.raises(error, match=message):
        COMPETITIONS[competition](prototypes)


# What looks odd and is taken


@pytest.mark.parametrize("competition", COMPETITIONS)
def test_repeated_prototypes_count_once(competition):
    once = COMPETITIONS[competition]([1, 2])
    checks.same_arrays(COMPETITIONS[competition](np.array([2, 1, 1, 2], dtype=np.uint8)), once)
    np.testing.assert_array_equal(np.sort(once.order), ORDER)


def test_memberships_of_zero_and_infinite_costs_are_allowed():
    assert grow_forest(TREE, [0], 0 * ONES).cost.max() == 0
    assert grow_forest_complete(ENGINE, LISTS, [0], 0 * ONES).cost.max() == 0
    assert conquer(ENGINE, X, changed(ONES, 11, np.inf), ORDER).offers.max() < np.inf
