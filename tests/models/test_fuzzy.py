"""FuzzyOPFClassifier equals the reference model for both competitions, both sides and any sigma."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference_models import class_costs, estimate_density, fuzzy_model
from strategies import METRICS, distance_settings, problems

from pathforest import FuzzyOPFClassifier, TrainingErrorWarning
from pathforest.fuzzy import warn_of_training_error

competitions = pytest.mark.parametrize("competition", ["complete", "tree"])
sides = pytest.mark.parametrize("side", ["target", "source"])


def fit(X, y, **parameters):
    """A fitted model, lost training labels or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        return FuzzyOPFClassifier(**parameters).fit(X, y)


def draw_case(data, competition="complete", side="target", largest=60, **parameters):
    """A problem, the reference density and model, and the fitted estimator."""
    metric, p = data.draw(st.sampled_from(METRICS))
    problem = data.draw(problems(largest=largest))
    sigma = data.draw(st.sampled_from([0.01, 0.2, 0.8, 0.99, 1.0] + [1.2] * (competition == "complete")))
    k_max = data.draw(st.sampled_from([1, 5, 12, max(1, len(problem.X) - 1)]))
    D = reference.distance_matrix(problem.X, problem.X, metric, p)
    density = estimate_density(D, metric in reference.SQUARED, k_max)
    F = reference.membership(density.density, sigma)
    expected = fuzzy_model(D, problem.codes, F, competition, side)
    model = fit(
        problem.X,
        problem.codes,
        sigma=sigma,
        k_max=k_max,
        competition=competition,
        membership_side=side,
        **distance_settings(data.draw, metric, p),
        **parameters,
    )
    DQ = reference.distance_matrix(problem.Q, problem.X, metric, p)
    return problem, density, F, expected, model, DQ


@competitions
@sides
@given(data=st.data())
def test_every_forest_array_equals_the_reference(side, competition, data):
    *_, expected, model, _ = draw_case(data, competition, side)
    for name, value in expected._asdict().items():
        np.testing.assert_array_equal(getattr(model, f"{name}_"), value, err_msg=name)


@given(data=st.data())
def test_membership_equals_the_reference(data):
    _, _, F, _, model, _ = draw_case(data)
    np.testing.assert_array_equal(model.membership_, F)


@given(data=st.data())
def test_density_cuts_and_best_k_equal_the_reference(data):
    _, density, _, _, model, _ = draw_case(data)
    for name in ("density", "cuts", "best_k"):
        np.testing.assert_array_equal(getattr(model, f"{name}_"), getattr(density, name), err_msg=name)


@competitions
@given(data=st.data())
def test_training_error_is_the_share_of_labels_lost(competition, data):
    problem, _, _, expected, model, _ = draw_case(data, competition)
    assert model.training_error_ == np.mean(expected.label != problem.codes)


@competitions
@given(data=st.data())
def test_prediction_equals_a_full_scan(competition, data):
    problem, _, _, expected, model, DQ = draw_case(data, competition)
    winners = reference.conquer(DQ, expected.cost, expected.order)[1][:, 0]
    np.testing.assert_array_equal(model.predict(problem.Q), expected.label[winners])


@given(data=st.data())
def test_class_costs_use_propagated_labels(data):
    problem, _, _, expected, model, DQ = draw_case(data, n_conquerors=3)
    costs, _ = class_costs(expected, DQ, problem.codes, 3)
    np.testing.assert_array_equal(model.class_costs(problem.Q), costs)


@given(data=st.data())
def test_more_conquerors_predict_the_cheapest_class(data):
    problem, _, _, expected, model, DQ = draw_case(data, n_conquerors=3)
    _, winners = class_costs(expected, DQ, problem.codes, 3)
    np.testing.assert_array_equal(model.predict(problem.Q), winners)


@given(problems(smallest=3), st.data())
def test_n_neighbors_fixes_k(problem, data):
    k = data.draw(st.integers(1, len(problem.X) - 1))
    D = reference.distance_matrix(problem.X, problem.X)
    model = fit(problem.X, problem.codes, n_neighbors=k)
    np.testing.assert_array_equal(model.density_, estimate_density(D, False, n_neighbors=k).density)


@competitions
@given(problems())
def test_a_callable_replaces_the_squared_density(competition, problem):
    values = np.random.default_rng(0).random(len(problem.X))
    model = fit(problem.X, problem.codes, membership=lambda X, y: values, sigma=0.5, competition=competition)
    D = reference.distance_matrix(problem.X, problem.X)
    expected = fuzzy_model(D, problem.codes, 0.5 * values + 0.5, competition)
    np.testing.assert_array_equal(model.cost_, expected.cost)


def test_a_callable_sees_samples_and_the_user_s_labels():
    seen = {}

    def remember(X, y):
        seen.update(X=np.array(X), y=list(y))
        return np.ones(len(X))

    FuzzyOPFClassifier(membership=remember).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    assert (seen["X"].tolist(), seen["y"]) == ([[0.0], [1.0], [5.0]], ["a", "a", "b"])


@pytest.mark.parametrize("membership", ["density", lambda X, y: np.linspace(0, 1, len(X))])
def test_a_fraction_is_a_sigma_like_any_other(membership):
    X, y = leaking_problem()
    exact, plain = [fit(X, y, sigma=s, membership=membership).membership_ for s in (Fraction(4, 5), 0.8)]
    assert (exact.dtype, exact.tolist()) == (np.float64, plain.tolist())


def test_a_narrow_sigma_is_widened_before_it_is_used():
    X, y = leaking_problem()
    narrow, wide = [fit(X, y, sigma=s).membership_ for s in (np.float32(0.2), float(np.float32(0.2)))]
    np.testing.assert_array_equal(narrow, wide)


def test_one_sample_is_legal():
    model = FuzzyOPFClassifier().fit([[1.0, 2.0]], ["only"])
    learned = model.prototypes_.tolist(), model.cost_.tolist(), model.membership_.tolist(), model.best_k_
    assert learned == ([0], [0.0], [1.0], 0)


def leaking_problem():
    """A grid on which Algorithm 3 loses a third of the training labels at sigma = 0.2."""
    X = np.random.default_rng(2).integers(0, 12, size=(80, 2)).astype(float)
    return X, (X[:, 0] > 6).astype(int)


def test_lost_training_labels_are_warned_about():
    with pytest.warns(TrainingErrorWarning, match="competition='tree'"):
        FuzzyOPFClassifier(sigma=0.2).fit(*leaking_problem())


def test_the_warning_of_lost_labels_points_at_the_caller_s_line():
    with pytest.warns(TrainingErrorWarning) as issued:
        FuzzyOPFClassifier(sigma=0.2).fit(*leaking_problem())
    assert issued[0].filename == __file__


def test_the_way_out_of_lost_training_labels_works():
    assert FuzzyOPFClassifier(sigma=0.2, competition="tree").fit(*leaking_problem()).training_error_ == 0


@pytest.mark.parametrize(("error", "warned"), [(0.0, False), (0.05, False), (0.0501, True)])
def test_more_than_one_lost_label_in_twenty_is_warned_about(error, warned):
    model = FuzzyOPFClassifier()
    model.training_error_ = error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_training_error(model)
    assert bool(caught) == warned
