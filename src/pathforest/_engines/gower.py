"""What Gower's distance takes from its parameters and the training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pathforest._engines.metric import Metric
from pathforest._utils.tables import Coded, is_text
from pathforest._utils.text import show


def categorical_features(given: Any, n_features: int, names: Sequence[str] | None = None) -> np.ndarray:
    """Return which features are categories: given by indices, by a boolean mask, or by names.

    Examples
    --------
    >>> from pathforest._engines.gower import categorical_features
    >>> categorical_features(["colour"], 2, names=["size", "colour"])
    array([False,  True])
    >>> categorical_features([0], 2)
    array([ True, False])
    """
    chosen = np.asarray(given)
    if chosen.dtype == bool and chosen.shape == (n_features,):
        return chosen.copy()
    if chosen.dtype.kind in "OU" and chosen.ndim == 1 and all(isinstance(name, str) for name in chosen):
        known = [] if names is None else list(names)
        if unknown := [name for name in chosen.tolist() if name not in known]:
            raise ValueError(
                f"metric_params: categorical has {show(unknown[0])}, which is not a column of X; use names "
                f"of its columns{'' if known else ' (X has none)'}, or indices from 0 to {n_features - 1}"
            )
        chosen = np.array([known.index(name) for name in chosen.tolist()], dtype=int)
    is_index = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not chosen.size)
    if not is_index or (chosen.size and not (chosen.min() >= 0 and chosen.max() < n_features)):
        raise ValueError(
            f"metric_params: categorical={show(given)} does not choose among {n_features} feature(s); pass "
            f"indices from 0 to {n_features - 1}, a boolean for each feature, or names of columns"
        )
    mask = np.zeros(n_features, dtype=bool)
    mask[chosen.astype(int)] = True
    return mask


def complete_gower(params: Mapping[str, Any], X: np.ndarray) -> dict[str, np.ndarray]:
    """Return all parameters as arrays, one entry per feature; ranges not given are those of the samples."""
    n_features = X.shape[1]
    ranges, weights = params.get("ranges"), params.get("weights")
    weights = np.ones(n_features) if weights is None else _per_feature("weights", weights, n_features)
    if not weights.any():
        raise ValueError("metric_params: weights are all 0; give some feature a weight above 0")
    return {
        "categorical": categorical_features(params.get("categorical", ()), n_features),
        "ranges": _ranges(X) if ranges is None else _per_feature("ranges", ranges, n_features),
        "weights": weights,
    }


def with_categories(metric: Metric, coded: Coded, names: Sequence[str] | None) -> Metric:
    """Let a metric know the categories of a table: text always, others unless the parameters name them."""
    categorical, given = coded.categorical, metric.params.get("categorical")
    if given is not None:
        has_text = [is_text(known) for known in coded.categories]
        categorical = categorical_features(given, len(categorical), names) | has_text
    return metric._replace(params={**metric.params, "categorical": categorical})


def gower_terms(a: np.ndarray, b: np.ndarray, params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return what each feature adds to the distance of two samples, NaN where one of them lacks it."""
    apart, ranges = np.abs(a - b), engine_ranges(params)
    terms = np.divide(apart, ranges, out=(apart > 0).astype(np.float64), where=ranges > 0)
    return np.where(np.isnan(apart), np.nan, terms * params["weights"])


def engine_ranges(params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the ranges as the engine takes them: 0 marks categories, infinity features that are constant."""
    ranges = np.where(params["ranges"] > 0, params["ranges"], np.inf)
    return np.where(params["categorical"], 0.0, ranges)


def _ranges(X: np.ndarray) -> np.ndarray:
    """Width of each feature, in float64; 0 where all values are missing."""
    low, high = (reduce(X, axis=0).astype(np.float64) for reduce in (np.fmin.reduce, np.fmax.reduce))
    with np.errstate(over="ignore"):  # such widths are refused with the samples
        width = high - low
    return np.where(np.isnan(width), 0.0, width)


def _per_feature(name: str, given: Any, n_features: int) -> np.ndarray:
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (n_features,) or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"metric_params: {name}={show(given)} must have one finite number >= 0 for each of {n_features} "
            "feature(s)"
        )
    return values
