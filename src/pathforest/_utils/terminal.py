"""Data on their way to a terminal: what it would act on is shown as an escape."""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO

from pathforest._utils.show import escape

KEPT = "\n\t"  # what tables of text consist of, besides printable characters


class TerminalOutput(io.RawIOBase):
    r"""A file of UTF-8 text that is shown on a terminal.

    Examples
    --------
    >>> import io
    >>> from pathforest._utils.terminal import TerminalOutput
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
