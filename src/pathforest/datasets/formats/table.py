"""A table of labelled samples, and what every file format asks of one."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import numpy as np

INTEGER = re.compile(r"[+-]?[0-9]+")
TRUTH = {"true": 1.0, "false": 0.0}  # what cells of text say, in any case
LISTED = 12  # column names shown in a message
LONGEST_LABEL = 1000  # characters: one long label would widen all
LONGEST = 2**26  # characters of a line: a file without line ends must not fill the memory


class Table(NamedTuple):
    """Samples, their labels and the names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.datasets import Table
    >>> table = Table(np.eye(2), np.array([1, 2]), ["width", "height"])
    >>> table.X.shape, table.feature_names
    ((2, 2), ['width', 'height'])
    """

    X: np.ndarray  # (n_samples, n_features), float32 or float64
    y: np.ndarray | None  # (n_samples,) labels, int64 or strings; None without labels
    feature_names: list[str]


def default_names(n_features: int) -> list[str]:
    """Name features by position, for formats that keep no names."""
    return [f"f{j}" for j in range(n_features)]


def check_table(X: Any, y: Any, feature_names: Sequence[str] | None) -> Table:
    """Turn what a user wants to write into a table, or say which value is in the way."""
    X, y = np.asarray(X), None if y is None else np.asarray(y)
    names = check_shapes(X.shape, None if y is None else y.shape, feature_names)
    return Table(_check_samples(X), None if y is None else _check_labels(y), names)


def check_shapes(
    shape: tuple[int, ...], y_shape: tuple[int, ...] | None, feature_names: Sequence[str] | None
) -> list[str]:
    """Check that samples, labels and names belong together; return the names, made up if there are none."""
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"X of shape {shape} is no table; it needs at least one row and one column")
    names = default_names(shape[1]) if feature_names is None else list(feature_names)
    if len(names) != shape[1]:
        raise ValueError(f"{len(names)} feature_names for {shape[1]} features; pass one name per column of X")
    for name in names:
        check_text(name, "feature name")
    if y_shape is not None and len(y_shape) != 1:
        raise ValueError(f"y of shape {y_shape} is no list of labels; pass one label per sample")
    if y_shape is not None and y_shape[0] != shape[0]:
        raise ValueError(f"{y_shape[0]} labels for {shape[0]} samples; pass one label per row of X")
    return names


def _check_samples(given: np.ndarray) -> np.ndarray:
    if given.dtype.kind not in "biuf":
        raise ValueError(f"X of type {given.dtype} holds no real numbers; convert it to float")
    values = given.astype(np.float32 if given.dtype in (np.float16, np.float32) else np.float64)
    check_exact(given, values)
    return values


def check_exact(given: np.ndarray, values: np.ndarray) -> None:
    """Refuse values that a narrower type would round."""
    with np.errstate(invalid="ignore"):  # 2^63 - 1 becomes 2^63, which is no integer of 64 bits
        rounded = np.argwhere((values.astype(given.dtype) != given) & (given == given))
    if len(rounded):
        i, j = rounded[0]
        raise ValueError(
            f"X[{i}, {j}]={given[i, j]!r} has no exact {values.dtype} value; "
            f"round beforehand with X.astype({values.dtype.name!r})"
        )


def _check_labels(given: np.ndarray) -> np.ndarray:
    if given.dtype.kind in "iu":
        if given.dtype.kind == "u" and len(given) and given.max() > np.iinfo(np.int64).max:
            raise ValueError(f"label {given.max()} is beyond the integers of 64 bits; use smaller labels")
        return given.astype(np.int64)
    for label in given.tolist():
        if not isinstance(label, str):
            raise ValueError(f"label {label!r} is neither an integer nor a string; convert y to one of them")
        check_text(label, "label")
    return given.astype(str)


def check_text(text: Any, what: str) -> None:
    """Refuse text that does not survive a file."""
    if not isinstance(text, str) or not text:
        raise ValueError(f"{what} {text!r} is no text; use a string that is not empty")
    if "\0" in text or not _is_encodable(text):
        raise ValueError(f"{what} {text!r} has characters that UTF-8 text cannot hold; leave them out")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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


def check_nameless(table: Table, form: str) -> None:
    """Refuse feature names where the format has no place for them."""
    if table.feature_names != default_names(table.X.shape[1]):
        raise ValueError(f"{form} files keep no feature names; leave feature_names out, or write CSV")


def check_label(text: str) -> None:
    """Refuse a text that is too long to be a label."""
    if len(text) > LONGEST_LABEL:
        raise ValueError(f"{text[:30]!r}... has {len(text)} characters, too many for a label; shorten it")


def check_distinct(names: Sequence[str]) -> None:
    """Refuse column names that cannot be told apart."""
    repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    if repeated:
        raise ValueError(f"the column name {min(repeated)!r} occurs more than once; rename one of them")


def check_header(names: Sequence[str]) -> None:
    """Refuse column names that cannot be told apart, or that are samples taken for names."""
    check_distinct(names)
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"the header holds only numbers ({show(names)}); the first line must name the columns"
        )


def check_first_line(names: Sequence[str]) -> None:
    """Refuse a first line that is a sample, for its label or another cell is text."""
    numbers = [name for name in names if _is_number(name)]
    n_found = len(numbers)
    # Data frames name columns without names 0, 1, 2 and so on.
    if n_found < 2 or 2 * n_found <= len(names) or _count_up(numbers):
        return
    raise ValueError(
        f"line 1 looks like a sample: {n_found} of its {len(names)} cells are numbers; the first line must "
        "name the columns"
    )


def _count_up(numbers: Sequence[str]) -> bool:
    return any(list(numbers) == [str(start + i) for i in range(len(numbers))] for start in (0, 1))


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def cell_number(text: str) -> float:
    """Read a cell: a number, or a truth value as 1 or 0."""
    try:
        return number(text)
    except ValueError:
        truth = TRUTH.get(text.strip().lower())
        if truth is None:
            raise
        return truth


def label_column(names: Sequence[str], label: str | int | None) -> int | None:
    """Position of the label column, given by name or position."""
    if label is None:
        return None
    if isinstance(label, str):
        if label not in names:
            raise ValueError(
                f"there is no column {label!r}, only {show(names)}; pass label=<name, position or None>"
            )
        return names.index(label)
    if not -len(names) <= label < len(names):
        raise ValueError(f"label={label} is outside the {len(names)} columns; they are {show(names)}")
    return int(label) % len(names)


def show(names: Iterable[str]) -> str:
    """List names for a message, the first few of many."""
    names = list(names)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(repr, names[:LISTED])) + more


def number(text: str) -> float:
    """Read a number as files write it: Python's digit groups ("1_000") are none."""
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def integer(text: str) -> int:
    """Read an integer of 64 bits."""
    # No more than 20 characters are needed, and Python refuses thousands of digits with a puzzling message.
    if INTEGER.fullmatch(text) is None or len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{text[:30]!r} is no integer of 64 bits")
    return int(text)


def labels_of_text(cells: Sequence[str]) -> np.ndarray:
    """Labels read from text: integers if all of them are, strings otherwise."""
    try:
        return np.array([integer(cell.strip()) for cell in cells], dtype=np.int64)
    except ValueError:
        return np.array(cells)


def text_rows(X: np.ndarray) -> Iterable[list[str]]:
    """Rows as text, with the fewest digits that restore the same float32 or float64."""
    for row in X.astype(str).tolist():
        yield [cell.removesuffix(".0") for cell in row]


def first_bad_number(cells: Sequence[str]) -> int:
    """Position of the first cell that is no number, nor a truth value."""
    return next(
        j for j, cell in enumerate(cells) if not _is_number(cell) and cell.strip().lower() not in TRUTH
    )
