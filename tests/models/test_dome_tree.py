"""Domes of the density merge as the slow reference says, and OPFClustering follows the tree."""

from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from pathforest import OPFClustering, _core
from pathforest._models.domes import MEASURES, dome_tree, merge_domes
from pathforest.graph import KnnGraph

every_dome = partial(OPFClustering, selection="cut")

attributes = st.sampled_from(MEASURES)


@st.composite
def landscapes(draw, largest=40):
    """Neighbour lists, densities with many ties, and the roots of their clusters, in order of birth."""
    problem = draw(problems(smallest=2, largest=largest, most_features=3))
    k = draw(st.integers(1, min(4, len(problem.X) - 1)))
    distances, indices = reference.knn(reference.distance_matrix(problem.X, problem.X), k)
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    steps = draw(st.sampled_from([2, 5, 20, 10**6]))
    rho = reference.scale_density(rng.integers(0, steps, len(indices)) * 0.7)
    labels, _, root, _, _ = reference.cluster(distances, indices, rho)
    return KnnGraph(distances, indices), k, rho, labels, root[np.unique(labels, return_index=True)[1]]


@given(landscapes(), attributes)
def test_the_tree_equals_the_reference(landscape, attribute):
    graph, k, rho, labels, founders = landscape
    got = dome_tree(graph, k, rho, labels, founders, attribute)
    assert got.tolist() == reference.dome_tree(*graph, rho, labels, founders, attribute)


@given(problems(smallest=2, largest=40), attributes, st.integers(1, 6))
def test_the_tree_of_an_estimator_equals_the_reference(problem, attribute, k):
    k = min(k, len(problem.X) - 1)
    model = every_dome(n_neighbors=k, measure=attribute).fit(problem.X)
    near = reference.knn(reference.distance_matrix(problem.X, problem.X), k)
    rho = reference.scale_density(model.density_)
    expected = reference.dome_tree(*near, rho, model.labels_, model.cluster_roots_, attribute)
    assert model.cluster_tree_.tolist() == expected


@given(landscapes(), attributes)
def test_every_founder_but_one_is_absorbed_once(landscape, attribute):
    graph, k, rho, labels, founders = landscape
    tree = dome_tree(graph, k, rho, labels, founders, attribute)
    last = set(founders.tolist()) - set(tree["child"].tolist())
    assert (len(tree), len(last)) == (len(founders) - 1, 1)


@given(landscapes(), attributes)
def test_a_dome_absorbs_before_it_is_absorbed(landscape, attribute):
    graph, k, rho, labels, founders = landscape
    tree = dome_tree(graph, k, rho, labels, founders, attribute)
    when = {child: row for row, child in enumerate(tree["child"].tolist())}
    assert all(when.get(parent, len(tree)) > row for row, parent in enumerate(tree["parent"].tolist()))


def followed(tree, founder):
    """The founder at the end of the way up."""
    parents = dict(zip(tree["child"].tolist(), tree["parent"].tolist(), strict=True))
    while founder in parents:
        founder = parents[founder]
    return founder


@given(landscapes(), attributes, st.floats(0, 1))
def test_founders_follow_the_rows_up(landscape, attribute, share):
    graph, k, rho, labels, founders = landscape
    tree = dome_tree(graph, k, rho, labels, founders, attribute)
    tree = tree[: int(share * len(tree))]
    labels, left = merge_domes(tree, founders, founders[labels])
    assert left[labels][founders].tolist() == [followed(tree, q) for q in founders.tolist()]


@pytest.mark.parametrize("attribute", MEASURES)
@given(problem=problems(smallest=2, largest=60), k=st.integers(1, 6), data=st.data())
def test_thresholds_merge_what_is_smaller_and_meets(attribute, problem, k, data):
    k = min(k, len(problem.X) - 1)
    plain = every_dome(n_neighbors=k, measure=attribute).fit(problem.X)
    sizes = [value for value in plain.cluster_tree_[attribute].tolist() if value > 0]
    limit = data.draw(st.sampled_from([*sizes, 1 if attribute == "area" else 0.5]))
    model = every_dome(n_neighbors=k, measure=attribute, threshold=limit).fit(problem.X)
    tree = plain.cluster_tree_
    smaller = tree[(tree[attribute] < limit) & (tree["level"] > 0)]
    assert model.root_.tolist() == [followed(smaller, q) for q in plain.root_.tolist()]


@given(problems(smallest=2, largest=60), st.integers(1, 6), attributes, st.data())
def test_the_number_of_clusters_asked_for_is_what_comes_back(problem, k, attribute, data):
    k = min(k, len(problem.X) - 1)
    plain = every_dome(n_neighbors=k, measure=attribute).fit(problem.X)
    n_maxima = len(plain.cluster_roots_)
    n_clusters = data.draw(st.integers(1, n_maxima))
    model = every_dome(n_neighbors=k, n_clusters=n_clusters, measure=attribute).fit(problem.X)
    first = plain.cluster_tree_[: n_maxima - n_clusters]
    assert len(model.cluster_roots_) == len(np.unique(model.labels_)) == n_clusters
    assert model.root_.tolist() == [followed(first, q) for q in plain.root_.tolist()]


@given(problems(smallest=2, largest=60), attributes, st.integers(1, 6))
def test_predictions_are_those_of_the_clusters_that_were_absorbed(problem, attribute, k):
    k = min(k, len(problem.X) - 1)
    plain = every_dome(n_neighbors=k).fit(problem.X)
    model = every_dome(n_neighbors=k, n_clusters=1 + len(plain.cluster_roots_) // 2, measure=attribute)
    roots = plain.cluster_roots_[plain.predict(problem.Q)]
    np.testing.assert_array_equal(model.fit(problem.X).predict(problem.Q), model.labels_[roots])


@given(problems(smallest=2, largest=60), st.integers(1, 6))
def test_clusters_are_numbered_in_the_order_in_which_they_were_founded(problem, k):
    model = every_dome(n_neighbors=min(k, len(problem.X) - 1), measure="area", threshold=3).fit(problem.X)
    roots = model.cluster_roots_
    np.testing.assert_array_equal(np.lexsort([roots, -model.density_[roots]]), np.arange(len(roots)))
    np.testing.assert_array_equal(model.root_, roots[model.labels_])


# Two ranges in a row of samples: a high one of three samples, a low and broad one of six.
RANGES = np.array([300.0, 500.0, 400.0, 100.0, 201.0, 250.0, 249.0, 248.0, 247.0, 246.0])


def row(scaled):
    """The graph of samples side by side, their clusters, and the maxima of their densities, highest first."""
    n = len(scaled)
    places = np.arange(n)[:, None]
    indices = np.where((side := places + [[-1, 1]]) % n == side, side, 2 * places - side).astype(np.int32)
    padded = np.concatenate([[0], scaled, [0]])
    maxima = np.flatnonzero((scaled > padded[:-2]) & (scaled > padded[2:]))
    maxima = maxima[np.argsort(-scaled[maxima], kind="stable")]
    labels = np.abs(places - maxima).argmin(axis=1)
    return KnnGraph(np.ones((n, 2)), indices), labels, maxima


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("height", (5, 1, 100.0, 150.0, 6, 841.0)),
        ("area", (1, 5, 100.0, 400.0, 3, 900.0)),
        ("volume", (5, 1, 100.0, 150.0, 6, 841.0)),
    ],
)
def test_the_smaller_of_two_ranges_is_absorbed_by_hand(attribute, expected):
    graph, labels, maxima = row(RANGES)
    assert dome_tree(graph, 2, RANGES, labels, maxima, attribute).tolist() == [expected]


def opened(scaled, attribute, limit):
    """A row of densities with its domes of less than `limit` cut off, level by level."""
    graph, *_ = row(scaled)
    result = np.zeros(len(scaled))
    for level in np.unique(scaled):
        below = np.append(np.unique(scaled), 0)[np.searchsorted(np.unique(scaled), level) - 1]
        for dome in reference.components(np.flatnonzero(scaled >= level), graph.indices.tolist()):
            above = scaled[list(dome)] - below
            if {"height": above.max(), "area": len(dome), "volume": above.sum()}[attribute] >= limit:
                result[list(dome)] = level
    return result


@pytest.mark.parametrize("attribute", MEASURES)
@pytest.mark.parametrize("seed", range(20))
def test_domes_that_stay_are_the_maxima_of_the_opened_density(attribute, seed):
    # Distinct densities in a row: every maximum is a founder, and an opening leaves plateaus to count.
    scaled = np.random.default_rng(seed).permutation(30) * 20.0 + 100
    graph, labels, maxima = row(scaled)
    tree = dome_tree(graph, 2, scaled, labels, maxima, attribute)
    for limit in [*np.unique(tree[attribute]), tree[attribute].max() + 1]:
        flat = opened(scaled, attribute, limit)
        runs = flat[np.flatnonzero(np.diff(flat, prepend=-1))]
        padded = np.concatenate([[-1], runs, [-1]])
        n_maxima = np.sum((runs > padded[:-2]) & (runs > padded[2:]))
        assert np.sum(tree[attribute] >= limit) + 1 == n_maxima


def test_equal_ranges_tie_whatever_the_order_of_their_samples():
    low = np.array([2.1, 3.3, 5.7, 4.9, 1.3])
    scaled = np.concatenate([low, [1.0], low[::-1], [1.0], low])
    graph, labels, maxima = row(scaled)
    tree = dome_tree(graph, 2, scaled, labels, maxima, "volume")
    assert tree["child"].tolist() == [14, 8]
    assert len(set(tree["volume"].tolist())) == 1


@given(problems(smallest=2, largest=40), st.integers(1, 12))
def test_the_search_takes_the_best_neighbourhood_that_gives_enough_clusters(problem, n_clusters):
    plain = every_dome(k_max=8).fit(problem.X)
    sizes = range(1, len(plain.cuts_) + 1)
    counts = [len(every_dome(n_neighbors=k).fit(problem.X).cluster_roots_) for k in sizes]
    tried = zip(plain.cuts_, sizes, counts, strict=True)
    enough = [(cut, k) for cut, k, count in tried if count >= n_clusters]
    model = every_dome(k_max=8, n_clusters=n_clusters)
    if enough:
        assert (model.fit(problem.X).best_k_, len(model.cluster_roots_)) == (min(enough)[1], n_clusters)
    else:
        with pytest.raises(ValueError, match=f"n_clusters={n_clusters} .* {max(counts)} maxima"):
            model.fit(problem.X)


def test_samples_go_to_the_neighbour_and_not_to_the_dome_that_won():
    # The outlier's dome meets the others when the left one has won over the right one, its neighbour.
    X = np.array([[0.0], [0.3], [0.6], [1.0], [2.0], [2.2], [2.5], [5.0]])
    assert every_dome(n_neighbors=3, n_clusters=2).fit_predict(X).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_parts_without_an_arc_between_them_merge_last():
    X = np.array([[0.0], [0.3], [0.6], [1.0], [1.3], [50.0], [50.1]])
    model = every_dome(n_neighbors=1, measure="area").fit(X)
    levels = model.cluster_tree_["level"]
    assert levels[-1] == 0
    np.testing.assert_array_equal(levels > 0, np.arange(len(levels)) < np.sum(levels > 0))


def test_no_threshold_merges_parts_without_an_arc_between_them():
    X = np.array([[0.0], [0.1], [50.0], [50.1]])
    assert len(every_dome(n_neighbors=1, measure="area", threshold=100).fit(X).cluster_roots_) == 2


def test_one_sample_has_an_empty_tree():
    assert len(every_dome(n_clusters=1).fit([[3.0]]).cluster_tree_) == 0


def test_a_long_ridge_takes_no_recursion_and_little_time():
    scaled = np.linspace(1, 1000, 50_000)
    graph, labels, maxima = row(scaled)
    assert len(dome_tree(graph, 2, scaled, labels, maxima, "height")) == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 9, "n_neighbors": 3}, "n_clusters=9 .* 1 maxima with 3 .* search"),
        ({"n_clusters": 13, "k_max": 3}, "n_clusters=13 .* at most .*[0-9]$"),
    ],
)
def test_more_clusters_than_maxima_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        every_dome(**parameters).fit(np.arange(12.0)[:, None] ** 1.5)


def test_densities_survive_the_way_to_integers_and_back():
    scaled = _core.scale_density(np.random.default_rng(0).random(1000))
    assert [int(value * 2**52) / 2**52 for value in scaled.tolist()] == scaled.tolist()
