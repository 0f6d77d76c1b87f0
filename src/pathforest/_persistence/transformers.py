"""scikit-learn's transformers in files: what is stored of each, what follows from that, and its checks.

Only what `transform` needs is stored. Attributes that scikit-learn keeps to itself change between its
versions, so they are derived again from those that it documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from pathforest._persistence.checks import FEATURE_TYPES, check_array, check_names, check_whole

OUTPUTS = {None, "default", "pandas", "polars"}


class Part(NamedTuple):
    """A class that models contain objects of: transformers and splitters."""

    module: str
    params: tuple[str, ...]  # passed to the constructor
    fitted: tuple[str, ...] = ()  # set afterwards, those that exist
    check: Callable[[Any, int], int] | None = None  # of a transformer that does not bring its own
    derived: tuple[str, ...] = ()  # attributes that are not stored
    pack: Callable[[dict[str, Any]], dict[str, Any]] = dict  # makes what is stored of all attributes
    unpack: Callable[[Any], None] = lambda value: None  # makes an object of what was stored ready for use


# Scalers


def check_standard_scaler(scaler: Any, n_features: int) -> int:
    """Check a StandardScaler."""
    for name, attribute in (("with_mean", "mean_"), ("with_std", "scale_")):
        if type(getattr(scaler, name)) is not bool:
            raise ValueError(f"{name} is neither True nor False")
        if getattr(scaler, name):
            check_array(scaler, attribute, (n_features,))
    return check_inputs(scaler, n_features)


def check_inputs(transformer: Any, n_features: int) -> int:
    """Check that a transformer was fitted with so many features, and its parameters; return that number."""
    if check_names(transformer) != n_features:
        name = type(transformer).__name__
        raise ValueError(f"n_features_in_={transformer.n_features_in_} of a {name} should be {n_features}")
    transformer._validate_params()
    config = vars(transformer).get("_sklearn_output_config", {})  # set_output
    if type(config) is not dict or not {*config} <= {"transform"} or not {*config.values()} <= OUTPUTS:
        raise ValueError("_sklearn_output_config does not name an output")
    return n_features


def _check_min_max(scaler: Any, n_features: int) -> int:
    check_inputs(scaler, n_features)
    for name in ("min_", "scale_"):
        check_array(scaler, name, (n_features,))
    if not all(type(limit) in (int, float) and math.isfinite(limit) for limit in scaler.feature_range):
        raise ValueError("feature_range is not a pair of numbers")
    return n_features


def _check_max_abs(scaler: Any, n_features: int) -> int:
    check_array(scaler, "scale_", (n_features,))
    return check_inputs(scaler, n_features)


def _check_robust(scaler: Any, n_features: int) -> int:
    for name, attribute in (("with_centering", "center_"), ("with_scaling", "scale_")):
        if getattr(scaler, name):
            check_array(scaler, attribute, (n_features,))
    return check_inputs(scaler, n_features)


def _check_pca(pca: Any, n_features: int) -> int:
    check_inputs(pca, n_features)
    n_components = check_whole(pca, "n_components_", 1)
    check_array(pca, "components_", (n_components, n_features), FEATURE_TYPES)
    check_array(pca, "mean_", (n_features,), FEATURE_TYPES)
    check_array(pca, "explained_variance_", (n_components,), FEATURE_TYPES, nonnegative=True)
    return n_components


PREPROCESSING = "sklearn.preprocessing"
INPUT = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")
SEEN = (*INPUT, "n_samples_seen_")
RANGE = ("data_min_", "data_max_", "data_range_")
EXPLAINED = ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_")

TRANSFORMERS = {
    "StandardScaler": Part(
        PREPROCESSING,
        ("copy", "with_mean", "with_std"),
        ("mean_", "var_", "scale_", *SEEN),
        check_standard_scaler,
    ),
    "MinMaxScaler": Part(
        PREPROCESSING, ("feature_range", "copy", "clip"), ("min_", "scale_", *RANGE, *SEEN), _check_min_max
    ),
    "MaxAbsScaler": Part(PREPROCESSING, ("copy", "clip"), ("scale_", "max_abs_", *SEEN), _check_max_abs),
    "RobustScaler": Part(
        PREPROCESSING,
        ("with_centering", "with_scaling", "quantile_range", "copy", "unit_variance"),
        ("center_", "scale_", *INPUT),
        _check_robust,
    ),
    "PCA": Part(
        "sklearn.decomposition",
        (
            "n_components",
            "copy",
            "whiten",
            "svd_solver",
            "tol",
            "iterated_power",
            "n_oversamples",
            "power_iteration_normalizer",
            "random_state",
        ),
        ("components_", "mean_", *EXPLAINED, "n_samples_", "n_components_", *INPUT),
        _check_pca,
        ("_fit_svd_solver",),
    ),
}
