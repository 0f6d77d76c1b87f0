"""Values in messages: what a file or a user has given, safe to print and never long."""

from __future__ import annotations

from typing import Any

LONGEST = 100  # characters of one value in a message


def show(value: Any) -> str:
    r"""Return a value as `repr` shows it, with control characters escaped, and cut if it is long.

    Examples
    --------
    >>> from pathforest._utils.show import show
    >>> print(show("red\x1b[31m"))
    'red\x1b[31m'
    >>> len(show("x" * 10**6))
    100
    """
    # One character of text can take ten in `repr`, so a long text is cut before and after.
    is_long = isinstance(value, str) and len(value) > LONGEST
    text = escape(repr(value[:LONGEST] if is_long else value))
    return text[: LONGEST - 3] + "..." if is_long or len(text) > LONGEST else text


def escape(text: str) -> str:
    """Write characters that a terminal would act on as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
