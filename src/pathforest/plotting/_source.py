"""The model to draw inside pipelines and searches, and where its training samples lie."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from pathforest._models.base import check_queries
from pathforest._models.explanation import Opened, only_scales, open_up
from pathforest._tables.columns import default_names

ADVICE = {
    "predecessor_": "pass a fitted estimator of pathforest, alone, at the end of a pipeline or in a search "
    "with refit=True",
    "membership_": "pass a FuzzyOPFClassifier, or a search for one",
    "density_": "pass a FuzzyOPFClassifier, a search for one, or an OPFClustering",
    "cluster_roots_": "pass an OPFClustering",
    "cluster_tree_": "pass an OPFClustering",
    "classes_": "pass a classifier",
}


class Source(NamedTuple):
    """A fitted model and where its training samples lie."""

    model: Any
    steps: list[Any]  # what samples go through before they reach it
    samples: np.ndarray  # (n_samples, n_columns) positions
    names: list[str]  # (n_columns,) what the columns are called
    gone: np.ndarray | None = None  # (n_gone, n_columns) samples that a pruner left out, if known


def find_source(estimator: Any, X: Any = None, needs: str = "predecessor_") -> Source:
    """Look for the model to draw and its samples; `needs` names the attribute that is drawn."""
    opened, kept = open_model(estimator, "predecessor_", needs)
    model = opened.model
    if X is not None:
        try:
            samples = check_array(X, dtype=np.float64, input_name="X")
        except ValueError:
            if model._fit_X is None:
                raise
            X = opened.represent(X)  # where the samples lie for the model
            samples = check_queries(model, X).astype(np.float64, copy=False)
        names = column_names(X, samples.shape[1])
    elif model._fit_X is None:
        raise ValueError(
            "the model was fitted with metric='precomputed' and knows no positions; pass X, such as "
            "Isomap(metric='precomputed').fit_transform(distances)"
        )
    else:
        samples = model._fit_X.astype(np.float64, copy=False)
        names = [f"representation, component {i + 1}" for i in range(samples.shape[1])]
        if only_scales(opened.steps):
            named = [
                one for one in (model, estimator) if hasattr(one, "feature_names_in_") and not opened.steps
            ]
            names = column_names(named[0] if named else None, samples.shape[1])
    if X is None or kept is None:
        n_samples = len(model.predecessor_)
        if len(samples) != n_samples:
            raise ValueError(
                f"X has {len(samples)} rows, but the model was fitted on {n_samples} samples; pass one "
                "row for each of them, in the order of fit"
            )
        return Source(*opened, samples, names)
    if len(samples) <= kept[-1]:
        raise ValueError(
            f"X has {len(samples)} rows, but sample {kept[-1]} was kept; pass one row for each sample that "
            "fit was given, in its order"
        )
    return Source(*opened, samples[kept], names, np.delete(samples, kept, axis=0))


def open_model(estimator: Any, *needs: str) -> tuple[Opened, np.ndarray | None]:
    """Return the model inside an estimator and, of a pruner, the indices of the samples it kept."""
    opened = open_up(estimator)
    kept = getattr(opened.model, "sample_indices_", None)
    if kept is not None and hasattr(opened.model, "estimator_"):
        opened = opened._replace(model=opened.model.estimator_)
    for attribute in needs:
        if not hasattr(opened.model, attribute):
            raise TypeError(f"{type(opened.model).__name__} has no {attribute} to draw; {ADVICE[attribute]}")
    return opened, kept


def column_names(X: Any, n_columns: int) -> list[str]:
    """Return the names of a data frame's columns or of a model's features; without names x0, x1 and so on."""
    names = getattr(X, "feature_names_in_", getattr(X, "columns", None))
    return default_names(n_columns) if names is None else [str(name) for name in names]


@contextmanager
def without_names() -> Iterator[None]:
    """Let a model answer about points without feature names, where its training samples had some."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
