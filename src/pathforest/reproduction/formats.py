"""How numbers and lists are written, the same in every table, sentence and figure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def listed(names: Iterable[str]) -> str:
    """Join names as a sentence would."""
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def fixed(value: float, digits: int = 4) -> str:
    """Write a number with a fixed number of digits, or a dash if it is missing."""
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
    """Write a factor with two to three significant figures."""
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
    """Write a share; only an exact 0 is 0 %, and only an exact 1 is 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if share < 0.0995 or share > 0.995 else f"{100 * share:.0f} %"
