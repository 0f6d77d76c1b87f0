"""Distances of samples with categories and gaps: those of the definition, bit for bit, and clear refusals."""

import numpy as np
import pytest
import reference
from checks import same_arrays
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems, with_gaps

from pathforest.distances import make_engine, resolve_metric

pytestmark = pytest.mark.kernel


@st.composite
def mixed_problems(draw, smallest=1):
    """Samples and queries with gaps, and parameters of Gower's distance."""
    X, _, Q, k = draw(problems(smallest=smallest, largest=40, most_features=12))
    X, Q = with_gaps(X, Q)
    d = X.shape[1]
    categorical = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 7.5]), min_size=d, max_size=d)))
    weights[0] = draw(st.sampled_from([0.1, 1.0]))
    return X, Q, k, {"categorical": categorical, "weights": weights}


def ranges_of(X):
    """Largest minus smallest value of each feature, 0 without any."""
    columns = [column[~np.isnan(column)].astype(float) for column in X.T]
    return [column.max() - column.min() if len(column) else 0.0 for column in columns]


@given(mixed=mixed_problems())
def test_gower_is_its_definition(mixed):
    X, Q, _, params = mixed
    D = reference.gower_matrix(Q, X, ranges=ranges_of(X), **params)
    np.testing.assert_array_equal(make_engine(X, "gower", params).distances(Q), D)


@given(mixed=mixed_problems(smallest=2), n_threads=st.sampled_from([1, 3]))
def test_every_stage_of_gower_follows_from_its_definition(mixed, n_threads):
    X, Q, k, params = mixed
    D = reference.gower_matrix(X, X, ranges=ranges_of(X), **params)
    DQ = reference.gower_matrix(Q, X, ranges=ranges_of(X), **params)
    engine = make_engine(X, "gower", params)
    lists = engine.knn(k, n_threads)
    same_arrays(lists, reference.knn(D, k))
    same_arrays(engine.query(Q, k, n_threads), reference.nearest(DQ, k))
    same_arrays(engine.spanning_tree(lists, n_threads), reference.spanning_tree(D))


def test_queries_outside_the_range_are_not_clipped():
    engine = make_engine([[0.0, 1.0], [2.0, 1.0]], "gower")
    np.testing.assert_array_equal(engine.distances(np.array([[8.0, 5.0]])), [[2.0, 1.5]])


def test_a_constant_feature_counts_as_equal():
    engine = make_engine([[3.0, 0.0], [3.0, 4.0]], "gower")
    np.testing.assert_array_equal(engine.distances(np.array([[9.0, 4.0]])), [[0.5, 0.0]])


def test_samples_without_anything_in_common_are_1_apart():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan], [4.0, 5.0]])
    D = make_engine(X, "gower").distances(X)
    np.testing.assert_array_equal(D[:3, :3], [[0, 1, 1], [1, 0, 1], [1, 1, 1]])
    weightless = make_engine(X, "gower", {"weights": [0, 1]}).distances(X)
    assert weightless[0, 3] == 1


def test_ranges_are_learned_unless_they_are_given():
    given = resolve_metric("gower", {"ranges": [1.0]})
    assert [resolve_metric(name).learns for name in ("gower", "seuclidean", "euclidean")] == [
        True,
        True,
        False,
    ]
    assert not given.learns
    engine = make_engine([[0.0], [8.0]], "gower", {"ranges": [16.0]})
    np.testing.assert_array_equal(engine.distances(np.array([[0.0]])), [[0.0, 0.5]])


BAD_PARAMS = {
    "weights of another length": ({"weights": [1.0]}, "one finite number >= 0 for each of 2 feature"),
    "negative weights": ({"weights": [1.0, -1.0]}, "one finite number >= 0"),
    "text for weights": ({"weights": "uniform"}, "one finite number >= 0"),
    "no weight at all": ({"weights": [0, 0]}, "weights are all 0"),
    "an index too large": ({"categorical": [2]}, "indices from 0 to 1"),
    "a mask of another length": ({"categorical": [True]}, "indices from 0 to 1"),
    "names without columns": ({"categorical": ["town"]}, "'town', which is not a column"),
    "ranges that are missing": ({"ranges": [np.nan, 1.0]}, "ranges=.* one finite number"),
    "another parameter": ({"p": 2}, "takes only categorical and ranges and weights"),
}


@pytest.mark.parametrize("case", BAD_PARAMS)
def test_bad_parameters_are_refused(case):
    params, message = BAD_PARAMS[case]
    with pytest.raises(ValueError, match=message):
        make_engine([[0.0, 1.0], [2.0, 3.0]], "gower", params)


@pytest.mark.parametrize("metric", ["gower", "nan_euclidean"])
def test_the_tree_refuses_gaps(metric):
    with pytest.raises(ValueError, match="algorithm='kd_tree' does not know"):
        make_engine([[0.0], [np.nan]], metric, algorithm="kd_tree")


def test_ranges_that_overflow_are_refused():
    with pytest.raises(ValueError, match="could overflow: feature 0 ranges"):
        make_engine([[-1e308], [1e308]], "gower")


@given(problem=problems())
def test_without_gaps_nan_euclidean_is_euclidean(problem):
    complete, plain = (make_engine(problem.X, metric) for metric in ("nan_euclidean", "euclidean"))
    same_arrays([complete.distances(problem.Q)], [plain.distances(problem.Q)])


NOTHING_IN_COMMON = {
    "an empty sample": [[1.0, 2.0], [3.0, 4.0], [np.nan, np.nan]],
    "a pair": [[1.0, 2.0], [np.nan, 4.0], [3.0, np.nan]],
}


@pytest.mark.parametrize("case", NOTHING_IN_COMMON)
def test_nan_euclidean_names_samples_without_anything_in_common(case):
    with pytest.raises(ValueError, match=r"row [12] of X and row [12] of X, which have no feature"):
        make_engine(NOTHING_IN_COMMON[case], "nan_euclidean")


def test_many_patterns_of_gaps_are_compared():
    gaps = np.random.default_rng(0).random((200, 30)) < 0.4
    gaps[:, 29] = False
    gaps[70], gaps[150, 29] = ~gaps[150], True
    X = np.where(gaps, np.nan, 1.0)
    with pytest.raises(ValueError, match=r"row (70|150) of X and row (70|150) of X"):
        make_engine(X, "nan_euclidean")
    X[150, 29] = X[70, 29] = 0
    assert make_engine(X, "nan_euclidean").n_samples == 200
