"""Neighbour lists of a part of the samples, read from those of all, equal a pass over that part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, problems

from pathforest import _core
from pathforest._search.folds import list_length, lists_of_part
from pathforest.distances import make_engine
from pathforest.graph import knn_graph

pytestmark = pytest.mark.kernel


@given(data=st.data())
def test_lists_of_a_part_equal_a_pass_over_it(data):
    X = data.draw(problems(smallest=3, dtypes=DTYPES)).X
    chosen = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    if len(chosen) < 2:
        chosen = np.array([0, len(X) - 1])
    k, n_threads = data.draw(st.integers(1, len(chosen) - 1)), data.draw(st.sampled_from([1, 3]))
    algorithm = data.draw(st.sampled_from(["kd_tree", "brute"]))
    part = np.ascontiguousarray(X[chosen])
    engine = make_engine(part, algorithm=algorithm)
    # A share of 1 and a small k make lists that run out, as samples at the edge of a part do.
    length = min(list_length(data.draw(st.integers(1, k)), 1.0), len(X) - 1)
    long = knn_graph(make_engine(X, algorithm=algorithm), length, n_threads)
    got, expected = lists_of_part(long, chosen, engine, part, k, n_threads), knn_graph(engine, k)
    np.testing.assert_array_equal(got.distances, expected.distances)
    np.testing.assert_array_equal(got.indices, expected.indices)


def test_lists_are_long_enough_for_random_parts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    lists = knn_graph(make_engine(X), list_length(30, 0.8))
    chosen = np.flatnonzero(rng.random(3000) < 0.8).astype(np.int32)
    *_, short = _core.subset_lists(*lists, chosen, 30)
    assert len(short) < 0.03 * len(chosen)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chosen": np.array([0, 3], dtype=np.int32)}, "chosen contains an index"),
        ({"chosen": np.array([1, 1], dtype=np.int32)}, "must ascend"),
        ({"k": 2}, "less than the number of samples chosen"),
        ({"k": -1}, "less than the number of samples chosen"),
        ({"distances": np.array([[2.0, 1.0]] * 3)}, "ascending order"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, message):
    arguments = {
        "distances": np.zeros((3, 2)),
        "indices": np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32),
        "chosen": np.array([0, 2], dtype=np.int32),
        "k": 1,
    }
    _core.subset_lists(**arguments)
    with pytest.raises(ValueError, match=message):
        _core.subset_lists(**{**arguments, **change})
