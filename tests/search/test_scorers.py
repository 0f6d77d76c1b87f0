"""Scorers see the models and samples that GridSearchCV would show them, and what they change stays theirs."""

import copy
import pickle

import numpy as np
import pytest
from naive import same_scores
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, make_scorer, pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV
from pathforest._search import folds

# Models of one forest that differ in their parameters, so that each of them has to be scored.
SMALL = {
    "k_max": (2, 6), "sigmas": (0.4, 1.0), "n_conquerors": (1, 3), "betas": (2, 8), "transforms": None,
    "cv": 2, "refit": False,
}  # fmt: skip
SCALED = [StandardScaler()]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 2)) + 1.5 * np.eye(3, 2)[y], y


def accuracy(model, X, y):
    return accuracy_score(y, model.predict(X))


def classifier(model):
    assert is_classifier(model)
    return model[-1] if isinstance(model, Pipeline) else model


def reversed_samples(model, X, y):
    return accuracy(model, X[::-1], y[::-1])


def moved_in_place(model, X, y):
    X[:, 0] += 0.5
    y[:3] = 0
    return accuracy(model, X, y)


def copies(model, X, y):
    parts = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    return sum(accuracy(part, X, y) for part in parts) + len(clone(model).get_params())


def its_parameters(model, X, y):
    one = classifier(model)
    return one.sigma + one.k_max / 100 + one.get_params()["beta"] + vars(one)["membership_"].sum()


# Scorers that change the model they get: no other model may notice.


def fits_again(model, X, y):
    classifier(model).n_conquerors = 2
    return accuracy(model, X[::-1], y[::-1]) + accuracy(model.fit(X[::2], y[::2]), X, y)


def writes_into_arrays(model, X, y):
    right = accuracy(model, X[::-1], y[::-1])
    for name in ("classes_", "cost_", "density_", "cuts_", "membership_", "order_", "label_", "_fit_X"):
        getattr(classifier(model), name)[:] = 0
    return right


def scales_otherwise(model, X, y):
    right = accuracy(model, X[::-1], y[::-1])
    model.set_params(transform__with_std=False)
    model[0].mean_ += 3
    return right + accuracy(model, X[::-1], y[::-1])


def costs_and_paths(model, X, y):
    assert type(model.set_params(beta=2.0)) is FuzzyOPFClassifier
    return np.mean([len(one.path) for one in model.explain(X)]) - model.class_costs(X).min(axis=1).mean()


SCORERS = [reversed_samples, moved_in_place, copies, its_parameters, fits_again, writes_into_arrays]


@pytest.mark.parametrize(
    ("scorer", "transforms"),
    [*((scorer, transforms) for scorer in SCORERS for transforms in (None, SCALED)),
     (costs_and_paths, None), (scales_otherwise, SCALED)],
)  # fmt: skip
def test_a_scorer_sees_what_grid_search_would_show_it(problem, scorer, transforms):
    same_scores(FuzzyOPFClassifierCV(**SMALL | {"transforms": transforms}, scoring=scorer), *problem)


@pytest.mark.parametrize("scorer", [reversed_samples, moved_in_place])
def test_a_scorer_of_distances_gets_slices_of_the_matrix(problem, scorer):
    D = pairwise_distances(problem[0])
    same_scores(FuzzyOPFClassifierCV(**SMALL, metric="precomputed", scoring=scorer), D, problem[1])


def moved_column(model, X, y):
    X["a"] += 0.5
    y.iloc[:3] = 0
    return accuracy(model, X, y)


def weighted_by_index(model, X, y):
    assert (X.index == y.index).all()
    return accuracy_score(y, model.predict(X), sample_weight=X.index - 999)


def names_of_features(model, X, y):
    assert list(model.feature_names_in_) == ["a", "b"]
    return X["a"].sum() + accuracy(model, X[::-1], y[::-1])


@pytest.mark.filterwarnings("ignore:\nA value is trying to be set")  # pandas 2
@pytest.mark.filterwarnings("error:X (has|does not have)")
@pytest.mark.parametrize("transforms", [None, [None, StandardScaler()]])
@pytest.mark.parametrize("scorer", [moved_column, weighted_by_index, names_of_features])
def test_scorers_get_slices_of_the_frames_passed(problem, scorer, transforms):
    pandas = pytest.importorskip("pandas")
    index = np.arange(90) + 1000
    X = pandas.DataFrame(problem[0], columns=["a", "b"], index=index)
    few = {"transforms": transforms, "k_max": 2, "refit": True, "n_best": 4, "scoring": scorer}
    search = same_scores(FuzzyOPFClassifierCV(**SMALL | few), X, pandas.Series(problem[1], index=index))
    for model in search.estimators_:
        assert list(model.feature_names_in_) == ["a", "b"]
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[["b", "a"]])


@pytest.mark.parametrize("value", ["0.5", None, np.array([0.5, 0.6]), np.array("0.5")])
def test_scores_that_grid_search_refuses(problem, value):
    naive = GridSearchCV(FuzzyOPFClassifier(), {}, cv=2, scoring=lambda *_: value, refit=False)
    search = FuzzyOPFClassifierCV(**SMALL, scoring=lambda *_: value)
    for model, words in ((naive, "must return a number"), (search, "which is not a number")):
        with pytest.raises(ValueError, match=words):
            model.fit(*problem)


@pytest.mark.parametrize("transforms", [None, SCALED])
@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", "neg_log_loss", "roc_auc", make_scorer(accuracy_score)]
)
def test_ordinary_scorers_have_no_model_built(problem, monkeypatch, scoring, transforms):
    monkeypatch.setattr(folds, "fitted", pytest.fail)
    search = FuzzyOPFClassifierCV(**SMALL | {"transforms": transforms}, scoring=scoring)
    assert np.isfinite(search.fit(problem[0], problem[1] == 0).best_score_)
