"""Scorers see the models that a naive search would show them, and one that fails costs only its score."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, log_loss, make_scorer, pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV
from pathforest._search.training import SharedTraining

SMALL = {"k_max": (2, 6), "sigmas": (0.4, 1.0), "n_conquerors": (1, 3), "cv": 3, "refit": False}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 2)) + 1.5 * np.eye(3, 2)[y], y


def fails_once(first_row):
    """A scorer that fails on the fold with a certain sample."""

    def score(estimator, X, y):
        if (first_row == X).all(axis=1).any():
            raise ZeroDivisionError("no such luck")
        return accuracy_score(y, estimator.predict(X))

    return score


def test_a_score_that_fails_is_nan_and_warned_of_once(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]))
    with pytest.warns(UserWarning, match="ZeroDivisionError: no such luck") as caught:
        search.fit(*problem)
    assert len(caught) == 1
    failed = [np.isnan(search.cv_results_[f"split{fold}_test_score"]).all() for fold in range(3)]
    assert sum(failed) == 1


def test_the_other_scores_are_kept(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]), error_score=0.0)
    with pytest.warns(UserWarning, match="those scores are 0.0"):
        search.fit(*problem)
    plain = FuzzyOPFClassifierCV(**SMALL).fit(*problem)
    for fold in (1, 2):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(search.cv_results_[key], plain.cv_results_[key])
    assert np.isfinite(search.best_score_)


def test_error_score_raise_stops_the_search(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]), error_score="raise")
    with pytest.raises(ZeroDivisionError, match="no such luck"):
        search.fit(*problem)


def test_trials_with_scores_that_are_no_numbers_fail_alone(problem):
    pytest.importorskip("optuna")
    search = FuzzyOPFClassifierCV(**SMALL, search="optuna", n_trials=5, scoring=fails_once(problem[0][0]))
    with pytest.warns(UserWarning, match="scoring failed"):
        search.fit(*problem)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_a_scorer_that_works_warns_of_nothing(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FuzzyOPFClassifierCV(**SMALL, scoring=make_scorer(accuracy_score)).fit(*problem)


# What a scorer may ask of a model, beside the predictions of the samples it is given.


def accuracy(model, X, y):
    return accuracy_score(y, model.predict(X))


def reversed_samples(model, X, y):
    return accuracy(model, X[::-1], y[::-1])


def first_samples(model, X, y):
    return accuracy(model, X[:7], y[:7])


def moved_samples(model, X, y):
    moved = X.copy()
    moved[:, 0] += 0.5
    return accuracy(model, moved, y)


def moved_in_place(model, X, y):
    X[:, 0] += 0.5
    y[:3] = 0
    return accuracy(model, X, y)


def probabilities_of_a_part(model, X, y):
    return -log_loss(y[::2], model.predict_proba(X[::2]), labels=model.classes_)


def its_own_score(model, X, y):
    return model.score(X, y) + model.score(X[:9], y[:9])


def looks_closer_later(model, X, y):
    """Known answers first, then the model, then a method taken before it was built."""
    predict, right = model.predict, accuracy(model, X, y)
    return right + classifier(model).cost_.sum() + accuracy_score(y, predict(X))


def copies(model, X, y):
    parts = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    return sum(accuracy(part, X, y) for part in parts) + len(clone(model).get_params())


def set_parameter(model, X, y):
    classifier(model).n_conquerors = 2
    return accuracy(model, X, y)


def classifier(model):
    assert is_classifier(model)
    return model[-1] if isinstance(model, Pipeline) else model


SCORERS = [
    reversed_samples,
    first_samples,
    moved_samples,
    moved_in_place,
    probabilities_of_a_part,
    its_own_score,
    looks_closer_later,
    copies,
    set_parameter,
    lambda model, X, y: classifier(model).sigma + classifier(model).k_max / 100,
    lambda model, X, y: classifier(model).get_params()["sigma"] + accuracy(model, X, y),
    lambda model, X, y: vars(classifier(model))["membership_"].sum(),
]
OF_CLASSIFIERS = [
    lambda model, X, y: -model.class_costs(X).min(axis=1).mean(),
    lambda model, X, y: -np.mean([len(e.path) for e in model.explain(X)]),
    lambda model, X, y: type(model.set_params(beta=2.0)) is FuzzyOPFClassifier,
]
# Models of one forest that differ in their parameters, so that each of them has to be scored.
GRID = {"k_max": [2, 6], "sigma": [0.4, 1.0], "competition": ["tree"], "n_conquerors": [1, 3]}
SEARCH = {**SMALL, "betas": 8.0}


def scores(search, prefix=""):
    """Scores of every fold by the parameters, whatever the order of rows."""
    results = search.cv_results_
    folds = [results[f"split{fold}_test_score"] for fold in range(3)]
    return {
        tuple(params[prefix + name] for name in GRID): [fold[row] for fold in folds]
        for row, params in enumerate(results["params"])
    }


@pytest.mark.parametrize("scorer", SCORERS + OF_CLASSIFIERS)
def test_a_scorer_sees_what_grid_search_would_show_it(problem, scorer):
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3, scoring=scorer, refit=False).fit(*problem)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=scorer, error_score="raise").fit(*problem)
    assert scores(search) == scores(naive)


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_scorer_of_pipelines_sees_what_grid_search_would_show_it(problem, scorer):
    pipeline = Pipeline([("transform", StandardScaler()), ("classifier", FuzzyOPFClassifier())])
    grid = {f"classifier__{name}": values for name, values in GRID.items()}
    naive = GridSearchCV(pipeline, grid, cv=3, scoring=scorer, refit=False).fit(*problem)
    params = {**SEARCH, "transforms": [StandardScaler()], "error_score": "raise"}
    search = FuzzyOPFClassifierCV(**params, scoring=scorer).fit(*problem)
    assert scores(search) == scores(naive, "classifier__")


@pytest.mark.parametrize("scorer", [reversed_samples, moved_in_place])
def test_a_scorer_of_a_distance_matrix_sees_what_grid_search_would_show_it(problem, scorer):
    D, y = pairwise_distances(problem[0]), problem[1]
    model = FuzzyOPFClassifier(metric="precomputed")
    naive = GridSearchCV(model, GRID, cv=3, scoring=scorer, refit=False).fit(D, y)
    search = FuzzyOPFClassifierCV(**SEARCH, metric="precomputed", scoring=scorer).fit(D, y)
    assert scores(search) == scores(naive)


@pytest.mark.filterwarnings("ignore:\nA value is trying to be set")  # pandas 2
def test_samples_of_any_type_reach_scorers_unchanged(problem):
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame(problem[0], columns=["a", "b"]), problem[1]

    def scorer(model, X, y):
        X["a"] += 0.5
        return accuracy(model, X, y)

    pipeline = Pipeline([("transform", StandardScaler()), ("classifier", FuzzyOPFClassifier())])
    grid = {f"classifier__{name}": values for name, values in GRID.items()}
    naive = GridSearchCV(pipeline, grid, cv=3, scoring=scorer, refit=False).fit(frame, y)
    search = FuzzyOPFClassifierCV(**SEARCH, transforms=[StandardScaler()], scoring=scorer).fit(frame, y)
    assert scores(search) == scores(naive, "classifier__")


def test_betas_are_scored_apart_only_where_they_matter(problem):
    """A scorer that reads beta gets every one; the row of a cell holds the score of its own."""
    search = FuzzyOPFClassifierCV(**{**SMALL, "betas": (1, 4)}, scoring=lambda model, X, y: model.beta)
    search.fit(*problem)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], search.cv_results_["beta"])


@pytest.mark.parametrize("transforms", [None, [StandardScaler()]])
@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", "neg_log_loss", "roc_auc", make_scorer(accuracy_score)]
)
def test_ordinary_scorers_have_no_model_built(problem, monkeypatch, scoring, transforms):
    monkeypatch.delattr(SharedTraining, "classifier")
    y = problem[1] == 0
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=scoring, transforms=transforms, error_score="raise")
    assert np.isfinite(search.fit(problem[0], y).best_score_)
