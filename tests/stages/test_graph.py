"""Neighbour lists and spanning trees where that is hard, and those of a part of the samples."""

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, problems

from pathforest import _core
from pathforest._search.folds import list_length, lists_of_part
from pathforest.distances import make_engine
from pathforest.graph import knn_graph, spanning_tree

pytestmark = pytest.mark.kernel


def test_a_distance_of_minus_zero_is_zero():
    D = np.abs(np.subtract.outer([0.0, 0, 1, 3, 3], [0.0, 0, 1, 3, 3]))
    D[D == 0] = -0.0
    tree = spanning_tree(_core.Engine.precomputed(D), None)
    assert list(zip(tree.source.tolist(), tree.target.tolist(), tree.weight.tolist(), strict=True)) == [
        (0, 1, 0.0), (3, 4, 0.0), (0, 2, 1.0), (2, 3, 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan"])
def test_the_filter_discards_nothing_that_is_nearer_only_in_float64(metric):
    # One sample per block is near 0. A last small feature makes each a little nearer than the one before;
    # in float32 that drowns in the rounding of the others, which come in another order each time.
    rng = np.random.default_rng(0)
    X = np.full((16 * 60, 401), 100, dtype=np.float32)
    X[::16, :400] = rng.permuted(np.tile(rng.normal(size=400), (60, 1)), axis=1)
    X[::16, 400] = np.linspace(2, 1, 60) * (1e-8 if metric == "manhattan" else 1e-5)
    Q = np.zeros((8, 401), dtype=np.float32)
    expected = reference.nearest(reference.distance_matrix(Q, X, metric), 5)
    checks.same_arrays(_core.Engine.brute(X, metric).query(Q, 5), expected)


# Lists of a part of the samples, read from those of all, equal a pass over that part.


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
    checks.same_arrays(got, expected)
