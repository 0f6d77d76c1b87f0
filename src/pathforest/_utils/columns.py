"""Columns of tables that people pass: data frames, arrays and lists, with text, dates and gaps in them."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np

# Texts that are dates: 2024-05-31, 2024-05-31 12:00, 31.5.2024, 5/31/24.
DATE = re.compile(r"\s*(\d{4}-\d{1,2}-\d{1,2}([T ]\d.*)?|\d{1,2}([./-])\d{1,2}\3(\d{4}|\d{2})([T ]\d.*)?)\s*")
NUMBER, CATEGORY, NOTHING, DATE_KIND = "number", "category", "nothing", "date"  # what can be in a column
DATES = date, time, timedelta, np.datetime64, np.timedelta64


def is_frame(X: Any) -> bool:
    """Say whether samples are a data frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "shape") and hasattr(X, "__getitem__")


class Columns(tuple):
    """A table as its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of rows and of columns."""
        return (len(self[0]) if self else 0), len(self)


def columns_of(X: Any) -> Iterator[np.ndarray]:
    """Yield the columns of a data frame or a matrix, each with a type of its own."""
    if isinstance(X, Columns):
        yield from X
        return
    for j in range(X.shape[1]):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        yield column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)


def named_columns(X: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield the columns of a data frame or a matrix with their names or positions; nothing of the rest."""
    is_matrix = isinstance(X, np.ndarray) and X.ndim == 2
    if is_frame(X) or is_matrix:
        yield from zip(X.columns if is_frame(X) else range(X.shape[1]), columns_of(X), strict=True)


def is_gap(value: Any) -> bool:
    """Say whether a value is missing: None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA, which is neither equal to itself nor unequal
        return True


def is_number(value: Any) -> bool:
    """Say whether a value is a number; truth values are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def kind_of(column: np.ndarray) -> str:
    """Say what is in a column: numbers, categories (text and truth values), dates or nothing."""
    if column.dtype.kind in "iuf":
        return NOTHING if np.isnan(column).all() else NUMBER
    if column.dtype.kind in "mM":
        return DATE_KIND
    present = [value for value in column.tolist() if not is_gap(value)]
    if not present:
        return NOTHING
    if all(map(is_number, present)):
        return NUMBER
    return DATE_KIND if all(map(_is_date, present)) else CATEGORY


def _is_date(value: Any) -> bool:
    return isinstance(value, DATES) or (isinstance(value, str) and DATE.fullmatch(value) is not None)
