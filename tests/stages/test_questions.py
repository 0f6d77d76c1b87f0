"""What an engine is asked equals its definition, ties included; few distinct rows are few samples to ask."""

import checks
import numpy as np
import pytest
import reference
from engine_cases import every_query_engine, needs_non_negative, open_engine
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, make_codes, make_samples, memberships, problems, seeds, sizes

from pathforest import _core
from pathforest.graph import KnnGraph, spanning_tree_by_asking

pytestmark = pytest.mark.kernel

threads = st.sampled_from([1, 2, 3])


@st.composite
def copied(draw, non_negative=False, tiny=True):
    """Samples of a few distinct rows, which may differ in a sign alone, or be at distance 0 by underflow."""
    recipe = draw(st.sampled_from(["grid", "gaussian", "signed zeros", "near ties", "mixed values"]))
    n, n_rows = draw(sizes(2, 80)), draw(st.sampled_from([1, 2, 3, 5, 10]))
    d, seed = draw(st.sampled_from([1, 2, 3, 20])), draw(seeds)
    rows, Q = make_samples(recipe, seed, n_rows, d, draw(st.sampled_from(DTYPES)), non_negative)
    if tiny and recipe == "grid" and draw(st.booleans()):
        # The square of 1 is 0 now, that of 2 is not: of samples at distance 0 one can be nearer to a third.
        rows, Q = rows * rows.dtype.type(1.5e-162), Q * Q.dtype.type(1.5e-162)
    X = rows[np.random.default_rng(seed).integers(0, n_rows, n)]
    codes = make_codes(draw(st.sampled_from(["regions", "random", "one against all"])), seed, X)
    k = draw(st.integers(1, min(n - 1, 12)))
    return X, codes, Q, k


@pytest.mark.parametrize("recipes", [problems, copied])
@every_query_engine
@given(data=st.data())
def test_every_answer_equals_its_definition(case, recipes, data):
    X, codes, Q, k = data.draw(recipes(non_negative=needs_non_negative(case)))
    if data.draw(st.booleans()):
        Q = np.concatenate([Q, X])  # many go through a tree together
    engine, D, DQ, asked = open_engine(case, X, Q)
    n_threads = data.draw(threads)
    distances, indices = reference.nearest(DQ, k + 1)
    checks.same_arrays(engine.query(asked, k + 1, n_threads), (distances, indices))
    edge = distances[:, k // 2]  # within reach, and just beyond
    for reach in (edge.copy(), np.nextafter(edge, -1)):
        is_near = distances <= reach[:, None]
        within = np.where(is_near, distances, np.inf), np.where(is_near, indices, -1)
        checks.same_arrays(engine.query(asked, k + 1, n_threads, reach), within)
    checks.same_arrays([engine.distances(asked, n_threads)], [DQ])
    if case[0] == "rows":
        return
    lists = engine.knn(k, n_threads)
    checks.same_arrays(lists, reference.knn(D, k))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(X))] * 2)))
    checks.same_arrays(engine.knn(k, n_threads, start, stop), [array[start:stop] for array in lists])
    tree = reference.spanning_tree(D)
    for known in (None, engine.knn(0), lists, engine.knn(len(X) - 1)):
        checks.same_arrays(engine.spanning_tree(known, n_threads), tree)
    seeds_, F = reference.prototypes(tree, codes), data.draw(memberships(len(X)))
    if data.draw(st.booleans()):  # equal rows have equal densities
        F = F[np.unique(X, axis=0, return_inverse=True)[1].ravel()]
    for side in ("target", "source"):
        forest = engine.compete(*lists, seeds_, F, side == "source")
        checks.same_arrays(forest, reference.compete(D, seeds_, F, side))
        along = _core.compete_tree(*tree, seeds_, F, side == "source")
        checks.same_arrays(along, reference.compete(D, seeds_, F, side, tree))


@every_query_engine
@given(data=st.data())
def test_the_nearest_of_other_components_equal_a_look_at_all(case, data):
    X, _, Q, _ = data.draw(problems(most_features=16, non_negative=needs_non_negative(case)))
    engine, D, DQ, asked = open_engine(case, X, Q)
    n, n_threads, codes = len(X), data.draw(threads), st.integers(0, data.draw(st.integers(0, 4)))
    drawn = data.draw(st.lists(codes, min_size=n + len(Q), max_size=n + len(Q)))
    component, own = np.array(drawn[:n], dtype=np.int32), np.array(drawn[n:], dtype=np.int32)
    reaches = st.sampled_from([np.inf, 0.0, *np.unique(DQ).tolist()])
    reach = np.array([data.draw(reaches) for _ in Q], dtype=float)
    distances, nearest = reference.nearest(np.where(component == own[:, None], np.inf, DQ), 1)
    is_near = (distances <= reach[:, None]) & np.isfinite(distances)
    expected = np.where(is_near, distances, np.inf), np.where(is_near, nearest, -1)
    checks.same_arrays(engine.nearest_foreign(asked, own, component, reach, n_threads=n_threads), expected)
    levels = np.array([data.draw(st.sampled_from([*reach.tolist(), np.inf])) for _ in range(5)])
    for table in (None, np.minimum(levels, levels[:, None])):
        arcs = engine.joining_arcs(component, n_threads, table, asked, own)
        checks.same_arrays(arcs, reference.joining_arcs(DQ, own, component, table))
        if case[0] != "rows":
            arcs = engine.joining_arcs(component, n_threads, table)
            checks.same_arrays(arcs, reference.joining_arcs(D, component, component, table))
    inside = np.flatnonzero(component == component[0]).astype(np.int32)
    if case[0] != "rows" and len(inside) < n:
        apart = np.where(component == component[0], np.inf, D[inside])
        got = engine.nearest_outsiders(inside, component, n_threads)
        checks.same_arrays(got, reference.nearest(apart, 1))


def asking(D, n_asked=None):
    """A look at all samples for the nearest foreigners; it notes how many are asked about."""

    def nearest_foreign(samples, component, reach):
        if n_asked is not None:
            n_asked.append(len(samples))
        apart = np.where(component[samples, None] == component, np.inf, D[samples])
        nearest = apart.argmin(axis=1).astype(np.int32)
        distances = apart[np.arange(len(samples)), nearest]
        return np.where(distances <= reach, distances, np.inf), np.where(distances <= reach, nearest, -1)

    return nearest_foreign


@given(st.one_of(copied(), problems(smallest=2)), st.integers(1, 3), st.booleans())
def test_a_tree_built_by_asking_equals_kruskal_whether_it_knows_the_rows_or_not(problem, k, rows):
    X = problem[0]
    D = reference.distance_matrix(X, X, "euclidean")
    lists = KnnGraph(*reference.knn(D, min(k, len(D) - 1)))
    tree = spanning_tree_by_asking(lists, asking(D), X if rows else None)
    checks.same_arrays(tree, reference.spanning_tree(D))
