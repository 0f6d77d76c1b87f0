"""Every metric leads to the right engine and to the distances that its name and parameters promise."""

import numpy as np
import pytest
import reference
from engine_cases import CASES
from machines import little_memory
from sklearn.metrics import pairwise_distances

from pathforest import _core
from pathforest._engines import matrix, samples
from pathforest.distances import make_engine

pytestmark = pytest.mark.kernel


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


def lopsided(a, b):
    """A metric that is not symmetric: only one of its two values may be used."""
    return float(np.sum(np.abs(a - b))) + float(a[0] > b[0])


RNG = np.random.default_rng(0)
NUMBERS, BITS, PLACES = RNG.normal(size=(40, 3)), RNG.integers(0, 2, (40, 9)) * 1.0, RNG.random((40, 2))
WHOLE = {
    "hamming": BITS,
    "jaccard": BITS,
    "haversine": PLACES,
    "correlation": NUMBERS,
    "mahalanobis": NUMBERS,
    lopsided: NUMBERS,
}


@pytest.mark.parametrize("block_work", [None, 1500])
@pytest.mark.parametrize("metric", WHOLE)
@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
def test_other_metrics_are_scikit_learn_s_or_functions_from_lower_to_higher_index(
    metric, block_work, monkeypatch
):
    if block_work:
        monkeypatch.setattr(samples, "BLOCK_WORK", block_work)
    X = WHOLE[metric]
    D = np.triu(pairwise_distances(X, metric=metric), 1)
    np.testing.assert_array_equal(make_engine(X, metric=metric).knn(39)[0], reference.knn(D + D.T, 39)[0])


def test_a_function_needs_no_second_matrix():
    with little_memory():  # of 6.2 MiB each
        make_engine(np.arange(900.0)[:, None], metric=lambda a, b: abs(a[0] - b[0]))


def test_a_large_matrix_is_warned_about_at_the_caller_s_line(monkeypatch):
    monkeypatch.setattr("pathforest._engines.matrix.WARN_BYTES", 100)
    with pytest.warns(UserWarning, match=r"20 x 20 distances, 0\.0 MiB") as issued:
        make_engine(np.random.default_rng(0).random((20, 3)), metric="correlation")
    assert issued[0].filename == __file__


def test_the_algorithm_asked_for_is_the_engine_made():
    for name in ("kd_tree", "brute"):
        assert make_engine(np.ones((10, 2)), algorithm=name).name == name
    assert make_engine(np.ones((10, 2)), "cosine").name == "brute"


@pytest.mark.parametrize("block_bytes", [2**26, 8 * 9 * 4, 8])
def test_a_matrix_that_is_all_but_symmetric_mirrors_its_upper_half(block_bytes, monkeypatch):
    monkeypatch.setattr(samples, "BLOCK_BYTES", block_bytes)
    D = np.random.default_rng(0).random((9, 9)).astype(np.float32)
    upper = np.triu(D, 1)
    np.testing.assert_array_equal(matrix.symmetric(D), upper + upper.T)
