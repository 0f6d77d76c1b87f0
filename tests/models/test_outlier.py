"""OPFOutlierDetector scores by the density of the reference, and keeps scikit-learn's outlier contract."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import reference
from checks import same_values
from hypothesis import given
from hypothesis import strategies as st
from reference.models import estimate_density
from strategies import make_samples, measured_problems, problems

from pathforest import OPFOutlierDetector


def exact_log_density(row, width, squared):
    """Logarithm of Eq. 3 in arithmetic without underflow."""
    with localcontext() as context:
        context.prec = 60
        terms = [-(Decimal(d) if squared else Decimal(d) ** 2) / Decimal(width) for d in row]
        return float(max(terms) + sum((t - max(terms)).exp() for t in terms).ln())


def expected_scores(D, DQ, squared, k_max):
    """Scores of queries by their definition, given all distances."""
    rho, k, _, width = estimate_density(D, squared, k_max)
    if k == 0:
        return np.ones(len(DQ))
    low, high = math.log(rho.min()), math.log(rho.max())
    scores = []
    for row in reference.nearest(DQ, k + 1)[0]:
        others = row[1:] if row[0] == 0 else row[:-1]
        if width > 0:
            value = exact_log_density(others.tolist(), width, squared)
        else:  # the unit of the metric, and the mean: 0 where all distances are
            value = exact_log_density(others.tolist(), 1.0, squared) - math.log(k)
        scores.append(1 + (value - high) / (high - low if high > low else 1.0))
    return np.array(scores)


def flat(model):
    """Whether densities differ by rounding alone: the scale then stretches rounding errors."""
    return 1 < model.density_.max() / model.density_.min() < 1 + 1e-9


@given(measured_problems(largest=40), st.sampled_from([1, 5, 20]))
def test_scores_equal_their_definition(problem, k_max):
    X, _, Q, _, D, DQ, squared, params = problem
    model = OPFOutlierDetector(k_max=k_max, **params).fit(X)
    *density, _ = estimate_density(D, squared, k_max)
    same_values(model, dict(zip(("density", "best_k", "cuts"), density, strict=True)))
    if not flat(model):
        expected = expected_scores(D, DQ, squared, k_max)
        np.testing.assert_allclose(model.score_samples(Q), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "log_sqeuclidean", "chebyshev"])
@pytest.mark.parametrize("recipe", ["gaussian", "all equal", "duplicates"])
@pytest.mark.parametrize("n", [2, 30])
def test_scores_equal_their_definition_where_the_density_is_zero(metric, recipe, n):
    X, _ = make_samples(recipe, 5, n, 2)
    Q = np.array([[30.0, 0.0], [1e3, 1.0], [1e9, 1.0], [1e60, 1.0]])
    D, DQ = (reference.distance_matrix(A, X, metric) for A in (X, Q))
    got = OPFOutlierDetector(metric=metric).fit(X).score_samples(Q)
    np.testing.assert_allclose(got, expected_scores(D, DQ, metric in reference.SQUARED, 20), rtol=1e-9)
    assert (np.diff(got) < 0).all()


@given(problems(largest=60), st.sampled_from(["auto", 0.1, 0.5]))
def test_fit_predict_and_predict_agree_on_training_samples(problem, contamination):
    model = OPFOutlierDetector(contamination=contamination)
    np.testing.assert_array_equal(model.fit_predict(problem.X), model.fit(problem.X).predict(problem.X))


@pytest.mark.parametrize("metric", ["correlation", "mahalanobis", "seuclidean", "cosine", "chi2"])
def test_they_agree_if_the_metric_rounds_the_distance_from_a_sample_to_itself(metric):
    X = np.abs(make_samples("gaussian", 4, 200, 5)[0]) + 0.01
    model = OPFOutlierDetector(metric=metric, contamination=0.1)
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))
    np.testing.assert_allclose(model.score_samples(X), model._training_scores(), atol=1e-9)


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.25, 0.5])
def test_contamination_is_the_share_of_training_outliers_the_sparsest(contamination):
    X, _ = make_samples("gaussian", 1, 200, 3)
    model = OPFOutlierDetector(contamination=contamination)
    found = np.flatnonzero(model.fit_predict(X) == -1)
    assert set(found) == set(np.argsort(model.density_)[: round(200 * contamination)])


def test_auto_is_tukey_s_outer_fence():
    X, _ = make_samples("gaussian", 2, 100, 2)
    model = OPFOutlierDetector().fit(X)
    low, high = np.percentile(model.score_samples(X), [25, 75])
    assert model.offset_ == pytest.approx(low - 3 * (high - low))
