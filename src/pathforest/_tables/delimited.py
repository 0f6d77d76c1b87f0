"""CSV and TSV: a header, then one sample per line; fast enough without pandas.

The text of a cell is read and written as it stands. Only a name or a text of our own that a spreadsheet would
take for a formula is written with an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

import numpy as np

from pathforest._tables.stream import (
    ArrayColumn,
    Batch,
    Column,
    Dialect,
    LabelColumn,
    Layout,
    Stream,
    TextColumn,
    Write,
    rows_per_batch,
)
from pathforest._tables.table import check_distinct, listed
from pathforest._tables.text import (
    DECIMAL_COMMA,
    is_number,
    labels_of_text,
    number,
    text_lines,
    with_point,
)
from pathforest._utils.text import show

BYTE_ORDER_MARK = "\ufeff"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLED, SAMPLED_CHARACTERS = 100, 2**20  # lines from which separator and decimal mark are found, at most
THOUSANDS = re.compile(r"\s*[+-]?[0-9]{1,3},[0-9]{3}\s*")
FORMULA = re.compile(r"[=+\-@\t\r\n].", re.DOTALL)  # how a formula starts

Rows = Iterator[tuple[int, list[str]]]  # with their lines


def stream(
    file: BinaryIO, *, delimiter: str = ",", sep: str | None = None, decimal: str | None = None
) -> Stream:
    """Read a table in batches; lines are counted from 1, the header's.

    `sep` and `decimal` are found if they are not given: `sep` is `delimiter` unless another one is plain.
    """
    lines = text_lines(file)
    sample = _sample(lines)
    sep = sep or find_separator(sample, delimiter)
    decimal = decimal or find_decimal(sample, sep)
    rows = _rows(chain(sample.lines, lines), sep)
    _, names = next(rows, (1, []))
    if not names:
        raise ValueError("line 1 is empty; the first line must name the columns")
    _check_header(names, sep)

    def batches() -> Iterator[Batch]:
        while lines := _take(rows, columns := [[] for _ in names]):
            yield Batch(lines, [TextColumn(cells, decimal) for cells in columns])

    return Stream(names, place="line", batches=batches(), dialect=Dialect(sep, decimal))


class Sample(NamedTuple):
    """The first lines of a file."""

    lines: list[str]
    is_cut: bool  # whether more lines may follow, so that the last row may be incomplete

    def rows(self, delimiter: str) -> list[list[str]]:
        """Return the cells of the complete rows."""
        try:
            rows = [row for row in csv.reader(self.lines, delimiter=delimiter) if row]
        except csv.Error:
            return []
        return rows[:-1] if self.is_cut else rows


def _sample(lines: Iterator[str]) -> Sample:
    """Take the first lines, few enough for the memory."""
    first: list[str] = []
    for line in islice(lines, SAMPLED):
        first.append(line)
        if sum(map(len, first)) > SAMPLED_CHARACTERS:
            return Sample(first, True)
    return Sample(first, len(first) == SAMPLED)


def find_separator(sample: Sample, own: str) -> str:
    """Return what separates cells: `own`, unless it does not and exactly one other does."""
    if _separates(sample, own):
        return own
    others = [other for other in SEPARATORS if other != own and _separates(sample, other)]
    return others[0] if len(others) == 1 else own


def _separates(sample: Sample, delimiter: str) -> bool:
    """Say whether rows have the same number of cells, at least two."""
    widths = {len(row) for row in sample.rows(delimiter)}
    return len(widths) == 1 and min(widths) > 1


def find_decimal(sample: Sample, sep: str) -> str:
    """Return the decimal mark: a comma only if numbers have commas that are not those of thousands."""
    cells = [cell for row in sample.rows(sep)[1:] for cell in row]
    if sep == "," or any("." in cell and is_number(cell) for cell in cells):
        return "."
    commas = (cell for cell in cells if DECIMAL_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell))
    return "," if next(commas, None) is not None else "."


def _take(rows: Rows, columns: list[list[str]]) -> list[int]:
    """Read the rows of a batch into columns; return their lines."""
    lines: list[int] = []
    # A few rows at a time, which are turned while the processor still has them at hand.
    while chunk := list(islice(rows, min(200, rows_per_batch(len(columns)) - len(lines)))):
        numbers, cells = zip(*chunk, strict=True)
        lines += numbers
        for column, more in zip(columns, zip(*cells, strict=True), strict=True):
            column += more
    return lines


def _rows(lines: Iterable[str], delimiter: str) -> Rows:
    """Yield the header, then the lines that are not empty, all of them as wide as the header."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width = None
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield reader.line_num, row
            elif row:
                raise ValueError(
                    f"line {reader.line_num} has {len(row)} cells and the header {width}; add or remove some"
                )
            width = width or len(row)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _check_header(names: Sequence[str], delimiter: str) -> None:
    """Refuse column names that cannot be distinguished, or that are samples or several names."""
    check_distinct(names)
    numbers = [name for name in names if is_number(name)]
    if len(numbers) == len(names):
        raise ValueError(
            f"the header holds only numbers ({listed(names)}); the first line must name the columns"
        )
    # Data frames name columns without names 0, 1, 2 and so on.
    counted = any(numbers == [str(start + i) for i in range(len(numbers))] for start in (0, 1))
    if len(numbers) >= 2 and 2 * len(numbers) > len(names) and not counted:
        raise ValueError(
            f"line 1 looks like a sample: {len(numbers)} of its {len(names)} cells are numbers; the first "
            "line must name the columns"
        )
    found = next((other for other in SEPARATORS if other != delimiter and other in names[0]), None)
    if len(names) == 1 and found:
        raise ValueError(
            f"line 1 names a single column, {show(names[0])}; if {SEPARATORS[found]} separate columns, pass "
            f"--sep '{found}' (sep='{found}' in Python)"
        )


@contextmanager
def sink(file: BinaryIO, layout: Layout, *, delimiter: str = ",") -> Iterator[Write]:
    """Write lines, a CSV file with the separator and the decimal mark of the file that the table is from."""
    dialect = layout.dialect or Dialect(delimiter)
    if delimiter == "," and dialect.delimiter != "\t":
        delimiter = dialect.delimiter
    if delimiter == dialect.decimal:
        delimiter = ";"
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(_Lines(text), delimiter=delimiter, lineterminator="\r\n")
    added = [name in layout.added for name in layout.names]
    names = zip(layout.names, added, strict=True)
    # Not written before the first rows, which may be in error.
    header = [[_guarded(name, dialect.decimal) if is_added else name for name, is_added in names]]

    def write(columns: Sequence[Column]) -> None:
        cells = [_cells(*cells, dialect.decimal) for cells in zip(columns, added, strict=True)]
        writer.writerows(header)
        header.clear()
        writer.writerows(zip(*cells, strict=True))

    try:
        yield write
        writer.writerows(header)
    finally:
        text.detach()  # the file belongs to the caller


class _Lines:
    """Lines that end in a line feed alone: the writer quotes cells with the characters that end its lines."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._write = text.write

    def write(self, line: str) -> None:
        self._write(f"{line[:-2]}\n")


def _cells(column: Column, is_added: bool, decimal: str) -> list[str]:
    texts = column.text()
    if isinstance(column, ArrayColumn) and column.array.dtype.kind in "biuf":
        return texts if decimal == "." else [text.replace(".", decimal) for text in texts]
    if isinstance(column, LabelColumn) or not is_added:
        return texts
    return [_guarded(text, decimal) for text in texts]


def _guarded(text: str, decimal: str) -> str:
    """Keep a spreadsheet from running a text of ours."""
    is_harmless = FORMULA.match(text) is None or is_number(
        text, lambda text: number(with_point(text, decimal))
    )
    return text if is_harmless else f"'{text}"


def check(names: Sequence[str], y: np.ndarray | None, *, delimiter: str = ",") -> None:
    """Refuse names and labels that would not be read back as they are."""
    _check_header(names, delimiter)
    _check_lines(names, "column name")
    if names[0].startswith(BYTE_ORDER_MARK):
        raise ValueError(f"the column name {show(names[0])} starts with a byte order mark; leave it out")
    if y is None or y.dtype.kind == "i":
        return
    classes = np.unique(y).tolist()
    _check_lines(classes, "label")
    if labels_of_text(classes).dtype.kind == "i":
        raise ValueError(
            f"labels such as {show(classes[0])} would be read back as integers; "
            "use y.astype(int), or write NPZ or Parquet"
        )


def _check_lines(texts: Sequence[str], what: str) -> None:
    for text in texts:
        if "\n" in text or "\r" in text:
            raise ValueError(f"{what} {show(text)} has a line break; replace it, or write NPZ or Parquet")
        if not text.strip():
            raise ValueError(f"{what} {show(text)} is only space and would be read as missing; replace it")
