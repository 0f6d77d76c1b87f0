"""A table that passes by in batches: columns of cells, each row with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from pathforest.datasets.formats.table import cell_number, check_label, first_bad_number

CELLS = 2**18  # of a batch: enough to keep threads busy, little enough to forget about memory


class BadCell(Exception):
    """A cell, or with row None a column, that is not what is asked for."""

    def __init__(self, row: int | None, reason: str) -> None:
        super().__init__(reason)
        self.row = row

    def told(self, place: str, places: Sequence[int], name: str) -> ValueError:
        """Return the error for users, who want to know where in the file to look."""
        where = "" if self.row is None else f"{place} {places[self.row]}, "
        return ValueError(f"{where}column {name!r}: {self}")


class Column(Protocol):
    """Cells of one column, as the file holds them."""

    def numbers(self) -> np.ndarray:
        """Return float32 or float64, or raise BadCell."""

    def labels(self) -> Any:
        """Return integers or strings, or raise BadCell."""

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

    def __init__(self, cells: Sequence[str]) -> None:
        self.cells = list(cells)

    def numbers(self) -> np.ndarray:
        """Read the cells."""
        try:
            return np.fromiter(map(cell_number, self.cells), np.float64, len(self.cells))
        except ValueError:
            row = first_bad_number(self.cells)
            self._refuse_empty(row)
            raise BadCell(row, f"{self.cells[row][:30]!r} is no number") from None

    def labels(self) -> list[str]:
        """Return the cells; whether all labels are integers shows at the end of the file only."""
        for row, cell in enumerate(self.cells):
            if not cell.strip():
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
        return TextColumn([self.cells[row] for row in rows.tolist()])

    @classmethod
    def join(cls, columns: Sequence[TextColumn]) -> TextColumn:
        """Return the cells of all columns."""
        return cls([cell for column in columns for cell in column.cells])

    def _refuse_empty(self, row: int) -> None:
        if not self.cells[row].strip():
            raise BadCell(row, "the cell is empty; fill it or leave the line out")


class ArrayColumn:
    """Numbers of a binary file, or numbers and names that were computed."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def numbers(self) -> np.ndarray:
        """Return the numbers."""
        if self.array.dtype.kind not in "biuf":
            raise BadCell(None, f"{str(self.array[0])[:30]!r} is no number")
        return self.array if self.array.dtype == np.float32 else self.array.astype(np.float64)

    def labels(self) -> np.ndarray:
        """Return integers or strings."""
        if self.array.dtype.kind not in "iuU":
            raise BadCell(None, f"{self.array[0]} is no label; labels are integers or strings")
        return self.array

    def text(self) -> list[str]:
        """Write the fewest digits that restore the same value."""
        cells = self.array.astype(str).tolist()
        return [cell.removesuffix(".0") for cell in cells] if self.array.dtype.kind == "f" else cells

    def values(self) -> list[Any]:
        """Return Python's numbers; of float32, those that show the same digits."""
        if self.array.dtype == np.float32:
            return [float(cell) for cell in self.array.astype(str).tolist()]
        return self.array.tolist()

    def take(self, rows: np.ndarray) -> ArrayColumn:
        """Return some of the cells."""
        return ArrayColumn(self.array[rows])

    @classmethod
    def join(cls, columns: Sequence[ArrayColumn]) -> ArrayColumn:
        """Return the cells of all columns."""
        return cls(np.concatenate([column.array for column in columns]))


class Batch(NamedTuple):
    """Some rows."""

    places: Sequence[int]  # line or row of each in the file
    columns: list[Column]  # one per name


class Stream(NamedTuple):
    """What is known of a file before its rows are read, and the rows."""

    names: list[str]
    label: str | None  # the column of labels, where the format has one of its own
    beside: tuple[str, ...]  # columns that are no features
    place: str  # what the places count: "line" or "row"
    batches: Iterator[Batch]
    name: str = ""  # of the file, for messages


def gather(stream: Stream) -> Batch:
    """Return all rows at once."""
    batches = list(stream.batches)
    if not batches:
        raise ValueError(f"{stream.name}: there is no sample")
    places = [place for batch in batches for place in batch.places]
    columns = zip(*(batch.columns for batch in batches), strict=True)
    return Batch(places, [type(parts[0]).join(parts) for parts in columns])


def samples_of(stream: Stream, batch: Batch, names: Sequence[str], *, finite: bool = True) -> np.ndarray:
    """Return the named columns as a matrix of numbers, float32 if all of them are."""
    numbers = _finite if finite else lambda column: column.numbers()
    return np.column_stack([_asked(stream, batch, name, numbers) for name in names])


def labels_of(stream: Stream, batch: Batch, name: str) -> Any:
    """Return a column as labels: integers or strings, or a list of cells that may be either."""
    return _asked(stream, batch, name, lambda column: column.labels())


def _finite(column: Column) -> np.ndarray:
    numbers = column.numbers()
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise BadCell(row, f"{numbers[row]} is not finite; replace it, or leave the sample out")
    return numbers


def _asked(stream: Stream, batch: Batch, name: str, what: Callable[[Column], Any]) -> Any:
    try:
        return what(batch.columns[stream.names.index(name)])
    except BadCell as bad:
        raise ValueError(f"{stream.name}: {bad.told(stream.place, batch.places, name)}") from None


def rows_per_batch(n_columns: int) -> int:
    """Return how many rows make a batch."""
    return max(1, CELLS // n_columns)


def array_columns(X: np.ndarray) -> list[Column]:
    """Return the columns of a matrix."""
    return [ArrayColumn(column) for column in np.ascontiguousarray(X.T)]
