"""Candidate representations: presets, names, and the discriminant analyses and trees behind them."""

import logging
import tracemalloc

import numpy as np
import pytest
from pipelines import passengers
from sklearn.base import clone
from sklearn.datasets import load_wine, make_circles
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, TablePreprocessor
from pathforest._search import transformers
from pathforest._search.folds import FoldWork
from pathforest._search.representations import LIMITS, choose_preset, resolve_transforms
from pathforest._search.transformers import (
    RIDGES,
    ImportanceScaler,
    KernelDiscriminant,
    QuadraticDiscriminant,
    RandomTrees,
    RidgeDiscriminant,
    TreeShares,
    grow_trees,
    principal_axes,
)

LINEAR = ["as given", "standardised", "LDA"]
KERNEL = [*LINEAR, *(f"kernel LDA {scale}/d" for scale in ("4", "1", "0.25", "0.0625"))]
FULL = [*KERNEL, "weighted kernel LDA 1/d", "weighted kernel LDA 0.25/d", "quadratic LDA", "random forest"]
SMALL = {"k_max": 4, "sigmas": 0.5, "n_conquerors": (1, 3), "cv": 2}


def gaussians(n=400, d=5):
    """Two classes with one covariance, far from round."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 1.5 * np.outer(y, mix[0]), y, mix


# Presets and names


@pytest.mark.parametrize(
    ("transforms", "n_classes", "names"),
    [
        (None, 2, LINEAR[:1]),
        ("linear", 2, LINEAR),
        ("kernel", 2, KERNEL),
        ("full", 2, FULL),
        ("full", 1, LINEAR[:2]),  # a single class has no discriminant
        (
            [None, PCA(2), PCA(3), ("mine", PCA(1)), make_pipeline(StandardScaler(), PCA(1)), "passthrough"],
            2,
            ["as given 1", "PCA 1", "PCA 2", "mine", "StandardScaler+PCA", "as given 2"],
        ),
        ([("PCA 1", PCA(1)), PCA(2), PCA(3)], 2, ["PCA 1", "PCA 2", "PCA 3"]),
    ],
)
def test_candidates_are_named_after_their_classes_and_no_name_occurs_twice(transforms, n_classes, names):
    assert list(resolve_transforms(transforms, n_classes)) == names


@pytest.mark.parametrize(
    ("n_samples", "n_features", "expected"),
    [
        *((*limits, name) for name, limits in LIMITS.items()),
        (LIMITS["kernel"][0] + 1, 2, "linear"),
        (LIMITS["linear"][0] + 1, 2, None),
        (100, LIMITS["linear"][1] + 1, None),
    ],
)
def test_auto_takes_cheaper_presets_as_data_grow(n_samples, n_features, expected):
    chosen, reason = choose_preset(n_samples, n_features, "euclidean", False)
    assert chosen == expected
    assert f"{n_samples} samples x {n_features} features" in reason


def test_auto_leaves_features_alone_where_the_metric_or_the_membership_is_made_for_them():
    assert choose_preset(100, 2, "chi2", False) == (None, "metric='chi2' is for the features as given")
    assert choose_preset(100, 2, "euclidean", True)[0] is None
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    search = FuzzyOPFClassifierCV(**SMALL, metric="precomputed").fit(D, np.arange(12) // 6)
    assert search.transforms_["preset"] is None
    assert "transform" not in search.best_params_
    assert type(search.best_estimator_) is FuzzyOPFClassifier


def test_auto_is_the_preset_it_names_and_reports(wine, caplog):
    with caplog.at_level(logging.INFO, logger="pathforest"):
        auto = FuzzyOPFClassifierCV(**SMALL, verbose=1).fit(*wine)
    expected = choose_preset(178, 13, "euclidean", False)
    assert (auto.transforms_["preset"], auto.transforms_["reason"]) == expected
    assert auto.transforms_["names"] == list(resolve_transforms(expected[0]))
    assert any(expected[1] in record.message for record in caplog.records)
    named = FuzzyOPFClassifierCV(**SMALL, transforms=expected[0]).fit(*wine)
    np.testing.assert_array_equal(auto.predict_proba(wine[0]), named.predict_proba(wine[0]))


def test_the_same_random_state_gives_the_same_bits_whatever_the_threads():
    X, y, _ = gaussians(400, 30)  # matrices so large that BLAS would divide them
    losses = []
    for seed, n_threads in ((0, 1), (0, 4), (1, 1)):
        search = FuzzyOPFClassifierCV(**SMALL, transforms="full", random_state=seed, n_jobs=n_threads)
        with threadpool_limits(n_threads, user_api="blas"):
            losses.append(search.fit(X, y).cv_results_["mean_test_log_loss"])
    np.testing.assert_array_equal(losses[0], losses[1])
    assert (losses[0] != losses[2]).any()


def test_only_the_kernel_separates_circles():
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).normal(0, 0.7, (300, 4))])  # where distances drown
    search = FuzzyOPFClassifierCV(transforms="kernel", k_max=10, sigmas=1.0, cv=2).fit(X, y)
    assert search.best_params_["transform"].startswith("kernel")


def test_kernels_of_one_space_share_their_distances(wine, monkeypatch):
    calls, measure = [], transformers.euclidean_distances
    monkeypatch.setattr(
        transformers, "euclidean_distances", lambda *args, **kw: calls.append(1) or measure(*args, **kw)
    )
    FuzzyOPFClassifierCV(**SMALL, transforms="kernel", refit=False).fit(*wine)
    assert len(calls) == 2 * (1 + 1 + 4)  # for each fold: landmarks and training samples once, queries


def backwards(model, X, y):
    """A score that no search knows in advance: it asks the model itself, for other samples."""
    return accuracy_score(y, model.predict(X.iloc[::-1])[::-1])


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", backwards])
def test_a_first_step_is_fitted_in_each_fold(scoring):
    X, y = passengers(60)
    search = FuzzyOPFClassifierCV(**SMALL, betas=2, scoring=scoring, transforms=[None, StandardScaler()])
    first = TablePreprocessor(scale=False)
    search._fit_behind(X, y, first)
    classifier = FuzzyOPFClassifier(k_max=4, sigma=0.5, competition="tree", beta=2)
    pipeline = Pipeline([("table", clone(first)), ("scaler", None), ("model", classifier)])
    expected = []
    for scaler in (None, StandardScaler()):
        grid = {"scaler": [scaler], "model__n_conquerors": [1, 3]}
        naive = GridSearchCV(pipeline, grid, cv=2, scoring=scoring, refit=False).fit(X, y)
        expected += naive.cv_results_["mean_test_score"].tolist()
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    for model in search.estimators_:
        again = clone(model).fit(first.transform(X), y)
        np.testing.assert_array_equal(again.predict(first.transform(X)), model.predict(first.transform(X)))


# Discriminant analyses


@pytest.mark.parametrize(("name", "scale"), [("kernel LDA 1/d", 1.0), ("kernel LDA 0.25/d", 0.25)])
def test_kernel_candidates_use_an_rbf_kernel_on_standardised_samples(name, scale):
    X, y, _ = gaussians()
    pipeline = resolve_transforms("kernel")[name].fit(X * [1, 10, 100, 1, 1], y)
    Z, model = StandardScaler().fit_transform(X), pipeline[-1]
    assert len(model.landmarks_) == 300
    expected = rbf_kernel(Z, model.landmarks_, gamma=scale / 5)
    np.testing.assert_allclose(model._features(Z) @ model.root_.T, expected, atol=1e-9)
    np.testing.assert_allclose(pipeline.transform(X * [1, 10, 100, 1, 1]), model.transform(Z), atol=1e-6)
    assert len(KernelDiscriminant(n_landmarks=30).fit(X, y).landmarks_) == 30
    assert len(KernelDiscriminant().fit(X[:50], y[:50]).landmarks_) == 50


def test_linear_candidates_standardise_and_then_discriminate():
    X, y, _ = gaussians(100)
    _, standardised, discriminant = resolve_transforms("linear").values()
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(standardised.fit_transform(X, y), Z)
    np.testing.assert_array_equal(discriminant.fit_transform(X, y), RidgeDiscriminant().fit_transform(Z, y))


def test_the_direction_is_fisher_s_and_the_spread_within_classes_is_1():
    X, y, mix = gaussians(4000)
    model = RidgeDiscriminant().fit(X, y)
    direction, expected = model.scalings_[:, 0], np.linalg.solve(mix.T @ mix, mix[0])
    cosine = abs(direction @ expected) / np.linalg.norm(direction) / np.linalg.norm(expected)
    assert cosine > 0.99
    assert np.std(model.transform(X)[y == 0]) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_principal_axes_make_up_the_scatter_and_ridges_are_multiples_of_their_mean_zeros_included(shape):
    X = np.random.default_rng(0).normal(size=shape)
    values, axes = principal_axes(X)
    assert len(values) == 12
    np.testing.assert_allclose((axes * values) @ axes.T, X.T @ X, atol=1e-9)
    np.testing.assert_allclose(axes.T @ axes, np.eye(12), atol=1e-9)
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


def test_features_without_spread_and_duplicates_are_no_obstacle():
    X = np.repeat([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0]], 4, axis=0)
    Z = RidgeDiscriminant().fit_transform(X, np.repeat([0, 1], 4))
    assert np.isfinite(Z).all()
    assert abs(Z[0, 0] - Z[-1, 0]) > 1
    copies, y = np.repeat(np.eye(3), 20, axis=0), np.arange(60) % 2
    assert np.isfinite(KernelDiscriminant().fit_transform(copies, y)).all()


def test_features_have_the_inner_products_of_the_kernel_or_of_all_squares_and_products():
    X, y, _ = gaussians(100)
    model = KernelDiscriminant().fit(X, y)
    features, places = (
        model._features(X),
        [int(np.flatnonzero((row == X).all(1))[0]) for row in model.landmarks_],
    )
    np.testing.assert_allclose(features @ features.T, model._kernel(X)[:, np.argsort(places)], atol=1e-4)
    features, expected = QuadraticDiscriminant().fit(X, y)._features(X), (1 + X @ X.T / 5) ** 2
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-5 * expected.max())


@pytest.mark.parametrize("kind", [RidgeDiscriminant, KernelDiscriminant, QuadraticDiscriminant])
def test_float32_samples_are_projected_as_float64_ones_on_one_direction_less_than_classes(kind):
    X, y = load_wine(return_X_y=True)
    narrow = X[::2].astype(np.float32)
    wide = kind().fit_transform(narrow.astype(np.float64), y[::2])
    np.testing.assert_array_equal(kind().fit_transform(narrow, y[::2]), wide)
    assert wide.shape == (89, 2)


# Random forests as plain arrays


def test_the_arrays_answer_as_the_forest_does(wine, monkeypatch):
    X, y = wine
    forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    copied = RandomTrees().fit(forest)
    np.testing.assert_array_equal(copied.shares(X), forest.predict_proba(X))
    monkeypatch.setattr(transformers, "BLOCK", 7 * 20)
    np.testing.assert_array_equal(copied.shares(X), forest.predict_proba(X))
    assert copied.shares(X[:0]).shape == (0, 3)


def test_training_samples_hear_only_trees_that_did_not_see_them(wine):
    X, y = wine
    forest = RandomForestClassifier(50, random_state=3, oob_score=True).fit(X, y)
    shares = TreeShares(50, random_state=3).fit_transform(X, y)
    np.testing.assert_array_equal(shares, forest.oob_decision_function_)
    assert (shares != TreeShares(50, random_state=3).fit(X, y).transform(X)).any()


def test_a_sample_that_every_tree_has_seen_gets_the_shares_of_the_classes():
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    shares = grow_trees(X, y, 1, 0).shares
    seen = np.unique(RandomForestClassifier(1, random_state=0).fit(X, y).estimators_samples_[0])
    np.testing.assert_array_equal(shares[seen], np.tile([0.75, 0.25], (len(seen), 1)))


def test_one_forest_serves_all_its_representations(wine, monkeypatch):
    grown, grow, work = [], RandomForestClassifier, FoldWork()
    monkeypatch.setattr(
        transformers,
        "RandomForestClassifier",
        lambda *args, **kwargs: grown.append(args) or grow(*args, **kwargs),
    )
    for transformer in (TreeShares(5), ImportanceScaler(5), ImportanceScaler(5)):
        transformer.fit_transform(*wine, work.once)
    assert len(grown) == 1
    ImportanceScaler(5, random_state=1).fit_transform(*wine, work.once)
    ImportanceScaler(5).fit(*wine)
    assert len(grown) == 3


def test_weights_are_the_roots_of_importances_with_mean_1_and_all_1_without_a_split(wine):
    X, y = wine
    scaler = ImportanceScaler(20).fit(X, y)
    importances = RandomForestClassifier(20, random_state=0).fit(X, y).feature_importances_
    np.testing.assert_allclose(scaler.scale_**2, importances * 13)
    np.testing.assert_array_equal(scaler.transform(X), X * scaler.scale_)
    np.testing.assert_array_equal(ImportanceScaler(3).fit(np.ones((6, 2)), np.arange(6) % 2).scale_, [1, 1])
