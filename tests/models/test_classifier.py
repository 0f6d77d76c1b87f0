"""OPFClassifier equals the reference model in everything it learns and answers."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference_models import class_costs, plain_model
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, problems

from pathforest import OPFClassifier

settings = {"algorithm": st.sampled_from(["auto", "brute"]), "n_jobs": st.sampled_from([None, 2, 3])}


def draw_case(data, **parameters):
    """A problem, its reference model, the fitted estimator and the distances to the queries."""
    metric, p = data.draw(st.sampled_from(METRICS + BRUTE_METRICS))
    problem = data.draw(problems(non_negative=metric in NON_NEGATIVE))
    # Gower's ranges are those of the training samples.
    distances = (
        partial(reference.gower_matrix, ranges=np.ptp(problem.X.astype(float), axis=0))
        if metric == "gower"
        else partial(reference.distance_matrix, metric=metric, p=p)
    )
    D, DQ = distances(problem.X, problem.X), distances(problem.Q, problem.X)
    params = {"metric": metric, "metric_params": {"p": p} if metric == "minkowski" else None, **parameters}
    params |= {name: data.draw(values) for name, values in settings.items()}
    model = OPFClassifier(**params).fit(problem.X, problem.codes)
    return problem, plain_model(D, problem.codes), model, DQ


@given(data=st.data())
def test_every_fitted_array_equals_the_reference(data):
    _, expected, model, _ = draw_case(data)
    for name, value in expected._asdict().items():
        np.testing.assert_array_equal(getattr(model, f"{name}_"), value, err_msg=name)


@given(data=st.data())
def test_prediction_equals_a_full_scan(data):
    problem, expected, model, DQ = draw_case(data)
    winners = reference.conquer(DQ, expected.cost, expected.order)[1][:, 0]
    np.testing.assert_array_equal(model.predict(problem.Q), expected.label[winners])


@pytest.mark.parametrize("r", [1, 2, 5, 100])
@given(data=st.data())
def test_class_costs_are_the_mean_of_the_cheapest_offers(r, data):
    problem, expected, model, DQ = draw_case(data, n_conquerors=r)
    costs, _ = class_costs(expected, DQ, problem.codes, r)
    np.testing.assert_array_equal(model.class_costs(problem.Q), costs)


@pytest.mark.parametrize("r", [2, 5, 100])
@given(data=st.data())
def test_the_class_with_the_smallest_cost_wins(r, data):
    problem, expected, model, DQ = draw_case(data, n_conquerors=r)
    _, winners = class_costs(expected, DQ, problem.codes, r)
    np.testing.assert_array_equal(model.predict(problem.Q), winners)


def test_any_number_of_conquerors_is_legal():
    X, y = [[0.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    everyone, more = [OPFClassifier(n_conquerors=r).fit(X, y).class_costs(X) for r in (4, 2**40)]
    np.testing.assert_array_equal(more, everyone)


@pytest.mark.parametrize("beta", [0.5, 8.0, 50.0])
@given(data=st.data())
def test_probabilities_follow_the_ratios_of_class_costs(beta, data):
    problem, _, model, _ = draw_case(data, beta=beta, n_conquerors=2)
    expected = reference.probabilities(model.class_costs(problem.Q), beta)
    np.testing.assert_allclose(model.predict_proba(problem.Q), expected, rtol=1e-10, atol=1e-300)


def test_a_fraction_is_a_beta_like_any_other():
    model = OPFClassifier(beta=Fraction(1, 2)).fit([[0.0], [3.0]], [0, 1])
    np.testing.assert_array_equal(
        model.predict_proba([[1.0]]), model.set_params(beta=0.5).predict_proba([[1.0]])
    )


def test_textbook_example_by_hand():
    # Two classes on a line; the bridge is 2 - 4, so 2 and 4 (positions 1 and 2) are the prototypes.
    model = OPFClassifier().fit([[0.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    learned = model.prototypes_.tolist(), model.cost_.tolist(), model.predict([[2.9], [3.1]]).tolist()
    assert learned == ([1, 2], [2.0, 0.0, 0.0, 1.0], ["a", "b"])


def test_a_tie_between_classes_goes_to_the_first_in_order():
    model = OPFClassifier().fit([[0.0], [2.0]], ["z", "a"])
    assert model.predict([[1.0]]).tolist() == ["z"]


@pytest.mark.parametrize("metric", ["correlation", "jaccard", "mahalanobis"])
def test_prediction_from_distances_in_blocks_is_that_from_all_at_once(metric, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 5))
    X = (X > 0).astype(float) if metric == "jaccard" else X
    model = OPFClassifier(metric=metric, n_conquerors=3).fit(X, np.arange(30) % 3)
    expected = model.class_costs(X)
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_WORK", 2000)
    np.testing.assert_array_equal(model.class_costs(X), expected)


def test_one_sample_is_its_own_prototype():
    model = OPFClassifier().fit([[1.0, 2.0]], ["only"])
    learned = model.prototypes_.tolist(), model.cost_.tolist(), model.predict([[9.0, 9.0]]).tolist()
    assert learned == ([0], [0.0], ["only"])


def test_one_class_grows_from_its_first_sample():
    model = OPFClassifier().fit([[3.0], [1.0], [2.0]], [7, 7, 7])
    assert (model.prototypes_.tolist(), model.root_.tolist()) == ([0], [0, 0, 0])


def test_huge_float32_values_do_not_overflow():
    X = np.array([[0.0], [1e30], [2.5e30], [3e30]], dtype=np.float32)
    model = OPFClassifier().fit(X, [0, 0, 1, 1])
    assert np.all(np.isfinite(model.cost_))


def test_float64_queries_to_a_float32_model_are_not_rounded():
    # 1.5 + 2**-40 is nearer to 3 than to 0; rounded to float32 it would be a tie, won by the first sample.
    model = OPFClassifier().fit(np.array([[0.0], [3.0]], dtype=np.float32), ["first", "second"])
    assert model.predict(np.array([[1.5 + 2.0**-40]])).tolist() == ["second"]


@given(problems())
def test_explanations_name_the_conqueror_and_its_path(problem):
    model = OPFClassifier().fit(problem.X, problem.codes)
    DQ = reference.distance_matrix(problem.Q, problem.X)
    expected = reference.conquer(DQ, model.cost_, model.order_)[1][:, 0].tolist()
    given = [(e.conqueror, e.path[0], e.path[-1]) for e in model.explain(problem.Q)]
    assert given == [(q, q, model.root_[q]) for q in expected]


@given(problems())
def test_explanations_give_the_costs_along_the_path_and_the_label(problem):
    model = OPFClassifier(n_conquerors=2).fit(problem.X, problem.codes)
    for e in model.explain(problem.Q):
        assert e.costs == model.cost_[e.path].tolist()
        assert e.path[1:] == model.predecessor_[e.path[:-1]].tolist()
    assert [e.label for e in model.explain(problem.Q)] == model.predict(problem.Q).tolist()
