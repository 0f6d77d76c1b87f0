"""Identities that must hold whatever the data: they need no reference to be checked."""

import pickle

import numpy as np
import pytest
import reference
from checks import answers, same
from hypothesis import given
from hypothesis import strategies as st
from strategies import make_codes, make_samples, problems
from zoo import every, make, names

from pathforest import FuzzyOPFClassifier, OPFClassifier

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
PLAIN = ["prototypes_", "cost_", "predecessor_", "root_", "order_", "label_", "classes_"]


@pytest.mark.parametrize("competition", ["complete", "tree"])
@pytest.mark.parametrize("side", ["target", "source"])
@given(problem=problems())
def test_sigma_one_is_plain_opf_in_every_fitted_array(competition, side, problem):
    plain = OPFClassifier().fit(problem.X, problem.codes)
    fuzzy = FuzzyOPFClassifier(sigma=1, competition=competition, membership_side=side)
    fuzzy.fit(problem.X, problem.codes)
    for name in PLAIN:
        np.testing.assert_array_equal(getattr(fuzzy, name), getattr(plain, name), err_msg=name)


@pytest.mark.parametrize("side", ["target", "source"])
@given(problem=problems(), sigma=st.floats(0.001, 1))
def test_paths_along_the_tree_keep_every_training_label(side, problem, sigma):
    fuzzy = FuzzyOPFClassifier(competition="tree", sigma=sigma, membership_side=side)
    for model in (OPFClassifier(), fuzzy):
        np.testing.assert_array_equal(model.fit(problem.X, problem.codes).label_, problem.codes)
        assert model.training_error_ == 0


@pytest.mark.parametrize("exponent", [-40, -1, 5, 40])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("name", ["plain", "fuzzy", "every dome", "outliers"])
@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
def test_scaling_by_a_power_of_two_changes_no_label_and_no_score(recipe, name, metric, exponent):
    X, Q = make_samples(recipe, 5, 60, 3)
    y, factor, model = make_codes("regions", 5, X), 2.0**exponent, make(name, metric=metric)
    expected, got = (
        [
            getattr(model.fit(X * s, y), method)(Q * s)
            for method in ("predict", "score_samples")[: 1 + (name == "outliers")]
        ]
        for s in (1, factor)
    )
    same(got, expected)


@pytest.mark.parametrize("increasing", ["sqeuclidean", "log_sqeuclidean"])
def test_an_increasing_function_of_the_distance_leaves_labels_alone(increasing):
    X, Q = make_samples("gaussian", 8, 80, 3)
    y = make_codes("random", 8, X)
    expected = OPFClassifier().fit(X, y).predict(Q)
    np.testing.assert_array_equal(OPFClassifier(metric=increasing).fit(X, y).predict(Q), expected)


@pytest.mark.parametrize("name", [*names("grows"), "nearest"])
@given(problem=problems(largest=40), seed=st.integers(0, 99))
def test_an_answer_depends_on_nothing_but_its_query(name, problem, seed):
    model = make(name).fit(problem.X, problem.codes)
    expected = answers(model, problem.Q)
    order = np.random.default_rng(seed).permutation(len(problem.Q))
    same(answers(model, problem.Q[order]), {method: values[order] for method, values in expected.items()})
    one_by_one = [answers(pickle.loads(pickle.dumps(model)), q[None]) for q in problem.Q]
    same({method: np.concatenate([one[method] for one in one_by_one]) for method in expected}, expected)


def farthest_feature(a, b):
    """The Chebyshev distance, as a user might write it."""
    return np.abs(a - b).max()


# The outlier detector takes queries for training samples if their distance may be rounded from 0.
@pytest.mark.parametrize("name", sorted({*names("grows"), "nearest"} - {"fuzzy callable", "outliers"}))
@given(problem=problems(largest=40))
def test_distances_may_come_as_a_matrix_or_from_a_function(name, problem):
    X, codes, Q, _ = problem
    expected = answers(make(name, metric="chebyshev", algorithm="auto").fit(X, codes), Q)
    D, DQ = (reference.distance_matrix(A, X, "chebyshev") for A in (X, Q))
    matrix, function = (
        make(name, metric=metric, algorithm="auto") for metric in ("precomputed", farthest_feature)
    )
    same(answers(matrix.fit(D, codes), DQ), expected)
    same(answers(function.fit(X, codes), Q), expected)


@every("probabilities", "grows")
@given(problem=problems(largest=40))
def test_probabilities_agree_with_predictions_unless_costs_tie(name, problem):
    model = make(name).fit(problem.X, problem.codes)
    costs = np.sort(model.class_costs(problem.Q), axis=1)
    clear = np.ones(len(costs), dtype=bool) if costs.shape[1] == 1 else costs[:, 0] < costs[:, 1] * (1 - 1e-9)
    best = model.classes_[model.predict_proba(problem.Q).argmax(axis=1)]
    np.testing.assert_array_equal(best[clear], model.predict(problem.Q)[clear])


@every("metric", "one")
@pytest.mark.parametrize("metric", ["chebyshev", "precomputed", farthest_feature])
def test_predictions_do_not_depend_on_the_size_of_blocks(name, metric, monkeypatch):
    X, Q = make_samples("gaussian", 3, 40, 3)
    y, Q = make_codes("regions", 3, X), np.concatenate([Q, X])
    if metric == "precomputed":
        X, Q = (reference.distance_matrix(A, X, "chebyshev") for A in (X, Q))
    model = make(name, metric=metric).fit(X, y)
    expected = model.predict(Q)
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * 40 * 3)  # three rows of the matrix
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_WORK", 400)
    np.testing.assert_array_equal(model.predict(Q), expected)
