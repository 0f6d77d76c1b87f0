"""CSV and TSV: a header, then one sample per line; fast enough without pandas."""

from __future__ import annotations

import csv
import gc
import io
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import numpy as np

from pathforest.datasets.formats.stream import Batch, Stream, TextColumn, rows_per_batch
from pathforest.datasets.formats.table import (
    Table,
    cell_number,
    check_first_line,
    check_header,
    check_label,
    first_bad_number,
    label_column,
    labels_of_text,
    text_lines,
    text_rows,
)

BYTE_ORDER_MARK = "\ufeff"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def decode(data: bytes, label: str | int | None, *, delimiter: str = ",") -> Table:
    """Read a table; lines are counted from 1, the header's."""
    names, rows = _read_rows(io.BytesIO(data), delimiter)
    column = label_column(names, label)
    features = [name for j, name in enumerate(names) if j != column]
    if not features:
        raise ValueError(f"the only column is {names[0]!r}, which leaves no feature")
    values, labels = array("d"), []
    for line, row in rows:
        if column is not None:
            labels.append(_full(row.pop(column), line, names[column]))
            check_label(labels[-1])
        try:
            values.extend(map(cell_number, row))
        except ValueError:
            j = first_bad_number(row)
            cell = _full(row[j], line, features[j])
            raise ValueError(f"line {line}, column {features[j]!r}: {cell!r} is no number") from None
    if not values:
        raise ValueError("there is a header and no sample")
    X = np.array(values).reshape(-1, len(features))
    return Table(X, None if column is None else labels_of_text(labels), features)


def stream(file: BinaryIO, *, delimiter: str = ",") -> Stream:
    """Read a table in batches."""
    names, rows = _read_rows(file, delimiter)

    def batches() -> Iterator[Batch]:
        while chunk := _take(rows, rows_per_batch(len(names))):
            lines, cells = zip(*chunk, strict=True)
            yield Batch(lines, [TextColumn(column) for column in zip(*cells, strict=True)])

    return Stream(names, None, (), "line", batches())


def _take(rows: Iterator[tuple[int, list[str]]], n: int) -> list[tuple[int, list[str]]]:
    """Read some rows. They hold no cycles, and looking for some takes longer than reading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return list(islice(rows, n))
    finally:
        if was_enabled:
            gc.enable()


def _read_rows(file: BinaryIO, delimiter: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their lines."""
    rows = _rows(file, delimiter)
    _, names = next(rows, (1, []))
    if not names:
        raise ValueError("line 1 is empty; the first line must name the columns")
    check_header(names)
    check_first_line(names)
    _check_separator(names, delimiter)
    return names, _of_width(rows, len(names))


def _rows(file: BinaryIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text_lines(file), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _of_width(rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if not row:
            continue
        if len(row) != width:
            raise ValueError(f"line {line} has {len(row)} cells and the header {width}; add or remove some")
        yield line, row


def _check_separator(names: Sequence[str], delimiter: str) -> None:
    """Refuse a single column whose name looks like several, with another separator between them."""
    found = next((other for other in SEPARATORS if other != delimiter and other in names[0]), None)
    if len(names) == 1 and found:
        raise ValueError(
            f"line 1 names a single column, {names[0]!r}; its parts are separated by {SEPARATORS[found]}, "
            f"and columns must be by {SEPARATORS[delimiter]}"
        )


def _full(cell: str, line: int, name: str) -> str:
    if not cell.strip():
        raise ValueError(f"line {line}, column {name!r}: the cell is empty; fill it or leave the line out")
    return cell


def encode(table: Table, label: str | int | None, *, delimiter: str = ",") -> bytes:
    """Write the label column first, then the features."""
    names, lines = table.feature_names, text_rows(table.X)
    if table.y is not None:
        if not isinstance(label, str) or not label:
            raise ValueError(f"label={label!r} is no name for the label column; pass a string")
        _check_labels(table.y)
        names = [label, *names]
        lines = ([str(y), *line] for y, line in zip(table.y.tolist(), lines, strict=True))
    check_header(names)
    check_first_line(names)
    _check_separator(names, delimiter)
    _check_lines(names, "column name")
    if names[0].startswith(BYTE_ORDER_MARK):
        raise ValueError(f"the column name {names[0]!r} starts with a byte order mark; leave it out")
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return out.getvalue().encode()


def _check_labels(y: np.ndarray) -> None:
    if y.dtype.kind == "i":
        return
    classes = np.unique(y).tolist()
    _check_lines(classes, "label")
    if labels_of_text(classes).dtype.kind == "i":
        raise ValueError(
            f"labels such as {classes[0]!r} would be read back as integers; "
            "use y.astype(int), or write NPZ or Parquet"
        )


def _check_lines(texts: Sequence[str], what: str) -> None:
    for text in texts:
        if "\n" in text or "\r" in text:
            raise ValueError(f"{what} {text!r} has a line break; replace it, or write NPZ or Parquet")
        if not text.strip():
            raise ValueError(f"{what} {text!r} is only space and would be read as a missing cell; replace it")
