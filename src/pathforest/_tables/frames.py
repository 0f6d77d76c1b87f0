"""Tables that people pass: data frames, arrays and lists with text, dates and gaps in them.

They are taken column by column; Gower's distance takes them as float64, with codes for categories and NaN
for gaps. The rules of `columns` decide what a column is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pathforest._tables.columns import CATEGORY, DATE, categories, is_gap, is_truth, kind_of, numbers
from pathforest._utils.text import show

UNSEEN = -1.0  # code of a category that the training samples do not have

# Per column, the texts that codes 0, 1, ... stand for, or False and True; None for numbers. A column without
# values has no texts, and takes anything later: no sample can be compared by it.
Categories = list[np.ndarray | None]


class Columns(tuple):
    """A table as its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of rows and of columns."""
        return (len(self[0]) if self else 0), len(self)


class Coded(NamedTuple):
    """A table as numbers."""

    values: np.ndarray  # (n, d) float64, NaN where a value is missing
    categories: Categories
    categorical: np.ndarray  # (d,) bool: text, pandas' category and bool columns


def is_frame(X: Any) -> bool:
    """Say whether samples are a data frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "shape") and hasattr(X, "__getitem__")


def columns_of(X: Any) -> Iterator[np.ndarray]:
    """Yield the columns of a table or a matrix, each with a type of its own."""
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


def as_table(X: Any) -> Any:
    """Return X as something whose columns have types of their own, None if it is an array of numbers."""
    if hasattr(X, "columns"):
        return X
    is_numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biufc"
    if is_numeric or hasattr(X, "tocsr") or np.asarray(X).dtype.kind in "biufc":
        return None
    table = np.asarray(X, dtype=object)
    return table if table.ndim == 2 else None


def code_table(X: Any, known: Categories | None = None) -> Coded:
    """Turn each column into numbers: text into codes, numbers and truth values into themselves.

    `known` are the categories of the training samples; without them, those of X are learned.
    """
    categorical = np.zeros(X.shape[1], dtype=bool)
    types = getattr(X, "dtypes", ())
    categorical[: len(types)] = [str(kind) == "category" for kind in types]
    values, found = np.empty(X.shape), []
    for j, (name, column) in enumerate(named_columns(X)):
        given, texts, is_boolean = _read(column, name)
        learned = None if known is None else known[j]
        if known is None and is_boolean:
            learned = np.array([False, True])
        elif known is None and (texts is not None or np.isnan(given).all()):
            learned = np.array(sorted({text for text in texts or () if text is not None}), dtype=object)
        _check_kind(name, given, texts, learned)
        if texts is not None:
            code = {text: float(number) for number, text in enumerate(() if learned is None else learned)}
            given = [np.nan if text is None else code.get(text, UNSEEN) for text in texts]
        values[:, j] = given
        found.append(learned)
        categorical[j] |= texts is not None or is_boolean
    return Coded(values, found, categorical)


def is_text(known: np.ndarray | None) -> bool:
    """Return whether the categories of a column are texts."""
    return known is not None and known.dtype == object and len(known) > 0


def _read(column: np.ndarray, name: Any) -> tuple[np.ndarray | None, list[str | None] | None, bool]:
    """Return a column as numbers with NaN, or as texts with None, and whether it has truth values only."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), None, column.dtype.kind == "b"
    kind = kind_of(column)
    if kind == DATE or column.dtype.kind in "cmM":
        raise TypeError(
            f"column {show(name)} of X has {'dates' if kind == DATE else column.dtype}, which are neither "
            "numbers nor text; convert them, dates for example to days since the first one, or leave the "
            "column out"
        )
    if kind != CATEGORY:
        return numbers(column, None, gaps=True), None, False
    present = {type(value) for value in column.tolist() if not is_gap(value)}
    if len({issubclass(kind, str) for kind in present}) > 1:
        raise TypeError(
            f"column {show(name)} of X mixes {' and '.join(sorted(kind.__name__ for kind in present))}; "
            f"convert it to one type, for example with X[{show(name)}].astype(str)"
        )
    cells = categories(column).tolist()
    if all(cell is None or is_truth(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), None, True
    return None, [None if cell is None else str(cell) for cell in cells], False


def _check_kind(
    name: Any, given: np.ndarray | None, texts: Sequence[str | None] | None, learned: np.ndarray | None
) -> None:
    """Refuse text where the training samples had numbers or truth values, and the reverse."""
    if learned is not None and not len(learned):
        return
    if texts is not None and not is_text(learned) and (found := [text for text in texts if text is not None]):
        had = "numbers" if learned is None else "True and False"
        raise TypeError(
            f"column {show(name)} of X contains text ({show(found[0])}), but had {had} in fit; convert it"
        )
    if given is not None and is_text(learned) and not np.isnan(given).all():
        raise TypeError(f"column {show(name)} of X contains numbers, but had text in fit; convert it")
