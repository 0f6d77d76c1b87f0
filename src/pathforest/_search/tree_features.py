"""Representations that a random forest gives: shares of the classes, and weights of the features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pathforest._persistence.allowed import check_transformer
from pathforest._persistence.checks import check_array
from pathforest._search.trees import N_TREES, grow_trees


class TreeShares(TransformerMixin, BaseEstimator):
    """What a random forest takes for the probabilities of the classes.

    `fit_transform` asks only the trees that did not see a training sample, `transform` all of them.

    Parameters
    ----------
    n_trees : int, default=200
        Number of trees.
    random_state : int or None, default=0
        Grows them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest._search.tree_features import TreeShares
    >>> TreeShares().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 3)
    """

    def __init__(self, n_trees: int = N_TREES, random_state: Any = 0) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Grow the trees."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Grow the trees; give each sample the shares of the classes in trees that did not see it."""
        grown = grow_trees(X, y, self.n_trees, self.random_state)
        self.trees_ = grown.trees
        return grown.shares

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the mean shares of the classes in the leaves that samples reach."""
        check_is_fitted(self)
        return self.trees_.shares(X)

    def _check_fitted(self, n_features: int) -> int:
        """Raise ValueError unless samples of `n_features` can be transformed; return how many they get."""
        return check_transformer(self.trees_, n_features)


class ImportanceScaler(TransformerMixin, BaseEstimator):
    """Stretch each feature by the root of its importance in a random forest.

    Squared distances then weigh features by their importance, and the weights have mean 1.

    Parameters
    ----------
    n_trees : int, default=200
        Number of trees.
    random_state : int or None, default=0
        Grows them.
    """

    def __init__(self, n_trees: int = N_TREES, random_state: Any = 0) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Grow trees and see which features they use."""
        importances = grow_trees(X, y, self.n_trees, self.random_state).importances
        if not importances.any():  # no tree has a split: every feature is constant
            importances = np.full(X.shape[1], 1 / X.shape[1])
        self.scale_ = np.sqrt(importances * X.shape[1])
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Multiply the features by their weights."""
        check_is_fitted(self)
        return X * self.scale_

    def _check_fitted(self, n_features: int) -> int:
        """Raise ValueError unless samples of `n_features` can be transformed; return how many they get."""
        return len(check_array(self, "scale_", (n_features,)))
