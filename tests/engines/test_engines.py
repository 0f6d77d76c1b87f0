"""All engines and thread counts give identical answers, on sizes the reference is too slow for."""

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, METRICS, make_codes, make_samples, memberships, problems

from pathforest import _core
from pathforest._engines.metric import SPARSE_METRICS
from pathforest._engines.samples import SparseSamples

pytestmark = pytest.mark.kernel

RECIPES = ["grid", "gaussian", "duplicates", "offset grid", "near ties", "mixed values", "far clusters"]


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


ENGINES = ["kd_tree", "brute", "brute in order", "precomputed", "sparse"]


def all_engines(X, Q, metric="euclidean", p=2.0, n_threads=1):
    """Every engine of the metric over the same samples, each with its queries."""
    D, DQ = reference.distance_matrix(X, X, metric, p), reference.distance_matrix(Q, X, metric, p)
    engines = [
        (_core.Engine.kd_tree(X, metric, p, n_threads), Q),
        (_core.Engine.brute(X, metric, p, n_threads=n_threads), Q),
        (_core.Engine.brute(X, metric, p, keep_order=True), Q),
        (_core.Engine.precomputed(D), DQ),
    ]
    if metric in SPARSE_METRICS:
        engines.append((_core.Engine.sparse(SparseSamples.of(X), metric), SparseSamples.of(Q)))
    return engines


@pytest.mark.parametrize(("metric", "p"), METRICS)
@given(data=st.data())
def test_engines_agree(metric, p, data):
    X, codes, Q, k = data.draw(problems())
    F = data.draw(memberships(len(X)))
    first, *others = [answers(engine, asked, codes, F, k) for engine, asked in all_engines(X, Q, metric, p)]
    for other in others:
        checks.same_arrays(other, first)


@pytest.mark.parametrize(("d", "dtype"), [(2, np.float64), (12, np.float32), (40, np.float64)])
@pytest.mark.parametrize("recipe", RECIPES)
def test_engines_agree_on_a_thousand_samples(recipe, d, dtype):
    X, Q = make_samples(recipe, 1, 1000, d, dtype)
    codes, F = make_codes("regions", 1, X), 0.2 + 0.8 * np.random.default_rng(2).random(1000)
    engines = all_engines(X, Q)
    first, *others = [answers(engine, asked, codes, F, 10, 2) for engine, asked in engines]
    for other in others:
        checks.same_arrays(other, first)


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", ENGINES)
def test_threads_change_nothing(name, recipe, n_threads):
    X, Q = make_samples(recipe, 3, 500, 5)
    codes, F = make_codes("random", 3, X), 0.5 + 0.5 * np.random.default_rng(4).random(500)
    which = ENGINES.index(name)
    threaded, serial = (
        answers(*all_engines(X, Q, n_threads=count)[which], codes, F, 12, count) for count in (n_threads, 1)
    )
    checks.same_arrays(threaded, serial)


@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
def test_a_large_tree_built_by_threads_is_the_same(recipe):
    X, _ = make_samples(recipe, 5, 30_000 if recipe == "gaussian" else 3000, 3)
    threaded, serial = (_core.Engine.kd_tree(X, "euclidean", 2.0, count) for count in (3, 1))
    lists, expected = threaded.knn(6, 3), serial.knn(6, 1)
    tree = serial.spanning_tree(expected, 1)
    checks.same_arrays((*lists, *threaded.spanning_tree(lists, 3)), (*expected, *tree))
    checks.same_arrays(threaded.spanning_tree(None, 3), tree)
    brute = _core.Engine.brute(X, "euclidean")
    checks.same_arrays(brute.spanning_tree(None, 2), tree)
    checks.same_arrays(brute.knn(6, 2), expected)


@pytest.mark.parametrize("name", ["kd_tree", "brute"])
@given(data=st.data())
def test_float32_samples_are_widened_not_rounded(name, data):
    X, codes, Q, k = data.draw(problems(dtypes=[np.float32]))
    F = data.draw(memberships(len(X)))
    narrow = answers(getattr(_core.Engine, name)(X, "euclidean"), Q, codes, F, k)
    wide = answers(getattr(_core.Engine, name)(X.astype(float), "euclidean"), Q.astype(float), codes, F, k)
    checks.same_arrays(narrow, wide)


def test_a_float32_matrix_of_distances_is_widened_not_rounded():
    X, Q = make_samples("grid", 0, 100, 4)
    D, DQ = (reference.distance_matrix(A, X, "manhattan").astype(np.float32) for A in (X, Q))
    codes, F = make_codes("random", 0, X), np.full(100, 0.7)
    narrow = answers(_core.Engine.precomputed(D), DQ, codes, F, 9)
    wide = answers(_core.Engine.precomputed(D.astype(float)), DQ.astype(float), codes, F, 9)
    checks.same_arrays(narrow, wide)


def test_many_duplicates_take_one_place_each_in_the_order_of_their_indices():
    # Every list is the first twelve of the 400 equal samples: ties are settled for whole nodes at once.
    X = np.zeros((400, 2))
    first = np.arange(13)
    for name in ("kd_tree", "brute"):
        indices = getattr(_core.Engine, name)(X, "euclidean").knn(12)[1]
        for i in (0, 5, 12, 399):
            np.testing.assert_array_equal(indices[i], first[first != i][:12])


@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
@pytest.mark.parametrize("rows", [(0, 300), (0, 1), (17, 180), (299, 300), (40, 40)])
def test_lists_of_some_samples_are_those_rows_of_all_lists(recipe, rows):
    X, Q = make_samples(recipe, 6, 300, 4)
    for engine, _ in all_engines(X, Q):
        expected = [array[slice(*rows)] for array in engine.knn(9)]
        checks.same_arrays(engine.knn(9, 1, *rows), expected)


def test_rows_beyond_the_samples_are_refused():
    engine = _core.Engine.kd_tree(np.zeros((5, 2)), "euclidean")
    for rows in [(-1, 3), (3, 2), (0, 6)]:
        with pytest.raises(ValueError, match="start and stop"):
            engine.knn(2, 1, *rows)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("k", [1, 7, 300])
def test_queries_find_nothing_beyond_their_reach_and_all_within(recipe, dtype, k):
    X, Q = make_samples(recipe, 8, 300, 3, dtype)
    for engine, asked in all_engines(X, Q):
        distances, indices = engine.query(asked, k)
        # On the edge, just below it, nothing, everything: an exact distance is within reach.
        edge = distances[:, k // 2].copy()
        for reach in (edge, np.nextafter(edge, -1), np.full(len(Q), -1.0), np.full(len(Q), np.inf)):
            within = distances <= reach[:, None]
            expected = np.where(within, distances, np.inf), np.where(within, indices, -1)
            checks.same_arrays(engine.query(asked, k, 1, reach), expected)


def test_a_reach_for_each_query_is_required():
    engine = _core.Engine.brute(np.zeros((5, 2)), "euclidean")
    with pytest.raises(ValueError, match="reach must have one entry per query"):
        engine.query(np.zeros((3, 2)), 2, 1, np.zeros(2))
