"""Identities that must hold whatever the data: they need no reference to be checked."""

import pickle
import warnings

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import make_codes, make_samples, problems

from pathforest import (
    FuzzyOPFClassifier,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    TrainingErrorWarning,
)

PLAIN = ["prototypes_", "cost_", "predecessor_", "root_", "order_", "label_", "classes_"]
ESTIMATORS = {
    "plain": OPFClassifier(),
    "plain-conquerors": OPFClassifier(n_conquerors=3),
    "complete": FuzzyOPFClassifier(sigma=0.5),
    "tree": FuzzyOPFClassifier(sigma=0.5, competition="tree"),
    "source": FuzzyOPFClassifier(sigma=0.5, membership_side="source"),
    "neighbours": OPFKNNClassifier(),
    "clustering": OPFClustering(),
}
with_probabilities = pytest.mark.parametrize(
    "model", list(ESTIMATORS.values())[:-2], ids=list(ESTIMATORS)[:-2]
)
every_estimator = pytest.mark.parametrize("model", ESTIMATORS.values(), ids=ESTIMATORS.keys())


def fit(model, X, y):
    """A fitted model, lost training labels or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingErrorWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("competition", ["complete", "tree"])
@pytest.mark.parametrize("side", ["target", "source"])
@given(problem=problems())
def test_sigma_one_is_plain_opf_in_every_fitted_array(competition, side, problem):
    plain = OPFClassifier().fit(problem.X, problem.codes)
    fuzzy = FuzzyOPFClassifier(sigma=1, competition=competition, membership_side=side)
    fuzzy.fit(problem.X, problem.codes)
    for name in PLAIN:
        np.testing.assert_array_equal(getattr(fuzzy, name), getattr(plain, name), err_msg=name)


@given(problems())
def test_plain_opf_keeps_every_training_label(problem):
    model = OPFClassifier().fit(problem.X, problem.codes)
    np.testing.assert_array_equal(model.label_, problem.codes)
    assert model.training_error_ == 0


@pytest.mark.parametrize("side", ["target", "source"])
@given(problem=problems(), sigma=st.floats(0.001, 1))
def test_tree_training_error_is_zero(side, problem, sigma):
    model = FuzzyOPFClassifier(competition="tree", sigma=sigma, membership_side=side)
    assert model.fit(problem.X, problem.codes).training_error_ == 0


@pytest.mark.parametrize("exponent", [-30, -1, 5, 40])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("model", [OPFClassifier(), FuzzyOPFClassifier(sigma=0.5)], ids=["plain", "fuzzy"])
@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
def test_scaling_by_a_power_of_two_changes_no_label(recipe, model, metric, exponent):
    X, Q = make_samples(recipe, 5, 60, 3)
    y, factor = make_codes("regions", 5, X), 2.0**exponent
    model.set_params(metric=metric)
    expected = fit(model, X, y).predict(Q)
    np.testing.assert_array_equal(fit(model, X * factor, y).predict(Q * factor), expected)


@pytest.mark.parametrize("seed", range(5))
def test_training_order_changes_no_label_when_weights_are_distinct(seed):
    X, Q = make_samples("gaussian", seed, 80, 2)
    y, shuffled = make_codes("random", seed, X), np.random.default_rng(seed).permutation(80)
    got = OPFClassifier().fit(X[shuffled], y[shuffled]).predict(Q[:4])
    np.testing.assert_array_equal(got, OPFClassifier().fit(X, y).predict(Q[:4]))


@pytest.mark.parametrize("increasing", ["sqeuclidean", "log_sqeuclidean"])
def test_an_increasing_function_of_the_distance_leaves_labels_alone(increasing):
    X, Q = make_samples("gaussian", 8, 80, 3)
    y = make_codes("random", 8, X)
    expected = OPFClassifier().fit(X, y).predict(Q)
    np.testing.assert_array_equal(OPFClassifier(metric=increasing).fit(X, y).predict(Q), expected)


@every_estimator
@given(problem=problems(largest=40), seed=st.integers(0, 99))
def test_predictions_do_not_depend_on_query_order(model, problem, seed):
    fit(model, problem.X, problem.codes)
    shuffled = np.random.default_rng(seed).permutation(len(problem.Q))
    np.testing.assert_array_equal(model.predict(problem.Q[shuffled]), model.predict(problem.Q)[shuffled])


@every_estimator
@given(problem=problems(largest=40))
def test_predictions_do_not_depend_on_batch_size(model, problem):
    fit(model, problem.X, problem.codes)
    one_by_one = np.concatenate([model.predict(q[None]) for q in problem.Q])
    np.testing.assert_array_equal(one_by_one, model.predict(problem.Q))


@every_estimator
@given(problem=problems(largest=40))
def test_pickling_changes_no_prediction(model, problem):
    fit(model, problem.X, problem.codes)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(problem.Q), model.predict(problem.Q))


@every_estimator
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads_change_no_fitted_array(model, n_jobs):
    X, _ = make_samples("grid", 2, 300, 3)
    y = make_codes("regions", 2, X)
    expected = {k: np.copy(v) for k, v in vars(fit(model, X, y)).items() if isinstance(v, np.ndarray)}
    threaded = fit(clone(model).set_params(n_jobs=n_jobs), X, y)
    for name, value in expected.items():
        np.testing.assert_array_equal(getattr(threaded, name), value, err_msg=name)


@every_estimator
@given(problem=problems(largest=40))
def test_precomputed_distances_change_no_prediction(model, problem):
    X, codes, Q, _ = problem
    D, DQ = reference.distance_matrix(X, X), reference.distance_matrix(Q, X)
    on_matrix = fit(clone(model).set_params(metric="precomputed"), D, codes)
    np.testing.assert_array_equal(on_matrix.predict(DQ), fit(model, X, codes).predict(Q))


def farthest_feature(a, b):
    """The Chebyshev distance, as a user might write it."""
    return np.abs(a - b).max()


@every_estimator
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
def test_a_callable_metric_changes_no_prediction(recipe, model):
    X, Q = make_samples(recipe, 7, 40, 3)
    y = make_codes("regions", 7, X)
    expected = fit(clone(model).set_params(metric="chebyshev"), X, y).predict(Q)
    got = fit(clone(model).set_params(metric=farthest_feature), X, y).predict(Q)
    np.testing.assert_array_equal(got, expected)


@with_probabilities
@given(problem=problems(largest=40))
def test_probabilities_agree_with_predictions_unless_costs_tie(model, problem):
    fit(model, problem.X, problem.codes)
    costs = np.sort(model.class_costs(problem.Q), axis=1)
    clear = np.ones(len(costs), dtype=bool) if costs.shape[1] == 1 else costs[:, 0] < costs[:, 1] * (1 - 1e-9)
    best = model.classes_[model.predict_proba(problem.Q).argmax(axis=1)]
    np.testing.assert_array_equal(best[clear], model.predict(problem.Q)[clear])


@every_estimator
@pytest.mark.parametrize("metric", ["chebyshev", "precomputed", farthest_feature])
def test_predictions_do_not_depend_on_the_size_of_blocks(model, metric, monkeypatch):
    X, Q = make_samples("gaussian", 3, 40, 3)
    y, Q = make_codes("regions", 3, X), np.concatenate([Q, X])
    T, A = (X, Q) if metric != "precomputed" else (np.abs(M[:, None] - X).max(axis=2) for M in (X, Q))
    model = fit(clone(model).set_params(metric=metric), T, y)
    expected = model.predict(A)
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * 40 * 3)  # three rows of the matrix
    np.testing.assert_array_equal(model.predict(A), expected)
