"""Rules of parameters, which estimator classes declare; most are named after the parameter they check."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pathforest._engines.metric import ALGORITHMS, Metric, check_algorithm, resolve_metric
from pathforest._utils.checks import check_choice, check_integer, check_number, check_positive
from pathforest._utils.text import show

Rule = Callable[[str, Any], None]  # takes the name and the value, and raises TypeError or ValueError
Rules = dict[str, Rule]


def check_parameters(estimator: Any, names: Collection[str] | None = None) -> None:
    """Apply the rules that a class declares to all parameters of an estimator, or to the named ones."""
    for name, rule in type(estimator)._rules.items():
        if names is None or name in names:
            rule(name, getattr(estimator, name))


def checked_metric(estimator: Any) -> Metric:
    """Check the metric of an estimator together with its parameters and the algorithm."""
    metric = resolve_metric(estimator.metric, estimator.metric_params)
    check_algorithm(metric, estimator.algorithm)
    return metric


def largest_neighborhood(n_samples: int, k_max: int, n_neighbors: int | None) -> int:
    """Neighbourhood size to work with: `n_neighbors` if given, else `k_max` capped at n - 1."""
    if n_neighbors is None:
        return min(int(k_max), n_samples - 1)
    if n_neighbors >= n_samples:
        limit = f"use at most {n_samples - 1}, " if n_samples > 1 else ""
        raise ValueError(
            f"n_neighbors={show(n_neighbors)} needs more than {show(n_neighbors)} samples, got {n_samples} "
            f"sample(s); {limit}pass more data, or leave n_neighbors=None"
        )
    return int(n_neighbors)


def as_list(value: Any) -> list[Any]:
    """List the values of a parameter that takes one or a sequence."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def integer(minimum: int, advice: str) -> Rule:
    """Make the rule of an integer of at least `minimum`."""
    return lambda name, value: check_integer(name, value, minimum, advice)


def positive(advice: str) -> Rule:
    """Make the rule of a finite number above 0."""
    return lambda name, value: check_positive(name, value, advice)


def choice(*choices: str) -> Rule:
    """Make the rule of one of some names."""
    return lambda name, value: check_choice(name, value, choices)


def where(holds: Callable[[Any], Any], advice: str, kind: type[Exception] = ValueError) -> Rule:
    """Make the rule of values for which something holds; `advice` ends the message about others."""

    def check(name: str, value: Any) -> None:
        if not holds(value):
            raise kind(f"{name}={show(value)} {advice}")

    return check


def share(least: float, most: float, words: str, advice: str) -> Rule:
    """Make the rule of a number from `least` to `most`, which a message says in words."""

    def check(name: str, value: Any) -> None:
        check_number(name, value, advice)
        if not least <= value <= most:
            raise ValueError(f"{name}={show(value)} must {words}: {advice}")

    return check


def optional(rule: Rule) -> Rule:
    """Make a rule that lets None pass."""
    return lambda name, value: None if value is None else rule(name, value)


def word_or(word: str, rule: Rule) -> Rule:
    """Make a rule that lets a word pass."""
    return lambda name, value: None if isinstance(value, str) and value == word else rule(name, value)


def each(singular: str, rule: Rule) -> Rule:
    """Make the rule of one value or a sequence of them, each of which keeps to `rule`."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, Iterator):
            raise TypeError(f"{name}={show(value)} can be read only once; pass a list or a tuple")
        values = as_list(value)
        if not values:
            raise ValueError(f"{name}={show(value)} is empty; give at least one value")
        for one in values:
            rule(singular, one)

    return check


def checked_where_used(name: str, value: Any) -> None:
    """Let a value pass that is checked together with others, or by the package that uses it."""


def validation_fraction(name: str, value: Any) -> None:
    """Refuse anything but a number between 0 and 1."""
    check_positive(name, value, "it is a share of the samples, such as 0.2")
    if value >= 1:
        raise ValueError(f"{name}={show(value)} must be below 1, so that samples are left to train with")


def contamination(name: str, value: Any) -> None:
    """Refuse anything but ``"auto"`` and numbers above 0, up to 0.5."""
    if not (isinstance(value, str) and value == "auto"):
        check_positive(name, value, "use a share up to 0.5, or 'auto'")
        if value > 0.5:
            raise ValueError(f"{name}={show(value)} must be at most 0.5: outliers are the smaller part")


def class_weight(name: str, value: Any) -> None:
    """Refuse anything but None, ``"balanced"`` and a positive number for each of some classes."""
    if not (value is None or isinstance(value, Mapping) or (isinstance(value, str) and value == "balanced")):
        raise ValueError(f"{name}={show(value)} is unknown; use None, 'balanced' or a dict of class: weight")
    for label, weight in value.items() if isinstance(value, Mapping) else ():
        check_positive(f"{name}[{show(label)}]", weight, "larger weights make the class likelier")


def random_state(name: str, value: Any) -> None:
    """Refuse what scikit-learn does not take for a source of random numbers."""
    try:
        check_random_state(value)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            f"{name}={show(value)} cannot seed random numbers; use an integer from 0 to 2**32 - 1, a "
            "numpy.random.RandomState, or None for another result every time"
        ) from None


def cv(name: str, value: Any) -> None:
    """Refuse what scikit-learn does not take for folds."""
    known = value is None or isinstance(value, (Integral, Iterable)) or hasattr(value, "split")
    if isinstance(value, (list, tuple)):
        known = all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value)
    if isinstance(value, str) or not known:
        raise ValueError(
            f"{name}={show(value)} is unknown; use a number of folds, a splitter of scikit-learn, or pairs "
            "of index arrays (train, evaluation)"
        )


def n_jobs(name: str, value: Any) -> None:
    """Refuse anything but an integer other than 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}={show(value)} must be None or an integer; use -1 for all cores")
    if value == 0:
        raise ValueError(f"{name}=0 leaves no thread to work with; use 1, or -1 for all cores")


def verbose(name: str, value: Any) -> None:
    """Refuse anything but True, False and integers of at least 0."""
    check_integer(name, int(value) if isinstance(value, bool) else value, 0, "0 is silent")


boolean = where(lambda value: isinstance(value, (bool, np.bool_)), "must be True or False", TypeError)
membership = where(
    lambda value: callable(value) or (isinstance(value, str) and value == "density"),
    "is unknown; use 'density' or a callable (X, y) that returns one value in [0, 1] per training sample",
)
device = where(
    # The last is for tests: PyTorch without a GPU.
    lambda value: isinstance(value, str) and re.fullmatch(r"cpu|cuda(:(0|[1-9]\d{0,2}))?|torch-cpu", value),
    "is unknown; use 'cpu', 'cuda' or 'cuda:<number>'",
)
sigma = positive("0.8 is the default, 1 gives plain OPF")
competition = choice("complete", "tree")
n_conquerors = integer(1, "1 is the paper's rule")
beta = positive("8.0 is the default")
k_max = integer(1, "it is the largest neighbourhood tried, 20 by default")
max_loss = share(0, 1, "lie between 0 and 1", "it is an accuracy, such as 0.01")


NOISE = "it is a share of each cluster, such as 0.05, or 'auto'; 0 leaves no sample out"
noise = word_or("auto", share(0, np.nextafter(1.0, 0.0), "be at least 0 and below 1", NOISE))
WRONG = "it is the share of wrong labels, or 'estimate'"
label_noise = word_or("estimate", share(0, 1 - 1e-9, "be from 0 to below 1", WRONG))
max_iter = integer(0, "100 is the default, 0 prunes nothing")

# What several estimators declare together. A metric is checked with its parameters, by `checked_metric`.
DISTANCES: Rules = {
    "metric": checked_where_used,
    "metric_params": checked_where_used,
    "algorithm": choice(*ALGORITHMS),
    "n_jobs": optional(n_jobs),
    "device": device,
}
ESTIMATOR: Rules = {**DISTANCES, "verbose": verbose}
NEIGHBORHOOD: Rules = {"k_max": k_max, "n_neighbors": optional(integer(1, "use None to have a size chosen"))}
PREDICTION: Rules = {"n_conquerors": n_conquerors, "beta": beta}
MEMBERSHIP: Rules = {"membership": membership, "membership_side": choice("target", "source")}
AT_PREDICTION = ("n_conquerors", "beta", "n_jobs", "device")  # those that act on new samples
