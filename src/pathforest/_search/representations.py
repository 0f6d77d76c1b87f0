"""Candidate representations of the samples: presets, and what the user passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pathforest._utils.linear import principal_axes

PRESETS = ("linear", "kernel")
LANDMARKS = 300  # samples that span the kernel features, at most
GAMMA_SCALES = (1.0, 0.25)  # widths of the RBF kernel tried, times 1 / n_features
JITTER = 1e-6  # added to the kernel of the landmarks, 1 on its diagonal: near ones make it singular
RIDGES = np.logspace(-4, 1.5, 12)  # ridges tried, as multiples of the mean eigenvalue
SMALLEST_SCATTER = 1e-9


class Representation(NamedTuple):
    """A candidate: its name in the results, and an unfitted transformer or None for the samples as given."""

    name: str
    transformer: Any


class RidgeDiscriminant(TransformerMixin, BaseEstimator):
    """Linear discriminant analysis with the covariance shrunk as far as leave-one-out error advises.

    Projects samples on the directions that separate the class means, in units of the spread within classes.
    Discriminant analysis with a ridge on the covariance has the directions of ridge regression on class
    indicators, and there the error of leaving each sample out has a closed form: from one eigenvalue
    decomposition the ridge is chosen for the data at hand, wrong labels included.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest._search.representations import RidgeDiscriminant
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
        scale = max(values.sum() / X.shape[1], np.finfo(np.float64).tiny)
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


class KernelDiscriminant(TransformerMixin, BaseEstimator):
    """The discriminant analysis of :class:`RidgeDiscriminant` on Nystroem features of an RBF kernel.

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
    >>> from pathforest._search.representations import KernelDiscriminant
    >>> X, y = make_circles(100, random_state=0)
    >>> KernelDiscriminant().fit_transform(X, y).shape
    (100, 1)
    """

    def __init__(self, gamma_scale: float = 1.0, n_landmarks: int = LANDMARKS, random_state: Any = 0) -> None:
        self.gamma_scale = gamma_scale
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose landmarks and find the directions that separate the classes."""
        chosen = check_random_state(self.random_state).permutation(len(X))[: self.n_landmarks]
        self.landmarks_ = np.asarray(X[chosen], dtype=np.float64)  # the root needs all the digits
        kernel = self._kernel(self.landmarks_)
        kernel.flat[:: len(kernel) + 1] += JITTER
        # Any root of the kernel gives the same inner products; Cholesky's is the cheapest.
        self.root_ = cholesky(kernel, lower=True)
        self.discriminant_ = RidgeDiscriminant().fit(self._features(X), y)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on these directions, at most one fewer than there are classes."""
        check_is_fitted(self)
        return self.discriminant_.transform(self._features(X))

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return rbf_kernel(X, self.landmarks_, gamma=self.gamma_scale / X.shape[1])

    def _features(self, X: np.ndarray) -> np.ndarray:
        return solve_triangular(self.root_, self._kernel(X).T, lower=True).T


def _preset(name: str, random_state: Any) -> list[Representation]:
    candidates = [
        Representation("as given", None),
        Representation("standardised", StandardScaler()),
        Representation("LDA", make_pipeline(StandardScaler(), RidgeDiscriminant())),
    ]
    if name == "kernel":
        candidates += [
            Representation(
                f"kernel LDA {scale:g}/d",
                make_pipeline(StandardScaler(), KernelDiscriminant(scale, random_state=random_state)),
            )
            for scale in GAMMA_SCALES
        ]
    return candidates


def resolve_transforms(transforms: Any, n_classes: int = 2, random_state: Any = 0) -> list[Representation]:
    """Turn the parameter `transforms` into named candidates.

    A preset leaves out its discriminant analyses where there is a single class, with nothing to separate.
    """
    if transforms is None:
        return [Representation("as given", None)]
    if isinstance(transforms, str):
        if transforms not in PRESETS:
            raise ValueError(
                f"transforms={transforms!r} is unknown; use None, {' or '.join(map(repr, PRESETS))}, or a "
                "sequence of transformers"
            )
        candidates = _preset(transforms, random_state)
        return candidates if n_classes > 1 else candidates[:2]
    if not isinstance(transforms, Sequence) or not len(transforms):
        raise ValueError(
            f"transforms={transforms!r} is not a sequence of transformers; pass a list such as [None, "
            f"StandardScaler()], or one of {', '.join(map(repr, PRESETS))}"
        )
    return _number_names([_candidate(item) for item in transforms])


def _candidate(item: Any) -> Representation:
    """Name one of the user's candidates, which may come as a pair (name, transformer)."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return Representation(item[0], _candidate(item[1]).transformer)
    if item is None or (isinstance(item, str) and item == "passthrough"):
        return Representation("as given", None)
    if isinstance(item, type) or not (hasattr(item, "fit") and hasattr(item, "transform")):
        raise TypeError(
            f"transforms holds {item!r}, which has no fit and transform; use scikit-learn transformers, None "
            "for the samples as given, or pairs (name, transformer)"
        )
    steps = item.steps if isinstance(item, Pipeline) else [("", item)]
    return Representation("+".join(type(step).__name__ for _, step in steps), item)


def _number_names(candidates: list[Representation]) -> list[Representation]:
    """Tell candidates with equal names apart by the first numbers that make no name twice."""
    totals = Counter(name for name, _ in candidates)
    taken = {name for name, total in totals.items() if total == 1}
    result = []
    for name, transformer in candidates:
        if totals[name] > 1:
            name = next(new for i in count(1) if (new := f"{name} {i}") not in taken)
            taken.add(name)
        result.append(Representation(name, transformer))
    return result
