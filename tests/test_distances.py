"""Distances are the definition's, bit for bit, in every engine; every metric leads to the right engine."""

import numpy as np
import pytest
import reference
from engine_cases import CASES, every_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from strategies import DTYPES, problems

from pathforest import _core
from pathforest.distances import make_engine

pytestmark = pytest.mark.kernel


def scatter(distances, indices, n):
    """The matrix that lists of all n distances hold."""
    D = np.full((len(distances), n), np.nan)
    np.put_along_axis(D, indices.astype(int), distances, axis=1)
    return D


@every_engine
@given(data=st.data())
def test_every_distance_is_the_definition_s(case, data):
    X, _, Q, _ = data.draw(problems(non_negative=needs_non_negative(case)))
    opened = open_engine(case, X, Q)
    got = scatter(*opened.engine.query(opened.Q, len(X)), len(X))
    np.testing.assert_array_equal(got, opened.DQ)


@every_engine
@given(data=st.data())
def test_distances_between_training_samples_are_the_definition_s(case, data):
    X, _, Q, _ = data.draw(problems(smallest=2, non_negative=needs_non_negative(case)))
    opened = open_engine(case, X, Q)
    got = scatter(*opened.engine.knn(len(X) - 1), len(X))
    np.fill_diagonal(got, 0)
    np.testing.assert_array_equal(got, opened.D - np.diag(np.diag(opened.D)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["tree", "brute", "precomputed"])
def test_engine_describes_itself(name, dtype):
    X = np.zeros((5, 5 if name == "precomputed" else 3), dtype=dtype)
    make = getattr(_core.Engine, name)
    engine = make(X) if name == "precomputed" else make(X, "euclidean")
    described = engine.name, engine.n_samples, engine.n_features, engine.dtype
    assert described == (name, 5, X.shape[1], np.dtype(dtype).name)


def test_metric_names_are_those_tested_here():
    tested = {name: {metric for engine, metric, _ in CASES if engine == name} for name in ("tree", "brute")}
    assert (set(_core.METRICS_TREE), set(_core.METRICS_BRUTE)) == (tested["tree"], tested["brute"])


@pytest.mark.parametrize(("p", "metric"), [(1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev")])
@pytest.mark.parametrize("algorithm", ["tree", "brute"])
def test_minkowski_with_a_named_power_is_the_named_metric(algorithm, p, metric):
    X = np.random.default_rng(0).normal(size=(20, 4))
    engine = make_engine(X, metric="minkowski", metric_params={"p": p}, algorithm=algorithm)
    expected = reference.knn(reference.distance_matrix(X, X, metric), 19)
    np.testing.assert_array_equal(engine.knn(19)[0], expected[0])


@pytest.mark.parametrize("metric", ["hamming", "haversine", "correlation", "jaccard"])
@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
def test_other_metrics_come_from_scikit_learn(metric):
    X = np.random.default_rng(0).integers(0, 2, size=(20, 2 if metric == "haversine" else 9)).astype(float)
    X += metric == "correlation" and np.arange(9)
    engine = make_engine(X, metric=metric)
    D = np.triu(pairwise_distances(X, metric=metric), 1)
    np.testing.assert_array_equal(engine.knn(19)[0], reference.knn(D + D.T, 19)[0])


def test_a_callable_is_a_metric():
    X = np.random.default_rng(0).integers(0, 5, size=(20, 3)).astype(float)
    engine = make_engine(X, metric=lambda a, b: float(np.sum(np.abs(a - b) > 1)))
    expected = reference.knn((np.abs(X[:, None] - X[None]) > 1).sum(axis=2).astype(float), 19)
    np.testing.assert_array_equal(engine.knn(19)[1], expected[1])


@pytest.mark.parametrize("algorithm", ["auto", "tree", "brute"])
def test_the_algorithm_asked_for_is_the_engine_made(algorithm):
    engine = make_engine(np.zeros((10, 2)), algorithm=algorithm)
    assert engine.name in ({"tree", "brute"} if algorithm == "auto" else {algorithm})


def test_auto_leaves_to_brute_what_the_tree_cannot_do():
    assert make_engine(np.ones((10, 2)), metric="cosine").name == "brute"
