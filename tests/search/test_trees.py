"""Random forests as plain arrays, and the representations made of them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from pathforest._search import transformers as trees
from pathforest._search.folds import FoldWork
from pathforest._search.transformers import ImportanceScaler, RandomTrees, TreeShares, grow_trees


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_the_arrays_answer_as_the_forest_does(wine, monkeypatch):
    X, y = wine
    forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    copied = RandomTrees().fit(forest)
    np.testing.assert_array_equal(copied.shares(X), forest.predict_proba(X))
    monkeypatch.setattr(trees, "BLOCK", 7 * 20)
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
    X, y = wine
    grown = []
    monkeypatch.setattr(
        trees,
        "RandomForestClassifier",
        lambda *args, **kwargs: grown.append(args) or RandomForestClassifier(*args, **kwargs),
    )
    work = FoldWork()
    for transformer in (TreeShares(5), ImportanceScaler(5), ImportanceScaler(5)):
        transformer.fit_transform(X, y, work.once)
    assert len(grown) == 1
    ImportanceScaler(5, random_state=1).fit_transform(X, y, work.once)
    ImportanceScaler(5).fit(X, y)
    assert len(grown) == 3


def test_weights_are_the_roots_of_importances_with_mean_1(wine):
    X, y = wine
    scaler = ImportanceScaler(20).fit(X, y)
    importances = RandomForestClassifier(20, random_state=0).fit(X, y).feature_importances_
    np.testing.assert_allclose(scaler.scale_**2, importances * 13)
    np.testing.assert_array_equal(scaler.transform(X), X * scaler.scale_)


def test_without_a_split_all_weights_are_1():
    np.testing.assert_array_equal(ImportanceScaler(3).fit(np.ones((6, 2)), np.arange(6) % 2).scale_, [1, 1])
