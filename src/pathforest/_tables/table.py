"""A table of labelled samples, and what every file format asks of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest._utils.text import show

LISTED = 12  # column names shown in a message
DATES = "Mm"  # numpy's kinds of dates and of spans of time


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
    return [f"x{j}" for j in range(n_features)]


def check_table(X: Any, y: Any, feature_names: Sequence[str] | None) -> Table:
    """Turn what a user wants to write into a table, or say which value is in the way."""
    X, y = np.asarray(X), None if y is None else np.asarray(y)
    names = check_shapes(X.shape, None if y is None else y.shape, feature_names)
    return Table(check_samples(X), None if y is None else check_labels(y), names)


def check_shapes(
    shape: tuple[int, ...], y_shape: tuple[int, ...] | None, feature_names: Sequence[str] | None
) -> list[str]:
    """Check that samples, labels and names belong together; return the names, made up if none are given."""
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"X of shape {shape} is not a table; it needs at least one row and one column")
    names = default_names(shape[1]) if feature_names is None else list(feature_names)
    if len(names) != shape[1]:
        raise ValueError(f"{len(names)} feature_names for {shape[1]} features; pass one name per column of X")
    for name in names:
        check_text(name, "feature name")
    if y_shape is not None and len(y_shape) != 1:
        raise ValueError(f"y of shape {y_shape} is not a list of labels; pass one label per sample")
    if y_shape is not None and y_shape[0] != shape[0]:
        raise ValueError(f"{y_shape[0]} labels for {shape[0]} samples; pass one label per row of X")
    return names


def check_samples(given: np.ndarray, first: int = 0) -> np.ndarray:
    """Return samples as float32 or float64; `first` is the row of the first of them."""
    if given.dtype.kind in DATES:
        # A plain conversion would turn NaT, a missing date, into a number.
        raise ValueError(
            f"X of type {given.dtype} holds dates; turn them into numbers, such as days since the first: "
            "(X - X.min()) / np.timedelta64(1, 'D')"
        )
    if given.dtype.kind not in "biuf":
        raise ValueError(f"X of type {given.dtype} holds no real numbers; convert it to float")
    values = given.astype(np.float32 if given.dtype in (np.float16, np.float32) else np.float64)
    check_exact(given, values, first)
    return values


def check_exact(given: np.ndarray, values: np.ndarray, first: int = 0) -> None:
    """Refuse values that a narrower type would round."""
    with np.errstate(invalid="ignore"):  # 2^63 - 1 becomes 2^63, which is not an integer of 64 bits
        rounded = np.argwhere((values.astype(given.dtype) != given) & (given == given))
    if len(rounded):
        i, j = rounded[0]
        raise ValueError(
            f"X[{first + i}, {j}]={given[i, j]!r} has no exact {values.dtype} value; "
            f"round beforehand with X.astype({values.dtype.name!r})"
        )


def check_labels(given: np.ndarray) -> np.ndarray:
    """Return labels as int64 or strings."""
    if given.dtype.kind in "iu":
        if given.dtype.kind == "u" and len(given) and given.max() > np.iinfo(np.int64).max:
            raise ValueError(f"label {given.max()} is beyond the integers of 64 bits; use smaller labels")
        return given.astype(np.int64)
    if given.dtype.kind in DATES:
        raise ValueError(f"labels of type {given.dtype} are dates; write them as text, with y.astype(str)")
    for label in given.tolist():
        if not isinstance(label, str):
            raise ValueError(f"label {show(label)} is not an integer or a string; convert y to one of them")
        check_text(label, "label")
    return given.astype(str)


def check_text(text: Any, what: str) -> None:
    """Refuse text that does not survive a file."""
    if not isinstance(text, str) or not text:
        raise ValueError(f"{what} {show(text)} is not text; use a string that is not empty")
    if "\0" in text or not _is_encodable(text):
        raise ValueError(f"{what} {show(text)} has characters that UTF-8 text cannot hold; leave them out")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_nameless(names: Sequence[str], form: str) -> None:
    """Refuse feature names where the format has no place for them."""
    if list(names) != default_names(len(names)):
        raise ValueError(f"{form} files keep no feature names; leave feature_names out, or write CSV")


def check_distinct(names: Sequence[str]) -> None:
    """Refuse column names that cannot be distinguished."""
    repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    if repeated:
        raise ValueError(f"the column name {show(min(repeated))} occurs more than once; rename one of them")


def listed(names: Iterable[str]) -> str:
    """List names for a message, the first few of many."""
    names = list(names)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(show, names[:LISTED])) + more
