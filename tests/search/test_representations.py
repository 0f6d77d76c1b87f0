"""Candidate representations: presets, names, and the discriminant analyses behind them."""

import tracemalloc

import numpy as np
import pytest
from pipelines import passengers
from sklearn.base import clone
from sklearn.datasets import load_wine, make_circles
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, TablePreprocessor
from pathforest._search.representations import resolve_transforms
from pathforest._search.transformers import (
    RIDGES,
    KernelDiscriminant,
    QuadraticDiscriminant,
    RidgeDiscriminant,
    principal_axes,
)

LINEAR = ["as given", "standardised", "LDA"]
KERNEL = [*LINEAR, *(f"kernel LDA {scale}/d" for scale in ("4", "1", "0.25", "0.0625"))]
FULL = [*KERNEL, "weighted kernel LDA 1/d", "weighted kernel LDA 0.25/d", "quadratic LDA", "random forest"]


@pytest.mark.parametrize(
    ("transforms", "names"), [(None, LINEAR[:1]), ("linear", LINEAR), ("kernel", KERNEL), ("full", FULL)]
)
def test_presets_hold_their_candidates(transforms, names):
    assert [name for name, _ in resolve_transforms(transforms).items()] == names


@pytest.mark.parametrize(("name", "scale"), [("kernel LDA 1/d", 1.0), ("kernel LDA 0.25/d", 0.25)])
def test_kernel_candidates_use_an_rbf_kernel_on_standardised_samples(name, scale):
    X, y, _ = gaussians(400)
    pipeline = resolve_transforms("kernel")[name].fit(X * [1, 10, 100, 1, 1], y)
    Z, model = StandardScaler().fit_transform(X), pipeline[-1]
    assert len(model.landmarks_) == 300
    expected = rbf_kernel(Z, model.landmarks_, gamma=scale / 5)
    np.testing.assert_allclose(model._features(Z) @ model.root_.T, expected, atol=1e-9)
    np.testing.assert_allclose(pipeline.transform(X * [1, 10, 100, 1, 1]), model.transform(Z), atol=1e-6)


def test_linear_candidates_standardise_and_then_discriminate():
    X, y, _ = gaussians(100)
    _, standardised, discriminant = resolve_transforms("linear").values()
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(standardised.fit_transform(X, y), Z)
    np.testing.assert_array_equal(discriminant.fit_transform(X, y), RidgeDiscriminant().fit_transform(Z, y))


def test_a_single_class_has_no_discriminant():
    assert [name for name, _ in resolve_transforms("full", n_classes=1).items()] == LINEAR[:2]


def test_candidates_are_named_after_their_classes():
    given = [None, PCA(2), PCA(3), ("mine", PCA(1)), make_pipeline(StandardScaler(), PCA(1)), "passthrough"]
    names = [name for name, _ in resolve_transforms(given).items()]
    assert names == ["as given 1", "PCA 1", "PCA 2", "mine", "StandardScaler+PCA", "as given 2"]


def test_numbers_make_no_name_twice():
    names = [name for name, _ in resolve_transforms([("PCA 1", PCA(1)), PCA(2), PCA(3)]).items()]
    assert names == ["PCA 1", "PCA 2", "PCA 3"]


def test_results_name_the_transform():
    X, y = load_wine(return_X_y=True)
    search = FuzzyOPFClassifierCV(transforms="linear", k_max=5, n_conquerors=(1, 5)).fit(X, y)
    assert set(search.cv_results_["param_transform"]) == set(LINEAR)
    assert search.best_params_["transform"] == "LDA"
    assert type(search.best_estimator_).__name__ == "Pipeline"


def test_as_given_makes_no_pipeline():
    X, y = load_wine(return_X_y=True)
    search = FuzzyOPFClassifierCV(transforms=[None], k_max=5, n_conquerors=1, cv=2).fit(X, y)
    assert type(search.best_estimator_).__name__ == "FuzzyOPFClassifier"


def test_the_best_pipeline_predicts_what_the_search_predicts():
    X, y = load_wine(return_X_y=True)
    search = FuzzyOPFClassifierCV(transforms="linear", k_max=5, n_conquerors=(1, 5), n_best=1, cv=3).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))
    np.testing.assert_array_equal(
        search.class_costs(X),
        search.best_estimator_[-1].class_costs(search.best_estimator_[:-1].transform(X)),
    )
    assert [e.label for e in search.explain(X)] == search.predict(X).tolist()


def test_only_the_kernel_separates_circles():
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).normal(0, 0.7, (300, 4))])  # where distances drown
    search = FuzzyOPFClassifierCV(transforms="kernel", k_max=10, cv=3).fit(X, y)
    assert search.best_params_["transform"].startswith("kernel")


def gaussians(n=400, d=5):
    """Two classes with one covariance, far from round."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 1.5 * np.outer(y, mix[0]), y, mix


def test_the_direction_is_fisher_s():
    X, y, mix = gaussians(4000)
    direction = RidgeDiscriminant().fit(X, y).scalings_[:, 0]
    expected = np.linalg.solve(mix.T @ mix, mix[0])
    cosine = abs(direction @ expected) / np.linalg.norm(direction) / np.linalg.norm(expected)
    assert cosine > 0.99


def test_the_spread_within_classes_is_1():
    X, y, _ = gaussians(4000)
    Z = RidgeDiscriminant().fit_transform(X, y)
    assert np.std(Z[y == 0]) == pytest.approx(1, abs=0.15)


def test_there_are_at_most_classes_less_one_directions():
    X, y = load_wine(return_X_y=True)
    assert RidgeDiscriminant().fit_transform(X, y).shape == (178, 2)
    assert KernelDiscriminant().fit_transform(X, y).shape == (178, 2)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_principal_axes_make_up_the_scatter(shape):
    X = np.random.default_rng(0).normal(size=shape)
    values, axes = principal_axes(X)
    assert len(values) == 12
    np.testing.assert_allclose((axes * values) @ axes.T, X.T @ X, atol=1e-9)
    np.testing.assert_allclose(axes.T @ axes, np.eye(12), atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_ridges_are_multiples_of_the_mean_eigenvalue_zeros_included(shape):
    X = np.random.default_rng(0).normal(size=shape)
    ridge = RidgeDiscriminant().fit(X, np.arange(shape[0]) % 2).ridge_
    mean = np.sum((X - X.mean(axis=0)) ** 2) / shape[1]
    assert np.isclose(ridge / mean, RIDGES).any()


def test_wide_samples_need_no_matrix_of_features():
    X, y = np.random.default_rng(0).normal(size=(30, 2000)), np.arange(30) % 2
    tracemalloc.start()
    RidgeDiscriminant().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * 2000 * 8 / 2


def test_features_without_spread_are_no_obstacle():
    X = np.repeat([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0]], 4, axis=0)
    Z = RidgeDiscriminant().fit_transform(X, np.repeat([0, 1], 4))
    assert np.isfinite(Z).all()
    assert abs(Z[0, 0] - Z[-1, 0]) > 1


def test_duplicates_make_no_kernel_singular():
    X = np.repeat(np.eye(3), 20, axis=0)
    assert np.isfinite(KernelDiscriminant().fit_transform(X, np.arange(60) % 2)).all()


def test_landmarks_are_at_most_as_many_as_asked_for():
    X, y, _ = gaussians()
    assert len(KernelDiscriminant(n_landmarks=30).fit(X, y).landmarks_) == 30
    assert len(KernelDiscriminant().fit(X[:50], y[:50]).landmarks_) == 50


def test_kernel_features_have_the_inner_products_of_the_kernel():
    X, y, _ = gaussians(100)
    model = KernelDiscriminant().fit(X, y)
    features = model._features(X)
    np.testing.assert_allclose(
        features @ features.T, model._kernel(X)[:, np.argsort(_places(X, model))], atol=1e-4
    )


def test_quadratic_features_have_the_inner_products_of_all_squares_and_products():
    X, y, _ = gaussians(30)
    features = QuadraticDiscriminant().fit(X, y)._features(X)
    expected = (1 + X @ X.T / 5) ** 2
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-5 * expected.max())


def _places(X, model):
    """Which sample each landmark is."""
    return [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.landmarks_]


def test_the_landmarks_follow_random_state():
    X, y, _ = gaussians()
    searches = [
        FuzzyOPFClassifierCV(
            transforms="kernel", k_max=4, sigmas=0.5, n_conquerors=3, cv=2, random_state=seed
        ).fit(X, y)
        for seed in (0, 0, 1)
    ]
    first, again, other = [search.cv_results_["mean_test_log_loss"] for search in searches]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_float32_samples_are_projected_as_float64_ones():
    X, y, _ = gaussians(100)
    narrow = X.astype(np.float32)
    for model in (RidgeDiscriminant(), KernelDiscriminant(), QuadraticDiscriminant()):
        wide = model.fit_transform(narrow.astype(np.float64), y)
        np.testing.assert_array_equal(model.fit_transform(narrow, y), wide)


def backwards(model, X, y):
    """A score that no search knows in advance: it asks the model itself, for other samples."""
    return accuracy_score(y, model.predict(X.iloc[::-1])[::-1])


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", backwards])
def test_a_first_step_is_fitted_in_each_fold(scoring):
    X, y = passengers(60)
    settings = {"k_max": 4, "sigmas": 0.5, "n_conquerors": (1, 3), "betas": 2, "cv": 3, "scoring": scoring}
    search = FuzzyOPFClassifierCV(transforms=[None, StandardScaler()], **settings)
    first = TablePreprocessor(scale=False)
    search._fit_behind(X, y, first)
    classifier = FuzzyOPFClassifier(k_max=4, sigma=0.5, competition="tree", beta=2)
    pipeline = Pipeline([("table", clone(first)), ("scaler", None), ("model", classifier)])
    expected = []
    for scaler in (None, StandardScaler()):
        grid = {"scaler": [scaler], "model__n_conquerors": [1, 3]}
        naive = GridSearchCV(pipeline, grid, cv=3, scoring=scoring, refit=False).fit(X, y)
        expected += naive.cv_results_["mean_test_score"].tolist()
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    for model in search.estimators_:
        again = clone(model).fit(first.transform(X), y)
        np.testing.assert_array_equal(again.predict(first.transform(X)), model.predict(first.transform(X)))
