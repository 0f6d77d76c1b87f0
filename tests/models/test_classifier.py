"""OPFClassifier equals the reference model in everything it learns and answers."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference.models import class_costs, plain_model
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, problems

from pathforest import OPFClassifier


@st.composite
def cases(draw, **parameters):
    """A problem, its reference model, the fitted estimator and the distances to the queries."""
    metric, p = draw(st.sampled_from(METRICS + BRUTE_METRICS))
    problem = draw(problems(non_negative=metric in NON_NEGATIVE))
    # Gower's ranges are those of the training samples.
    distances = (
        partial(reference.gower_matrix, ranges=np.ptp(problem.X.astype(float), axis=0))
        if metric == "gower"
        else partial(reference.distance_matrix, metric=metric, p=p)
    )
    D, DQ = distances(problem.X, problem.X), distances(problem.Q, problem.X)
    params = {"metric": metric, "metric_params": {"p": p} if metric == "minkowski" else None, **parameters}
    how = {
        "algorithm": draw(st.sampled_from(["auto", "brute"])),
        "n_jobs": draw(st.sampled_from([None, 2, 3])),
    }
    model = OPFClassifier(**params, **how).fit(problem.X, problem.codes)
    return problem, plain_model(D, problem.codes), model, DQ


@given(cases())
def test_every_fitted_array_and_every_prediction_equal_the_reference(case):
    problem, expected, model, DQ = case
    for name, value in expected._asdict().items():
        np.testing.assert_array_equal(getattr(model, f"{name}_"), value, err_msg=name)
    winners = reference.conquer(DQ, expected.cost, expected.order)[1][:, 0]
    np.testing.assert_array_equal(model.predict(problem.Q), expected.label[winners])


@pytest.mark.parametrize("r", [1, 2, 5, 100])
@given(data=st.data())
def test_class_costs_are_means_of_the_cheapest_offers_and_the_smallest_wins(r, data):
    problem, expected, model, DQ = data.draw(cases(n_conquerors=r))
    costs, winners = class_costs(expected, DQ, problem.codes, r)
    np.testing.assert_array_equal(model.class_costs(problem.Q), costs)
    np.testing.assert_array_equal(model.predict(problem.Q), winners)


def test_any_number_of_conquerors_is_legal():
    X, y = [[0.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    everyone, more = [OPFClassifier(n_conquerors=r).fit(X, y).class_costs(X) for r in (4, 2**40)]
    np.testing.assert_array_equal(more, everyone)


@pytest.mark.parametrize("beta", [0.5, 8.0, 50.0, Fraction(1, 2)])
@given(data=st.data())
def test_probabilities_follow_the_ratios_of_class_costs(beta, data):
    problem, _, model, _ = data.draw(cases(beta=beta, n_conquerors=2))
    expected = reference.probabilities(model.class_costs(problem.Q), float(beta))
    np.testing.assert_allclose(model.predict_proba(problem.Q), expected, rtol=1e-10, atol=1e-300)


def learned(model, *queries):
    """What the examples below look at."""
    return model.prototypes_.tolist(), model.cost_.tolist(), model.predict(np.array(queries)).tolist()


def test_examples_by_hand():
    # Two classes on a line; the bridge is 2 - 4, so 2 and 4 (positions 1 and 2) are the prototypes.
    model = OPFClassifier().fit([[0.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    assert learned(model, [2.9], [3.1]) == ([1, 2], [2.0, 0.0, 0.0, 1.0], ["a", "b"])
    one = OPFClassifier().fit([[1.0, 2.0]], ["only"])
    assert learned(one, [9.0, 9.0]) == ([0], [0.0], ["only"])
    one_class = OPFClassifier().fit([[3.0], [1.0], [2.0]], [7, 7, 7])
    assert (one_class.prototypes_.tolist(), one_class.root_.tolist()) == ([0], [0, 0, 0])
    tie = OPFClassifier().fit([[0.0], [2.0]], ["z", "a"])  # goes to the first in order
    assert tie.predict([[1.0]]).tolist() == ["z"]


def test_float32_samples_neither_overflow_nor_round_queries():
    huge = OPFClassifier().fit(np.array([[0.0], [1e30], [2.5e30], [3e30]], dtype=np.float32), [0, 0, 1, 1])
    assert np.all(np.isfinite(huge.cost_))
    # 1.5 + 2**-40 is nearer to 3 than to 0; rounded to float32 it would be a tie, won by the first sample.
    model = OPFClassifier().fit(np.array([[0.0], [3.0]], dtype=np.float32), ["first", "second"])
    assert model.predict(np.array([[1.5 + 2.0**-40]])).tolist() == ["second"]
