"""Candidate representations of the samples: presets, and what the user passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

PRESETS = ("linear", "kernel")
LANDMARKS = 300  # samples that span the kernel features, at most
GAMMA_SCALES = (1.0, 0.25)  # widths of the RBF kernel tried, times 1 / n_features
JITTER = 1e-6  # added to the kernel of the landmarks, 1 on its diagonal: near ones make it singular
# Of the shrinkage that Ledoit and Wolf advise. Theirs aims at the covariance itself; here neighbours in the
# projection count, and on 14 datasets with a tenth of the labels wrong 2 was a little better than 1.
SHRINKAGE = 2.0
SMALLEST_VARIANCE = 1e-9  # within classes, of standardised features: some sets have none at all


class Representation(NamedTuple):
    """A candidate: its name in the results, and an unfitted transformer or None for the samples as given."""

    name: str
    transformer: Any


class ShrunkDiscriminant(TransformerMixin, BaseEstimator):
    """Linear discriminant analysis with a covariance shrunk after Ledoit and Wolf.

    Projects samples on the directions that separate the class means, in units of the spread within classes.
    Solving for those directions alone makes it three times as fast as scikit-learn's eigenvalue solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pathforest._transforms import ShrunkDiscriminant
    >>> ShrunkDiscriminant().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Find the directions: at most one fewer than there are classes, or features."""
        X = np.asarray(X, dtype=np.float64)
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        means = np.array([X[codes == code].mean(axis=0) for code in range(len(counts))])
        within = X - means[codes]
        covariance = _shrink(within.T @ within / len(X), _shrinkage(within, codes))
        factor = cholesky(covariance, lower=True)
        self.mean_ = X.mean(axis=0)
        between = (means - self.mean_) * np.sqrt(counts / len(X))[:, None]
        whitened = solve_triangular(factor, between.T, lower=True)
        directions, _, _ = np.linalg.svd(whitened, full_matrices=False)
        n_directions = max(1, min(len(counts) - 1, X.shape[1]))
        self.scalings_ = solve_triangular(factor, directions[:, :n_directions], lower=True, trans="T")
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on the directions."""
        check_is_fitted(self)
        return (X - self.mean_) @ self.scalings_


def _shrinkage(within: np.ndarray, codes: np.ndarray) -> float:
    """Weight of the round covariance: `SHRINKAGE` times what Ledoit and Wolf advise for the classes alone."""
    total = 0.0
    for code in range(codes.max() + 1):
        rows = within[codes == code]
        total += len(rows) * ledoit_wolf_shrinkage(rows, assume_centered=True)
    return min(1.0, SHRINKAGE * total / len(within))


def _shrink(covariance: np.ndarray, shrinkage: float) -> np.ndarray:
    """Move a covariance towards a round one of the same trace."""
    mean = np.trace(covariance) / len(covariance)
    covariance = (1 - shrinkage) * covariance
    covariance.flat[:: len(covariance) + 1] += shrinkage * mean + SMALLEST_VARIANCE
    return covariance


class KernelDiscriminant(TransformerMixin, BaseEstimator):
    """The discriminant analysis of :class:`ShrunkDiscriminant` on Nystroem features of an RBF kernel.

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
    >>> from pathforest._transforms import KernelDiscriminant
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
        self.discriminant_ = ShrunkDiscriminant().fit(self._features(X), y)
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
        Representation("LDA", make_pipeline(StandardScaler(), ShrunkDiscriminant())),
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
            f"transforms={transforms!r} is no sequence of transformers; pass a list such as [None, "
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
    """Tell candidates with equal names apart by a number."""
    totals, seen = Counter(name for name, _ in candidates), Counter()
    result = []
    for name, transformer in candidates:
        seen[name] += 1
        result.append(Representation(f"{name} {seen[name]}" if totals[name] > 1 else name, transformer))
    return result
