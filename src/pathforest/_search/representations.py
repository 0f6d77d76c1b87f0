"""Candidate representations of the samples: those of a preset, or what the user passes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import count
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from pathforest._search.transformers import (
    ImportanceScaler,
    KernelDiscriminant,
    Once,
    QuadraticDiscriminant,
    RidgeDiscriminant,
    TreeShares,
)
from pathforest._utils.text import show

AS_GIVEN = "as given"
PRESETS = ("auto", "linear", "kernel", "full")
GAMMA_SCALES = (4.0, 1.0, 0.25, 0.0625)  # widths of the RBF kernel tried, times 1 / n_features
WEIGHTED_SCALES = (1.0, 0.25)  # those on features weighted by their importance

# "auto" chooses the first preset that suits the number of samples and features; see docs/guide/fuzzy_cv.md.
LIMITS = {"kernel": (5_000, 500), "linear": (50_000, 500)}

# Candidates by their names in the results: unfitted transformers, or None for the samples as given.
Representations = dict[str, Any]


def resolve_transforms(transforms: Any, n_classes: int = 2, random_state: Any = 0) -> Representations:
    """Turn the parameter `transforms` into named candidates.

    What ``"auto"`` stands for is chosen elsewhere; here it is the samples as given. A preset leaves out what
    separates classes if there is a single one.
    """
    if transforms is None or isinstance(transforms, str):
        if transforms not in (None, *PRESETS):
            raise ValueError(
                f"transforms={show(transforms)} is unknown; use None, {' or '.join(map(repr, PRESETS))}, or "
                "a sequence of transformers"
            )
        return _preset(transforms, n_classes, random_state)
    if not isinstance(transforms, Sequence) or not len(transforms):
        raise ValueError(
            f"transforms={show(transforms)} is not a sequence of transformers; pass a list such as [None, "
            f"StandardScaler()], or one of {', '.join(map(repr, PRESETS))}"
        )
    return _number_names([_candidate(item) for item in transforms])


def choose_preset(
    n_samples: int, n_features: int, metric: str, own_membership: bool
) -> tuple[str | None, str]:
    """Return the preset that "auto" stands for, and the reason."""
    if metric != "euclidean":
        return None, f"metric={metric!r} is for the features as given"
    if own_membership:
        return None, "membership is a function of the samples as given"
    size = f"{n_samples} samples x {n_features} features"
    for name, (most_samples, most_features) in LIMITS.items():
        if n_samples <= most_samples and n_features <= most_features:
            return name, f"{size} are at most {most_samples} x {most_features}"
    return None, f"{size} are more than any preset is quick for"


def _preset(name: str | None, n_classes: int, random_state: Any) -> Representations:
    """List the candidates of a preset, which have one seed, so that they can share landmarks and trees."""
    candidates: Representations = {AS_GIVEN: None}
    if name in (None, "auto"):
        return candidates
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**31 - 1)
    seed = int(random_state)

    def add(name: str, *steps: Any) -> None:
        candidates[name] = make_pipeline(StandardScaler(), *steps) if steps else StandardScaler()

    add("standardised")
    if n_classes == 1:
        return candidates
    add("LDA", RidgeDiscriminant())
    if name == "linear":
        return candidates
    for scale in GAMMA_SCALES:
        add(f"kernel LDA {scale:g}/d", KernelDiscriminant(scale, random_state=seed))
    if name == "kernel":
        return candidates
    for scale in WEIGHTED_SCALES:
        kernel = KernelDiscriminant(scale, random_state=seed)
        add(f"weighted kernel LDA {scale:g}/d", ImportanceScaler(random_state=seed), kernel)
    add("quadratic LDA", QuadraticDiscriminant(random_state=seed))
    add("random forest", TreeShares(random_state=seed))
    return candidates


def _candidate(item: Any) -> tuple[str, Any]:
    """Name one of the user's candidates, which may come as a pair (name, transformer)."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return item[0], _candidate(item[1])[1]
    if item is None or (isinstance(item, str) and item == "passthrough"):
        return AS_GIVEN, None
    if isinstance(item, type) or not (hasattr(item, "fit") and hasattr(item, "transform")):
        raise TypeError(
            f"transforms holds {show(item)}, which has no fit and transform; use scikit-learn transformers, "
            "None for the samples as given, or pairs (name, transformer)"
        )
    steps = item.steps if isinstance(item, Pipeline) else [("", item)]
    return "+".join(type(step).__name__ for _, step in steps), item


def _number_names(candidates: list[tuple[str, Any]]) -> Representations:
    """Tell candidates with equal names apart by the first numbers that make no name twice."""
    names, result = [name for name, _ in candidates], {}
    for name, transformer in candidates:
        numbered = (f"{name} {i}" for i in count(1))
        free = (new for new in numbered if names.count(new) != 1 and new not in result)
        result[name if names.count(name) == 1 else next(free)] = transformer
    return result


def fit_candidate(transformer: Any, X: Any, y: np.ndarray, Q: Any, once: Once | None) -> tuple[Any, Any, Any]:
    """Fit a copy of a candidate; return it, and what it makes of X and of Q, which may be None.

    Candidates of a preset share work by `once`: all have the same X, so those whose first steps have equal
    parameters share these steps, and whatever their next step would do twice.
    """
    if once is not None:
        return _fit_shared(transformer, X, y, Q, once)
    fitted = clone(transformer)
    X = fitted.fit_transform(X, y) if hasattr(fitted, "fit_transform") else fitted.fit(X, y).transform(X)
    return fitted, X, None if Q is None else fitted.transform(Q)


def _fit_shared(transformer: Any, X: Any, y: np.ndarray, Q: Any, once: Once) -> tuple[Any, Any, Any]:
    steps, fitted, key = getattr(transformer, "steps", [("", transformer)]), [], ()
    for name, step in steps:

        def fit(step: Any = step, X: Any = X, Q: Any = Q, before: Any = key) -> tuple[Any, Any, Any]:
            shares = not isinstance(step, StandardScaler | RidgeDiscriminant)
            options = {"once": lambda part, make: once((before, part), make)} if shares else {}
            Z = (model := clone(step)).fit_transform(X, y, **options)
            return model, Z, None if Q is None else model.transform(Q)

        key = (*key, type(step).__name__, *step.get_params().values())
        model, X, Q = once(key, fit)
        fitted.append((name, copy(model)))
    return Pipeline(fitted) if isinstance(transformer, Pipeline) else model, X, Q
