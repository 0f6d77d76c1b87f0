"""OPFClustering chooses among the domes of its density as the slow reference does; layers and noise too."""

import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st
from reference_models import cluster_model
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from strategies import METRICS, distance_settings, make_samples, problems

import pathforest
from pathforest import OPFClustering
from pathforest._models.domes import MEASURES, count_above_gap

FITTED = ("labels_", "cluster_roots_", "root_", "cost_", "predecessor_", "density_", "cluster_tree_")
sizes = st.lists(st.sampled_from([0.0, 1e-9, 0.3, 1.0, 2.0, 3.0, 7.0, 100.0, 1000.0, 333.4]), max_size=12)


class Expected:
    """The reference of a fitted model: tree, owners of samples and noise."""

    def __init__(self, X, k, attribute="volume", metric="euclidean", p=2.0):
        D = reference.distance_matrix(X, X, metric, p)
        self.model = cluster_model(D, metric in reference.SQUARED, n_neighbors=k)
        near = reference.knn(D, k)
        self.rho = reference.scale_density(self.model.estimate.density)
        self.founders = [int(q) for q in self.model.root[np.unique(self.model.labels, return_index=True)[1]]]
        self.tree = reference.dome_tree(*near, self.rho, self.model.labels, self.founders, attribute)
        self.sizes = [row[3 + MEASURES.index(attribute)] for row in self.tree]

    def owner(self, n_clusters):
        return reference.merge_domes(self.tree, self.model.labels, self.founders, n_clusters)

    def labels(self, n_clusters, share=0.0):
        owner = self.owner(n_clusters)
        kept = [q for q in self.founders if q in owner]
        left_out = reference.noise(self.rho, owner, share)
        return [-1 if out else kept.index(q) for q, out in zip(owner, left_out, strict=True)]


@given(sizes)
@example([1000.0, 100.0, 10.0, 3.0])  # two largest ratios
@example([1000.0, 500.0, 250.0, 125.0, 62.5, 31.25, 15.625, 7.8125, 3.90625, 3.0])  # just 2
@example(
    [1000.0, 600.0, 400.0, 250.0, 160.0, 100.0, 66.0, 44.0, 28.0, 18.0, 12.0, 7.0, 4.5, 3.0]
)  # none is 2
@example([1000.0, 900.0, 3.0])
@example(
    [900.0, 400.0, 200.0, 100.0, 31.0, 20.0, 10.0, 5.0, 2.7]
)  # the largest ratio, 3.2, is chance so far down
@example([900.0, 400.0, 200.0, 100.0, 31.0, 20.0, 10.0, 5.0, 2.5, 2.5])  # no gap
@example([400.0, 300.0, 100.0, 50.0, 25.0])  # the square is just what it must be
def test_the_gap_is_where_the_reference_finds_it(values):
    assert count_above_gap(values) == reference.count_above_gap(values)


@given(data=st.data())
def test_clusters_are_those_above_the_gap_of_the_reference(data):
    metric, p = data.draw(st.sampled_from(METRICS))
    problem = data.draw(problems(smallest=2, largest=40))
    attribute = data.draw(st.sampled_from(MEASURES))
    k = data.draw(st.integers(1, min(15, len(problem.X) - 1)))
    settings = distance_settings(data.draw, metric, p)
    model = OPFClustering(n_neighbors=k, measure=attribute, **settings).fit(problem.X)
    expected = Expected(problem.X, k, attribute, metric, p)
    n_clusters = reference.count_above_gap(expected.sizes)
    assert model.root_.tolist() == expected.owner(n_clusters)
    assert model.labels_.tolist() == expected.labels(n_clusters)


@given(problems(smallest=2, largest=70))
def test_fifteen_neighbours_or_a_quarter_of_the_samples_and_volumes_are_the_default(problem):
    k = min(15, max(1, len(problem.X) // 4))
    model = OPFClustering().fit(problem.X)
    same = OPFClustering(selection="gap", n_neighbors=k, measure="volume").fit(problem.X)
    assert model.best_k_ == k
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(same, name), err_msg=name)


@given(problems(smallest=2, largest=40), st.integers(1, 5), st.sampled_from([0.05, 0.3, 0.9]), st.data())
def test_layers_and_their_noise_equal_the_reference(problem, k, share, data):
    k = min(k, len(problem.X) - 1)
    model = OPFClustering(n_neighbors=k, noise=share).fit(problem.X)
    expected = Expected(problem.X, k)
    n_clusters = data.draw(st.integers(1, len(expected.founders)))
    assert model.layer(n_clusters).tolist() == expected.labels(n_clusters, share)
    assert model.labels_.tolist() == expected.labels(reference.count_above_gap(expected.sizes), share)


@given(problems(smallest=2, largest=40), st.integers(1, 5), st.data())
def test_a_layer_is_what_a_fit_with_that_number_finds(problem, k, data):
    k = min(k, len(problem.X) - 1)
    model = OPFClustering(n_neighbors=k).fit(problem.X)
    n_clusters = data.draw(st.integers(1, len(model.cluster_tree_) + 1))
    refitted = OPFClustering(n_neighbors=k, n_clusters=n_clusters).fit(problem.X)
    np.testing.assert_array_equal(model.layer(n_clusters), refitted.labels_)


@given(problems(smallest=2, largest=60), st.sampled_from([0.1, 0.5]))
def test_new_samples_are_noise_below_the_level_of_their_cluster(problem, share):
    plain, model = OPFClustering().fit(problem.X), OPFClustering(noise=share).fit(problem.X)
    clusters, labels = plain.predict(problem.Q), model.predict(problem.Q)
    rho, k = model.density_, model.best_k_
    near = np.sort(reference.distance_matrix(problem.Q, problem.X), axis=1)[:, :k]
    width = reference.kernel_width(
        reference.knn(reference.distance_matrix(problem.X, problem.X), k)[0], False
    )
    scaled = reference.scale_density(reference.density(near, width, False), rho.min(), rho.max())
    lowest = [
        reference.scale_density(rho)[(plain.labels_ == c) & (model.labels_ >= 0)].min()
        for c in range(len(plain.cluster_roots_))
    ]
    expected = [-1 if s < lowest[c] else c for s, c in zip(scaled, clusters, strict=True)]
    assert labels.tolist() == expected


@given(problems(smallest=2, largest=60), st.sampled_from([0.1, 0.5, 0.95]))
def test_roots_are_never_noise_and_few_enough_samples_are(problem, share):
    model = OPFClustering(n_neighbors=min(3, len(problem.X) - 1), noise=share).fit(problem.X)
    roots = model.cluster_roots_
    np.testing.assert_array_equal(model.labels_[roots], np.arange(len(roots)))
    for root in roots:
        own = model.labels_[model.root_ == root]
        assert np.sum(own == -1) <= share * len(own)


@pytest.mark.parametrize(
    "settings",
    [{"algorithm": "brute"}, {"algorithm": "kd_tree"}, {"n_jobs": 3}, {"metric": "precomputed"}],
    ids=str,
)
@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates", "far clusters"])
def test_engines_and_threads_find_the_same_clusters(recipe, settings):
    X, _ = make_samples(recipe, 3, 300, 3)
    expected = OPFClustering(noise=0.1).fit(X)
    given_samples = reference.distance_matrix(X, X) if "metric" in settings else X
    model = OPFClustering(noise=0.1, **settings).fit(given_samples)
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("seed", range(3))
def test_moons_and_blobs_are_found(seed):
    X, y = make_moons(400, noise=0.07, random_state=seed)
    assert len(np.unique(np.column_stack([OPFClustering().fit_predict(X), y]), axis=0)) == 2
    centres = [[0, 0], [9, 0], [0, 9], [9, 9], [20, 20]]
    X, y = make_blobs([300, 200, 100, 100, 60], centers=centres, random_state=seed)
    assert len(np.unique(np.column_stack([OPFClustering().fit_predict(X), y]), axis=0)) == 5


def test_many_samples_do_not_give_hundreds_of_clusters():
    X, _ = make_blobs(6000, centers=20, center_box=(-40, 40), random_state=2)
    assert 15 <= len(OPFClustering().fit(X).cluster_roots_) <= 20
    assert len(OPFClustering(selection="cut").fit(X).cluster_roots_) > 50


def test_fewer_neighbours_are_taken_if_the_clusters_asked_for_need_it():
    X, _ = make_samples("gaussian", 0, 40, 2)
    counts = [len(OPFClustering(n_neighbors=k).fit(X).cluster_tree_) + 1 for k in range(1, 11)]
    n_clusters = counts[9] + 1
    model = OPFClustering(n_clusters=n_clusters).fit(X)
    assert model.best_k_ == max(k for k, count in enumerate(counts, 1) if count >= n_clusters) < 10
    assert len(model.cluster_roots_) == n_clusters


def test_a_layer_after_loading_is_the_same(tmp_path):
    X, _ = make_samples("gaussian", 1, 120, 2)
    model = OPFClustering(n_neighbors=4, noise=0.1).fit(X)
    model.save(tmp_path / "model.opf")
    loaded = pathforest.load(tmp_path / "model.opf")
    np.testing.assert_array_equal(loaded.layer(5), model.layer(5))
    np.testing.assert_array_equal(loaded.predict(X + 0.3), model.predict(X + 0.3))


@pytest.mark.parametrize(
    ("parameters", "n_clusters", "error", "message"),
    [
        ({"n_neighbors": 3}, 99, ValueError, "n_clusters=99 .* at most"),
        ({}, 0, ValueError, "n_clusters=0 .* coarsest"),
        ({}, 2.5, TypeError, "n_clusters=2.5"),
    ],
)
def test_layers_that_cannot_be_had_are_refused(parameters, n_clusters, error, message):
    X, _ = make_samples("gaussian", 0, 30, 2)
    with pytest.raises(error, match=message):
        OPFClustering(**parameters).fit(X).layer(n_clusters)


def test_a_layer_needs_a_fit():
    with pytest.raises(NotFittedError):
        OPFClustering().layer(2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "eom"}, "selection='eom'.*gap"),
        ({"noise": 1.0}, "noise=1.0 must be at least 0 and below 1"),
        ({"noise": -0.1}, "noise=-0.1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        OPFClustering(**parameters).fit(np.arange(9.0)[:, None])
