"""The brute-force engine's filter: where it may discard, and what it must leave to exact distances."""

import checks
import numpy as np
import pytest
import reference
from strategies import DTYPES, make_samples

from pathforest import _core

pytestmark = pytest.mark.kernel


def same_neighbours(X, Q, k, metric="euclidean"):
    """Compare brute force in both orders with a matrix of distances."""
    D, DQ = reference.distance_matrix(X, X, metric), reference.distance_matrix(Q, X, metric)
    matrix = _core.Engine.precomputed(D)
    expected = *matrix.knn(k), *matrix.query(DQ, k)
    for keep_order in (False, True):
        engine = _core.Engine.brute(X, metric, keep_order=keep_order)
        checks.same_arrays((*engine.knn(k), *engine.query(Q, k)), expected)


# Features go through the filter 128 at a time, samples 128 and queries 6.
@pytest.mark.parametrize("n_conquerors", [1, 5])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("recipe", ["gaussian", "grid", "near ties"])
@pytest.mark.parametrize("d", [1, 20, 128, 129, 300])
def test_queries_stop_at_their_own_cost_over_many_panels(d, recipe, dtype, n_conquerors):
    X, _ = make_samples(recipe, 0, 700, d, dtype)
    Q, _ = make_samples(recipe, 1, 50, d, dtype)
    DQ = reference.distance_matrix(Q, X, "euclidean")
    # Costs around the distances to the nearest: some queries are done early, some go on to the end.
    nearest = np.sort(DQ, axis=1)[:, 1]
    cost = np.sort(np.quantile(nearest, np.random.default_rng(2).random(700)))
    order = np.arange(700, dtype=np.int32)
    matrix = _core.Engine.precomputed(np.zeros((700, 700)))  # only the queries' distances count here
    expected = matrix.conquer(DQ, cost, order, n_conquerors)
    for keep_order in (False, True):
        engine = _core.Engine.brute(X, "euclidean", keep_order=keep_order)
        checks.same_arrays(engine.conquer(Q, cost, order, n_conquerors), expected)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1e-20, 1e-10, 1e10, 4e18, 1e19, 1e30, 1e37])
def test_float32_of_any_size(scale, metric):
    X, _ = make_samples("gaussian", 0, 300, 5)
    X = (X * scale).astype(np.float32)
    same_neighbours(X, X[:40] * np.float32(0.5), 7, metric)


def test_huge_and_small_queries_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).astype(np.float32)
    Q = rng.normal(size=(60, 12)) * np.array([1, 1e10, 1e20, 1e30, 1e-30])[rng.integers(0, 5, 60), None]
    same_neighbours(X, Q.astype(np.float32), 4)


def test_samples_far_from_the_origin_are_distinguished_by_differences():
    rng = np.random.default_rng(0)
    X = (1e4 + rng.normal(size=(600, 10))).astype(np.float32)
    same_neighbours(X, X[:50] + np.float32(0.25), 6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_equal_distances_than_can_wait(dtype):
    # From any sample all others are either equal or one of two values apart: estimates separate none of them.
    rng = np.random.default_rng(0)
    X = np.eye(12, dtype=dtype)[rng.integers(0, 12, 3000)]
    X[rng.random(3000) < 0.5] = 0
    same_neighbours(X, X[:100], 9)


def test_the_nearest_come_last():
    X = np.linspace(1, 0, 3000)[:, None] * np.ones(9)
    same_neighbours(X, X[-70:], 3)
