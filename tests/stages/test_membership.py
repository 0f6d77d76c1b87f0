"""Densities, clusters, cuts and memberships equal Algorithm 2 and Eq. 3 and 5."""

import math
from decimal import Decimal, localcontext

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import make_samples, problems

from pathforest import _core

pytestmark = pytest.mark.kernel


def kernel_value(d):
    """Eq. 3 for a single neighbour at distance d whose divisor is 1: exp(-d)."""
    return _core.query_density(np.array([[d]]), 4.5, True)[0]


@given(st.one_of(st.floats(0, 5), st.floats(0, 745.1), st.floats(700, 745.1)))
def test_the_exponential_is_within_one_unit_in_the_last_place_and_underflows_to_zero(d):
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(-d).exp()
        error = abs(Decimal(float(kernel_value(d))) - exact)
        assert error <= Decimal(math.ulp(float(exact)))
    assert kernel_value(0.0) == 1
    assert [kernel_value(far) for far in (745.2, 746.0, 1e4, 1e300, math.inf)] == [0] * 5


@given(data=st.data())
def test_clustering_equals_algorithm_2_on_any_plateaus_and_within_classes(data):
    X, codes, _, k = data.draw(problems(smallest=2))
    distances, indices = reference.knn(reference.distance_matrix(X, X), k)
    levels = np.array([1.0, 1.5, 2.0, 3.0, 500.0, 999.5, 1000.0])
    rho = levels[np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 7, size=len(X))]
    for given_codes in (None, codes.astype(np.int32), np.zeros(len(X), dtype=np.int32)):
        expected = reference.cluster(distances, indices, rho, given_codes)[:4]
        checks.same_arrays(_core.cluster(distances, indices, k, rho, given_codes), expected)


@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates", "far clusters"])
def test_clusters_and_cuts_of_hundreds_of_samples_equal_algorithm_2(recipe):
    # More k than are tried together, whatever the number of threads; with duplicates, k = 1 has plateaus.
    X, _ = make_samples(recipe, 5, 300, 2)
    lists = reference.knn(reference.distance_matrix(X, X), 25)
    cuts = reference.search_k(*lists, 25, False)[1]
    for n_threads in (1, 11):
        np.testing.assert_array_equal(_core.search_k(*lists, 25, False, n_threads=n_threads), cuts)
    rho = reference.scale_density(reference.density(lists[0], reference.kernel_width(lists[0], False), False))
    checks.same_arrays(_core.cluster(*lists, 25, rho), reference.cluster(*lists, rho)[:4])


def test_the_cut_is_a_number_where_the_inverse_of_a_distance_overflows():
    X = np.random.default_rng(0).integers(0, 60, size=(40, 2)).astype(float)
    distances, indices = _core.Engine.brute(X, "sqeuclidean").knn(5)
    tiny = np.ldexp(distances, -1035)
    assert 1 / float(tiny.max()) > 1e300
    cuts = _core.search_k(tiny, indices, 5, True)
    np.testing.assert_array_equal(cuts, _core.search_k(distances, indices, 5, True))
    assert cuts.min() > 0
