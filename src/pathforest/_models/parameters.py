"""The rule of every parameter, declared once for all estimators."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from pathforest._utils.checks import check_choice, check_integer, check_positive

# The last is for tests: torch without a graphics card.
DEVICE = re.compile(r"cpu|cuda(:(0|[1-9]\d{0,2}))?|torch-cpu")


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
