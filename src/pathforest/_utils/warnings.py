"""Warnings that point at the line of the user's code that caused them."""

from __future__ import annotations

import sys
import warnings

INSIDE = ("pathforest.", "sklearn.callback.")  # the last of them wraps `fit`


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning on behalf of the first caller outside the package, however deep the call came from."""
    frame, level = sys._getframe(1), 2
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
