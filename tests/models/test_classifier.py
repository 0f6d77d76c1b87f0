"""OPFClassifier and FuzzyOPFClassifier equal the reference models in everything they learn and answer."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from checks import same_values
from hypothesis import given
from hypothesis import strategies as st
from reference.models import class_costs, estimate_density, fuzzy_model, plain_model
from scipy.sparse import csr_array
from strategies import BRUTE_METRICS, METRICS, measured_problems

from pathforest import FuzzyOPFClassifier, OPFClassifier, TrainingErrorWarning

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")


@pytest.mark.parametrize("r", [1, 2, 5, 2**40])
@given(measured_problems(METRICS + BRUTE_METRICS), st.sampled_from([0.5, 8.0, 50.0, Fraction(1, 2)]))
def test_every_array_and_answer_of_the_plain_model_equals_the_reference(r, problem, beta):
    X, codes, Q, _, D, DQ, _, params = problem
    model, expected = OPFClassifier(n_conquerors=r, beta=beta, **params).fit(X, codes), plain_model(D, codes)
    same_values(model, expected)
    costs, winners = class_costs(expected, DQ, codes, r)
    np.testing.assert_array_equal(model.class_costs(Q), costs)
    np.testing.assert_array_equal(model.predict(Q), winners)
    probabilities = reference.probabilities(costs, float(beta))
    np.testing.assert_allclose(model.predict_proba(Q), probabilities, rtol=1e-10, atol=1e-300)


def test_float32_samples_round_no_queries():
    # 1.5 + 2**-40 is nearer to 3 than to 0; rounded to float32 it would be a tie, won by the first sample.
    model = OPFClassifier().fit(np.array([[0.0], [3.0]], dtype=np.float32), ["first", "second"])
    assert model.predict(np.array([[1.5 + 2.0**-40]])).tolist() == ["second"]


# FuzzyOPFClassifier


@pytest.mark.parametrize("competition", ["complete", "tree"])
@pytest.mark.parametrize("side", ["target", "source"])
@given(data=st.data())
def test_every_array_and_answer_equals_the_reference(side, competition, data):
    X, codes, Q, k, D, DQ, squared, params = data.draw(measured_problems(largest=34))
    sigmas = [0.01, 0.2, 0.8, 0.99, 1.0] + [1.2] * (competition == "complete")
    params |= {
        "sigma": data.draw(st.sampled_from(sigmas)),
        "k_max": data.draw(st.sampled_from([1, 5, 12, max(1, len(X) - 1)])),
        "n_neighbors": data.draw(st.sampled_from([None, None, k or None])),
        "n_conquerors": data.draw(st.sampled_from([1, 1, 3])),
    }
    density = estimate_density(D, squared, params["k_max"], params["n_neighbors"])
    arrays = {name: getattr(density, name) for name in ("density", "cuts", "best_k")}
    F = reference.membership(density.density, params["sigma"])
    if data.draw(st.integers(0, 3)) == 0:  # a function replaces the squared density
        values = np.random.default_rng(0).random(len(X))
        params |= {"membership": lambda X, y: values, "sigma": 0.5}
        arrays, F = {}, 0.5 * values + 0.5
    expected = fuzzy_model(D, codes, F, competition, side)
    model = FuzzyOPFClassifier(competition=competition, membership_side=side, **params).fit(X, codes)
    arrays |= expected._asdict() | {"membership": F, "training_error": np.mean(expected.label != codes)}
    same_values(model, arrays)
    # Classes are those of the labels that paths have carried.
    costs, winners = class_costs(expected, DQ, codes, params["n_conquerors"])
    np.testing.assert_array_equal(model.class_costs(Q), costs)
    np.testing.assert_array_equal(model.predict(Q), winners)


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_a_callable_sees_samples_in_their_form_and_the_user_s_labels(form):
    samples, seen = form([[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]]), []
    FuzzyOPFClassifier(membership=lambda *given: seen.extend(given) or np.ones(3)).fit(
        samples, ["a", "a", "b"]
    )
    assert type(seen[0]) is type(samples)
    assert (seen[0] != samples).sum() == 0
    assert list(seen[1]) == ["a", "a", "b"]


def leaking_problem():
    """A grid on which Algorithm 3 loses a third of the training labels at sigma = 0.2, 11 % at 0.8."""
    X = np.random.default_rng(2).integers(0, 12, size=(80, 2)).astype(float)
    return X, (X[:, 0] > 6).astype(int)


def test_lost_training_labels_are_warned_about_at_the_caller_s_line_with_a_way_out_that_works():
    with pytest.warns(TrainingErrorWarning, match="competition='tree'") as issued:
        FuzzyOPFClassifier().fit(*leaking_problem())
    assert issued[0].filename == __file__
    assert FuzzyOPFClassifier(sigma=0.2, competition="tree").fit(*leaking_problem()).training_error_ == 0
