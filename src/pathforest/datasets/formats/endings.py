"""What the ending of a name says: the format, and whether the file is packed."""

from __future__ import annotations

import os
from pathlib import Path


def split_ending(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the ending in small letters, without `.gz`, and whether that was there."""
    name = Path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")


def telling_name(path: str | None, ending: str | None) -> str:
    """Return a name whose ending tells the format: an ending that is given, or the path's.

    The standard input and output, `-` or None, have no name; they are CSV unless something else is said.
    """
    if ending:
        return f"x.{ending.removeprefix('.')}"
    return "x.csv" if path in (None, "-") else path
