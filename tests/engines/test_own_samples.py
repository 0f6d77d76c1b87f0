"""A scan that searches its own samples computes each block of estimates once for both sides."""

import checks
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DTYPES, RECIPES, make_samples

from pathforest import _core

pytestmark = pytest.mark.kernel

# The fewest samples that the pass takes: beyond 7 panels of 256.
SMALLEST = 7 * 256 + 1
METRICS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev"]


def by_parts(engine, k):
    """The lists of the first samples and those of the others, which ask as new samples would."""
    middle, n = engine.n_samples // 2, engine.n_samples
    parts = engine.knn(k, start=0, stop=middle), engine.knn(k, start=middle, stop=n)
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


@settings(max_examples=20)
@given(data=st.data())
def test_all_lists_at_once_equal_lists_asked_for_in_parts(data):
    recipe, dtype = data.draw(st.sampled_from(sorted(RECIPES))), data.draw(st.sampled_from(DTYPES))
    n, seed = data.draw(st.integers(SMALLEST, SMALLEST + 600)), data.draw(st.integers(0, 99))
    X, _ = make_samples(recipe, seed, n, 40, dtype)
    engine = _core.Engine.brute(X, data.draw(st.sampled_from(METRICS)), keep_order=data.draw(st.booleans()))
    k, n_threads = data.draw(st.integers(1, 10)), data.draw(st.sampled_from([1, 2, 3]))
    checks.same_arrays(engine.knn(k, n_threads), by_parts(engine, k))


@pytest.mark.parametrize("recipe", ["gaussian", "grid"])
def test_they_equal_a_full_sort(recipe):
    X, _ = make_samples(recipe, 0, SMALLEST, 40)
    expected = reference.knn(reference.distance_matrix(X, X, "euclidean"), 5)
    checks.same_arrays(_core.Engine.brute(X, "euclidean").knn(5, 2), expected)


@pytest.mark.parametrize("n_panels", [8, 9, 12, 13])
def test_every_pair_of_panels_meets_once(n_panels):
    # Pairs that lie across the ring from one another, where a search from both sides would list them twice.
    rng = np.random.default_rng(n_panels)
    X = 100 * rng.normal(size=(256 * n_panels, 40))
    half = len(X) // 2
    X[half : 2 * half] = X[:half] + rng.normal(size=(half, 40))
    engine = _core.Engine.brute(X, "euclidean", keep_order=True)
    checks.same_arrays(engine.knn(2, 2), by_parts(engine, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sample_much_longer_than_the_others_spoils_no_list(dtype):
    X, _ = make_samples("gaussian", 1, SMALLEST, 40, dtype)
    X[[5, 900]] *= 1e4
    engine = _core.Engine.brute(X, "euclidean")
    checks.same_arrays(engine.knn(6, 2), by_parts(engine, 6))
