"""The model with the forest to draw, and its training samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted

from pathforest._models.explaining import only_scales


class Source(NamedTuple):
    """A fitted model and where its training samples lie."""

    model: Any  # has predecessor_
    transformers: list[Any]  # what samples go through before they reach it
    samples: np.ndarray  # (n_samples, n_columns) positions
    names: list[str]  # (n_columns,) what the columns are called

    def transform(self, Q: Any) -> Any:
        """Give new samples the representation of the model."""
        for transformer in self.transformers:
            Q = transformer.transform(Q)
        return Q


def find_source(estimator: Any, X: Any = None, needs: str = "predecessor_") -> Source:
    """Look for the forest inside pipelines and searches, and for its samples; `needs` names what is drawn."""
    model, transformers = open_up(estimator)
    if not hasattr(model, needs):
        raise TypeError(f"{type(model).__name__} has no {needs} to draw; {ADVICE[needs]}")
    if X is not None:
        samples, names = read_positions(X, model, transformers)
        n_samples = len(model.predecessor_)
        if len(samples) != n_samples:
            raise ValueError(
                f"X has {len(samples)} rows, but the model was fitted on {n_samples} samples; pass one "
                "row for each of them, in the order of fit"
            )
        return Source(model, transformers, samples, names)
    if model._fit_X is None:
        raise ValueError(
            "the model was fitted with metric='precomputed' and knows no positions; pass X with one row for "
            "each training sample, such as Isomap(metric='precomputed').fit_transform(distances)"
        )
    samples = model._fit_X.astype(np.float64, copy=False)
    return Source(model, transformers, samples, known_names(samples.shape[1], transformers, model, estimator))


def read_positions(X: Any, model: Any, transformers: list[Any]) -> tuple[np.ndarray, list[str]]:
    """Return samples and names of columns: numbers as they are, other tables as they reach the model."""
    try:
        samples = check_array(X, dtype=np.float64, input_name="X")
    except ValueError:
        if model._fit_X is None:
            raise
        for transformer in transformers:
            X = transformer.transform(X)
        samples = model._check_query(X).astype(np.float64, copy=False)
    return samples, column_names(X, samples.shape[1])


def known_names(n_columns: int, transformers: list[Any], *models: Any) -> list[str]:
    """Return the names of features that models were fitted with, or numbers."""
    if not all(map(only_scales, transformers)):
        return [f"representation, component {i + 1}" for i in range(n_columns)]
    known = [model for model in models if hasattr(model, "feature_names_in_")]
    return (
        known[0].feature_names_in_.tolist() if known and not transformers else column_names(None, n_columns)
    )


ADVICE = {
    "predecessor_": "pass an estimator of pathforest",
    "membership_": "pass a FuzzyOPFClassifier, or a search for one",
    "cluster_roots_": "pass an OPFClustering",
    "classes_": "pass a classifier",
}


def open_up(estimator: Any) -> tuple[Any, list[Any]]:
    """Return the model with the forest, and the transformers of the pipelines around it."""
    model, transformers = take_apart(estimator)
    if hasattr(model, "sample_indices_"):  # a pruner, which has its forest in a smaller classifier
        model = model.estimator_
    if not hasattr(model, "predecessor_"):
        raise TypeError(
            f"{type(model).__name__} has no optimum-path forest; pass a fitted estimator of pathforest, "
            "alone, at the end of a pipeline or in a search with refit=True"
        )
    return model, transformers


def take_apart(estimator: Any) -> tuple[Any, list[Any]]:
    """Return the estimator inside pipelines and searches, and the transformers around it."""
    check_is_fitted(estimator)
    model, transformers = estimator, []
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            transformers.append(model[:-1])
        model = model[-1] if isinstance(model, Pipeline) else model.best_estimator_
    return model, transformers


def column_names(X: Any, n_columns: int) -> list[str]:
    """Return the names of a data frame's columns, or numbers."""
    columns = getattr(X, "columns", None)
    return [f"feature {i}" for i in range(n_columns)] if columns is None else [str(name) for name in columns]


@contextmanager
def without_names() -> Iterator[None]:
    """Let a model answer about points without feature names, where its training samples had some."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
