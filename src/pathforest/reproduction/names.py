"""What readers call things and how numbers are written, the same in every table and figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pathforest.reproduction import published
from pathforest.reproduction.types import CLASSIFIERS, Experiment

COMPETITIONS = {"complete": "complete graph", "tree": "spanning tree"}

FEWEST = 6  # runs: with 5, the smallest p-value of the Wilcoxon test is 2 / 2^5 > 0.05


def dataset_title(name: str) -> str:
    """Return the paper's name of a dataset, its own where the paper has none."""
    return published.TITLES.get(name, name)


def classifier_title(name: str) -> str:
    """Return what readers call a classifier."""
    return CLASSIFIERS.get(name, name)


def datasets_of(experiment: Experiment) -> list[str]:
    """List the datasets that were measured, those of the paper first and in its order."""
    return in_order(experiment.results["dataset"].unique(), tuple(published.TITLES))


def classifiers_of(experiment: Experiment) -> list[str]:
    """List the classifiers that were measured; those of the paper are in its order."""
    return in_order(experiment.results["classifier"].unique(), tuple(CLASSIFIERS))


def is_repeated(experiment: Experiment) -> bool:
    """Whether there are several runs: one has no spread, no test and so no bold marks."""
    return experiment.results["run"].nunique() > 1


def has_marks(experiment: Experiment) -> bool:
    """Whether there are runs enough for bold marks: with fewer, no difference is significant."""
    return experiment.results["run"].nunique() >= FEWEST


def in_order(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Sort known names as they are known; others follow as they come."""
    places = {name: known.index(name) for name in known}
    return sorted(dict.fromkeys(names), key=lambda name: places.get(name, len(known)))


def listed(names: Iterable[str]) -> str:
    """Join names as a sentence would."""
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def fixed(value: float, digits: int = 4) -> str:
    """Write a number with a fixed number of digits, a dash where there is none."""
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign; the minus is as wide as the plus."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text.replace("-", "+")


def ratio(value: float) -> str:
    """Write a factor with two to three figures that count."""
    if not np.isfinite(value):
        return "–"
    if value >= 9.95:
        return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}"
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def duration(seconds: float) -> str:
    """Write seconds of training in the unit that suits them."""
    if np.isnan(seconds):
        return "–"
    for limit, factor, unit in ((9.995e-4, 1e6, "µs"), (0.9995, 1e3, "ms"), (119.5, 1, "s")):
        if seconds < limit:
            return f"{factor * seconds:.3g} {unit}"
    return f"{seconds / 60:,.3g} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


def p_text(p: float) -> str:
    """Write the p-value of a test."""
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(share: float) -> str:
    """Write a share; only none at all is 0 %, and only all of it 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if share < 0.0995 or share > 0.995 else f"{100 * share:.0f} %"
