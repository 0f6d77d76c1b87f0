"""Tables with text as arrays of float64: categories become codes, gaps become NaN."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from pathforest._utils.columns import is_gap
from pathforest._utils.text import show

UNSEEN = -1.0  # code of a category that the training samples do not have

# Per column, the texts that codes 0, 1, ... stand for, or False and True; None for numbers. A column without
# values has no texts, and takes anything later: no sample can be compared by it.
Categories = list[np.ndarray | None]


class Coded(NamedTuple):
    """A table as numbers."""

    values: np.ndarray  # (n, d) float64, NaN where a value is missing
    categories: Categories
    categorical: np.ndarray  # (d,) bool: text, pandas' category and bool columns


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
    """Turn each column into numbers: text into codes, numbers and booleans into themselves.

    `known` are the categories of the training samples; without them, those of X are learned.

    Examples
    --------
    >>> from pathforest._utils.tables import as_table, code_table
    >>> coded = code_table(as_table([["red", 1.5], ["blue", None]]))
    >>> coded.values
    array([[1. , 1.5],
           [0. , nan]])
    >>> code_table(as_table([["green", 2.0]]), coded.categories).values
    array([[-1.,  2.]])
    """
    n_columns = X.shape[1]
    names = list(X.columns) if hasattr(X, "columns") else list(range(n_columns))
    values, categorical = np.empty((X.shape[0], n_columns)), np.zeros(n_columns, dtype=bool)
    categories: Categories = []
    for j, name in enumerate(names):
        column = _safe_indexing(X, j, axis=1)
        numbers, texts, is_boolean = _read(column, name)
        learned = None if known is None else known[j]
        if known is None and is_boolean:
            learned = np.array([False, True])
        elif known is None and (texts is not None or np.isnan(numbers).all()):
            learned = np.array(sorted({text for text in texts or () if text is not None}), dtype=object)
        _check_kind(name, numbers, texts, learned)
        values[:, j] = numbers if texts is None else _codes(texts, learned)
        categories.append(learned)
        is_category = getattr(getattr(column, "dtype", None), "name", "") == "category"  # pandas, of numbers
        categorical[j] = texts is not None or is_boolean or is_category
    return Coded(values, categories, categorical)


def is_text(known: np.ndarray | None) -> bool:
    """Return whether the categories of a column are texts."""
    return known is not None and known.dtype == object and len(known) > 0


def _read(column: Any, name: Any) -> tuple[np.ndarray | None, list[str | None] | None, bool]:
    """Return a column as numbers with NaN, or as texts with None, and whether it has booleans only."""
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64), None, values.dtype.kind == "b"
    if values.dtype.kind not in "OUT":
        raise TypeError(
            f"column {show(name)} of X has values of type {values.dtype}, which are neither numbers nor "
            "text; convert them, dates for example to days since the first one, or leave the column out"
        )
    items = [None if is_gap(value) else value for value in values.tolist()]
    kinds = {type(item) for item in items if item is not None}
    if all(issubclass(kind, str) for kind in kinds):
        return None, items, False
    if all(issubclass(kind, (Real, np.bool_)) for kind in kinds):
        numbers = np.array([np.nan if item is None else float(item) for item in items])
        return numbers, None, kinds <= {bool, np.bool_}
    raise TypeError(
        f"column {show(name)} of X mixes {' and '.join(sorted(kind.__name__ for kind in kinds))}; convert it "
        f"to one type, for example with X[{show(name)}].astype(str)"
    )


def _check_kind(
    name: Any, numbers: np.ndarray | None, texts: Sequence[str | None] | None, learned: np.ndarray | None
) -> None:
    """Refuse text where the training samples had numbers or booleans, and the reverse; gaps are neither."""
    if learned is not None and not len(learned):
        return
    if texts is not None and not is_text(learned) and (found := [text for text in texts if text is not None]):
        had = "numbers" if learned is None else "True and False"
        raise TypeError(
            f"column {show(name)} of X contains text ({show(found[0])}), but had {had} in fit; convert it"
        )
    if numbers is not None and is_text(learned) and not np.isnan(numbers).all():
        raise TypeError(f"column {show(name)} of X contains numbers, but had text in fit; convert it")


def _codes(texts: Sequence[str | None], learned: np.ndarray | None) -> list[float]:
    code = {text: float(number) for number, text in enumerate(() if learned is None else learned)}
    return [np.nan if text is None else code.get(text, UNSEEN) for text in texts]
