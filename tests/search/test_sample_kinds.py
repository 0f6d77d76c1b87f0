"""Candidates reach transformers and classifiers as each of them takes samples."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

SMALL = {"k_max": 4, "sigmas": (0.4, 1.0), "n_conquerors": (1, 4), "cv": 3}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def holes(iris):
    """Iris with a tenth of its values missing."""
    X = iris[0].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


def test_an_imputer_takes_missing_values_and_scores_as_in_a_naive_search(iris, holes):
    pipeline = Pipeline([("impute", SimpleImputer()), ("model", FuzzyOPFClassifier(k_max=4))])
    grid = {"model__sigma": [0.4, 1.0], "model__n_conquerors": [1, 4]}
    naive = GridSearchCV(pipeline, grid, cv=3).fit(holes, iris[1])
    params = {**SMALL, "competitions": "complete"}
    search = FuzzyOPFClassifierCV(**params, transforms=[SimpleImputer()], n_best=1)
    search.fit(holes, iris[1])
    assert sorted(search.cv_results_["mean_test_score"]) == sorted(naive.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(holes), search.best_estimator_.predict(holes))
    assert search.n_features_in_ == 4


def test_missing_values_are_refused_where_a_candidate_takes_samples_as_given(iris, holes):
    with pytest.raises(ValueError, match="NaN"):
        FuzzyOPFClassifierCV(**SMALL, transforms=[None, SimpleImputer()]).fit(holes, iris[1])


@pytest.mark.parametrize("transforms", [None, "linear", "kernel"])
def test_presets_refuse_missing_values(transforms, iris, holes):
    with pytest.raises(ValueError, match="NaN"):
        FuzzyOPFClassifierCV(**SMALL, transforms=transforms).fit(holes, iris[1])


def columns():
    return ColumnTransformer(
        [("numbers", StandardScaler(), ["width", "height"]), ("text", OneHotEncoder(), ["colour"])],
        sparse_threshold=0,
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_transformer_gets_the_frame(library, iris):
    module = pytest.importorskip(library)
    X, y = iris
    colour = np.array(["red", "green", "blue"])[(y + (np.arange(150) % 7 == 0)) % 3]
    frame = module.DataFrame({"width": X[:, 0], "colour": colour, "height": X[:, 1]})
    search = FuzzyOPFClassifierCV(**SMALL, transforms=[columns()]).fit(frame, y)
    assert search.feature_names_in_.tolist() == ["width", "colour", "height"]
    assert search.score(frame, y) > 0.85
    assert [e.label for e in search.explain(frame)] == search.best_estimator_.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        search.predict(frame[["colour", "width", "height"]])


def test_frames_and_candidates_as_given_go_together(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    some = ColumnTransformer([("some", StandardScaler(), ["a", "c"])])
    search = FuzzyOPFClassifierCV(**SMALL, transforms=[None, some], n_best=8).fit(frame, y)
    assert {type(model).__name__ for model in search.estimators_} == {"FuzzyOPFClassifier", "Pipeline"}
    arrays = FuzzyOPFClassifierCV(
        **SMALL, transforms=[None, ColumnTransformer([("some", StandardScaler(), [0, 2])])], n_best=8
    ).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(frame), arrays.predict_proba(X))


def test_lists_are_samples_too(iris):
    X, y = iris
    search = FuzzyOPFClassifierCV(**SMALL, transforms=[StandardScaler()])
    array = clone(search).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(search.fit(X.tolist(), y.tolist()).predict_proba(X.tolist()), array)


def test_one_value_that_overflows_is_named(iris):
    X, y = iris
    X = X.copy()
    X[0, 1] = 1e300
    with pytest.raises(ValueError, match="could overflow: feature 1"):
        FuzzyOPFClassifierCV(transforms=None).fit(X, y)


def test_samples_and_labels_of_unequal_number_are_refused(iris):
    with pytest.raises(ValueError, match="inconsistent numbers"):
        FuzzyOPFClassifierCV(**SMALL, transforms=[StandardScaler()]).fit(iris[0], iris[1][:-1])


def test_another_number_of_features_is_refused(iris):
    search = FuzzyOPFClassifierCV(**SMALL, transforms=[StandardScaler()]).fit(*iris)
    with pytest.raises(ValueError, match="expecting 4 features"):
        search.predict(iris[0][:, :3])


def test_samples_the_metric_cannot_take_name_their_representation(iris):
    with pytest.raises(ValueError, match=r"transform 'standardised' .*chi2.*leave it out"):
        FuzzyOPFClassifierCV(**SMALL, metric="chi2", transforms="linear").fit(*iris)


def test_evaluation_samples_the_metric_cannot_take_name_their_representation(iris):
    X, y = iris[0].copy(), iris[1]
    X[-1] = -10  # below the range that the first fold scales by
    pair = np.arange(140), np.arange(140, 150)
    with pytest.raises(ValueError, match=r"transform 'MinMaxScaler' "):
        FuzzyOPFClassifierCV(k_max=4, metric="chi2", cv=[pair], transforms=[MinMaxScaler()]).fit(X, y)


def test_sparse_samples_of_a_transformer_are_taken(iris):
    words, probabilities = np.array([["a"], ["b"], ["c"]] * 50), []
    for sparse_output in (True, False):
        encoder = OneHotEncoder(sparse_output=sparse_output)
        search = FuzzyOPFClassifierCV(**SMALL, transforms=[encoder]).fit(words, iris[1])
        probabilities.append(search.predict_proba(words))
    np.testing.assert_array_equal(*probabilities)


def test_a_transformer_that_makes_frames_is_taken(iris):
    pytest.importorskip("pandas")
    frames = make_pipeline(StandardScaler(), FunctionTransformer()).set_output(transform="pandas")
    plain = FuzzyOPFClassifierCV(**SMALL, transforms=[StandardScaler()]).fit(*iris)
    search = FuzzyOPFClassifierCV(**SMALL, transforms=[frames]).fit(*iris)
    np.testing.assert_array_equal(search.predict_proba(iris[0]), plain.predict_proba(iris[0]))
