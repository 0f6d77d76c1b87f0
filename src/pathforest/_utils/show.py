"""Values of the user in messages: short, on one line, and without terminal escapes."""

from __future__ import annotations

from typing import Any

LONGEST = 100  # characters of one value in a message


def show(value: Any) -> str:
    r"""Return the repr of a value for a message: cut if it is long, with control characters as escapes.

    Examples
    --------
    >>> from pathforest._utils.show import show
    >>> show("far")
    "'far'"
    >>> show("x" * 1000)[-27:]
    'xxxx... (1,002 characters)'
    """
    try:
        return shorten(repr(value))
    except Exception:  # from a class of the user's, or an integer of more digits than Python prints
        return f"<{type(value).__name__}>"


def shorten(text: str) -> str:
    r"""Cut a text if it is long, and show control characters as escapes.

    Examples
    --------
    >>> from pathforest._utils.show import shorten
    >>> shorten("red\x1b[31m")
    'red\\x1b[31m'
    """
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)")


def escape(text: str) -> str:
    """Write characters that a terminal would act on as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
