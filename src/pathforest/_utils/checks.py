"""Checks of plain values, each with a message that names the way out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from pathforest._utils.show import show


def check_integer(name: str, value: Any, minimum: int, advice: str) -> None:
    """Refuse anything but an integer of at least `minimum`; numpy integers pass, bools do not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name}={show(value)} must be an integer, not {type(value).__name__}; {advice}")
    if value < minimum:
        raise ValueError(f"{name}={show(value)} must be at least {minimum}; {advice}")


def check_number(name: str, value: Any, advice: str) -> None:
    """Refuse anything but a number; numpy's pass, bools do not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={show(value)} must be a number, not {type(value).__name__}; {advice}")


def check_positive(name: str, value: Any, advice: str) -> None:
    """Refuse anything but a finite number above zero."""
    check_number(name, value, advice)
    try:
        usable = math.isfinite(value) and float(value) > 0
    except OverflowError:  # an integer or a fraction beyond float64
        usable = False
    if not usable:
        raise ValueError(f"{name}={show(value)} must be finite and greater than 0; {advice}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of `choices`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name}={show(value)} is unknown; use one of {', '.join(map(repr, choices))}")
