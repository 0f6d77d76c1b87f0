"""scikit-learn's transformers in files: what is stored of each, what follows from that, and its checks.

Only what `transform` needs is stored. Attributes that scikit-learn keeps to itself change between its
versions, so they are derived again from those that it documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pathforest._persistence.checks import FEATURE_TYPES, check_array, check_names, check_whole

CATEGORY_KINDS = "biufU"  # of arrays of categories; others are lists
NUMBERS = {np.dtype(name).str: np.dtype(name) for name in ("float32", "float64", "int64")}
TEXT = np.dtype(object)
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


def _refuse_unless(params: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what packs a state that has these parameters; nothing is stored of them."""

    def pack(state: dict[str, Any]) -> dict[str, Any]:
        for name, wanted in params.items():
            if name in state and state[name] is not wanted:
                raise TypeError(f"a file takes it with {name}={wanted} only")
        return dict(state)

    return pack


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


def _check_function(function: Any, n_features: int) -> int:
    return check_inputs(function, n_features)


# Encoders


def _pack_encoder(state: dict[str, Any]) -> dict[str, Any]:
    if state.get("dtype") is not np.float64:
        raise TypeError("a file takes it with dtype=float64 only")
    if type(state["categories"]) is not str or not isinstance(state.get("drop"), str | None):
        raise TypeError("a file takes it with categories='auto', and drop=None, 'first' or 'if_binary', only")
    if state["min_frequency"] is not None or state["max_categories"] is not None:
        raise TypeError("a file has no place for its groups of rare categories; TablePreprocessor makes some")
    groups = [c.tolist() if c.dtype == object else c for c in state.get("categories_", ())]
    return {**state, "categories_": groups} if groups else state


def _unpack_categories(encoder: Any) -> bool:
    """Turn lists of categories into arrays again; return False if the encoder is not fitted."""
    if (encoder.categories, encoder.min_frequency, encoder.max_categories) != ("auto", None, None):
        raise ValueError("an encoder has parameters that cannot be in a file")
    groups = vars(encoder).get("categories_")
    if groups is None:
        return False
    if type(groups) is not list or not groups:
        raise ValueError("categories_ is not a list of categories for each column")
    encoder.categories_ = [_categories(group) for group in groups]
    encoder._infrequent_enabled = False
    return True


def _categories(group: Any) -> np.ndarray:
    if type(group) is list:
        if not all(type(value) in (str, bool, int, float, type(None)) for value in group):
            raise ValueError("categories_ contains something that is not a category")
        values = np.empty(len(group), dtype=object)
        values[:] = group
    elif type(group) is np.ndarray and group.ndim == 1 and group.dtype.kind in CATEGORY_KINDS:
        values = group
    else:
        raise ValueError("categories_ is not a list of categories for each column")
    if not len(values):
        raise ValueError("categories_ has a column without categories")
    order = values[:-1] if _is_nan(values.tolist()[-1]) else values  # NaN comes last
    if values.dtype != object and not (order[:-1] < order[1:]).all():
        raise ValueError("categories_ is not sorted, or a category is repeated")
    return values


def _unpack_one_hot(encoder: Any) -> None:
    if encoder.drop not in (None, "first", "if_binary"):
        raise ValueError("drop is not None, 'first' or 'if_binary'")
    if _unpack_categories(encoder):
        encoder._set_drop_idx()
        encoder._n_features_outs = encoder._compute_n_features_outs()


def _check_one_hot(encoder: Any, n_features: int) -> int:
    check_inputs(encoder, n_features)
    if len(encoder.categories_) != n_features:
        raise ValueError(f"categories_ has {len(encoder.categories_)} columns instead of {n_features}")
    return int(sum(encoder._n_features_outs))


def _unpack_ordinal(encoder: Any) -> None:
    if _unpack_categories(encoder):
        encoder._missing_indices = {
            i: len(group) - 1 for i, group in enumerate(encoder.categories_) if _is_nan(group.tolist()[-1])
        }


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _check_ordinal(encoder: Any, n_features: int) -> int:
    check_inputs(encoder, n_features)
    if len(encoder.categories_) != n_features:
        raise ValueError(f"categories_ has {len(encoder.categories_)} columns instead of {n_features}")
    codes = [encoder.encoded_missing_value]
    codes += [encoder.unknown_value] if encoder.handle_unknown == "use_encoded_value" else []
    if not all(type(code) in (int, float) and (_is_nan(code) or abs(code) < 2**53) for code in codes):
        raise ValueError("unknown_value or encoded_missing_value is not a number")
    return n_features


# Imputers


def _pack_imputer(state: dict[str, Any]) -> dict[str, Any]:
    packed = _refuse_unless({"add_indicator": False})(state)
    if isinstance(statistics := state.get("statistics_"), np.ndarray) and statistics.dtype == object:
        packed["statistics_"] = statistics.tolist()
    for name in ("_fit_dtype", "_fill_dtype"):
        if name in state:
            packed[name] = state[name].str
    return packed


def _unpack_imputer(imputer: Any) -> None:
    state = vars(imputer)
    if "statistics_" not in state:
        return
    if type(imputer.statistics_) is list:
        values = np.empty(len(imputer.statistics_), dtype=object)
        values[:] = imputer.statistics_
        imputer.statistics_ = values
    for name in ("_fit_dtype", "_fill_dtype"):
        if name in state:
            known = NUMBERS | {TEXT.str: TEXT}
            if state[name] not in known:
                raise ValueError(f"{name} is not a type of values")
            setattr(imputer, name, known[state[name]])
    imputer._fill_dtype = state.get("_fill_dtype", state.get("_fit_dtype"))
    imputer.indicator_ = None


def _check_imputer(imputer: Any, n_features: int) -> int:
    check_inputs(imputer, n_features)
    statistics, dtype = imputer.statistics_, vars(imputer).get("_fit_dtype")
    if type(statistics) is not np.ndarray or statistics.shape != (n_features,) or dtype is None:
        raise ValueError("statistics_ is not a value for each feature")
    if statistics.dtype == object:
        if not all(type(value) in (str, int, float, bool) for value in statistics.tolist()):
            raise ValueError("statistics_ contains something that is not a value")
        empty = np.array([_is_nan(value) for value in statistics.tolist()])
    elif statistics.dtype.kind in "fi":
        empty = np.isnan(statistics)
    else:
        raise ValueError(f"statistics_ is of type {statistics.dtype}")
    if dtype == TEXT and type(imputer.missing_values) not in (float, str, int, type(None)):
        raise ValueError("missing_values is not a value")
    if imputer._fill_dtype != TEXT:
        statistics.astype(imputer._fill_dtype)
    return n_features if imputer.keep_empty_features else int((~empty).sum())


def _pack_neighbors(state: dict[str, Any]) -> dict[str, Any]:
    packed = _refuse_unless({"add_indicator": False})(state)
    if not _is_nan(state["missing_values"]) or type(state["weights"]) is not str:
        raise TypeError("a file takes it with missing_values=nan, and weights by name, only")
    return packed


def _unpack_neighbors(imputer: Any) -> None:
    imputer.indicator_ = None
    if "_fit_X" in vars(imputer):
        X = imputer._fit_X
        if type(X) is not np.ndarray or X.dtype not in FEATURE_TYPES or X.ndim != 2 or not len(X):
            raise ValueError("_fit_X is not a matrix of samples")
        if np.isinf(X).any() or not _is_nan(imputer.missing_values):
            raise ValueError("_fit_X has infinite values, or missing_values is not NaN")
        imputer._mask_fit_X = np.isnan(X)
        imputer._valid_mask = ~imputer._mask_fit_X.all(axis=0)


def _check_neighbors(imputer: Any, n_features: int) -> int:
    check_inputs(imputer, n_features)
    if imputer._fit_X.shape[1] != n_features:
        raise ValueError(f"_fit_X has {imputer._fit_X.shape[1]} features instead of {n_features}")
    return n_features if imputer.keep_empty_features else int(imputer._valid_mask.sum())


PREPROCESSING, IMPUTE = "sklearn.preprocessing", "sklearn.impute"
INPUT = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")
SEEN = (*INPUT, "n_samples_seen_")
RANGE = ("data_min_", "data_max_", "data_range_")
ENCODED = ("categories", "handle_unknown", "min_frequency", "max_categories")
FILLED = ("missing_values", "copy", "keep_empty_features")
NO_FUNCTIONS = dict.fromkeys(("func", "inverse_func", "kw_args", "inv_kw_args"))
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
    "OneHotEncoder": Part(
        PREPROCESSING,
        (*ENCODED, "drop", "sparse_output", "feature_name_combiner"),
        ("categories_", *INPUT),
        _check_one_hot,
        ("dtype", "_infrequent_enabled", "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs"),
        _pack_encoder,
        _unpack_one_hot,
    ),
    "OrdinalEncoder": Part(
        PREPROCESSING,
        (*ENCODED, "unknown_value", "encoded_missing_value"),
        ("categories_", *INPUT),
        _check_ordinal,
        ("dtype", "_infrequent_enabled", "_missing_indices"),
        _pack_encoder,
        _unpack_ordinal,
    ),
    "FunctionTransformer": Part(
        PREPROCESSING,
        ("validate", "accept_sparse", "check_inverse", "feature_names_out"),
        INPUT,
        _check_function,
        tuple(NO_FUNCTIONS),
        _refuse_unless(NO_FUNCTIONS),
    ),
    "SimpleImputer": Part(
        IMPUTE,
        (*FILLED, "strategy", "fill_value"),
        ("statistics_", "_fit_dtype", "_fill_dtype", *INPUT),
        _check_imputer,
        ("add_indicator", "indicator_"),
        _pack_imputer,
        _unpack_imputer,
    ),
    "KNNImputer": Part(
        IMPUTE,
        (*FILLED, "n_neighbors", "weights", "metric"),
        ("_fit_X", *INPUT),
        _check_neighbors,
        ("add_indicator", "indicator_", "_mask_fit_X", "_valid_mask"),
        _pack_neighbors,
        _unpack_neighbors,
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
