"""What a column is: numbers, categories, dates or nothing, and what each of its cells means.

The commands, :class:`pathforest.TablePreprocessor` and Gower's distance ask this module, so that a table
means the same everywhere. Files of text have cells: a text may be a number there, with the file's decimal
mark. Elsewhere, in data frames and typed files, text is text, and the decimal mark is None.
"""

from __future__ import annotations

import numbers as kinds_of_numbers
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from pathforest._utils.checks import demand
from pathforest._utils.text import show

NUMBER, CATEGORY, DATE, NOTHING = "number", "category", "date", "nothing"  # what can be in a column
GAPS = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?"}  # texts that stand for no value, in any case
TRUTH = {"true": True, "false": False}  # texts that are truth values, in any case
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?\s*")
INTEGER = re.compile(r"[+-]?[0-9]+")
TIME = r"(?:[T ](\d.*?))?"
YEAR_FIRST = re.compile(rf"\s*(\d{{4}})-(\d{{1,2}})-(\d{{1,2}}){TIME}\s*")  # 2024-05-31, 2024-05-31 12:00
DAY_FIRST = re.compile(rf"\s*(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){TIME}\s*")  # 31.5.2024
# Numbers as people read them: € 1.234,50, 1'234.50 CHF, 12 %, and 1.234,50. ABC123 is a code.
_DIGITS = r"[+-]?(?:\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?"
_SIGN = r"[A-Z]{0,2}\$|[€£¥₹%]|EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD"
AMOUNT = re.compile(
    rf"\s*(?:(?:{_SIGN})\s*{_DIGITS}|{_DIGITS}\s*(?:{_SIGN})|[+-]?\d{{1,3}}(?:\.\d{{3}})+,\d+)\s*"
)
UNCLEAR = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})([T ]\d.*)?\s*")  # 5/6/24: May or June?
DATES = date, time, timedelta, np.datetime64, np.timedelta64
EPOCH, DAY, INSTANT = np.datetime64(0, "D"), np.timedelta64(1, "D"), "M8[us]"
LONGEST_LABEL = 1000  # characters: one long label would widen all
UNSEEN = -1.0  # code of a category that the training samples do not have

# Per column, the texts that codes 0, 1, ... stand for, or False and True; None for numbers. A column without
# values has no texts, and takes anything later: no sample can be compared by it.
Categories = list[np.ndarray | None]


class BadCell(ValueError):
    """A cell that is not what is asked for; errors of other kinds are about a whole column."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


# What a value is


def is_gap(value: Any) -> bool:
    """Say whether a value is missing: None, NaN, NaT, pandas' NA, or a text that stands for nothing."""
    if isinstance(value, str):
        return value.strip().lower() in GAPS
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA, which is neither equal to itself nor unequal
        return True


def is_truth(value: Any) -> bool:
    """Say whether a value is a truth value, or the text of one."""
    return value.strip().lower() in TRUTH if isinstance(value, str) else isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Say whether a value is a number; truth values are not, nor is text."""
    return isinstance(value, kinds_of_numbers.Real | Decimal) and not isinstance(value, bool | np.bool_)


def is_date(value: Any) -> bool:
    """Say whether a value is a date, a duration, or the text of a date."""
    if isinstance(value, str):
        return any(pattern.fullmatch(value) for pattern in (YEAR_FIRST, DAY_FIRST, UNCLEAR))
    return isinstance(value, DATES)


def number(text: str, decimal: str = ".") -> float:
    """Read a number as files write it: without Python's digit groups ("1_000"), or points of thousands."""
    if "_" in text or (decimal != "." and "." in text):
        raise ValueError
    return float(text.replace(decimal, "."))


def integer(text: str) -> int:
    """Read an integer of 64 bits."""
    # No more than 20 characters are needed, and Python refuses thousands of digits with a puzzling message.
    if INTEGER.fullmatch(text) is None or len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{show(text)} is not an integer of 64 bits")
    return int(text)


def reads_as(text: str, convert: Callable[..., Any], *options: Any) -> bool:
    """Say whether a text can be converted."""
    with suppress(ValueError):
        convert(text, *options)
        return True
    return False


def kind_of(column: np.ndarray, decimal: str | None = None) -> str:
    """Say what is in a column: numbers, categories (text and truth values), dates or nothing."""
    if column.dtype.kind in "iufmM":
        known = DATE if column.dtype.kind in "mM" else NUMBER
        return NOTHING if (column != column).all() else known
    present = [value for value in column.tolist() if not is_gap(value)]
    if not present:
        return NOTHING
    if all(map(is_truth, present)):
        return CATEGORY
    if all(
        is_number(value)
        or isinstance(value, bool)
        or (decimal is not None and isinstance(value, str) and reads_as(value, number, decimal))
        for value in present
    ):
        return NUMBER
    return DATE if all(map(is_date, present)) else CATEGORY


# Columns as numbers, categories, dates and text


def read_column(column: np.ndarray, decimal: str | None, kind: str | None = None) -> np.ndarray:
    """Return numbers with NaN for gaps, categories with None, or dates; without a `kind` the cells decide."""
    if kind not in (NUMBER, CATEGORY, DATE):
        kind = kind_of(column, decimal)
        if kind == CATEGORY and decimal == ".":
            _check_commas(column)
    if kind == DATE:
        return column
    if kind == CATEGORY:
        return categories(column)
    return check_finite(numbers(column, decimal, gaps=True), gaps=True)


def numbers(column: np.ndarray, decimal: str | None = ".", *, gaps: bool = False) -> np.ndarray:
    """Return float64, or float32 as it is; gaps are NaN or an error, what float64 would round is refused."""
    if column.dtype.kind in "mM":
        raise ValueError(_holds_dates(column.dtype))
    if column.dtype.kind in "biuf":
        values = column if column.dtype == np.float32 else column.astype(np.float64)
        if column.dtype.kind in "iu":
            check_exact(column[:, None], values[:, None])
        return values
    cells = column.tolist()
    with suppress(ValueError, TypeError):  # not all of them are plain numbers
        if decimal == "." and "_" not in "".join(cells):
            return np.fromiter(map(float, cells), np.float64, len(cells))
    return np.array([_number(cell, row, decimal, gaps) for row, cell in enumerate(cells)], dtype=float)


def check_finite(values: np.ndarray, *, gaps: bool = False) -> np.ndarray:
    """Refuse infinities, and NaN unless there may be gaps."""
    wrong = np.isinf(values) if gaps else ~np.isfinite(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise BadCell(row, f"{values[row]} is not finite; replace it, or leave the sample out")
    return values


def _number(cell: Any, row: int, decimal: str | None, gaps: bool) -> float:
    if isinstance(cell, str) and decimal is not None:
        with suppress(ValueError):
            truth = TRUTH.get(cell.strip().lower())
            return number(cell, decimal) if truth is None else float(truth)
    elif is_number(cell) or isinstance(cell, bool):
        if isinstance(cell, int) and int(float(cell)) != cell:
            raise BadCell(row, f"{cell} has no exact float64 value; round it beforehand")
        return float(cell)
    if is_gap(cell):
        if gaps:
            return np.nan
        what = "the value is missing" if not isinstance(cell, str) else f"{show(cell)} is a missing value"
        if isinstance(cell, str) and not cell.strip():
            what = "the cell is empty"
        raise BadCell(row, f"{what}; fill it or leave the {'line' if decimal else 'row'} out")
    if isinstance(cell, DATES):
        raise ValueError(_holds_dates(cell))
    if isinstance(cell, str) and decimal is None:
        raise ValueError(
            f"it holds strings, such as {show(cell)}, not numbers; leave the column out, or name it as label"
        )
    is_comma = decimal == "." and isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell)
    way_out = "; if this is a decimal comma, pass --decimal , (decimal=',' in Python)" if is_comma else ""
    raise BadCell(row, f"{show(cell)} is not a number{way_out}")


def _holds_dates(found: Any) -> str:
    return (
        f"it holds dates ({found}), not numbers; convert them, for instance to days since the first, or "
        "leave the column out"
    )


def _check_commas(column: np.ndarray) -> None:
    """Refuse cells that would all be numbers if a comma were the decimal mark."""
    present = [(row, cell) for row, cell in enumerate(column.tolist()) if not is_gap(cell)]
    if all(isinstance(cell, str) for _, cell in present):
        commas = [row for row, cell in present if DECIMAL_COMMA.fullmatch(cell)]
        if commas and all(DECIMAL_COMMA.fullmatch(cell) or reads_as(cell, number) for _, cell in present):
            _number(column[commas[0]], commas[0], ".", gaps=False)  # says how to read it


def categories(column: np.ndarray) -> np.ndarray:
    """Return text, truth values, and None for gaps, as objects."""
    return objects([*map(category, texts(column) if column.dtype.kind in "mM" else column.tolist())])


def category(value: Any) -> str | bool | None:
    """Return trimmed text, whole numbers without a point, or a truth value; None for a gap."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if is_gap(value):
        return None
    if isinstance(value, str):
        text = str(value).strip()
        return TRUTH.get(text.lower(), text)
    if is_number(value):
        return str(int(value)) if value == value // 1 else str(value)
    if isinstance(value, DATES):
        raise ValueError(_holds_dates(value))
    raise TypeError(f"{show(value)} is not a category; the argument must be a string or a number")


def days(column: np.ndarray) -> np.ndarray:
    """Return dates as days since 1970-01-01, and durations as days; gaps are NaN."""
    return (dates(column) - EPOCH) / DAY


def dates(column: np.ndarray) -> np.ndarray:
    """Return dates as instants of UTC, and durations as what is so long after 1970-01-01; gaps are NaT."""
    if column.dtype.kind in "mM":
        return column.astype(INSTANT) if column.dtype.kind == "M" else EPOCH.astype(INSTANT) + column
    return np.array([_date(value, row) for row, value in enumerate(column.tolist())], dtype=INSTANT)


def day_text(day: float) -> str:
    """Write days since 1970-01-01 as a date, with the time unless that is midnight."""
    if np.isnan(day):
        return "missing"
    return str(EPOCH + np.timedelta64(round(day * 86400), "s")).removesuffix("T00:00:00").replace("T", " ")


def _date(value: Any, row: int) -> Any:
    if is_gap(value):
        return "NaT"
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
    if isinstance(value, timedelta):
        value = datetime(1970, 1, 1) + value
    elif isinstance(value, np.generic):
        return dates(np.array([value]))[0]
    elif isinstance(value, str):
        value = _date_of_text(value, row)
    elif not isinstance(value, date):
        raise BadCell(row, f"{show(value)} is not a date; write it as 2024-05-31")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value.isoformat(), "us")


def _date_of_text(text: str, row: int) -> datetime:
    if found := YEAR_FIRST.fullmatch(text):
        year, month, day, rest = found.groups()
    elif found := DAY_FIRST.fullmatch(text):
        day, month, year, rest = found.groups()
    else:
        way = "can be read in more than one way" if UNCLEAR.fullmatch(text) else "is not a date"
        raise BadCell(row, f"{show(text)} {way}; write dates as 2024-05-31")
    try:
        return datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{rest or '00:00'}")
    except ValueError as error:
        raise BadCell(row, f"{show(text)} is not a date: {error}") from None


def texts(column: np.ndarray, decimal: str | None = ".") -> list[str]:
    """Write cells as files show them: text as it stands, numbers with the fewest digits that restore them."""
    if column.dtype.kind == "f":
        found = [repr(value).removesuffix(".0") for value in column.astype(np.float64).tolist()]
        return found if decimal in (".", None) else [text.replace(".", decimal) for text in found]
    if column.dtype.kind in "biuU":
        return column.astype(str).tolist()
    if column.dtype.kind == "M":
        column = column.astype(INSTANT).astype(object)
    return ["" if value is None else str(value) for value in column.tolist()]


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return an array of Python's objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# Labels, and names and values that survive a file


def labels(column: np.ndarray, decimal: str | None = None) -> np.ndarray:
    """Return labels as integers or strings; the cells of a text file stay objects, see `as_labels`."""
    if column.dtype != object or decimal is None:
        missing = [row for row, value in enumerate(column.tolist()) if value is None or value != value]
        if missing:
            raise BadCell(missing[0], "the value is missing; fill it or leave the row out")
        return check_labels(column)
    cells = texts(column)
    for row, cell in enumerate(cells):
        if not cell.strip():
            raise BadCell(row, "the cell is empty; fill it or leave the line out")
        if len(cell) > LONGEST_LABEL:
            raise BadCell(row, f"{show(cell)} has {len(cell)} characters, too many for a label; shorten it")
    return objects(cells)


def as_labels(*parts: np.ndarray) -> np.ndarray:
    """Return labels of a whole file: those of text are integers if all of them are, else strings."""
    found = np.concatenate(parts)
    if found.dtype != object:
        return found
    try:
        return np.array([integer(cell.strip()) for cell in found.tolist()], dtype=np.int64)
    except ValueError:
        return found.astype(str)


def as_label(text: str, *, of_integers: bool) -> str:
    """Return the label that a cell means, beside labels that are integers: `1` for ` 01`."""
    if of_integers:
        with suppress(ValueError):
            return str(integer(text.strip()))
    return text


def check_labels(given: np.ndarray) -> np.ndarray:
    """Return labels as int64 or strings."""
    if given.dtype == object and all(isinstance(label, int) for label in given.tolist()):
        given = np.array([integer(str(int(label))) for label in given.tolist()])
    if given.dtype.kind in "iu":
        if given.dtype.kind == "u" and len(given) and given.max() > np.iinfo(np.int64).max:
            raise ValueError(f"label {given.max()} is beyond the integers of 64 bits; use smaller labels")
        return given.astype(np.int64)
    if given.dtype.kind in "mM":
        raise ValueError(f"labels of type {given.dtype} are dates; write them as text, with y.astype(str)")
    for label in given.tolist():
        if not isinstance(label, str):
            raise ValueError(f"label {show(label)} is not an integer or a string; convert y to one of them")
        check_text(label, "label")
    return given.astype(str)


def check_exact(given: np.ndarray, values: np.ndarray) -> None:
    """Refuse values that a narrower type would round."""
    with np.errstate(invalid="ignore"):  # 2^63 - 1 becomes 2^63, which is not an integer of 64 bits
        rounded = np.argwhere((values.astype(given.dtype) != given) & (given == given))
    if len(rounded):
        i, j = rounded[0]
        raise ValueError(
            f"X[{i}, {j}]={given[i, j]!r} has no exact {values.dtype} value; "
            f"round beforehand with X.astype({values.dtype.name!r})"
        )


def check_text(text: Any, what: str) -> None:
    """Refuse text that does not survive a file."""
    demand(isinstance(text, str) and text, f"{what} {show(text)} is not text; use a string that is not empty")
    if "\0" in text or not reads_as(text, str.encode):
        raise ValueError(f"{what} {show(text)} has characters that UTF-8 text cannot hold; leave them out")


def default_names(n_features: int) -> list[str]:
    """Name features by position where no names are given."""
    return [f"x{j}" for j in range(n_features)]


# Tables that people pass: data frames, arrays and lists with text, dates and gaps in them


class Columns(tuple):
    """A table as its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of rows and of columns."""
        return (len(self[0]) if self else 0), len(self)


def is_frame(X: Any) -> bool:
    """Say whether samples are a data frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "shape") and hasattr(X, "__getitem__")


def is_table(X: Any) -> bool:
    """Say whether samples are a dict of columns, or a data frame with more than numbers and truth values."""

    def is_complete(column: np.ndarray) -> bool:
        is_number = column.dtype.kind in "biu" or kind_of(column) == NUMBER
        return is_number and not any(map(is_gap, column.tolist()))

    return isinstance(X, dict) or (is_frame(X) and not all(map(is_complete, columns_of(X))))


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
    if is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        yield from zip(X.columns if is_frame(X) else range(X.shape[1]), columns_of(X), strict=True)


def as_table(X: Any) -> Any:
    """Return X as something whose columns have types of their own, None if it is an array of numbers."""
    if hasattr(X, "columns"):
        return X
    if hasattr(X, "tocsr") or np.asarray(X).dtype.kind in "biufc":
        return None
    table = np.asarray(X, dtype=object)
    return table if table.ndim == 2 else None


class Coded(NamedTuple):
    """A table as numbers."""

    values: np.ndarray  # (n, d) float64, NaN where a value is missing
    categories: Categories
    categorical: np.ndarray  # (d,) bool: text, pandas' category and bool columns


def code_table(X: Any, known: Categories | None = None) -> Coded:
    """Turn columns into numbers, text into codes, by the training categories `known`, or learned ones."""
    categorical = np.zeros(X.shape[1], dtype=bool)
    types = getattr(X, "dtypes", ())
    categorical[: len(types)] = [str(kind) == "category" for kind in types]
    values, found = np.empty(X.shape), []
    for j, (name, column) in enumerate(named_columns(X)):
        cells, is_boolean = _numbers_or_texts(column, name)
        has_text = cells.dtype == object
        present = [cell for cell in cells.tolist() if cell is not None and cell == cell]
        learned = None if known is None else known[j]
        if known is None and is_boolean:
            learned = np.array([False, True])
        elif known is None and (has_text or not present):
            learned = np.array(sorted(set(present)), dtype=object)
        if present and (learned is None or len(learned)) and has_text != is_text(learned):
            what, had = "numbers", "text"
            if has_text:
                what, had = f"text ({show(present[0])})", "numbers" if learned is None else "True and False"
            raise TypeError(f"column {show(name)} of X contains {what}, but had {had} in fit; convert it")
        if has_text:
            code = {text: float(place) for place, text in enumerate(() if learned is None else learned)}
            cells = [np.nan if text is None else code.get(text, UNSEEN) for text in cells]
        values[:, j] = cells
        found.append(learned)
        categorical[j] |= has_text or is_boolean
    return Coded(values, found, categorical)


def is_text(known: np.ndarray | None) -> bool:
    """Return whether the categories of a column are texts."""
    return known is not None and known.dtype == object and len(known) > 0


def _numbers_or_texts(column: np.ndarray, name: Any) -> tuple[np.ndarray, bool]:
    """Return a column as float64 with NaN, or texts with None, and whether it has truth values only."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), column.dtype.kind == "b"
    kind = kind_of(column)
    if kind == DATE or column.dtype.kind in "cmM":
        raise TypeError(
            f"column {show(name)} of X has {'dates' if kind == DATE else column.dtype}, which are neither "
            "numbers nor text; convert them, dates for example to days since the first one, or leave the "
            "column out"
        )
    if kind != CATEGORY:
        return numbers(column, None, gaps=True), False
    present = {type(value) for value in column.tolist() if not is_gap(value)}
    if len({issubclass(kind, str) for kind in present}) > 1:
        raise TypeError(
            f"column {show(name)} of X mixes {' and '.join(sorted(kind.__name__ for kind in present))}; "
            f"convert it to one type, for example with X[{show(name)}].astype(str)"
        )
    cells = categories(column)
    if all(cell is None or is_truth(cell) for cell in cells):
        return cells.astype(np.float64), True
    return objects([None if cell is None else str(cell) for cell in cells]), False
