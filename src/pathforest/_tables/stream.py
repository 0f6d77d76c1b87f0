"""A table that passes by in batches: columns of cells, each row with its place in the file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from pathforest._tables.table import Table, check_labels
from pathforest._tables.text import (
    DECIMAL_COMMA,
    TRUTH,
    cell_number,
    check_label,
    is_gap,
    is_number,
    labels_of_text,
    with_point,
)
from pathforest._utils.text import show

CELLS = 2**18  # of a batch: enough to keep threads busy, little enough to forget about memory


class BadCell(ValueError):
    """A cell that is not what is asked for; errors of other kinds are about a whole column."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


class Column(Protocol):
    """Cells of one column, as in the file."""

    def numbers(self) -> np.ndarray:
        """Return float32 or float64, or raise ValueError."""

    def numbers_and_gaps(self) -> np.ndarray:
        """Return floats with NaN for what is missing, or raise ValueError if it holds anything else."""

    def categories(self) -> np.ndarray:
        """Return objects: text, truth values, and None for what is missing; dates raise ValueError."""

    def labels(self) -> Any:
        """Return integers or strings, or raise ValueError."""

    def text(self) -> list[str]:
        """Return what a text file shows."""

    def values(self) -> list[Any]:
        """Return what JSON shows."""

    def take(self, rows: np.ndarray) -> Column:
        """Return some of the cells."""

    @classmethod
    def join(cls, columns: Sequence[Any]) -> Column:
        """Return the cells of all columns, one after the other."""


class TextColumn:
    """Cells of a text file."""

    def __init__(self, cells: Sequence[str], decimal: str = ".") -> None:
        self.cells, self.decimal = list(cells), decimal

    def numbers(self) -> np.ndarray:
        """Read the cells."""
        try:
            if self.decimal != "." or "_" in "".join(self.cells):
                raise ValueError
            return np.fromiter(map(float, self.cells), np.float64, len(self.cells))
        except ValueError:  # a truth value, another decimal mark, or a cell that is wrong
            return np.array([self._number(row) for row in range(len(self.cells))])

    def _number(self, row: int) -> float:
        cell = self.cells[row]
        try:
            return cell_number(with_point(cell, self.decimal))
        except ValueError:
            self._refuse_empty(row)
            is_comma = DECIMAL_COMMA.fullmatch(cell) and self.decimal == "."
            way_out = (
                "; if this is a decimal comma, pass --decimal , (decimal=',' in Python)" if is_comma else ""
            )
            raise BadCell(row, f"{show(cell)} is not a number{way_out}") from None

    def numbers_and_gaps(self) -> np.ndarray:
        """Read the cells that are not empty."""
        return np.array(
            [np.nan if is_gap(cell) else self._number(row) for row, cell in enumerate(self.cells)],
            dtype=float,
        )

    def categories(self) -> np.ndarray:
        """Return text without the space around it; cells that are true or false are truth values."""
        return objects([_category(cell) for cell in self.cells])

    def check_commas(self) -> None:
        """Refuse cells that would be numbers if a comma were the decimal mark."""
        present = [(row, cell) for row, cell in enumerate(self.cells) if not is_gap(cell)]
        commas = [row for row, cell in present if DECIMAL_COMMA.fullmatch(cell)]
        if commas and all(DECIMAL_COMMA.fullmatch(cell) or is_number(cell) for _, cell in present):
            self._number(commas[0])  # says how to read it

    def labels(self) -> list[str]:
        """Return the cells; only the end of the file shows whether all labels are integers."""
        for row, cell in enumerate(self.cells):
            self._refuse_empty(row)
            try:
                check_label(cell)
            except ValueError as error:
                raise BadCell(row, str(error)) from None
        return self.cells

    def text(self) -> list[str]:
        """Return the cells as they are."""
        return self.cells

    values = text

    def take(self, rows: np.ndarray) -> TextColumn:
        """Return some of the cells."""
        return TextColumn([self.cells[row] for row in rows.tolist()], self.decimal)

    @classmethod
    def join(cls, columns: Sequence[TextColumn]) -> TextColumn:
        """Return the cells of all columns."""
        return cls(chain.from_iterable(column.cells for column in columns), columns[0].decimal)

    def _refuse_empty(self, row: int) -> None:
        if not self.cells[row].strip():
            raise BadCell(row, "the cell is empty; fill it or leave the line out")


def _category(cell: str) -> str | bool | None:
    cell = cell.strip()
    truth = TRUTH.get(cell.lower())
    return truth == 1 if truth is not None else None if is_gap(cell) else cell


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return an array of Python's objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class ArrayColumn:
    """Numbers of a binary file, or numbers and names that were computed."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def numbers(self) -> np.ndarray:
        """Return the numbers."""
        if self.array.dtype.kind not in "biuf":
            raise ValueError(f"{show(str(self.array[0]))} is not a number")
        return self.array if self.array.dtype == np.float32 else self.array.astype(np.float64)

    numbers_and_gaps = numbers

    def categories(self) -> np.ndarray:
        """Return text; numbers that are only names become text too."""
        return objects(self.text())

    def labels(self) -> np.ndarray:
        """Return integers or strings."""
        return check_labels(self.array)

    def text(self) -> list[str]:
        """Write the fewest digits that restore the same value as float64, which is what readers return."""
        if self.array.dtype.kind == "f":
            return [repr(value).removesuffix(".0") for value in self.array.astype(np.float64).tolist()]
        return self.array.astype(str).tolist()

    def values(self) -> list[Any]:
        """Return Python's values."""
        return self.array.tolist()

    def take(self, rows: np.ndarray) -> ArrayColumn:
        """Return some of the cells."""
        return ArrayColumn(self.array[rows])

    @classmethod
    def join(cls, columns: Sequence[ArrayColumn]) -> ArrayColumn:
        """Return the cells of all columns."""
        return cls(np.concatenate([column.array for column in columns]))


class LabelColumn(ArrayColumn):
    """Labels that were computed: text shows each as the input does, where that is known."""

    def __init__(self, array: np.ndarray, written: Mapping[str, str] | None = None) -> None:
        super().__init__(array)
        self._written = written or {}

    def text(self) -> list[str]:
        """Return each label as the input shows it."""
        return [self._written.get(text, text) for text in super().text()]


def array_columns(X: np.ndarray) -> list[Column]:
    """Return the columns of a matrix."""
    return [ArrayColumn(column) for column in np.ascontiguousarray(X.T)]


class Batch(NamedTuple):
    """Some rows."""

    places: Sequence[int]  # line or row of each in the file
    columns: list[Column]  # one per name

    def take(self, rows: np.ndarray) -> Batch:
        """Return some of the rows."""
        return Batch([self.places[row] for row in rows.tolist()], [c.take(rows) for c in self.columns])


class Dialect(NamedTuple):
    """How a text file separates cells and writes decimals."""

    delimiter: str
    decimal: str = "."


@dataclass(frozen=True)
class Layout:
    """The columns of a file."""

    names: list[str]
    label: str | None = None  # the column of labels, if the format has one of its own
    beside: tuple[str, ...] = ()  # columns that are not features
    dialect: Dialect | None = None  # of a text file
    added: tuple[str, ...] = ()  # columns that the file which the table is from does not have

    @property
    def features(self) -> list[str]:
        """Names of the columns that can be features."""
        return [name for name in self.names if name != self.label and name not in self.beside]


@dataclass(frozen=True)
class Stream(Layout):
    """What is known of a file before its rows are read, and the rows."""

    batches: Iterator[Batch] = field(kw_only=True)
    place: str = "row"  # what the places count
    name: str = ""  # of the file, for messages

    def samples(self, batch: Batch, names: Sequence[str], *, finite: bool = True) -> np.ndarray:
        """Return the named columns as a matrix of numbers, float32 if all of them are."""
        numbers = _finite if finite else lambda column: column.numbers()
        columns = dict(zip(self.names, batch.columns, strict=True))
        return np.column_stack([self._asked(batch, name, columns[name], numbers) for name in names])

    def table(
        self, batch: Batch, names: Sequence[str], kinds: Mapping[str, str] | None = None
    ) -> dict[str, np.ndarray]:
        """Return the named columns as numbers with NaN for gaps, or as text with None.

        `kinds` says which of the two, "number" or "category"; else it is what the cells are.
        """
        columns, kinds = dict(zip(self.names, batch.columns, strict=True)), kinds or {}
        read = {"number": _numbers_and_gaps, "category": lambda column: column.categories()}
        return {
            name: self._asked(batch, name, columns[name], read.get(kinds.get(name), _numbers_or_categories))
            for name in names
        }

    def labels(self, batch: Batch, name: str) -> Any:
        """Return a column as labels: integers or strings, or a list of cells that may be either."""
        column = batch.columns[self.names.index(name)]
        return self._asked(batch, name, column, lambda column: column.labels())

    def with_numbers(self, batch: Batch, numbers: Mapping[str, np.ndarray]) -> list[Column]:
        """Return all columns, with those that came as text as numbers where these are known."""
        numbers = {name: ArrayColumn(values) for name, values in numbers.items()}
        return [
            numbers.get(name, column) if isinstance(column, TextColumn) else column
            for name, column in zip(self.names, batch.columns, strict=True)
        ]

    def narrow(self, width: int) -> Iterator[Batch]:
        """Yield smaller batches, for samples of so many values, which may be wider than the rows."""
        step = max(1, CELLS // width)
        for batch in self.batches:
            for first in range(0, len(batch.places), step):
                rows = np.arange(first, min(first + step, len(batch.places)))
                yield batch if len(rows) == len(batch.places) else batch.take(rows)

    def _asked(self, batch: Batch, name: str, column: Column, what: Callable[[Column], Any]) -> Any:
        try:
            return what(column)
        except ValueError as error:
            row = getattr(error, "row", None)
            where = "" if row is None else f"{self.place} {batch.places[row]}, "
            raise ValueError(f"{self.name}: {where}column {show(name)}: {error}") from None


def _finite(column: Column) -> np.ndarray:
    numbers = column.numbers()
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise BadCell(row, f"{numbers[row]} is not finite; replace it, or leave the sample out")
    return numbers


def _numbers_and_gaps(column: Column) -> np.ndarray:
    numbers = column.numbers_and_gaps()
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise BadCell(row, f"{numbers[row]} is not finite; replace it, or leave the sample out")
    return numbers


def _numbers_or_categories(column: Column) -> np.ndarray:
    """Read a column as what its cells are; truth values are not numbers here."""
    is_text = isinstance(column, TextColumn)
    if is_text and any(cell.strip().lower() in TRUTH for cell in column.cells):
        return column.categories()
    try:
        return _numbers_and_gaps(column)
    except ValueError:
        if is_text:
            column.check_commas()
        return column.categories()


def gather(stream: Stream) -> Batch:
    """Return all rows at once."""
    batches = list(stream.batches)
    if not batches:
        raise ValueError(f"{stream.name}: there is no sample")
    places = [place for batch in batches for place in batch.places]
    return Batch(places, _join([batch.columns for batch in batches]))


def _join(parts: Sequence[Sequence[Column]]) -> list[Column]:
    return [type(columns[0]).join(columns) for columns in zip(*parts, strict=True)]


def gather_columns(layout: Layout, parts: Sequence[Sequence[Column]]) -> dict[str, Column]:
    """Return the columns of all batches by name, for formats that are written in one piece."""
    return dict(zip(layout.names, _join(parts), strict=True))


def gather_table(stream: Stream, label: str | None) -> Table:
    """Read a table of numbers, with labels from a column if one is named; batches are read one by one."""
    features = [name for name in stream.features if name != label]
    if not features:
        raise ValueError(f"{stream.name}: the only column is {show(label)}, which leaves no feature")
    X, y = [], []
    for batch in stream.batches:
        X.append(stream.samples(batch, features, finite=False))
        if label is not None:
            y.append(stream.labels(batch, label))
    if not X:
        raise ValueError(f"{stream.name}: there is no sample")
    return Table(np.concatenate(X), as_labels(*y) if y else None, features)


def as_labels(*parts: Any) -> np.ndarray:
    """Return labels of a whole file: of text, integers if all of them are."""
    if isinstance(parts[0], list):
        return labels_of_text([*chain.from_iterable(parts)])
    return np.concatenate(parts)


Write = Callable[[Sequence[Column]], None]  # what a sink yields: it writes the columns of a batch


def rows_per_batch(n_columns: int) -> int:
    """Return how many rows make a batch.

    Wide tables have more cells in a batch, up to four times as many: every column of every batch takes time,
    however few its cells are.
    """
    return max(1, CELLS // n_columns, min(math.isqrt(CELLS), 4 * CELLS // n_columns))
