"""Candidate representations: the default, names, and the discriminant analyses and trees behind them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, TablePreprocessor
from pathforest._search import representations, transformers
from pathforest._search.folds import FoldWork
from pathforest._search.representations import (
    fit_candidate,
    representations_of,
    resolve_transforms,
    why_as_given,
)
from pathforest._search.transformers import (
    RIDGES,
    JointFeatures,
    KernelDiscriminant,
    RandomTrees,
    RidgeDiscriminant,
    principal_axes,
)

KERNELS = ["kernel LDA 4/d", "kernel LDA 0.25/d"]
JOINT = ["joint, leaves of 1", "joint, leaves of 20"]
SMALL = {"k_max": 4, "sigmas": 0.5, "n_conquerors": (1, 3), "cv": 2}


def gaussians(n=400, d=5):
    """Two classes with one covariance, far from round."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 1.5 * np.outer(y, mix[0]), y, mix


# The default, and names


@pytest.mark.parametrize(
    ("transforms", "names"),
    [
        (None, ["as given"]),
        (
            [None, PCA(2), PCA(3), ("mine", PCA(1)), make_pipeline(StandardScaler(), PCA(1)), "passthrough"],
            ["as given 1", "PCA 1", "PCA 2", "mine", "StandardScaler+PCA", "as given 2"],
        ),
        ([("PCA 1", PCA(1)), PCA(2), PCA(3)], ["PCA 1", "PCA 2", "PCA 3"]),
    ],
)
def test_candidates_are_named_after_their_classes_and_no_name_occurs_twice(transforms, names):
    assert list(resolve_transforms(transforms)) == names


@pytest.mark.parametrize(
    ("sizes", "names", "left_out"),
    [
        ((100, 19, 2), ["standardised", "LDA", *KERNELS, *JOINT], "principal components (below 20 features)"),
        ((30, 200, 2), ["standardised", "LDA", "15 components", *KERNELS, *JOINT], ""),
        ((9000, 2001, 3), ["standardised", "50 components", *KERNELS, *JOINT], "LDA (above 2000 features)"),
        ((100, 2, 1), ["standardised"], "a single class"),
    ],
)
def test_the_default_says_what_it_leaves_out(sizes, names, left_out):
    candidates, reason = representations_of(*sizes, 0, None)
    assert list(candidates) == names
    assert left_out in reason if left_out else "without" not in reason


def test_auto_leaves_features_alone_where_the_metric_or_the_membership_is_made_for_them():
    assert why_as_given("chi2", False, False) == "metric='chi2' is for the features as given"
    assert "membership" in why_as_given("euclidean", True, False)
    assert "sparse" in why_as_given("euclidean", False, True)
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    search = FuzzyOPFClassifierCV(**SMALL, metric="precomputed").fit(D, np.arange(12) // 6)
    assert search.transforms_["preset"] is None
    assert "transform" not in search.best_params_
    assert type(search.best_estimator_) is FuzzyOPFClassifier


def test_the_same_random_state_gives_the_same_bits_whatever_the_threads():
    X, y, _ = gaussians(400, 30)  # matrices so large that BLAS would divide them
    losses = []
    for seed, n_threads in ((0, 1), (0, 4), (1, 1)):
        search = FuzzyOPFClassifierCV(**SMALL, random_state=seed, n_jobs=n_threads)
        with threadpool_limits(n_threads, user_api="blas"):
            losses.append(search.fit(X, y).cv_results_["mean_test_log_loss"])
    np.testing.assert_array_equal(losses[0], losses[1])
    assert (losses[0] != losses[2]).any()


# Discriminant analyses


@pytest.mark.parametrize(("name", "scale"), [("kernel LDA 4/d", 4.0), ("kernel LDA 0.25/d", 0.25)])
def test_kernel_candidates_use_an_rbf_kernel_on_standardised_samples(name, scale):
    X, y, _ = gaussians()
    pipeline = representations_of(400, 5, 2, 0, None)[0][name].fit(X * [1, 10, 100, 1, 1], y)
    Z, model = StandardScaler().fit_transform(X), pipeline[-1]
    assert len(model.landmarks_) == 300
    expected = rbf_kernel(Z, model.landmarks_, gamma=scale / 5)
    np.testing.assert_allclose(model._features(Z) @ model.root_.T, expected, atol=1e-9)
    np.testing.assert_allclose(pipeline.transform(X * [1, 10, 100, 1, 1]), model.transform(Z), atol=1e-6)
    assert len(KernelDiscriminant(n_landmarks=30).fit(X, y).landmarks_) == 30
    assert len(KernelDiscriminant().fit(X[:50], y[:50]).landmarks_) == 50


def test_linear_candidates_standardise_and_then_discriminate():
    X, y, _ = gaussians(100)
    standardised, discriminant, *_ = representations_of(100, 5, 2, 0, None)[0].values()
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


def test_features_without_spread_and_duplicates_are_no_obstacle():
    X = np.repeat([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0]], 4, axis=0)
    Z = RidgeDiscriminant().fit_transform(X, np.repeat([0, 1], 4))
    assert np.isfinite(Z).all()
    assert abs(Z[0, 0] - Z[-1, 0]) > 1
    copies, y = np.repeat(np.eye(3), 20, axis=0), np.arange(60) % 2
    assert np.isfinite(KernelDiscriminant().fit_transform(copies, y)).all()


# Random forests as plain arrays


def test_the_arrays_answer_as_the_forest_does(wine, monkeypatch):
    X, y = wine
    forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    copied = RandomTrees().fit(forest)
    np.testing.assert_array_equal(copied.shares(X), forest.predict_proba(X))
    monkeypatch.setattr(transformers, "BLOCK", 7 * 20)
    np.testing.assert_array_equal(copied.shares(X), forest.predict_proba(X))
    assert copied.shares(X[:0]).shape == (0, 3)


def test_features_are_weighed_and_joined_with_shares_of_trees_that_did_not_see_them(wine):
    X, y = wine
    forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=3, oob_score=True).fit(X, y)
    joint = JointFeatures(2, weight=4.0, n_trees=50, random_state=3)
    Z = joint.fit_transform(X, y)
    weights = np.sqrt(forest.feature_importances_ * 13)
    np.testing.assert_allclose(Z[:, :13], X * weights)
    np.testing.assert_allclose(Z[:, 13:], 4 * forest.oob_decision_function_)
    expected = np.hstack([X * weights, 4 * forest.predict_proba(X)])
    np.testing.assert_allclose(joint.transform(X), expected)
    np.testing.assert_array_equal(clone(joint).set_params(n_jobs=2).fit_transform(X, y), Z)


def test_trees_split_codes_of_a_table_and_distances_compare_zeros_and_ones():
    table = pd.DataFrame(
        {
            "size": [3.0, None, 1.0, 2.0, 5.0, 4.0] * 9,
            "name": [f"n{i}" for i in range(54)],
            "port": ["S", "C", None, "S", "Q", "C"] * 9,
        }
    )
    y, encoded = np.arange(54) // 3 % 2, TablePreprocessor(scale=True).fit_transform(table)
    joint = JointFeatures(2, n_trees=50, random_state=3, kinds=("number", "drop", "category"))
    Z, low = joint.fit_transform(table, y), -1e9
    size = ((table["size"] - table["size"].fillna(3).mean()) / table["size"].fillna(3).std(ddof=0)).fillna(
        low
    )
    codes = np.column_stack([size, table["port"].map({"C": 0, "Q": 1, "S": 2}).fillna(low)])
    forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=3, oob_score=True).fit(codes, y)
    weights = np.sqrt(2 * forest.feature_importances_)[[0, 1, 1, 1, 1]]
    np.testing.assert_allclose(Z, np.hstack([encoded * weights, 3 * forest.oob_decision_function_]))
    new = table.assign(port="Z")  # before all others, but not a gap
    codes[:, 1] = -1
    np.testing.assert_allclose(joint.transform(new)[:, 5:], 3 * forest.predict_proba(codes))


def test_without_a_split_weights_are_1_and_samples_that_every_tree_has_seen_get_the_shares_of_the_classes():
    np.testing.assert_array_equal(
        JointFeatures(n_trees=3).fit(np.ones((6, 2)), np.arange(6) % 2).scale_, [1, 1]
    )
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    shares = JointFeatures(n_trees=1).fit_transform(X, y)[:, 1:] / 3
    seen = np.unique(RandomForestClassifier(1, random_state=0).fit(X, y).estimators_samples_[0])
    np.testing.assert_allclose(shares[seen], np.tile([0.75, 0.25], (len(seen), 1)))


def test_landmarks_and_very_large_random_forests_come_from_the_part(wine, monkeypatch):
    X, y, part = *wine, np.arange(0, 178, 2)
    for name, grown_on, shares, learned in (
        ("kernel LDA 4/d", 10**5, 10**6, part),
        (JOINT[0], 10**5, 10**6, None),
        (JOINT[0], 9, 10**6, part),
        (JOINT[0], 10**5, 3 * 178 - 1, part),
    ):
        monkeypatch.setattr(representations, "GROWN_ON", grown_on)
        monkeypatch.setattr(representations, "GROWN_SHARES", shares)
        candidate = representations_of(178, 13, 3, 0, None)[0][name]
        _, Z, _ = fit_candidate(candidate, X, y, None, FoldWork().once, part)
        alone, scaled = clone(candidate[-1]), StandardScaler().fit_transform(X)
        rows = np.arange(178) if learned is None else learned
        own = alone.fit_transform(scaled[rows], y[rows])
        expected = alone.transform(scaled)
        expected[rows] = own
        np.testing.assert_array_equal(Z, expected)
