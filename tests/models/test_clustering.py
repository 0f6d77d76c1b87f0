"""OPFClustering equals the reference clustering, for training and for new samples."""

from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference_models import cluster_model, predict_cluster
from strategies import METRICS, distance_settings, make_samples, problems

from pathforest import OPFClustering

every_dome = partial(OPFClustering, selection="cut")


def draw_case(data, largest=50):
    """A problem, its reference clustering, the fitted estimator and the distances to the queries."""
    metric, p = data.draw(st.sampled_from(METRICS))
    problem = data.draw(problems(largest=largest))
    k_max = data.draw(st.sampled_from([1, 5, 20, max(1, len(problem.X) - 1)]))
    D = reference.distance_matrix(problem.X, problem.X, metric, p)
    model = every_dome(k_max=k_max, **distance_settings(data.draw, metric, p)).fit(problem.X)
    DQ = reference.distance_matrix(problem.Q, problem.X, metric, p)
    return problem, cluster_model(D, metric in reference.SQUARED, k_max), model, DQ


@given(data=st.data())
def test_cluster_roots_are_the_maxima_in_order_of_birth(data):
    _, expected, model, _ = draw_case(data)
    births = [expected.root[expected.labels == c][0] for c in range(expected.labels.max() + 1)]
    np.testing.assert_array_equal(model.cluster_roots_, births)


@given(data=st.data())
def test_density_cuts_and_best_k_equal_the_reference(data):
    _, expected, model, _ = draw_case(data)
    for name in ("density", "cuts", "best_k"):
        np.testing.assert_array_equal(
            getattr(model, f"{name}_"), getattr(expected.estimate, name), err_msg=name
        )


@given(data=st.data())
def test_clusters_and_their_forest_equal_the_reference(data):
    _, expected, model, _ = draw_case(data)
    for name in ("labels", "cost", "predecessor", "root"):
        np.testing.assert_array_equal(getattr(model, f"{name}_"), getattr(expected, name), err_msg=name)


@given(data=st.data())
def test_new_samples_join_the_cluster_of_their_conqueror(data):
    problem, expected, model, DQ = draw_case(data)
    squared = model.metric in reference.SQUARED
    np.testing.assert_array_equal(model.predict(problem.Q), predict_cluster(expected, DQ, squared))


@given(problems(smallest=3, largest=50), st.data())
def test_n_neighbors_fixes_k(problem, data):
    k = data.draw(st.integers(1, len(problem.X) - 1))
    D = reference.distance_matrix(problem.X, problem.X)
    got = every_dome(n_neighbors=k).fit_predict(problem.X)
    np.testing.assert_array_equal(got, cluster_model(D, False, n_neighbors=k).labels)


def test_one_sample_is_one_cluster():
    model = every_dome().fit([[3.0]])
    learned = model.labels_, model.cluster_roots_, model.best_k_, model.predict([[8.0]])
    assert learned == ([0], [0], 0, [0])


def test_equal_samples_are_one_cluster():
    assert every_dome().fit_predict(np.full((30, 2), 4.5)).tolist() == [0] * 30


def test_two_far_blobs_are_two_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 100])
    labels = every_dome(n_neighbors=40).fit_predict(X)
    assert (len(set(labels[:50])), len(set(labels[50:])), len(set(labels))) == (1, 1, 2)


@pytest.mark.parametrize("exponent", [-40, 7])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev"])
def test_scaling_by_a_power_of_two_leaves_clusters_alone(metric, exponent):
    X, _ = make_samples("gaussian", 0, 80, 3)
    model = every_dome(metric=metric)
    np.testing.assert_array_equal(model.fit_predict(X), model.fit_predict(X * 2.0**exponent))


@pytest.mark.parametrize("seed", range(6))
def test_new_samples_between_clusters_are_scaled_by_the_training_width(seed):
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 12, size=(25, 2)).astype(float), rng.uniform(-1, 12, size=(100, 2))
    expected = cluster_model(reference.distance_matrix(X, X), False, 8)
    got = every_dome(k_max=8).fit(X).predict(Q)
    np.testing.assert_array_equal(got, predict_cluster(expected, reference.distance_matrix(Q, X), False))
