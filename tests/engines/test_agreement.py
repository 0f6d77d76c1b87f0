"""All engines, thread counts and instruction sets agree, on sizes that the reference is too slow for."""

import os
import subprocess
import sys
from functools import cache

import checks
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DTYPES, make_codes, make_samples
from strategies import RECIPES as EVERY_RECIPE

from pathforest import _core
from pathforest._engines.samples import SparseSamples

pytestmark = pytest.mark.kernel

RECIPES = ["grid", "gaussian", "duplicates", "all equal", "offset grid", "near ties", "mixed values"]
RECIPES += ["far clusters"]


def answers(engine, Q, codes, F, k, n_threads=1):
    """Everything an engine can be asked, in one flat tuple of arrays."""
    lists = engine.knn(k, n_threads=n_threads)
    tree = engine.spanning_tree(lists, n_threads=n_threads)
    seeds = reference.prototypes(tree, codes)
    target = engine.compete(*lists, seeds, F, False)
    source = engine.compete(*lists, seeds, F, True)
    conquest = engine.conquer(Q, target[0], target[3], n_conquerors=3, n_threads=n_threads)
    alone = engine.spanning_tree(None, n_threads)
    return *lists, *tree, *alone, *target, *source, *conquest, *engine.query(Q, k, n_threads=n_threads)


def all_engines(X, Q, n_threads=1):
    """Every engine over the same samples, each with its queries."""
    D, DQ = reference.distance_matrix(X, X), reference.distance_matrix(Q, X)
    return [
        (_core.Engine.precomputed(D), DQ),
        (_core.Engine.kd_tree(X, "euclidean", 2.0, n_threads), Q),
        (_core.Engine.brute(X, "euclidean", n_threads=n_threads), Q),
        (_core.Engine.brute(X, "euclidean", keep_order=True), Q),
        (_core.Engine.sparse(SparseSamples.of(X), "euclidean"), SparseSamples.of(Q)),
    ]


@pytest.mark.parametrize(("d", "dtype"), [(2, np.float64), (12, np.float32), (40, np.float64)])
@pytest.mark.parametrize("recipe", RECIPES)
def test_engines_and_threads_agree_on_hundreds_of_samples(recipe, d, dtype):
    X, Q = make_samples(recipe, 1, 700, d, dtype)
    codes, F = make_codes("regions", 1, X), 0.2 + 0.8 * np.random.default_rng(2).random(len(X))
    engines = [(count, *one) for count in (1, 2, 3) for one in all_engines(X, Q, n_threads=count)]
    first, *others = [answers(engine, asked, codes, F, 12, count) for count, engine, asked in engines]
    for other in others:
        checks.same_arrays(other, first)


@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
def test_a_large_tree_built_by_threads_is_the_same(recipe):
    X, _ = make_samples(recipe, 5, 30_000 if recipe == "gaussian" else 3000, 3)
    threaded, serial = (_core.Engine.kd_tree(X, "euclidean", 2.0, count) for count in (3, 1))
    brute, expected = _core.Engine.brute(X, "euclidean"), serial.knn(6, 1)
    tree = serial.spanning_tree(expected, 1)
    for engine, n_threads in ((threaded, 3), (brute, 2)):
        checks.same_arrays(engine.knn(6, n_threads), expected)
        checks.same_arrays(engine.spanning_tree(None, n_threads), tree)
    checks.same_arrays(threaded.spanning_tree(expected, 3), tree)


# The filter of the scan: where it may discard, and what it must leave to exact distances. Features go through
# it 128 at a time, samples 128 and queries 6.


def scans(X, metric="euclidean"):
    """The scan in both orders of its samples."""
    return [_core.Engine.brute(X, metric, keep_order=keep_order) for keep_order in (False, True)]


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
    for engine in scans(X):
        checks.same_arrays(engine.conquer(Q, cost, order, n_conquerors), expected)


def some(scale=1.0, dtype=np.float32):
    return (make_samples("gaussian", 0, 300, 12)[0] * scale).astype(dtype)


def more_equal_distances_than_can_wait(dtype):
    """From any sample all others are either equal or one of two values apart: estimates separate none."""
    rng = np.random.default_rng(0)
    X = np.eye(12, dtype=dtype)[rng.integers(0, 12, 2000)]
    X[rng.random(2000) < 0.5] = 0
    return X, X[:100]


SIZES = np.array([1, 1e10, 1e20, 1e30, 1e-30])[np.arange(60) % 5, None]
NEAREST_LAST = np.linspace(1, 0, 2000)[:, None] * np.ones(9)
HARD = {
    **{
        f"size {size}": (some(size), some(size)[:40] / 2)
        for size in (1e-38, 1e-30, 1e-20, 1e-10, 1e10, 4e18, 1e19, 1e30, 1e37)
    },
    "queries of every size": (some(), some(dtype=np.float64)[:60] * SIZES),
    "far from the origin": (1e4 + some(), 1e4 + some()[:50] + np.float32(0.25)),
    "equal": more_equal_distances_than_can_wait(np.float64),
    "equal float32": more_equal_distances_than_can_wait(np.float32),
    "the nearest come last": (NEAREST_LAST, NEAREST_LAST[-70:]),
}


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("case", HARD)
def test_the_filter_leaves_what_is_hard_to_exact_distances(case, metric):
    X, Q = HARD[case]
    Q = Q.astype(X.dtype)
    matrix = _core.Engine.precomputed(reference.distance_matrix(X, X, metric))
    expected = *matrix.knn(7), *matrix.query(reference.distance_matrix(Q, X, metric), 7)
    for engine in scans(X, metric):
        checks.same_arrays((*engine.knn(7), *engine.query(Q, 7)), expected)


# A scan that searches its own samples computes each block of estimates once for both sides, if there are more
# than 7 panels of 256.
SMALLEST = 7 * 256 + 1


def check_own_samples(X, k, n_threads=2, metric="euclidean"):
    """Compare the scan with the k-d tree."""
    expected = _core.Engine.kd_tree(X, metric).knn(k, 2)
    for engine in scans(X, metric):
        checks.same_arrays(engine.knn(k, n_threads), expected)


@settings(max_examples=20)
@given(data=st.data())
def test_lists_of_all_samples_at_once(data):
    recipe, dtype = data.draw(st.sampled_from(sorted(EVERY_RECIPE))), data.draw(st.sampled_from(DTYPES))
    n, seed = data.draw(st.integers(SMALLEST, SMALLEST + 600)), data.draw(st.integers(0, 99))
    X, _ = make_samples(recipe, seed, n, 40, dtype)
    metric = data.draw(st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "chebyshev"]))
    check_own_samples(X, data.draw(st.integers(1, 10)), data.draw(st.sampled_from([1, 2, 3])), metric)


@pytest.mark.parametrize("n_panels", [8, 9, 12, 13])
def test_every_pair_of_panels_meets_once(n_panels):
    # Pairs that lie across the ring from one another, where a search from both sides would list them twice.
    rng = np.random.default_rng(n_panels)
    X = 100 * rng.normal(size=(256 * n_panels, 40))
    half = len(X) // 2
    X[half : 2 * half] = X[:half] + rng.normal(size=(half, 40))
    check_own_samples(X, 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("apart", [1, 2, 6, 1e4])
@pytest.mark.parametrize("recipe", ["gaussian", "grid", "duplicates"])
def test_clusters_are_joined_by_what_the_pass_finds_and_by_what_is_asked(recipe, apart, dtype):
    # Near clusters have samples of one among those of another, and far ones distances that hardly differ.
    X, _ = make_samples(recipe, 3, 2100, 40, dtype)  # as many as such a pass is worth
    rng = np.random.default_rng(4)
    X += np.round(apart * rng.normal(size=(5, 40)))[rng.integers(0, 5, len(X))].astype(dtype)
    expected = _core.Engine.kd_tree(X, "euclidean").spanning_tree(None, 2)
    for engine in scans(X):
        checks.same_arrays(engine.spanning_tree(None, 3), expected)
        checks.same_arrays(engine.spanning_tree(engine.knn(3), 2), expected)


# Widths and sizes on both sides of every vector length; each result goes into one digest.
DIGEST = """
import hashlib
import numpy as np
from pathforest import _core

digest = hashlib.sha256()
for metric in _core.METRICS_BRUTE:
    for dtype in (np.float32, np.float64):
        for d in (1, 2, 7, 16, 33):
            X = np.abs(np.random.default_rng(d).normal(size=(150, d))).astype(dtype)
            makers = [_core.Engine.brute] + [_core.Engine.kd_tree] * (metric in _core.METRICS_KD_TREE)
            for make in makers:
                engine = make(X, metric, 2.5)
                lists = engine.knn(12)
                tree = engine.spanning_tree(lists)
                forest = engine.compete(*lists, np.array([3, 77], np.int32), np.linspace(0.3, 1, 150), False)
                offers = engine.conquer(X[::-1].copy(), forest[0], forest[3], 3)
                density = _core.density(lists[0], 11, False)
                for array in (*lists, *tree, *forest, *offers, density):
                    digest.update(array.tobytes())
for k in (1, 3, 8, 17, 130):
    distances = 30 * np.random.default_rng(k).random((21, k))
    for squared in (False, True):
        digest.update(_core.query_density(distances, 4.0, squared).tobytes())
print(_core.simd_level(), digest.hexdigest())
"""
LEVELS = ["baseline", "avx2", "avx512"]


@cache
def level_and_digest(level):
    """Run the kernels in a process of their own: the choice is made once, at first use."""
    environment = {**os.environ, "PATHFOREST_SIMD": level}
    command = [sys.executable, "-c", DIGEST]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_core.simd_level()) + 1])
def test_every_instruction_set_gives_the_same_bits(level):
    chosen, digest = level_and_digest(level)
    assert chosen == level
    assert digest == level_and_digest(_core.simd_level())[1]
