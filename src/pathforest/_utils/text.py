"""Texts from elsewhere, safe and short on their way to a person: values in messages, data on a terminal."""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO

LONGEST = 100  # characters of one value in a message
KEPT = "\n\t"  # what tables of text consist of, besides printable characters


def show(value: Any) -> str:
    r"""Return a value as `repr` shows it, with control characters escaped, and cut if it is long.

    Examples
    --------
    >>> from pathforest._utils.text import show
    >>> print(show("red\x1b[31m"))
    'red\x1b[31m'
    >>> len(show("x" * 10**6))
    100
    """
    try:
        return shorten(repr(value[:LONGEST] if isinstance(value, str) else value))
    except Exception:  # from a class of the user's, or an integer of more digits than Python prints
        return f"<{type(value).__name__}>"


def shorten(text: str) -> str:
    """Cut a text if it is long, and escape its control characters."""
    text = escape(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def escape(text: str) -> str:
    """Write characters that a terminal would act on as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class TerminalOutput(io.RawIOBase):
    r"""A file of UTF-8 text that is shown on a terminal.

    Examples
    --------
    >>> import io
    >>> from pathforest._utils.text import TerminalOutput
    >>> shown = io.BytesIO()
    >>> _ = TerminalOutput(shown).write(b"red\x1b[31m,1\n")
    >>> shown.getvalue()
    b'red\\x1b[31m,1\n'
    """

    def __init__(self, terminal: BinaryIO) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def write(self, data: bytes) -> int:
        """Write bytes, which may end within a character."""
        text = self._decoder.decode(bytes(data))
        self._terminal.write("".join(c if c in KEPT else escape(c) for c in text).encode())
        return len(data)

    def flush(self) -> None:
        """Show what was written."""
        if not self.closed:
            self._terminal.flush()
