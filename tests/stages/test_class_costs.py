"""What each class offers equals the definition."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import memberships, problems

from pathforest import _core
from pathforest._engines.metric import resolve_metric
from pathforest._engines.samples import SparseSamples
from pathforest._models import offers
from pathforest._models.base import KeptSamples
from pathforest._models.offers import AskedForest, ClassGroups, KeptForest

pytestmark = pytest.mark.kernel
COUNTS = np.array([1, 2, 3, 500], dtype=np.int32)
LARGE = [0, 3, offers.LARGE]  # where classes have an engine of their own: all, some, none of those here


def draw_forest(data, **options):
    """A problem, a forest on it with its propagated codes, and distances of queries to its samples."""
    problem = data.draw(problems(smallest=2, **options))
    D = reference.distance_matrix(problem.X, problem.X)
    seeds = reference.prototypes(reference.spanning_tree(D), problem.codes)
    cost, _, root, order = reference.compete(D, seeds, data.draw(memberships(len(D))))
    # Distances much shorter than the costs make lists that settle nothing.
    DQ = reference.distance_matrix(problem.Q, problem.X)
    return problem, DQ, cost, order.astype(np.int32), problem.codes[root].astype(np.int32)


def first_of_class(DQ, cost, order, codes, c):
    """Place in the order of the cheapest offer of a class to each query."""
    places = [place for place, q in enumerate(order) if codes[q] == c]
    return [
        min(((max(cost[order[p]], row[order[p]]), p) for p in places), default=(0, len(order)))[1]
        for row in DQ
    ]


def check(found, DQ, cost, order, codes, n_classes, counts=COUNTS):
    for row, r in zip(found.cost, counts, strict=True):
        np.testing.assert_array_equal(row, reference.class_costs(DQ, cost, order, codes, n_classes, r)[0])
    for c in range(n_classes):
        np.testing.assert_array_equal(found.first[:, c], first_of_class(DQ, cost, order, codes, c))


@pytest.mark.parametrize("extra", [0, 2, offers.EXTRA_MEMBERS])
@pytest.mark.parametrize("kind", ["kd_tree", "brute", "rows"])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_every_forest_and_any_grouping_gives_the_definition(extra, kind, data):
    problem, DQ, cost, order, codes = draw_forest(data)
    n_classes, n_threads = int(problem.codes.max()) + 1, data.draw(st.sampled_from([1, 3]))
    group = st.sampled_from(
        [problem.codes, codes, np.zeros(len(codes), int), np.arange(len(codes)) % n_classes]
    )
    is_rows = kind == "rows"
    metric = resolve_metric("precomputed" if is_rows else "euclidean", None)
    kept = KeptSamples(None if is_rows else problem.X, metric, kind, n_threads, "cpu", {})
    block = DQ if is_rows else problem.Q
    groups = ClassGroups(kept, data.draw(group), n_classes, block.dtype)
    highest = data.draw(st.integers(1, len(COUNTS)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offers, "EXTRA_MEMBERS", extra)
        patch.setattr(offers, "LARGE", data.draw(st.sampled_from(LARGE)))
        nearest = groups.nearest(block, int(COUNTS[highest - 1]))
    forest = AskedForest(groups, cost, order, codes)
    found = forest.answer(block, nearest, COUNTS[:highest], n_threads)
    check(found, DQ, cost, order, codes, n_classes, COUNTS[:highest])


@pytest.mark.parametrize("kind", ["kd_tree", "brute", "rows", "sparse"])
@given(data=st.data())
def test_labels_and_costs_of_one_forest_are_those_of_the_definition(kind, data):
    problem, DQ, cost, order, codes = draw_forest(data)
    codes = data.draw(st.sampled_from([codes, np.arange(len(codes)) // 2, np.arange(len(codes)) % 7]))
    n_classes, r = int(codes.max()) + 1, data.draw(st.sampled_from([2, 3, 5, 500]))
    metric = resolve_metric("precomputed" if kind == "rows" else "euclidean", None)
    X, Q = (SparseSamples.of(A) if kind == "sparse" else A for A in (problem.X, problem.Q))
    kept = KeptSamples(
        None if kind == "rows" else X, metric, kind, data.draw(st.sampled_from([1, 3])), "cpu", {}
    )
    forest = KeptForest(kept, cost, order, codes, n_classes).asked_for(r)
    _, winners = reference.class_costs(DQ, cost, order, codes, n_classes, r)
    Q = DQ if kind == "rows" else Q
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offers, "LARGE", data.draw(st.sampled_from(LARGE)))
        patch.setattr(offers, "LISTED", data.draw(st.sampled_from([1, 2, 4])))
        decision, (found,) = offers.decide(forest, Q), offers.class_costs([forest], Q)
    np.testing.assert_array_equal(decision.code, winners)
    check(found, DQ, cost, order, codes, n_classes, [r])
    np.testing.assert_array_equal(found.first[np.arange(len(DQ)), winners], forest.rank[decision.conqueror])


@given(data=st.data())
def test_lists_of_any_length_are_right_or_leave_it_open(data):
    _, DQ, cost, order, codes = draw_forest(data)
    k, none = data.draw(st.integers(1, DQ.shape[1])), np.zeros(len(codes), np.int32)
    members = np.argsort(DQ, axis=1, kind="stable")[:, None, :k].astype(np.int32)
    forest = cost, np.argsort(order).astype(np.int32), none
    further = np.empty((len(DQ), 1, 0)), np.zeros((len(DQ), 1), np.int32)
    lists = np.take_along_axis(DQ[:, None], members, axis=2), members, np.array([len(cost)], np.int32)
    found, first = _core.class_costs(*lists, *forest, *further, COUNTS[:2], 2)
    found, first = found[:, :, 0], first[:, 0]
    known = first >= 0
    assert known.all() or k < len(cost)
    for row, r in zip(found, COUNTS, strict=False):
        expected, _ = reference.class_costs(DQ, cost, order, none, 1, r)
        np.testing.assert_array_equal(row[known], expected[known, 0])
    np.testing.assert_array_equal(first[known], np.array(first_of_class(DQ, cost, order, none, 0))[known])


@pytest.mark.parametrize(
    ("listed", "classes", "sizes", "winner"),
    [
        ([1, 2, 9], [0, 0, 1], [2, 2], 0),
        ([1, 2, 2], [1, 0, 0], [2, 2], -1),
        ([1, 1, 1], [0, 0, 0], [2, 2], -1),  # a class not listed may tie
        ([0, 4, 4, 5], [1, 0, 0, 0], [2, 2], -1),  # 0 and 5 are less than 4 and 4
        ([1, 1, 2, 2, 7], [1, 0, 0, 1, 0], [2, 2], 1),  # the first sample comes first
    ],
)
def test_smallest_offers_settle_a_label_only_if_no_other_could_change_it(listed, classes, sizes, winner):
    n = len(listed)
    lists = np.array([listed], dtype=float), np.arange(n, dtype=np.int32)[None]
    forest = np.arange(n, dtype=np.int32), np.array(classes, np.int32), np.array(sizes, np.int32)
    found = _core.settle_winners(*lists, False, *forest)[0]
    assert (classes[found] if found >= 0 else -1) == winner


@pytest.mark.parametrize("kind", ["rows", "kd_tree"])
def test_a_mean_that_rounds_below_its_terms_is_not_passed_over(kind):
    below = 3 * [0.7]  # whose sum / 3 is smaller than 0.7
    mean = sum(below) / 3
    assert mean < 0.7
    distances, code = np.array([[mean, *below]]), np.array([0, 1, 1, 1], np.int32)
    engine, queries = _core.Engine.rows(4, "float64"), distances
    if kind == "kd_tree":
        engine, queries = _core.Engine.kd_tree(distances.T.copy(), "manhattan"), np.zeros((1, 1))
    order = np.array([1, 2, 3, 0], np.int32)
    _, found = engine.cheapest_class(queries, np.zeros(4), order, code, 3)
    assert found.tolist() == [[1, 2, 3]]  # of equal means that of the first in the order
