"""The oracle itself, against independent implementations and against the theory."""

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, nan_euclidean_distances
from strategies import BRUTE_METRICS, METRICS, problems

EVERY_METRIC = METRICS + BRUTE_METRICS


@pytest.mark.parametrize(("metric", "p"), EVERY_METRIC)
def test_distances_mean_what_their_names_say(metric, p):
    rng = np.random.default_rng(0)
    A, B = rng.random((20, 5)), rng.random((30, 5))
    if metric == "chi2":
        expected = -additive_chi2_kernel(A, B)
    elif metric == "log_sqeuclidean":
        expected = 1e5 * np.log1p(cdist(A, B, "sqeuclidean"))
    elif metric == "minkowski":
        expected = cdist(A, B, "minkowski", p=p)
    elif metric == "nan_euclidean":
        A[::3, 1:], B[::2, ::2] = np.nan, np.nan
        B[:, 0] = A[:20, 0].mean()
        expected = nan_euclidean_distances(A, B)
    elif metric == "gower":
        expected = cdist(A, B, "cityblock") / 5
    else:
        expected = cdist(A, B, "cityblock" if metric == "manhattan" else metric)
    np.testing.assert_allclose(reference.distance_matrix(A, B, metric, p), expected, rtol=1e-12)


def test_powers_and_logarithms_are_those_of_many_decimal_digits():
    x = np.concatenate([10 ** np.random.default_rng(0).uniform(-12, 12, 200), [0, 1, 3e-310, 2.0**17 + 1]])
    for y in (1.5, 3.0, 1 / 3):
        assert reference.power(x, y).tolist() == [reference.exact_power(float(v), y) for v in x]
    expected = [reference.exact_log_of_one_plus(float(v)) for v in x]
    assert reference.log_of_one_plus(x).tolist() == expected


def test_spanning_tree_weighs_what_scipy_weighs():
    D = reference.distance_matrix(*[np.random.default_rng(1).normal(size=(60, 3))] * 2)
    weight = reference.spanning_tree(D)[2]
    assert weight.sum() == pytest.approx(minimum_spanning_tree(D).sum(), rel=1e-12)


@given(problems())
def test_plain_competition_follows_the_spanning_tree(problem):
    D = reference.distance_matrix(problem.X, problem.X)
    tree = reference.spanning_tree(D)
    seeds = reference.prototypes(tree, problem.codes)
    cost, _, root, order = reference.compete(D, seeds, np.ones(len(D)))
    along, _, along_root, along_order = reference.compete(D, seeds, np.ones(len(D)), tree=tree)
    checks.same_arrays((along, along_root, along_order), (cost, root, order))
