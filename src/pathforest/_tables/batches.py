"""A table that passes by in batches: places in the file and a dict of arrays."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pathforest._tables import columns as col
from pathforest._utils.checks import demand
from pathforest._utils.text import listed, show

BYTE_ORDER_MARK = "\ufeff"
LONGEST = 2**26  # characters of a line: a file without line ends must not fill the memory
EXACT = 2**53  # integers up to here survive readers that take labels for floats
CELLS = 2**18  # of a batch: enough to keep threads busy, little enough to forget about memory

Columns = dict[str, np.ndarray]
Parts = Iterator[tuple[Sequence[int], Columns]]  # places of rows, and their cells


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
    dialect: Dialect | None = None  # of a file of text cells
    types: Mapping[str, Any] = field(default_factory=dict)  # of Parquet columns
    added: tuple[str, ...] = ()  # columns that the file which the table is from does not have
    labels: tuple[str, ...] = ()  # added columns of labels, which are written as the input has them

    @property
    def features(self) -> list[str]:
        """Names of the columns that can be features."""
        return [name for name in self.names if name != self.label and name not in self.beside]

    @property
    def decimal(self) -> str | None:
        """The decimal mark of text cells; None if text is never a number."""
        return None if self.dialect is None else self.dialect.decimal


@dataclass(frozen=True)
class Stream(Layout):
    """What is known of a file before its rows are read, and the rows."""

    name: str = ""  # of the file, for messages
    place: str = "row"  # what the places count
    parts: Parts = field(kw_only=True)

    @property
    def batches(self) -> Iterator[Batch]:
        """The rows, which pass by once."""
        for places, columns in self.parts:
            yield Batch(self, places, columns)

    def column(self, wanted: str | int, way_out: str = "", hint: str = "") -> str:
        """Return the name of a column, given by name or position."""
        if wanted in self.names:
            return str(wanted)
        with suppress(TypeError, IndexError):
            return self.names[wanted]
        known = listed(self.names)
        raise ValueError(f"{self.name}: there is no column {show(wanted)}{hint}, only {known}{way_out}")

    def gather(self) -> Batch:
        """Return all rows at once."""
        batches = list(self.batches)
        demand(batches, f"{self.name}: there is no sample")
        joined = {name: np.concatenate([b.columns[name] for b in batches]) for name in self.names}
        return Batch(self, [place for batch in batches for place in batch.places], joined)


class Batch(NamedTuple):
    """Some rows of a file."""

    stream: Stream  # the names of the columns, and of the file
    places: Sequence[int]  # line or row of each in the file
    columns: Columns

    def take(self, rows: np.ndarray) -> Batch:
        """Return some of the rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Batch(self.stream, [self.places[row] for row in rows.tolist()], columns)

    def samples(self, names: Sequence[str], *, finite: bool = True) -> np.ndarray:
        """Return columns as a matrix of numbers, float32 if all of them are."""

        def read(column: np.ndarray) -> np.ndarray:
            values = col.numbers(column, self.stream.decimal)
            return col.check_finite(values) if finite else values

        return np.column_stack([self._asked(name, read) for name in names])

    def table(self, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> Columns:
        """Return columns as numbers, categories or dates: what `kinds` says they are, else what they hold."""
        kinds, options = kinds or {}, (col.read_column, self.stream.decimal)
        return {name: self._asked(name, *options, kinds.get(name)) for name in names}

    def labels(self, name: str) -> np.ndarray:
        """Return a column as labels, which `as_labels` makes integers or strings."""
        return self._asked(name, col.labels, self.stream.decimal)

    def texts(self, name: str) -> list[str]:
        """Return a column as files of text show it."""
        return col.texts(self.columns[name])

    def _asked(self, name: str, read: Callable[..., np.ndarray], *options: Any) -> np.ndarray:
        try:
            return read(self.columns[name], *options)
        except (ValueError, TypeError) as error:
            row = getattr(error, "row", None)
            where = "" if row is None else f"{self.stream.place} {self.places[row]}, "
            raise ValueError(f"{self.stream.name}: {where}column {show(name)}: {error}") from None


def rows_per_batch(n_columns: int) -> int:
    """Return how many rows make a batch: wide tables have up to four times as many cells."""
    return max(1, CELLS // n_columns, min(isqrt(CELLS), 4 * CELLS // n_columns))


def cut(n_rows: int, columns: Columns, first: int = 0) -> Parts:
    """Cut columns that are in memory into batches; places count from `first`."""
    step = rows_per_batch(len(columns))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        part = {name: column[start:stop] for name, column in columns.items()}
        yield range(first + start, first + stop), part


def text_lines(file: BinaryIO, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a text with their ends."""
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    try:
        for i, line in enumerate(iter(lambda: text.readline(LONGEST), ""), 1):
            if len(line) == LONGEST:
                raise ValueError(f"line {i} has more than {LONGEST} characters; is this a text file?")
            yield line if i > 1 else line.removeprefix(BYTE_ORDER_MARK)
    finally:
        with suppress(ValueError):  # raised if the file is closed already
            text.detach()  # the file belongs to the caller
