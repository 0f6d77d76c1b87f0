"""OPFClustering finds the clusters of the reference, and chooses among their domes as that does."""

import numpy as np
import pytest
import reference
from checks import same_values
from hypothesis import given
from hypothesis import strategies as st
from reference.models import cluster_model, predict_cluster
from sklearn.datasets import make_blobs, make_moons
from strategies import make_samples, measured_problems, problems

from pathforest import OPFClustering, _core
from pathforest._models.density import MEASURES, dome_tree
from pathforest.graph import KnnGraph

pytestmark = pytest.mark.kernel

measures = st.sampled_from(MEASURES)
NOT_FITTED = "width", "cut", "estimate"


def founders(model):
    """Roots of the clusters of a reference, in their order."""
    return model.root[np.unique(model.labels, return_index=True)[1]].tolist()


def every_dome(**params):
    """The clustering of the paper."""
    return OPFClustering(selection="cut", **params)


# The clustering of the paper


@given(measured_problems(largest=34), st.sampled_from([1, 5, 20, None]))
def test_clusters_their_forest_and_predictions_equal_the_reference(problem, k_max):
    X, _, Q, _, D, DQ, squared, params = problem
    k_max = k_max or max(1, len(X) - 1)
    model, expected = every_dome(k_max=k_max, **params).fit(X), cluster_model(D, squared, k_max)
    found = expected.estimate._asdict() | expected._asdict() | {"cluster_roots": founders(expected)}
    same_values(model, {name: value for name, value in found.items() if name not in NOT_FITTED})
    np.testing.assert_array_equal(model.predict(Q), predict_cluster(expected, DQ, squared))


# The tree of domes


@st.composite
def landscapes(draw):
    """Neighbour lists, densities with many ties, and the roots of their clusters, in order of birth."""
    problem = draw(problems(smallest=2, largest=40, most_features=3))
    k = draw(st.integers(1, min(4, len(problem.X) - 1)))
    distances, indices = reference.knn(reference.distance_matrix(problem.X, problem.X), k)
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    steps = draw(st.sampled_from([2, 5, 20, 10**6]))
    rho = reference.scale_density(rng.integers(0, steps, len(indices)) * 0.7)
    labels, _, root, _, _ = reference.cluster(distances, indices, rho)
    return KnnGraph(distances, indices), k, rho, labels, root[np.unique(labels, return_index=True)[1]]


@given(landscapes(), measures)
def test_the_tree_equals_the_reference(landscape, measure):
    graph, k, rho, labels, founders = landscape
    got = dome_tree(graph, k, rho, labels, founders, measure)
    assert got.tolist() == reference.dome_tree(*graph, rho, labels, founders, measure)


def test_of_borders_of_equal_level_the_shortest_is_crossed():
    scaled = np.array([900.0, 800.0, 500.0, 100.0])
    distances = np.array([[2.0, 3.0], [1.0, 3.0], [1.0, 2.0], [3.0, 3.0]])
    graph = KnnGraph(distances, np.array([[2, 3], [2, 3], [1, 0], [0, 1]], dtype=np.int32))
    tree = dome_tree(graph, 2, scaled, np.array([0, 1, 2, 0]), [0, 1, 2], "height")
    assert tree.tolist() == [(2, 1, 500.0, 0.0, 0, 0.0), (1, 0, 500.0, 300.0, 1, 300.0)]


def test_volumes_of_many_samples_are_rounded_once():
    n = 100_000  # in two stars, which no arc joins
    scaled = np.random.default_rng(0).uniform(1, 1000, n)
    centre = np.where(np.arange(n) < n // 2, 0, n // 2).astype(np.int32)
    scaled[[0, n // 2]] = 1000
    lists = KnnGraph(np.ones((n, 1)), np.where(centre == np.arange(n), centre + 1, centre)[:, None])
    tree = dome_tree(lists, 1, scaled, (centre > 0).astype(np.int32), [0, n // 2], "volume")
    sums = [sum(int(v * 2**52) for v in half.tolist()) / 2**52 for half in np.split(scaled, 2)]
    assert tree["volume"].tolist() == [min(sums)]


# Which domes count


class Expected:
    """The reference of a fitted model: tree, owners of samples and noise."""

    def __init__(self, problem, k, measure, logarithmic):
        self.DQ, self.squared, self.log_k = problem.DQ, problem.squared, k if logarithmic else None
        self.model = cluster_model(problem.D, problem.squared, n_neighbors=k, logarithmic=logarithmic)
        self.rho = reference.scale_density(self.model.estimate.density, k=self.log_k)
        self.founders = founders(self.model)
        lists = reference.knn(problem.D, k)
        labels = self.model.labels, self.founders
        self.tree = reference.dome_tree(*lists, self.rho, *labels, measure)
        self.sizes = [row[3 + MEASURES.index(measure)] for row in self.tree]
        self.clear = reference.clear_height(lists[0], self.model.estimate.density, problem.squared)

    def n_above(self, sizes, least):
        """Clusters that are left once domes that measure less are absorbed."""
        low = [row[2] > 0 and size < least for row, size in zip(self.tree, sizes, strict=True)]
        return len(self.founders) - sum(low)

    def owner(self, n_clusters):
        return reference.merge_domes(self.tree, self.model.labels, self.founders, n_clusters)

    def labels(self, n_clusters, share=0.0):
        owner = self.owner(n_clusters)
        kept = [q for q in self.founders if q in owner]
        left_out = reference.noise(self.rho, owner, share)
        return [-1 if out else kept.index(q) for q, out in zip(owner, left_out, strict=True)]

    def predictions(self, n_clusters, share):
        """Of the clusters that have absorbed those found; noise is below the lowest level of its cluster."""
        owner, labels = self.owner(n_clusters), np.array(self.labels(n_clusters, share))
        kept = [q for q in self.founders if q in owner]
        clusters = predict_cluster(self.model, self.DQ, self.squared, self.log_k is not None)
        clusters = [kept.index(owner[self.founders[c]]) for c in clusters]
        rho, k, _, width = self.model.estimate
        own = reference.density(reference.nearest(self.DQ, k)[0], width, self.squared)
        own = reference.scale_density(own, rho.min(), rho.max(), self.log_k)
        levels = zip(clusters, own, strict=True)
        return [-1 if share and level < self.rho[labels == c].min() else c for c, level in levels]


@given(data=st.data())
def test_domes_are_chosen_as_the_reference_chooses(data):
    problem = data.draw(measured_problems(smallest=2, largest=40))
    measure, share = data.draw(measures), data.draw(st.sampled_from([0.0, 0.05, 0.9, "auto"]))
    k = data.draw(st.integers(1, min(15, len(problem.X) - 1)))
    selection = data.draw(st.sampled_from(["clear", "clear", "cut"]))
    expected = Expected(problem, k, measure, selection == "clear")
    some = data.draw(st.integers(1, len(expected.founders)))
    limit = data.draw(st.sampled_from([size for size in expected.sizes if size > 0] or [0.5]))
    heights = [row[3] for row in expected.tree]
    least = expected.clear * (1 - 1e-9) if selection == "clear" else 0.0  # sums are rounded elsewhere
    choices = [
        ({}, expected.n_above(heights, least)),
        ({"n_clusters": some}, some),
        ({"threshold": limit}, expected.n_above(expected.sizes, limit)),
    ]
    choice, n_clusters = data.draw(st.sampled_from(choices))
    settings = {"n_neighbors": k, "measure": measure, "noise": share, "selection": selection, **choice}
    model = OPFClustering(**settings, **problem.params).fit(problem.X)
    assert model.cluster_tree_.tolist() == expected.tree
    assert model.root_.tolist() == expected.owner(n_clusters)
    assert model.labels_.tolist() == expected.labels(n_clusters, share)
    assert model.cluster_roots_.tolist() == [q for q in expected.founders if q in model.root_]
    assert model.layer(some).tolist() == expected.labels(some, share)
    assert model.predict(problem.Q).tolist() == expected.predictions(n_clusters, share)


@given(measured_problems(smallest=2, largest=40), st.integers(1, 39))
def test_the_height_of_a_clear_dome_is_that_of_the_reference(problem, k):
    distances, _ = reference.knn(problem.D, min(k, len(problem.X) - 1))
    rho = reference.density(distances, reference.kernel_width(distances, problem.squared), problem.squared)
    got = _core.clear_height(distances, distances.shape[1], problem.squared, rho.min(), rho.max())
    assert got == pytest.approx(reference.clear_height(distances, rho, problem.squared), rel=1e-9)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (16, 4), (70, 5), (400, 10), (1000, 15), (10_000, 25)])
def test_the_neighbourhood_grows_slowly_with_the_samples(n, k):
    assert OPFClustering().fit(np.random.default_rng(0).normal(size=(n, 2))).best_k_ == k


@given(problems(smallest=2, largest=40), st.integers(1, 12))
def test_the_search_takes_the_best_neighbourhood_that_gives_enough_clusters(problem, n_clusters):
    plain = every_dome(k_max=8).fit(problem.X)
    tried = range(1, len(plain.cuts_) + 1)
    counts = [len(every_dome(n_neighbors=k).fit(problem.X).cluster_roots_) for k in tried]
    all_tried = zip(plain.cuts_, tried, counts, strict=True)
    enough = [(cut, k) for cut, k, count in all_tried if count >= n_clusters]
    model = every_dome(k_max=8, n_clusters=n_clusters)
    if enough:
        assert (model.fit(problem.X).best_k_, len(model.cluster_roots_)) == (min(enough)[1], n_clusters)
    else:
        with pytest.raises(ValueError, match=f"n_clusters={n_clusters} .* {max(counts)} maxima"):
            model.fit(problem.X)


def test_fewer_neighbours_are_taken_if_the_clusters_asked_for_need_it():
    X, _ = make_samples("gaussian", 0, 40, 2)
    counts = [len(OPFClustering(n_neighbors=k).fit(X).cluster_tree_) + 1 for k in range(1, 6)]
    n_clusters = counts[4] + 1
    model = OPFClustering(n_clusters=n_clusters).fit(X)
    assert model.best_k_ == max(k for k, count in enumerate(counts, 1) if count >= n_clusters) < 5
    assert len(model.cluster_roots_) == n_clusters


@pytest.mark.parametrize("seed", range(3))
def test_moons_and_blobs_are_found(seed):
    centres = [[0, 0], [9, 0], [0, 9], [9, 9], [20, 20]]
    blobs = make_blobs([300, 200, 100, 100, 60], centers=centres, random_state=seed)
    for (X, y), n in ((make_moons(400, noise=0.07, random_state=seed), 2), (blobs, 5)):
        assert len(np.unique(np.column_stack([OPFClustering().fit_predict(X), y]), axis=0)) == n


@pytest.mark.parametrize("n_features", [1, 2, 5, 10])
def test_one_blob_is_one_cluster_and_a_far_outlier_hides_none(n_features):
    X = np.random.default_rng(0).normal(size=(3000, n_features))
    assert len(OPFClustering().fit(X).cluster_roots_) == 1
    apart = np.concatenate([X, X + 9, np.full((1, n_features), 1e6)])
    labels = OPFClustering().fit_predict(apart)
    assert (labels[:3000] == labels[0]).all()
    assert (labels[3000:6000] == 1 - labels[0]).all()


def test_noise_is_found_where_there_is_some():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(900, 2)), rng.uniform(-20, 20, (100, 2))])
    is_noise = OPFClustering(noise="auto").fit_predict(X) == -1
    assert is_noise[900:].mean() > 0.8
    assert is_noise[:900].mean() < 0.05
    assert not (OPFClustering(noise="auto").fit_predict(rng.uniform(size=(1000, 2))) == -1).any()
