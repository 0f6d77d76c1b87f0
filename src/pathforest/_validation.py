"""Checks of parameters and labels, each with a message that names the way out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from pathforest import _core

# The last is for tests: torch without a graphics card.
DEVICE = re.compile(r"cpu|cuda(:(0|[1-9]\d{0,2}))?|torch-cpu")


def check_integer(name: str, value: Any, minimum: int, advice: str) -> None:
    """Refuse anything but an integer of at least `minimum`; numpy integers pass, bools do not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be an integer, not {type(value).__name__}; {advice}")
    if value < minimum:
        raise ValueError(f"{name}={value!r} must be at least {minimum}; {advice}")


def check_positive(name: str, value: Any, advice: str) -> None:
    """Refuse anything but a finite number above zero."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number, not {type(value).__name__}; {advice}")
    try:
        usable = math.isfinite(value) and float(value) > 0
    except OverflowError:  # an integer or a fraction beyond float64
        usable = False
    if not usable:
        raise ValueError(f"{name}={value!r} must be finite and greater than 0; {advice}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of `choices`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(map(repr, choices))}")


def _check_n_neighbors(value: Any) -> None:
    if value is not None:
        check_integer("n_neighbors", value, 1, "use None to let k_max search for the best size")


def _unless_none(check: Callable[..., None], name: str, *args: Any) -> Callable[[Any], None]:
    """Make a rule that lets None pass."""
    return lambda value: None if value is None else check(name, value, *args)


def _check_membership(value: Any) -> None:
    if not (callable(value) or (isinstance(value, str) and value == "density")):
        raise ValueError(
            f"membership={value!r} is unknown; use 'density' or a callable (X, y) that returns "
            "one value in [0, 1] per training sample"
        )


def _check_validation_fraction(value: Any) -> None:
    check_positive("validation_fraction", value, "it is a share of the samples, such as 0.2")
    if value >= 1:
        raise ValueError(
            f"validation_fraction={value!r} must be below 1, so that samples are left to train with"
        )


def _check_max_loss(value: Any) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"max_loss={value!r} must be a number, an accuracy such as 0.01")
    if not 0 <= value <= 1:
        raise ValueError(f"max_loss={value!r} must lie between 0 and 1: it is an accuracy, such as 0.01")


def _check_contamination(value: Any) -> None:
    if isinstance(value, str) and value == "auto":
        return
    check_positive("contamination", value, "use a share up to 0.5, or 'auto'")
    if value > 0.5:
        raise ValueError(f"contamination={value!r} must be at most 0.5: outliers are the smaller part")


def _check_n_jobs(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"n_jobs={value!r} must be None or an integer; use -1 for all cores")
    if value == 0:
        raise ValueError("n_jobs=0 leaves no thread to work with; use 1, or -1 for all cores")


def _check_device(value: Any) -> None:
    if not (isinstance(value, str) and DEVICE.fullmatch(value)):
        raise ValueError(f"device={value!r} is unknown; use 'cpu', 'cuda' or 'cuda:<number>'")


# The range of every parameter, declared once for all estimators. The metric has its own place, distances.py.
RULES: dict[str, Callable[[Any], None]] = {
    "k_max": lambda k: check_integer("k_max", k, 1, "it is the largest neighbourhood tried, 20 by default"),
    "n_neighbors": _check_n_neighbors,
    "min_height": _unless_none(check_positive, "min_height", "densities go from 1 to 1000"),
    "min_area": _unless_none(check_integer, "min_area", 1, "it is a number of samples"),
    "min_volume": _unless_none(check_positive, "min_volume", "it is a sum of densities from 1 to 1000"),
    "n_clusters": _unless_none(check_integer, "n_clusters", 1, "use None to let the density decide"),
    "merge_by": _unless_none(check_choice, "merge_by", ("height", "area", "volume")),
    "sigma": lambda s: check_positive("sigma", s, "0.8 is the default, 1 gives plain OPF"),
    "competition": lambda c: check_choice("competition", c, ("complete", "tree")),
    "membership": _check_membership,
    "membership_side": lambda s: check_choice("membership_side", s, ("target", "source")),
    "n_conquerors": lambda r: check_integer("n_conquerors", r, 1, "1 is the paper's rule"),
    "beta": lambda b: check_positive("beta", b, "8.0 is the default"),
    "method": lambda m: check_choice("method", m, ("mst", "opfsemi")),
    "validation_fraction": _check_validation_fraction,
    "max_loss": _check_max_loss,
    "max_iter": lambda n: check_integer("max_iter", n, 0, "100 is the default, 0 prunes nothing"),
    "contamination": _check_contamination,
    "algorithm": lambda a: check_choice("algorithm", a, ("auto", "tree", "brute")),
    "n_jobs": _check_n_jobs,
    "device": _check_device,
    "verbose": lambda v: check_integer("verbose", int(v) if isinstance(v, bool) else v, 0, "0 is silent"),
}


def check_parameter(name: str, value: Any) -> None:
    """Apply the rule of one parameter."""
    RULES[name](value)


def check_parameters(estimator: Any, names: Sequence[str] | None = None) -> None:
    """Apply the rules to all parameters of an estimator, or to the named ones."""
    for name in RULES if names is None else names:
        if hasattr(estimator, name):
            check_parameter(name, getattr(estimator, name))


def largest_neighborhood(n_samples: int, k_max: int, n_neighbors: int | None) -> int:
    """Neighbourhood size to work with: `n_neighbors` if given, else `k_max` capped at n - 1."""
    if n_neighbors is None:
        return min(int(k_max), n_samples - 1)
    if n_neighbors >= n_samples:
        limit = f"use at most {n_samples - 1}, " if n_samples > 1 else ""
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {n_neighbors} samples, got {n_samples} sample(s); "
            f"{limit}pass more data, or leave n_neighbors=None to let k_max search"
        )
    return int(n_neighbors)


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's `n_jobs`, within what OpenMP allows here.

    The second limit is what keeps the workers of a parallel grid search from starting a full set of
    threads each: joblib tells them through OpenMP's own setting.
    """
    return max(1, min(joblib.effective_n_jobs(n_jobs), _core.max_threads()))


def on_host(X: Any) -> Any:
    """Return a tensor of PyTorch's, wherever it is, as an array; anything else as it is."""
    return X.detach().cpu().numpy() if type(X).__module__.partition(".")[0] == "torch" else X


def check_labels(y: Any) -> np.ndarray:
    """Return `y` as a one-dimensional array of class labels without missing values."""
    y = on_host(y)
    if isinstance(y, np.ma.MaskedArray) and (masked := np.ma.getmaskarray(y)).any():
        _raise_missing(masked)
    # Lists go through object arrays first: numpy would turn ["a", nan] into the texts "a" and "nan".
    is_list = isinstance(y, (list, tuple))
    values = np.asarray(y, dtype=object if is_list else None)
    if values.dtype.kind == "T":  # numpy's StringDType, which scikit-learn does not know
        values = values.astype(object)
    if values.dtype == object and values.ndim <= 2:
        _check_objects(values)
        values = np.asarray(y) if is_list else _native(values)
    elif values.dtype.kind in "fcmM" and (missing := values != values).any():
        _raise_missing(missing)
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("y contains infinity, which is no class label; pass finite labels")
    labels = column_or_1d(values, warn=True)
    check_classification_targets(labels)
    return labels


def check_labels_like(known: np.ndarray, y: Any) -> np.ndarray:
    """Return `y` as labels, which must be text if those known are and numbers if they are."""
    labels = check_labels(y)
    is_text = [values.dtype.kind in "OU" for values in (known, labels)]
    if is_text[0] != is_text[1]:
        raise TypeError(
            f"validation labels are of type {labels.dtype} and training labels of type {known.dtype}, so "
            "that none could be right; convert them to one type"
        )
    return labels


def _check_objects(values: np.ndarray) -> None:
    """Refuse missing values and labels of several kinds in an object array."""
    flat = values.ravel()
    missing = np.fromiter(map(_is_missing, flat), dtype=bool, count=flat.size)
    if missing.any():
        _raise_missing(missing)
    n_text = sum(isinstance(value, str) for value in flat)
    if 0 < n_text < flat.size:
        raise TypeError(
            f"y mixes text with other labels ({n_text} of {flat.size} are text), which have no common order; "
            "convert them to one type, for example with y.astype(str)"
        )


def _is_missing(value: Any) -> bool:
    try:
        return value is None or value is np.ma.masked or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return not isinstance(value, (list, tuple, np.ndarray))


def _raise_missing(missing: np.ndarray) -> None:
    rows = np.flatnonzero(missing)
    raise ValueError(
        f"y has {rows.size} missing label(s), the first at position {rows[0]} (Input y contains NaN or "
        "None); drop those rows or fill in their labels"
    )


def _native(values: np.ndarray) -> np.ndarray:
    """Numbers and booleans held as objects get their own dtype; text stays as it is."""
    typed = np.array(values.tolist())
    return typed if typed.dtype.kind in "biuf" else values
