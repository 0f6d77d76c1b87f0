"""Distances are the definition's, bit for bit, in every engine; every metric leads to the right engine."""

import tracemalloc

import numpy as np
import pytest
import reference
from engine_cases import CASES, every_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from strategies import DTYPES, problems

from pathforest import _core
from pathforest._engines import matrix, samples
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
    asked = scatter(*opened.engine.query(opened.Q, len(X)), len(X))
    np.testing.assert_array_equal(asked, opened.DQ)
    among = scatter(*opened.engine.knn(len(X) - 1), len(X)) if len(X) > 1 else np.zeros((1, 1))
    np.fill_diagonal(among, 0)
    np.testing.assert_array_equal(among, opened.D - np.diag(np.diag(opened.D)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["kd_tree", "brute", "precomputed"])
def test_engine_describes_itself(name, dtype):
    X = np.zeros((5, 5 if name == "precomputed" else 3), dtype=dtype)
    make = getattr(_core.Engine, name)
    engine = make(X) if name == "precomputed" else make(X, "euclidean")
    described = engine.name, engine.n_samples, engine.n_features, engine.dtype
    assert described == (name, 5, X.shape[1], np.dtype(dtype).name)


@pytest.mark.parametrize("scale", [1e-120, 1e-81, 1.0, 1e81, 1e120])
def test_cosine_does_not_depend_on_the_length_of_vectors(scale):
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]) * scale
    D, _ = _core.Engine.brute(X, "cosine").query(X, 3)
    diagonal = 1 - 0.5**0.5
    np.testing.assert_allclose(
        D, [[0, diagonal, 1], [0, diagonal, diagonal], [0, diagonal, 1]], rtol=1e-12, atol=1e-15
    )


def test_metric_names_are_those_tested_here():
    tested = {
        name: {metric for engine, metric, _ in CASES if engine == name} for name in ("kd_tree", "brute")
    }
    assert (set(_core.METRICS_KD_TREE), set(_core.METRICS_BRUTE)) == (tested["kd_tree"], tested["brute"])


@pytest.mark.parametrize(("p", "metric"), [(1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev")])
@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
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


def every_distance(metric, X):
    """The sorted distances and the neighbours they lead to, of all samples."""
    return make_engine(X, metric=metric).knn(len(X) - 1)


def lopsided(a, b):
    """A metric that is not symmetric: only one of its two values may be used."""
    return float(np.sum(np.abs(a - b))) + float(a[0] > b[0])


@pytest.mark.parametrize("metric", ["correlation", "mahalanobis", "jaccard", lopsided])
def test_a_matrix_built_in_blocks_is_the_one_built_at_once(metric, monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X = (X > 0).astype(float) if metric == "jaccard" else X
    expected = every_distance(metric, X)
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_WORK", 1500)
    np.testing.assert_array_equal(every_distance(metric, X), expected)


def test_a_matrix_metric_uses_the_distances_from_lower_to_higher_index():
    X = np.random.default_rng(0).normal(size=(20, 3))
    D = np.triu([[lopsided(a, b) for b in X] for a in X], 1)
    np.testing.assert_array_equal(every_distance(lopsided, X)[0], reference.knn(D + D.T, 19)[0])


def test_a_callable_needs_no_second_matrix():
    X = np.random.default_rng(0).normal(size=(600, 1))
    tracemalloc.start()
    make_engine(X, metric=lambda a, b: abs(a[0] - b[0]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 8 * 600**2


def test_a_large_matrix_is_warned_about_at_the_caller_s_line(monkeypatch):
    monkeypatch.setattr("pathforest._engines.matrix.WARN_BYTES", 100)
    with pytest.warns(UserWarning, match=r"20 x 20 distances, 0\.0 MiB") as issued:
        make_engine(np.random.default_rng(0).random((20, 3)), metric="correlation")
    assert issued[0].filename == __file__


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_the_algorithm_asked_for_is_the_engine_made(algorithm):
    engine = make_engine(np.zeros((10, 2)), algorithm=algorithm)
    assert engine.name in ({"kd_tree", "brute"} if algorithm == "auto" else {algorithm})


def test_auto_leaves_to_brute_what_the_tree_cannot_do():
    assert make_engine(np.ones((10, 2)), metric="cosine").name == "brute"


@pytest.mark.parametrize("block_bytes", [2**26, 8 * 9 * 4, 8])
def test_a_matrix_that_is_all_but_symmetric_mirrors_its_upper_half(block_bytes, monkeypatch):
    monkeypatch.setattr(samples, "BLOCK_BYTES", block_bytes)
    D = np.random.default_rng(0).random((9, 9)).astype(np.float32)
    upper = np.triu(D, 1)
    np.testing.assert_array_equal(matrix.symmetric(D), upper + upper.T)
