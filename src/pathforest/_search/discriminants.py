"""Discriminant analyses that choose their own ridge: on features, and on those of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pathforest._persistence.allowed import check_transformer
from pathforest._persistence.checks import check_array
from pathforest._search.shared_work import shared
from pathforest._utils.checks import check_positive
from pathforest._utils.linear import principal_axes

LANDMARKS = 300  # samples that span the kernel features, at most
JITTER = 1e-6  # added to the kernel of the landmarks, as a part of its diagonal: near ones make it singular
RIDGES = np.logspace(-4, 1.5, 12)  # ridges tried, as multiples of the mean eigenvalue
SMALLEST_SCATTER = 1e-9
SMALLEST_SCALE = 1e-200  # of the ridges of constant features: their inverses stay finite


class RidgeDiscriminant(TransformerMixin, BaseEstimator):
    """Linear discriminant analysis with the covariance shrunk as far as leave-one-out error advises.

    Projects samples on the directions that separate the class means, in units of the spread within classes.
    Discriminant analysis with a ridge on the covariance has the directions of ridge regression on class
    indicators, and there the error of leaving each sample out has a closed form: from one eigenvalue
    decomposition the ridge is chosen for the data at hand, wrong labels included.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest._search.discriminants import RidgeDiscriminant
    >>> RidgeDiscriminant().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Find the directions: at most one fewer than there are classes, or features."""
        X = np.asarray(X, dtype=np.float64)
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        values, vectors = principal_axes(centred)
        scores = centred @ vectors
        indicators = (codes[:, None] == np.arange(len(classes))) - counts / len(X)
        products = scores.T @ indicators
        scale = max(values.sum() / X.shape[1], SMALLEST_SCALE)
        self.ridge_ = _choose_ridge(scale * RIDGES, values, scores, indicators, products)
        # Between-class scatter M M^T in the eigenbasis; total scatter D with the ridge is diagonal there. The
        # eigenvectors q of M^T D^-1 M give the directions D^-1 M q, of within-class scatter g (1 - g).
        between = products / np.sqrt(counts)
        weighted = between / (values + self.ridge_)[:, None]
        gains, rotation = eigh(between.T @ weighted)
        n_directions = max(1, min(len(classes) - 1, X.shape[1]))
        gains, rotation = gains[::-1][:n_directions], rotation[:, ::-1][:, :n_directions]
        within = np.maximum(gains * (1 - gains), SMALLEST_SCATTER)
        self.scalings_ = vectors @ (weighted @ rotation) * np.sqrt(len(X) / within)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on the directions."""
        check_is_fitted(self)
        return (X - self.mean_) @ self.scalings_

    def _check_fitted(self, n_features: int) -> int:
        """Raise ValueError unless samples of `n_features` can be transformed; return how many they get."""
        check_array(self, "mean_", (n_features,))
        return check_array(self, "scalings_", (n_features, None)).shape[1]


def _choose_ridge(
    ridges: np.ndarray, values: np.ndarray, scores: np.ndarray, indicators: np.ndarray, products: np.ndarray
) -> float:
    """Return the ridge whose regression on class indicators has the smallest leave-one-out error."""
    squares = scores**2
    best, ridge = np.inf, ridges[-1]
    for candidate in ridges:
        weights = 1 / (values + candidate)
        residual = indicators - scores @ (weights[:, None] * products)
        leverage = squares @ weights + 1 / len(scores)
        error = np.sum((residual / np.maximum(1 - leverage, SMALLEST_SCATTER)[:, None]) ** 2)
        if error < best:
            best, ridge = error, candidate
    return float(ridge)


class LandmarkDiscriminant(TransformerMixin, BaseEstimator):
    """The discriminant analysis of :class:`RidgeDiscriminant` on Nystroem features of some kernel.

    A class that derives from it has the parameters `n_landmarks` and `random_state`, and a method
    ``_kernel(X)`` that compares samples with the landmarks.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose landmarks and find the directions that separate the classes."""
        chosen = check_random_state(self.random_state).permutation(len(X))[: self.n_landmarks]
        self.landmarks_ = np.asarray(X[chosen], dtype=np.float64)  # the root needs all the digits
        kernel = self._kernel(self.landmarks_)
        kernel.flat[:: len(kernel) + 1] += JITTER * kernel.diagonal().mean()
        # Any root of the kernel gives the same inner products; Cholesky's is the cheapest.
        self.root_ = cholesky(kernel, lower=True)
        self.discriminant_ = RidgeDiscriminant().fit(self._features(X), y)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on these directions, at most one fewer than there are classes."""
        check_is_fitted(self)
        return self.discriminant_.transform(self._features(X))

    def _check_fitted(self, n_features: int) -> int:
        """Raise ValueError unless samples of `n_features` can be transformed; return how many they get."""
        landmarks = check_array(self, "landmarks_", (None, n_features))
        root = check_array(self, "root_", (len(landmarks), len(landmarks)))
        if not root.diagonal().all():
            raise ValueError("root_ is singular")
        return check_transformer(self.discriminant_, len(landmarks))

    def _features(self, X: np.ndarray) -> np.ndarray:
        return solve_triangular(self.root_, self._kernel(X).T, lower=True).T


class KernelDiscriminant(LandmarkDiscriminant):
    """Discriminant analysis on Nystroem features of an RBF kernel.

    Parameters
    ----------
    gamma_scale : float, default=1.0
        The kernel's gamma times the number of features.
    n_landmarks : int, default=300
        Samples the kernel is approximated with, at most all.
    random_state : int or None, default=0
        Chooses the landmarks.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from pathforest._search.discriminants import KernelDiscriminant
    >>> X, y = make_circles(100, random_state=0)
    >>> KernelDiscriminant().fit_transform(X, y).shape
    (100, 1)
    """

    def __init__(self, gamma_scale: float = 1.0, n_landmarks: int = LANDMARKS, random_state: Any = 0) -> None:
        self.gamma_scale = gamma_scale
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        squares = _squared_distances(np.asarray(X, dtype=np.float64), self.landmarks_)
        return np.exp(squares * (-self.gamma_scale / X.shape[1]))

    def _check_fitted(self, n_features: int) -> int:
        check_positive("gamma_scale", self.gamma_scale, "1 is the default")
        return super()._check_fitted(n_features)


@shared
def _squared_distances(X: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Return squared Euclidean distances, which kernels of all widths share."""
    return euclidean_distances(X, landmarks, squared=True)


class QuadraticDiscriminant(LandmarkDiscriminant):
    """Discriminant analysis on squares and products of features, by a quadratic kernel.

    Parameters
    ----------
    n_landmarks : int, default=300
        Samples the kernel is approximated with, at most all.
    random_state : int or None, default=0
        Chooses the landmarks.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from pathforest._search.discriminants import QuadraticDiscriminant
    >>> X, y = make_circles(100, random_state=0)
    >>> QuadraticDiscriminant().fit_transform(X, y).shape
    (100, 1)
    """

    def __init__(self, n_landmarks: int = LANDMARKS, random_state: Any = 0) -> None:
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        return (1 + np.asarray(X, dtype=np.float64) @ self.landmarks_.T / X.shape[1]) ** 2
