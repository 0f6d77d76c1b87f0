"""Messages: values in them are short and cannot act on a terminal, warnings point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

LONGEST = 100  # characters of one value in a message
LISTED = 12  # names
INSIDE = ("pathforest.", "sklearn.callback.")  # the last of them wraps `fit`


def show(value: Any) -> str:
    """Return a value as `repr` shows it, with control characters escaped, and cut if it is long."""
    try:
        return shorten(repr(value[:LONGEST] if isinstance(value, str) else value))
    except Exception:  # from a class of the user's, or an integer of more digits than Python prints
        return f"<{type(value).__name__}>"


def shorten(text: str, longest: int = LONGEST) -> str:
    """Cut a text if it is long, and escape its control characters."""
    text = escape(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 3] + "..."


def escape(text: str) -> str:
    """Write characters that a terminal would act on as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number and what it counts."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def listed(names: Iterable[Any], most: int = LISTED, show: Callable[[Any], str] = show) -> str:
    """List names for a message, the first few of many."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(show, names[:most])) + more


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning on behalf of the first caller outside the package, however deep the call came from."""
    frame, level = sys._getframe(1), 2
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
