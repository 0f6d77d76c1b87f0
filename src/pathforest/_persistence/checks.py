"""Checks of fitted attributes, wherever they come from: those that pass can be used without a crash."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pathforest._engines.metric import Metric, check_algorithm, complete_metric, resolve_metric
from pathforest._engines.samples import SparseSamples, check_sparse, check_training_values

INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
FEATURE_TYPES = (np.dtype(np.float32), np.dtype(np.float64))
LARGEST = np.iinfo(np.int32).max  # number of samples or features: the core counts with 32 bits
SHAPES = {"V": "f", "w": "f", "VI": "ff", "p": ""}  # of a metric's parameters, f the number of features


def _get(model: Any, name: str) -> Any:
    if name not in vars(model):
        raise ValueError(f"{name} is missing")
    return vars(model)[name]


def check_array(
    model: Any,
    name: str,
    shape: tuple[int | None, ...],
    dtypes: tuple[np.dtype, ...] = FEATURE_TYPES[1:],
    nonnegative: bool = False,
    gaps: bool = False,
) -> np.ndarray:
    """Return an attribute that must be an array of this shape, None for any length; finite, but for gaps."""
    array = _get(model, name)
    if type(array) is not np.ndarray or array.dtype not in dtypes:
        found = getattr(array, "dtype", type(array).__name__)
        raise ValueError(f"{name} should be an array of type {dtypes[-1]}, not {found}")
    if array.ndim != len(shape) or any(b not in (None, a) for a, b in zip(array.shape, shape, strict=True)):
        wanted = tuple("any" if length is None else length for length in shape)
        raise ValueError(f"{name} has shape {array.shape} instead of {wanted}")
    if array.dtype.kind == "f" and not (np.isfinite(array) | (gaps & np.isnan(array))).all():
        raise ValueError(f"{name} has values that are not finite")
    if nonnegative and (array < 0).any():
        raise ValueError(f"{name} has negative values")
    return array


def check_indices(
    model: Any, name: str, shape: tuple[int | None, ...], stop: int, start: int = 0, ascending: bool = False
) -> np.ndarray:
    """Return an attribute that must be an array of integers from `start` to below `stop`."""
    array = check_array(model, name, shape, INDEX_TYPES)
    if array.size and not (array.min() >= start and array.max() < stop):
        raise ValueError(f"{name} should be in the range {start} to {stop - 1}")
    if ascending and (np.diff(array) <= 0).any():
        raise ValueError(f"{name} does not ascend")
    return array


def check_number(
    model: Any, name: str, low: float = 0.0, high: float = math.inf, kind: type = float
) -> float:
    """Return an attribute that must be a finite number within limits."""
    value = _get(model, name)
    if type(value) is not kind or not (low <= value <= high and abs(value) < math.inf):
        raise ValueError(f"{name}={value!r} should be a finite {kind.__name__} from {low} to {high}")
    return value


def check_whole(model: Any, name: str, low: int, high: int = LARGEST) -> int:
    """Return an attribute that must be an integer within limits."""
    return check_number(model, name, low, high, int)


def check_classes(model: Any) -> np.ndarray:
    """Return `classes_`, which must be labels in ascending order without repetition or missing values."""
    classes = _get(model, "classes_")
    if type(classes) is not np.ndarray or classes.ndim != 1 or not len(classes):
        raise ValueError("classes_ is not an array of labels")
    if not ((classes == classes).all() and (classes[:-1] < classes[1:]).all()):
        raise ValueError("classes_ is not sorted, or a label is missing or repeated")
    return classes


def check_features(model: Any) -> int:
    """Return the number of features; names and categories, if there are any, must be those of each."""
    n_features = check_names(model)
    if "categories_" in vars(model):
        _check_categories(model.categories_, n_features)
    return n_features


def check_names(model: Any) -> int:
    """Return the number of features; their names, if there are any, must be one text for each."""
    n_features = check_whole(model, "n_features_in_", 1)
    if "feature_names_in_" in vars(model):
        names = model.feature_names_in_
        is_array = type(names) is np.ndarray and names.dtype == object and names.shape == (n_features,)
        if not is_array or not all(isinstance(name, str) for name in names):
            raise ValueError("feature_names_in_ does not name each feature")
    return n_features


def _check_categories(categories: Any, n_features: int) -> None:
    """Check the texts or booleans that codes of features stand for; None is for features that are numbers."""
    if type(categories) is not list or len(categories) != n_features:
        raise ValueError("categories_ does not have an entry for each feature")
    for texts in categories:
        if texts is None or (type(texts) is np.ndarray and texts.dtype == bool and texts.tolist() == [0, 1]):
            continue
        is_array = type(texts) is np.ndarray and texts.dtype == object and texts.ndim == 1
        if not is_array or not all(isinstance(text, str) for text in texts):
            raise ValueError("categories_ contains something other than texts, or False and True")
        if (texts[:-1] >= texts[1:]).any():
            raise ValueError("categories_ are not sorted, or one is repeated")


def check_paths(model: Any, n_samples: int) -> np.ndarray:
    """Return where the path to every sample starts; paths may not run in circles, nor costs be negative."""
    predecessor = check_indices(model, "predecessor_", (n_samples,), n_samples, start=-1)
    check_array(model, "cost_", (n_samples,), nonnegative=True)
    # Each round doubles the number of steps, so all paths end at a root unless they run in circles.
    reached = np.where(predecessor < 0, np.arange(n_samples), predecessor)
    for _ in range(n_samples.bit_length()):
        reached = reached[reached]
    if (predecessor[reached] >= 0).any():
        raise ValueError("predecessor_ runs in circles")
    return reached


def check_forest(model: Any, roots: np.ndarray, n_samples: int) -> None:
    """Check that paths lead from every sample to the root in `root_`, which must be one of `roots`."""
    reached = check_paths(model, n_samples)
    root = check_indices(model, "root_", (n_samples,), n_samples)
    if not np.array_equal(np.flatnonzero(model.predecessor_ < 0), np.sort(roots)):
        raise ValueError("predecessor_ is not -1 exactly where paths start")
    if not np.array_equal(reached, root):
        raise ValueError("predecessor_ does not lead to root_")


def check_order(model: Any, n_samples: int) -> None:
    """Check that `order_` lists every sample once, by ascending cost."""
    order = check_indices(model, "order_", (n_samples,), n_samples)
    if (np.bincount(order, minlength=n_samples) != 1).any():
        raise ValueError("order_ does not list every sample once")
    if (np.diff(model.cost_[order]) < 0).any():
        raise ValueError("order_ does not sort cost_")


def check_propagated(model: Any, n_samples: int) -> None:
    """Check that every sample has the label of its root, in `label_` and as a code."""
    classes = check_classes(model)
    codes = check_indices(model, "_fit_codes", (n_samples,), len(classes))
    # The type first: labels as wide as those of the classes take no more memory than `label_`.
    label = check_array(model, "label_", (n_samples,), (classes.dtype,))
    if not (np.array_equal(codes, codes[model.root_]) and np.array_equal(label, classes[codes])):
        raise ValueError("label_ and the labels of the roots differ")


def check_density(model: Any, n_samples: int, curve: str = "cuts_") -> None:
    """Check the density, the neighbourhood it was estimated from, and the curve that chose that."""
    check_array(model, "density_", (n_samples,), nonnegative=True)
    check_whole(model, "best_k_", min(1, n_samples - 1), n_samples - 1)
    values = _get(model, curve)
    if type(values) is not np.ndarray or values.dtype != np.float64 or values.ndim != 1:
        raise ValueError(f"{curve} is not an array of numbers")


def check_samples(model: Any) -> int:
    """Check the metric and the training samples that a model keeps; return their number."""
    metric = check_metric(model)
    n_features = check_features(model)
    algorithm = _get(model, "_fit_algorithm")
    if algorithm == "sparse":
        return _check_sparse_samples(_get(model, "_fit_X"), metric, n_features)
    if algorithm not in (("kd_tree", "brute") if metric.kind == "features" else ("precomputed",)):
        raise ValueError(f"the algorithm {algorithm!r} does not suit metric={metric.name!r}")
    if metric.kind == "features":
        check_algorithm(metric, algorithm)
    if metric.kind == "precomputed":
        if _get(model, "_fit_X") is not None:
            raise ValueError("a model of precomputed distances keeps no samples")
        return n_features
    types = FEATURE_TYPES if metric.kind == "features" else FEATURE_TYPES[1:]
    X = check_array(model, "_fit_X", (None, n_features), types, gaps=metric.takes_gaps)
    if not len(X) or not X.flags.c_contiguous:
        raise ValueError("the training samples are missing, or not stored row by row")
    if metric.kind == "matrix":
        _check_metric_params(metric, n_features)
    check_training_values(X, complete_metric(metric, X))
    return len(X)


def _check_sparse_samples(X: Any, metric: Metric, n_features: int) -> int:
    """Check training samples of which a file has the values that are not 0; return their number."""
    check_sparse(metric, "auto")
    if type(X) is not SparseSamples or type(X.n_features) is not int or X.n_features != n_features:
        raise ValueError("the training samples are not a sparse matrix of as many features")
    indptr = check_array(X, "indptr", (None,), INDEX_TYPES[1:])
    indices = check_indices(X, "indices", (None,), n_features)
    data = check_array(X, "data", (len(indices),), FEATURE_TYPES)
    if len(indptr) < 2 or indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError("indptr does not divide the values into rows")
    starts = np.zeros(len(indices) + 1, dtype=bool)
    starts[indptr] = True
    if indices.dtype != np.int32 or not ((np.diff(indices) > 0) | starts[1:-1]).all() or not data.all():
        raise ValueError("the features of a row do not ascend, or a value is 0")
    check_training_values(X, metric)
    return len(X)


def check_growth(grown: Any, n_samples: int) -> None:
    """Check what a model of so many samples keeps in order to grow."""
    if type(grown) is not dict or not all(type(key) is str for key in grown):
        raise ValueError("what is kept to grow is not a table of arrays")
    part = SimpleNamespace(**grown)
    if "magnitude" in grown:
        check_number(part, "magnitude")
    if grown.get("indices") is not None:
        k = check_indices(part, "indices", (n_samples, None), n_samples).shape[1]
        distances = check_array(part, "distances", (n_samples, k), nonnegative=True)
        if k > n_samples - 1 or (np.diff(distances, axis=1) < 0).any():
            raise ValueError("the neighbour lists do not ascend, or are longer than there are neighbours")
    if grown.get("weight") is not None:
        ends = [check_indices(part, name, (n_samples - 1,), n_samples) for name in ("source", "target")]
        weight = check_array(part, "weight", (n_samples - 1,), nonnegative=True)
        order = np.lexsort((*reversed(ends), weight))
        if not np.array_equal(order, np.arange(n_samples - 1)) or not (ends[0] < ends[1]).all():
            raise ValueError("the arcs of the spanning tree are not in order")
        arcs = coo_array((np.ones(n_samples - 1), ends), shape=(n_samples, n_samples))
        if connected_components(arcs, directed=False, return_labels=False) > 1:
            raise ValueError("the spanning tree does not join all samples")
    if "codes" in grown:
        part.classes_ = grown.get("values")
        check_indices(part, "codes", (n_samples,), len(check_classes(part)))
        if grown.get("named") is not None:
            part.classes_ = grown["named"]
            check_classes(part)


def check_metric(model: Any) -> Metric:
    """Return the metric a model was fitted with, which must be one that has a name."""
    found = _get(model, "_fit_metric")
    if type(found) is not tuple or [type(part) for part in found] != [str, str, float, dict]:
        raise ValueError("the metric is not described by name, kind, exponent and parameters")
    metric = Metric(*found)
    given = {"p": metric.p} if metric[:2] == ("minkowski", "features") else metric.params
    takes_params = metric.kind == "matrix" or metric.name == "gower"
    if resolve_metric(metric.name, given)[:3] != metric[:3] or (metric.params and not takes_params):
        raise ValueError(f"metric={metric.name!r} does not have this kind or these parameters")
    return metric


def _check_metric_params(metric: Metric, n_features: int) -> None:
    """Check the form of arrays before SciPy uses them, because it does not always check."""
    for name, value in metric.params.items():
        shape, values = (n_features,) * len(SHAPES[name]), np.asarray(value)
        if name == "w" and value is None:
            continue
        if values.dtype.kind not in "biuf" or values.shape != shape:
            raise ValueError(f"metric={metric.name!r} needs {name} of shape {shape} in its parameters")
