"""Random forests as plain arrays, which a model file can contain, and what they say about samples."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from pathforest._persistence.checks import check_array, check_indices
from pathforest._search.shared_work import shared

N_TREES = 200  # of every random forest
BLOCK = 2**22  # pairs of sample and tree that are walked together: 140 MB at most


class RandomTrees(BaseEstimator):
    """The trees of a fitted random forest: answers are those of scikit-learn's, bit for bit.

    A node sends a sample to `left_` if its feature is at most the threshold, else to `right_`; a leaf is its
    own child. Nodes of all trees are numbered together.
    """

    def fit(self, forest: RandomForestClassifier) -> Self:
        """Copy the trees of a fitted forest."""
        trees = [tree.tree_ for tree in forest.estimators_]
        self.roots_ = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        own = np.arange(sum(tree.node_count for tree in trees))
        start = np.repeat(self.roots_, [tree.node_count for tree in trees])
        feature, left, right = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("feature", "children_left", "children_right")
        )
        leaf = feature < 0
        self.left_, self.right_ = (np.where(leaf, own, child + start) for child in (left, right))
        self.feature_ = np.where(leaf, 0, feature).astype(np.int32)
        self.threshold_ = np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees]))
        self.shares_ = np.concatenate([tree.value[:, 0] for tree in trees])
        return self

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return the mean share of each class in the leaves that samples reach."""
        X = np.asarray(X, dtype=np.float32)  # as scikit-learn does
        result, size = np.zeros((len(X), self.shares_.shape[1])), max(1, BLOCK // len(self.roots_))
        for start in range(0, len(X), size):
            block = slice(start, start + size)
            for leaf in self._walk(X[block]).T:  # tree by tree, as scikit-learn adds them
                result[block] += self.shares_[leaf]
        return result / len(self.roots_)

    def _walk(self, X: np.ndarray) -> np.ndarray:
        """Return the leaf that each sample reaches in each tree, of shape (n_samples, n_trees)."""
        node = np.broadcast_to(self.roots_, (len(X), len(self.roots_))).copy()
        rows = np.arange(len(X))[:, None]
        while True:
            goes_left = X[rows, self.feature_[node]] <= self.threshold_[node]
            below = np.where(goes_left, self.left_[node], self.right_[node])
            if np.array_equal(below, node):
                return node
            node = below

    def _check_fitted(self, n_features: int) -> int:
        """Raise ValueError unless samples of `n_features` reach leaves; return the number of classes."""
        threshold = check_array(self, "threshold_", (None,))
        n_nodes = len(threshold)
        check_indices(self, "feature_", (n_nodes,), n_features)
        check_indices(self, "roots_", (None,), n_nodes, ascending=True)
        own = np.arange(n_nodes)
        for name in ("left_", "right_"):
            child = check_indices(self, name, (n_nodes,), n_nodes)
            if (child < own).any():  # children come after their parents, so that every walk ends
                raise ValueError(f"{name} leads back")
        if not len(self.roots_):
            raise ValueError("there are no trees")
        return check_array(self, "shares_", (n_nodes, None), nonnegative=True).shape[1]


class Grown(NamedTuple):
    """A random forest, and what it says about its own training samples."""

    trees: RandomTrees
    shares: np.ndarray  # (n_samples, n_classes) mean over the trees that did not see the sample
    importances: np.ndarray  # (n_features,) adding up to 1, or all 0 if no tree has a split


def grow_trees(X: np.ndarray, y: np.ndarray, n_trees: int, random_state: Any) -> Grown:
    """Grow a random forest of scikit-learn; labels may have any type."""
    return _grow(X, np.unique(y, return_inverse=True)[1], n_trees, random_state)


@shared
def _grow(X: np.ndarray, codes: np.ndarray, n_trees: int, random_state: Any) -> Grown:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        forest = RandomForestClassifier(n_trees, oob_score=_no_score, random_state=random_state).fit(X, codes)
    shares = forest.oob_decision_function_.reshape(len(X), -1)
    overall = np.bincount(codes) / len(codes)  # for samples that every tree has seen
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, overall)
    return Grown(RandomTrees().fit(forest), shares, forest.feature_importances_)


def _no_score(y: np.ndarray, predicted: np.ndarray) -> float:
    """Stand in for the accuracy, which is not needed."""
    return 0.0
