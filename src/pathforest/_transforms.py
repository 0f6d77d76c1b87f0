"""Candidate representations of the samples: presets, and what the user passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

PRESETS = ("linear", "kernel")
LANDMARKS = 300  # samples that span the kernel features, at most
GAMMA_SCALES = (1.0, 0.25)  # widths of the RBF kernel tried, times 1 / n_features


class Representation(NamedTuple):
    """A candidate: its name in the results, and an unfitted transformer or None for the samples as given."""

    name: str
    transformer: Any


def _discriminant() -> LinearDiscriminantAnalysis:
    """Shrinkage keeps it stable with few samples; of the solvers with shrinkage only this one transforms."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


class KernelDiscriminant(TransformerMixin, BaseEstimator):
    """Shrinkage LDA on Nystroem features of an RBF kernel over standardised samples.

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
        kernel = Nystroem(
            gamma=self.gamma_scale / X.shape[1],
            n_components=min(self.n_landmarks, len(X)),
            random_state=self.random_state,
        )
        self.pipeline_ = make_pipeline(StandardScaler(), kernel, _discriminant()).fit(X, y)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Project samples on these directions, at most one fewer than there are classes."""
        check_is_fitted(self)
        return self.pipeline_.transform(X)


def _preset(name: str, random_state: Any) -> list[Representation]:
    candidates = [
        Representation("as given", None),
        Representation("standardised", StandardScaler()),
        Representation("LDA", make_pipeline(StandardScaler(), _discriminant())),
    ]
    if name == "kernel":
        candidates += [
            Representation(
                f"kernel LDA {scale:g}/d", KernelDiscriminant(gamma_scale=scale, random_state=random_state)
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
