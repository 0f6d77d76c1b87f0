"""Distances of samples with categories and gaps, as parameters describe them."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems, with_gaps

from pathforest.distances import make_engine, resolve_metric

pytestmark = pytest.mark.kernel


def ranges_of(X):
    """Largest minus smallest value of each feature, 0 without any."""
    columns = [column[~np.isnan(column)].astype(float) for column in X.T]
    return [column.max() - column.min() if len(column) else 0.0 for column in columns]


@given(data=st.data())
def test_gower_is_its_definition(data):
    X, _, Q, _ = data.draw(problems(largest=40, most_features=12))
    X, Q = with_gaps(X, Q)
    d = X.shape[1]
    categorical = np.array(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 7.5]), min_size=d, max_size=d)))
    weights[0] = data.draw(st.sampled_from([0.1, 1.0]))
    params = {"categorical": categorical, "weights": weights}
    if data.draw(st.booleans()):
        params["ranges"] = np.arange(d) * 3.0
    expected = reference.gower_matrix(Q, X, **{"ranges": ranges_of(X), **params})
    np.testing.assert_array_equal(make_engine(X, "gower", params).distances(Q), expected)


def test_a_metric_says_whether_it_learns_from_samples():
    named = [resolve_metric(name).learns for name in ("gower", "seuclidean", "euclidean")]
    assert [*named, resolve_metric("gower", {"ranges": [1.0]}).learns] == [True, True, False, False]


def test_many_patterns_of_gaps_are_compared():
    gaps = np.random.default_rng(0).random((200, 30)) < 0.4
    gaps[:, 29] = False
    gaps[70], gaps[150, 29] = ~gaps[150], True
    X = np.where(gaps, np.nan, 1.0)
    with pytest.raises(ValueError, match=r"row (70|150) of X and row (70|150) of X"):
        make_engine(X, "nan_euclidean")
    X[150, 29] = X[70, 29] = 0
    assert make_engine(X, "nan_euclidean").n_samples == 200
