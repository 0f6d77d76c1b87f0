"""Cells of text files: lines, numbers and labels."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO

import numpy as np

from pathforest._utils.text import show

INTEGER = re.compile(r"[+-]?[0-9]+")
TRUTH = {"true": 1.0, "false": 0.0}  # cells that are truth values, in any case
GAPS = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?"}  # cells without a value, in any case
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?\s*")
LONGEST_LABEL = 1000  # characters: one long label would widen all
LONGEST = 2**26  # characters of a line: a file without line ends must not fill the memory


def text_lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of UTF-8 text with their ends."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        for number, line in enumerate(iter(lambda: text.readline(LONGEST), ""), 1):
            if len(line) == LONGEST:
                raise ValueError(f"line {number} has more than {LONGEST} characters; is this a text file?")
            yield line
    finally:
        with suppress(ValueError):  # raised if the file is closed already
            text.detach()  # the file belongs to the caller


def number(text: str) -> float:
    """Read a number as files write it, without Python's digit groups ("1_000")."""
    if "_" in text:
        raise ValueError
    return float(text)


def cell_number(text: str) -> float:
    """Read a cell: a number, or a truth value as 1 or 0."""
    truth = TRUTH.get(text.strip().lower())
    return number(text) if truth is None else truth


def is_gap(text: str) -> bool:
    """Return whether a cell has no value."""
    return text.strip().lower() in GAPS


def with_point(text: str, decimal: str) -> str:
    """Return a number of a file as Python writes it, or raise ValueError if it has a point of thousands."""
    if decimal == ".":
        return text
    if "." in text:
        raise ValueError
    return text.replace(decimal, ".")


def integer(text: str) -> int:
    """Read an integer of 64 bits."""
    # No more than 20 characters are needed, and Python refuses thousands of digits with a puzzling message.
    if INTEGER.fullmatch(text) is None or len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{show(text)} is not an integer of 64 bits")
    return int(text)


def is_number(text: str, convert: Callable[[str], object] = number) -> bool:
    """Return whether a text can be converted to a number."""
    try:
        convert(text)
    except ValueError:
        return False
    return True


def check_label(text: str) -> None:
    """Refuse a text that is too long to be a label."""
    if len(text) > LONGEST_LABEL:
        raise ValueError(f"{show(text)} has {len(text)} characters, too many for a label; shorten it")


def as_label(text: str, *, of_integers: bool) -> str:
    """Return the label that a cell means, beside labels that are integers: `1` for ` 01`."""
    if of_integers:
        with suppress(ValueError):
            return str(integer(text.strip()))
    return text


def labels_of_text(cells: Sequence[str]) -> np.ndarray:
    """Return labels read from text: integers if all of them are, strings otherwise."""
    try:
        return np.array([integer(cell.strip()) for cell in cells], dtype=np.int64)
    except ValueError:
        return np.array(cells)
