"""Scorers see the models that a naive search would show them, and one that fails costs only its score."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, log_loss, make_scorer, pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV
from pathforest._search import folds

SMALL = {
    "k_max": (2, 6), "sigmas": (0.4, 1.0), "n_conquerors": (1, 3), "transforms": None, "cv": 3,
    "refit": False,
}  # fmt: skip


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


def test_a_scorer_that_fails_stops_the_search(problem):
    search = FuzzyOPFClassifierCV(**SMALL, scoring=fails_once(problem[0][0]))
    with pytest.raises(ZeroDivisionError, match="no such luck"):
        search.fit(*problem)


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


def scores(search, prefix="", transform=None):
    """Scores of every fold by the parameters, whatever the order of rows; of one transform, if named."""
    results = search.cv_results_
    folds = [results[f"split{fold}_test_score"] for fold in range(3)]
    return {
        tuple(params[prefix + name] for name in GRID): [fold[row] for fold in folds]
        for row, params in enumerate(results["params"])
        if transform in (None, params.get("transform"))
    }


@pytest.mark.parametrize("scorer", SCORERS + OF_CLASSIFIERS)
def test_a_scorer_sees_what_grid_search_would_show_it(problem, scorer):
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3, scoring=scorer, refit=False).fit(*problem)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=scorer).fit(*problem)
    assert scores(search) == scores(naive)


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_scorer_of_pipelines_sees_what_grid_search_would_show_it(problem, scorer):
    pipeline = Pipeline([("transform", StandardScaler()), ("classifier", FuzzyOPFClassifier())])
    grid = {f"classifier__{name}": values for name, values in GRID.items()}
    naive = GridSearchCV(pipeline, grid, cv=3, scoring=scorer, refit=False).fit(*problem)
    params = {**SEARCH, "transforms": [StandardScaler()]}
    search = FuzzyOPFClassifierCV(**params, scoring=scorer).fit(*problem)
    assert scores(search) == scores(naive, "classifier__")


@pytest.mark.parametrize("scorer", [reversed_samples, moved_in_place])
def test_a_scorer_of_a_distance_matrix_sees_what_grid_search_would_show_it(problem, scorer):
    D, y = pairwise_distances(problem[0]), problem[1]
    model = FuzzyOPFClassifier(metric="precomputed")
    naive = GridSearchCV(model, GRID, cv=3, scoring=scorer, refit=False).fit(D, y)
    search = FuzzyOPFClassifierCV(**SEARCH, metric="precomputed", scoring=scorer).fit(D, y)
    assert scores(search) == scores(naive)


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


@pytest.fixture
def frames(problem):
    pandas = pytest.importorskip("pandas")
    index = np.arange(90) + 1000
    frame = pandas.DataFrame(problem[0], columns=["a", "b"], index=index)
    return frame, pandas.Series(problem[1], index=index)


@pytest.mark.filterwarnings("ignore:\nA value is trying to be set")  # pandas 2
@pytest.mark.filterwarnings("error:X (has|does not have)")
@pytest.mark.parametrize("transforms", [None, "linear", [StandardScaler()], [None, StandardScaler()]])
@pytest.mark.parametrize("scorer", [moved_column, weighted_by_index, names_of_features])
def test_scorers_get_slices_of_the_frames_passed(frames, scorer, transforms):
    """As given, standardised, or both: a grid search over each of them scores the same."""
    params = {**SEARCH, "transforms": transforms, "refit": True}
    search = FuzzyOPFClassifierCV(**params, scoring=scorer).fit(*frames)
    given = FuzzyOPFClassifier()
    pipeline = Pipeline([("transform", StandardScaler()), ("classifier", given)])
    names = {row.get("transform") for row in search.cv_results_["params"]}
    for name in names - {"LDA"}:
        model, prefix = (given, "") if name in (None, "as given") else (pipeline, "classifier__")
        grid = {prefix + parameter: values for parameter, values in GRID.items()}
        naive = GridSearchCV(model, grid, cv=3, scoring=scorer, refit=False).fit(*frames)
        assert scores(search, transform=name) == scores(naive, prefix)


@pytest.mark.filterwarnings("error:X (has|does not have)")
@pytest.mark.parametrize("transforms", [None, "linear", [None, StandardScaler()]])
def test_models_of_a_search_know_the_features(frames, transforms):
    frame, y = frames
    params = {**SEARCH, "refit": True, "transforms": transforms, "n_best": 40}
    search = FuzzyOPFClassifierCV(**params).fit(*frames)
    for model in search.estimators_:
        assert list(model.feature_names_in_) == ["a", "b"]
        model.predict(frame)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["b", "a"]])
    bare = FuzzyOPFClassifierCV(**params).fit(frame.to_numpy(), y.to_numpy())
    for method in ("predict", "predict_proba", "class_costs"):
        expected = getattr(bare, method)(frame.to_numpy())
        np.testing.assert_allclose(getattr(search, method)(frame), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [list, tuple, "Int64", "category", np.dtypes.StringDType()])
def test_labels_of_any_type_are_scored(problem, kind):
    X, y = problem
    if isinstance(kind, str):
        y = pytest.importorskip("pandas").Series(y, dtype=kind)
    else:
        y = kind(y.tolist()) if isinstance(kind, type) else y.astype(str).astype(kind)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring="accuracy").fit(X, y)
    assert scores(search) == scores(FuzzyOPFClassifierCV(**SEARCH).fit(X, y))


def test_scorers_of_lists_get_lists(problem):
    def scorer(model, X, y):
        return (type(X) is list and type(y) is list) + accuracy(model, X, y)

    X, y = problem[0].tolist(), problem[1].tolist()
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3, scoring=scorer, refit=False).fit(X, y)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=scorer).fit(X, y)
    assert scores(search) == scores(naive)


# Scorers that change the model they get. No other model may notice.


def fits_again(model, X, y):
    return accuracy(model, X[::-1], y[::-1]) + accuracy(model.fit(X[::2], y[::2]), X, y)


def writes_into_arrays(model, X, y):
    right = accuracy(model, X[::-1], y[::-1])
    fitted = classifier(model)
    for name in ("classes_", "cost_", "density_", "cuts_", "membership_", "order_", "label_", "_fit_X"):
        getattr(fitted, name)[:] = 0
    return right


def scales_otherwise(model, X, y):
    """What a transformer that is set otherwise gives: the change must not reach the next cell."""
    right = accuracy(model, X[::-1], y[::-1])
    model.set_params(transform__with_std=False)
    model[0].mean_ += 3
    return right + accuracy(model, X[::-1], y[::-1])


@pytest.mark.parametrize(
    ("scorer", "transforms"),
    [
        *((scorer, None) for scorer in (fits_again, writes_into_arrays)),
        *((scorer, [StandardScaler()]) for scorer in (fits_again, writes_into_arrays, scales_otherwise)),
    ],
)
def test_models_changed_by_a_scorer_leave_the_others_alone(problem, scorer, transforms):
    params = {**SEARCH, "transforms": transforms}
    found = FuzzyOPFClassifierCV(**params, scoring=scorer).fit(*problem)
    model, prefix = FuzzyOPFClassifier(), ""
    if transforms:
        model, prefix = Pipeline([("transform", StandardScaler()), ("classifier", model)]), "classifier__"
    grid = [{prefix + name: [row[name]] for name in GRID} for row in found.cv_results_["params"]]
    naive = GridSearchCV(model, grid, cv=3, scoring=scorer, refit=False).fit(*problem)
    assert scores(found) == scores(naive, prefix)

    def neg_log_loss(model, X, y):
        return -log_loss(y, model.predict_proba(X))

    losses = (
        -GridSearchCV(model, grid, cv=3, scoring=neg_log_loss).fit(*problem).cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(found.cv_results_["mean_test_log_loss"], losses, rtol=1e-12)


@pytest.mark.parametrize("value", [np.array([0.5]), np.array(0.5), np.float32(0.5), True, 1])
def test_scores_that_grid_search_takes(problem, value):
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3, scoring=lambda *_: value, refit=False)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=lambda *_: value)
    assert scores(search.fit(*problem)) == scores(naive.fit(*problem))


@pytest.mark.parametrize("value", ["0.5", None, np.array([0.5, 0.6]), np.array("0.5")])
def test_scores_that_grid_search_refuses(problem, value):
    naive = GridSearchCV(FuzzyOPFClassifier(), GRID, cv=3, scoring=lambda *_: value, refit=False)
    search = FuzzyOPFClassifierCV(**SEARCH, scoring=lambda *_: value)
    for model, words in ((naive, "must return a number"), (search, "which is not a number")):
        with pytest.raises(ValueError, match=words):
            model.fit(*problem)


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
    monkeypatch.setattr(folds, "fitted", pytest.fail)
    y = problem[1] == 0
    search = FuzzyOPFClassifierCV(**SEARCH | {"transforms": transforms}, scoring=scoring)
    assert np.isfinite(search.fit(problem[0], y).best_score_)
