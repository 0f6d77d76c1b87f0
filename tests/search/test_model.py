"""The fitted search: models of an ordinary fit, averaged, and what it says without them."""

import numpy as np
import pytest
from checks import fitted_attributes, same, same_model
from hypothesis import given
from hypothesis import strategies as st
from naive import models, tied
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from strategies import METRICS, problems
from zoo import make

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, load
from pathforest._search.ensemble import classifier_of, of_the_truth
from pathforest.noise import flip_labels

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

SMALL = {"k_max": 3, "n_conquerors": (1, 3), "cv": 2}
SCALED = [None, StandardScaler()]


@pytest.fixture(scope="module")
def problem():
    return tied()


@pytest.fixture(scope="module")
def full(wine):
    return FuzzyOPFClassifierCV(k_max=4, sigmas=1.0, n_conquerors=5, cv=2).fit(*wine)


@given(data=st.data())
def test_every_model_equals_an_ordinary_fit(data):
    X, codes, Q, _ = data.draw(problems(smallest=2, largest=60))
    metric, p = data.draw(st.sampled_from(METRICS))
    competition = data.draw(st.sampled_from(["complete", "tree"]))
    sigmas = [0.2, 0.8, 1.0] + [1.2] * (competition == "complete")
    search = FuzzyOPFClassifierCV(
        k_max=data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=2, unique=True)),
        sigmas=data.draw(st.lists(st.sampled_from(sigmas), min_size=1, max_size=2, unique=True)),
        competitions=competition,
        n_conquerors=2,
        n_best=4,
        cv=[(np.arange(len(X)), np.arange(1))],
        transforms=[None, ("same", FunctionTransformer())],
        metric=metric,
        metric_params={"p": p} if metric == "minkowski" else None,
    ).fit(X, codes)
    for row, model in zip(search.averaged_, search.estimators_, strict=True):
        alone = models(search)[row].fit(X, codes)
        same(fitted_attributes(model), fitted_attributes(alone))
        np.testing.assert_array_equal(model.predict(Q), alone.predict(Q))
    best = fitted_attributes(search.best_estimator_)
    same({name: getattr(search, name) for name in best}, best)


# Wrong labels, and rare classes


def test_probabilities_are_those_of_the_true_classes_and_labels_stay(problem):
    X, y = problem
    given = FuzzyOPFClassifierCV(**SMALL, transforms=SCALED, label_noise=0).fit(X, y)
    true = clone(given).set_params(label_noise=0.3).fit(X, y)
    assert (given.label_noise_, true.label_noise_) == (0, 0.3)
    expected = np.maximum(given.predict_proba(X) - 0.15, 0.003)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(true.predict_proba(X), expected)
    np.testing.assert_array_equal(true.predict(X), given.predict(X))
    np.testing.assert_array_equal(true.weights_, given.weights_)
    sure = np.array([[0.999, 0.001, 0.0]])
    expected = np.array([[0.999 - 0.005, 5e-4, 5e-4]])  # hardly any noise leaves smaller ones
    np.testing.assert_allclose(of_the_truth(sure, 0.01), expected / expected.sum())


@pytest.mark.parametrize(("n_classes", "noise"), [(2, 0.499), (3, 2 / 3 - 1e-9), (300, 0.3), (2000, 0.05)])
def test_no_label_changes_however_many_classes_or_wrong_labels(n_classes, noise):
    given = np.random.default_rng(0).dirichlet(np.full(n_classes, 200.0), 50)
    true = of_the_truth(given, noise)
    np.testing.assert_array_equal(true.argmax(axis=1), given.argmax(axis=1))
    np.testing.assert_allclose(true.sum(axis=1), 1)
    sure = np.eye(n_classes)[:1]
    assert of_the_truth(sure, min(noise, 0.3))[0, 0] > 0.98
    np.testing.assert_allclose(of_the_truth(np.full((1, n_classes), 1 / n_classes), noise), 1 / n_classes)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_estimate_is_that_of_find_issues_less_a_standard_error(wine, share):
    X, y = wine[0], flip_labels(wine[1], share, 0)
    search = FuzzyOPFClassifierCV(k_max=4, sigmas=1.0, n_conquerors=3).fit(X, y)
    found = pathforest.find_issues(StandardScaler().fit_transform(X), y, method="fast").noise_share
    error = np.sqrt(found * (1 - found) / len(X))
    assert search.label_noise_ == pytest.approx(max(0, found - error))
    as_given = FuzzyOPFClassifierCV(k_max=4, sigmas=1.0, n_conquerors=3, metric="manhattan").fit(X, y)
    found = pathforest.find_issues(X, y, metric="manhattan").noise_share
    assert as_given.label_noise_ <= found <= as_given.label_noise_ + 0.05


@pytest.mark.parametrize("n_best", [1, None])
def test_weights_of_classes_change_answers_alone(problem, n_best):
    X, y = problem
    rare = np.flatnonzero((y != 2) | (np.arange(len(y)) % 4 == 0))
    X, y = X[rare], y[rare]
    params = SMALL | {"transforms": SCALED, "n_best": n_best}
    plain = FuzzyOPFClassifierCV(**params).fit(X, y)
    given = plain.predict_proba(X)
    balanced = len(y) / np.bincount(y) / 3
    for weight, factors in (("balanced", balanced), ({2: 5.0}, [1, 1, 5])):
        search = FuzzyOPFClassifierCV(**params, class_weight=weight).fit(X, y)
        np.testing.assert_array_equal(search.predict_proba(X), given)
        expected = (given * factors).argmax(axis=1)
        np.testing.assert_array_equal(search.predict(X), expected)
        assert np.sum(expected == 2) > np.sum(plain.predict(X) == 2)


def test_explanations_have_the_label_of_the_answer_and_name_their_representation(full, wine):
    X, explained = wine[0], full.explain(wine[0])
    assert [one.label for one in explained] == full.predict(X).tolist()
    assert {one.cell for one in explained} > {0}  # some were not predicted so by the best cell
    for one in explained:
        assert one.transform == full.cv_results_["params"][full.averaged_[one.cell]]["transform"]
        assert one.path[0] == one.conqueror
    row, one = next((i, e) for i, e in enumerate(explained) if e.cell)
    costs = full.class_costs(X[row : row + 1], one.cell)[0]
    assert full.classes_[costs.argmin()] == one.label


@pytest.mark.parametrize("transforms", [None, SCALED])
def test_without_refit_the_error_says_what_to_fit(problem, transforms):
    search = FuzzyOPFClassifierCV(**SMALL, transforms=transforms, refit=False).fit(*problem)
    advice = "refit=True, or fit FuzzyOPFClassifier(**best_params_, beta=best_beta_)"
    assert not hasattr(search, "best_estimator_")
    for method in ("predict", "predict_proba", "class_costs", "explain"):
        with pytest.raises(AttributeError, match=method) as raised:
            getattr(search, method)
        assert ("best_params_['transform']" if transforms else advice) in str(raised.value.__cause__)
    if transforms is None:
        FuzzyOPFClassifier(**search.best_params_, beta=search.best_beta_).fit(*problem)


@pytest.mark.parametrize("name", ["search", "search as given"])
def test_a_search_grows_as_its_models_do_with_their_representations(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    search = make(name).fit(X[:90], y[:90])
    before, weights, bare = search.estimators_, search.weights_, make(name).partial_fit(X[:90], y[:90])
    np.testing.assert_array_equal(bare.predict_proba(X), search.predict_proba(X))
    search.save(tmp_path / "model.pf", growable=True)
    for grown in (search, load(tmp_path / "model.pf")):
        grown.partial_fit(X[90:100], y[90:100]).partial_fit(X[100:], y[100:])
        assert grown.weights_.tolist() == weights.tolist()
        for old, new in zip(before, grown.estimators_, strict=True):
            added = old[:-1].transform(X[90:]) if isinstance(old, Pipeline) else X[90:]
            old, new = map(classifier_of, (old, new))
            expected = clone(old).fit(np.concatenate([old._fit_X, added]), y)
            same_model(new, expected)
        answers = grown.predict_proba(X[:9])
        assert [one.label for one in grown.explain(X[90:99])] == grown.predict(X[90:99]).tolist()
    kept = search.predict_proba(X)
    with pytest.raises(ValueError, match="7 is none of the classes"):
        search.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="features"):
        search.partial_fit(X[:2, :3], [0, 1])
    np.testing.assert_array_equal(search.predict_proba(X), kept)
    assert answers.shape == (9, 3)
