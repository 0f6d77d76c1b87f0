"""Distances of all queries to all samples, and what each class offers, equal the definition."""

import numpy as np
import pytest
import reference
from engine_cases import every_query_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, memberships, problems

from pathforest import _core

pytestmark = pytest.mark.kernel
COUNTS = np.array([1, 3, 2, 500], dtype=np.int32)


@every_query_engine
@given(data=st.data())
def test_all_distances_equal_the_definition(case, data):
    dtypes = [np.float64] if case[0] in ("rows", "precomputed") else DTYPES
    problem = data.draw(problems(dtypes=dtypes, non_negative=needs_non_negative(case)))
    opened = open_engine(case, problem.X, problem.Q)
    got = opened.engine.distances(opened.Q, data.draw(st.sampled_from([1, 3])))
    np.testing.assert_array_equal(got, opened.DQ)


def draw_forest(data):
    """A forest with its propagated codes, and distances of queries to its samples."""
    problem = data.draw(problems(smallest=2))
    D = reference.distance_matrix(problem.X, problem.X)
    seeds = reference.prototypes(reference.spanning_tree(D), problem.codes)
    cost, _, root, order = reference.compete(D, seeds, data.draw(memberships(len(D))))
    n_classes = int(problem.codes.max()) + 1
    propagated = problem.codes[root].astype(np.int32)
    return reference.distance_matrix(problem.Q, problem.X), cost, order, propagated, n_classes


@given(data=st.data())
def test_costs_equal_the_definition_for_every_count(data):
    DQ, cost, order, codes, n_classes = draw_forest(data)
    got, _ = _core.class_costs(DQ, cost, order, codes, n_classes, COUNTS, data.draw(st.sampled_from([1, 3])))
    for row, r in zip(got, COUNTS, strict=True):
        expected, _ = reference.class_costs(DQ, cost, order, codes, n_classes, r)
        np.testing.assert_array_equal(row, expected)


@given(data=st.data())
def test_the_cheapest_offer_is_the_first_in_the_order(data):
    DQ, cost, order, codes, n_classes = draw_forest(data)
    _, first = _core.class_costs(DQ, cost, order, codes, n_classes, COUNTS)
    for row, distances in zip(first, DQ, strict=True):
        offers = np.maximum(cost, distances)[order]
        for c in range(n_classes):
            own = [(offer, place) for place, offer in enumerate(offers) if codes[order[place]] == c]
            assert row[c] == (min(own)[1] if own else len(order))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": np.zeros(2)}, "one entry per training sample"),
        ({"order": np.array([0, 1, 3], dtype=np.int32)}, "order contains an index"),
        ({"code": np.array([0, 1, 2], dtype=np.int32)}, "code contains an index"),
        ({"n_conquerors": np.array([0], dtype=np.int32)}, "at least 1"),
        ({"n_conquerors": np.array([], dtype=np.int32)}, "at least 1"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, message):
    arguments = {
        "distances": np.zeros((2, 3)),
        "cost": np.zeros(3),
        "order": np.arange(3, dtype=np.int32),
        "code": np.array([0, 1, 0], dtype=np.int32),
        "n_classes": 2,
        "n_conquerors": np.ones(1, dtype=np.int32),
    }
    with pytest.raises(ValueError, match=message):
        _core.class_costs(**{**arguments, **change})
