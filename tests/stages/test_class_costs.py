"""What each class offers equals the definition."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import memberships, problems

from pathforest import _core
from pathforest._engines.metric import resolve_metric
from pathforest._models import offers
from pathforest._models.base import KeptSamples
from pathforest._models.offers import AskedForest, ClassGroups

pytestmark = pytest.mark.kernel
COUNTS = np.array([1, 2, 3, 500], dtype=np.int32)


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
        nearest = groups.nearest(block, int(COUNTS[highest - 1]))
    forest = AskedForest(groups, cost, order, codes)
    found = forest.answer(block, nearest, COUNTS[:highest], n_threads)
    check(found, DQ, cost, order, codes, n_classes, COUNTS[:highest])


@given(data=st.data())
def test_lists_of_any_length_are_right_or_leave_it_open(data):
    _, DQ, cost, order, codes = draw_forest(data)
    k, none = data.draw(st.integers(1, DQ.shape[1])), np.zeros(len(codes), np.int32)
    members = np.argsort(DQ, axis=1, kind="stable")[:, :k].astype(np.int32)
    rank = np.argsort(order).astype(np.int32)
    further = np.empty((len(DQ), 0)), np.zeros(len(DQ), np.int32)
    distances = np.take_along_axis(DQ, members, axis=1)
    found, first = _core.class_costs(distances, members, cost, rank, *further, COUNTS[:2], len(cost), 2)
    known = first >= 0
    assert known.all() or k < len(cost)
    for row, r in zip(found, COUNTS, strict=False):
        expected, _ = reference.class_costs(DQ, cost, order, none, 1, r)
        np.testing.assert_array_equal(row[known], expected[known, 0])
    np.testing.assert_array_equal(first[known], np.array(first_of_class(DQ, cost, order, none, 0))[known])


def test_members_that_carry_another_class_make_no_offer():
    lists = np.array([[1.0, 2.0, 3.0]]), np.array([[0, 2, 1]], dtype=np.int32)
    cost, rank = np.array([np.inf, 0.0, 2.5]), np.array([9, 4, 7], dtype=np.int32)
    further = np.array([[2.75]]), np.array([1], dtype=np.int32)
    found, first = _core.class_costs(*lists, cost, rank, *further, COUNTS, 10)
    np.testing.assert_array_equal(found[:, 0], [2.5, 2.625, 2.75, 2.75])
    assert first.tolist() == [7]


def test_means_stop_where_offers_end():
    made = np.array([[1.0, 2.0, np.inf], [np.inf, np.inf, np.inf]])
    np.testing.assert_array_equal(_core.mean_offers(made, COUNTS).T, [[1, 1.5, 1.5, 1.5], [np.inf] * 4])
