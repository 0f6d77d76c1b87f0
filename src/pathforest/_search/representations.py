"""Candidate representations of the samples: those of the default, or what the user passes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import count
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, check_random_state

from pathforest._search.transformers import (
    JointFeatures,
    KernelDiscriminant,
    Once,
    RidgeDiscriminant,
    SharingTransformer,
)
from pathforest._utils.text import show
from pathforest.preprocessing import TablePreprocessor

AS_GIVEN, STANDARDISED = "as given", "standardised"
GAMMA_SCALES = (4.0, 0.25)  # widths of the RBF kernel tried, times 1 / n_features
LEAVES = (1, 20)  # samples in a leaf of the random forests, at least: wrong labels want large leaves
MANY_FEATURES = 20  # from here on there are principal components, half as many or this many at most:
COMPONENTS = 50
MANY_CLASSES = 100  # above, random forests would hold a share of every class in every leaf
WIDEST = 2_000  # features whose covariances are decomposed
GROWN_ON = 100_000  # samples above which random forests are grown on a part, with up to ten classes:
GROWN_SHARES = 1_000_000  # samples times classes, because a forest has shares of all classes in every leaf

# Candidates by their names in the results: unfitted transformers, or None for the samples as given.
Representations = dict[str, Any]


def resolve_transforms(transforms: Any) -> Representations | None:
    """Turn the parameter `transforms` into named candidates; None for "auto", which needs the samples."""
    if transforms is None:
        return {AS_GIVEN: None}
    if isinstance(transforms, str) and transforms == "auto":
        return None
    if isinstance(transforms, str) or not isinstance(transforms, Sequence) or not len(transforms):
        raise ValueError(
            f"transforms={show(transforms)} is not a sequence of transformers; pass a list such as [None, "
            "StandardScaler()], None for the samples as given, or 'auto'"
        )
    return _number_names([_candidate(item) for item in transforms])


def why_as_given(metric: str, own_membership: bool, is_sparse: bool) -> str | None:
    """Say why "auto" takes samples as given; None if it makes representations of them."""
    if is_sparse:
        return "a sparse matrix is for the features as given"
    if metric != "euclidean":
        return f"metric={metric!r} is for the features as given"
    return "membership is a function of the samples as given" if own_membership else None


def representations_of(
    n_samples: int,
    n_features: int,
    n_classes: int,
    random_state: Any,
    n_jobs: int | None,
    fewest: int | None = None,
) -> tuple[Representations, str]:
    """List the candidates of "auto" and what is left out; `fewest` samples are in the smallest fit."""
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**31 - 1)
    seed, left_out = int(random_state), []
    candidates: Representations = {STANDARDISED: StandardScaler()}

    def add(name: str, step: Any) -> None:
        candidates[name] = make_pipeline(StandardScaler(), step)

    if n_classes == 1:
        return candidates, "a single class has nothing to separate"
    if n_features <= WIDEST:
        add("LDA", RidgeDiscriminant())
    else:
        left_out.append(f"LDA (above {WIDEST} features)")
    if n_features >= MANY_FEATURES:
        n_components = min(COMPONENTS, n_features // 2, n_samples // 2, fewest or n_samples)
        candidates[f"{n_components} components"] = PCA(n_components, random_state=seed)
    else:
        left_out.append(f"principal components (below {MANY_FEATURES} features)")
    for scale in GAMMA_SCALES:
        add(f"kernel LDA {scale:g}/d", KernelDiscriminant(scale, random_state=seed))
    if n_classes <= MANY_CLASSES:
        for leaf in LEAVES:
            add(f"joint, leaves of {leaf}", JointFeatures(leaf, random_state=seed, n_jobs=n_jobs))
    else:
        left_out.append(f"random forests (above {MANY_CLASSES} classes)")
    size = f"{n_samples} samples x {n_features} features, {n_classes} classes"
    return candidates, f"{size}: without {', '.join(left_out)}" if left_out else size


def behind_table(candidates: Representations, table: TablePreprocessor) -> Representations:
    """Let candidates take a table, whose kinds are those of the whole, instead of what is made of it."""
    kinds, found = tuple(table.kinds_.tolist()), {}
    first = clone(table).set_params(kinds=dict(enumerate(kinds)))
    for name, candidate in candidates.items():
        steps = getattr(candidate, "steps", [("", candidate)])
        last = steps[-1][1]
        if isinstance(last, JointFeatures):
            found[name] = clone(last).set_params(kinds=kinds)
        else:
            found[name] = make_pipeline(clone(first), *(step for _, step in steps if step is not None))
    return found


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


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of samples, which may be a dict of columns."""
    if isinstance(X, dict):
        return {name: column[rows] for name, column in X.items()}
    return _safe_indexing(X, rows)


def fit_candidate(
    transformer: Any, X: Any, y: np.ndarray, Q: Any, once: Once | None, part: np.ndarray | None = None
) -> tuple[Any, Any, Any]:
    """Fit a copy of a candidate; return it, and what it makes of X and of Q, which may be None."""
    # Candidates of the default share steps of equal parameters by `once`: all have the same X. With `part`,
    # landmarks come from these samples, and random forests where there are very many.
    if once is not None:
        return _fit_shared(transformer, X, y, Q, once, part)
    fitted = clone(transformer)
    X = fitted.fit_transform(X, y) if hasattr(fitted, "fit_transform") else fitted.fit(X, y).transform(X)
    return fitted, X, None if Q is None else fitted.transform(Q)


def _fit_shared(
    transformer: Any, X: Any, y: np.ndarray, Q: Any, once: Once, part: np.ndarray | None
) -> tuple[Any, Any, Any]:
    steps, fitted, key = getattr(transformer, "steps", [("", transformer)]), [], ()
    for name, step in steps:

        def fit(step: Any = step, X: Any = X, Q: Any = Q, before: Any = key) -> tuple[Any, Any, Any]:
            model, options, rows = clone(step), {}, part
            if isinstance(step, SharingTransformer):
                options = {"once": lambda part, make: once((before, part), make)}
            grows = isinstance(step, JointFeatures) and len(y) <= GROWN_ON
            if (grows and len(y) * len(np.unique(y)) <= GROWN_SHARES) or not options:
                rows = None
            if isinstance(step, PCA):  # a part of a table may have fewer categories
                model.set_params(n_components=min(step.n_components, *X.shape))
            if rows is None:
                # Samples that are all equal have no variance of which components could explain a part.
                with np.errstate(divide="ignore", invalid="ignore"):
                    Z = model.fit_transform(X, y, **options)
            else:
                own = model.fit_transform(take_rows(X, rows), y[rows], **options)
                Z = model.transform(X)
                Z[rows] = own  # they have not been answered by the trees that saw them
            return model, Z, None if Q is None else model.transform(Q)

        key = (*key, type(step).__name__, *map(repr, step.get_params().values()))
        is_own = len(steps) > 1 and len(fitted) == len(steps) - 1  # no other candidate takes it
        model, X, Q = fit() if is_own else once(key, fit)
        fitted.append((name, copy(model)))
    return Pipeline(fitted) if isinstance(transformer, Pipeline) else model, X, Q
