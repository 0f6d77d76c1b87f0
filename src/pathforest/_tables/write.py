"""Tables written to files, which appear complete or not at all.

The text of a cell is written as it stands. Only a name or a text of our own that a spreadsheet would take for
a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np

from pathforest._tables import columns as col
from pathforest._tables import libopf
from pathforest._tables.batches import BYTE_ORDER_MARK, EXACT, Columns, Dialect, Layout
from pathforest._tables.read import Format, check_header, format_of, require_pyarrow, split_ending
from pathforest._utils.checks import demand
from pathforest._utils.files import check_writable, naming, replacing
from pathforest._utils.text import escape, show

STANDARD_OUTPUT = "the standard output"  # in messages
KEPT = "\n\t"  # what tables of text consist of, besides printable characters
FORMULA = re.compile(r"[=+\-@\t\r\n].", re.DOTALL)  # how a formula starts

Write = Callable[[Columns], None]  # what a sink yields: it writes the columns of a batch, by name


# CSV and TSV


@contextmanager
def _delimited(file: BinaryIO, layout: Layout, *, delimiter: str) -> Iterator[Write]:
    """Write lines, a CSV file with the separator and the decimal mark of the file that the table is from."""
    dialect = layout.dialect or Dialect(delimiter)
    if delimiter == "," and dialect.delimiter != "\t":
        delimiter = dialect.delimiter
    if delimiter == dialect.decimal:
        delimiter = ";"
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # The writer quotes cells with the characters that end its lines, which end in a line feed alone here.
    lines = SimpleNamespace(write=lambda line: text.write(f"{line[:-2]}\n"))
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    guarded = {name for name in layout.added if name not in layout.labels}
    # Not written before the first rows, which may be in error.
    header = [[_guarded(name, dialect.decimal) if name in layout.added else name for name in layout.names]]

    def cells(name: str, column: np.ndarray) -> list[str]:
        found = col.texts(column, dialect.decimal)
        if name not in guarded or column.dtype.kind in "biuf":
            return found
        return [_guarded(text, dialect.decimal) for text in found]

    def write(columns: Columns) -> None:
        shown = [cells(name, columns[name]) for name in layout.names]
        writer.writerows(header)
        header.clear()
        writer.writerows(zip(*shown, strict=True))

    try:
        yield write
        writer.writerows(header)
    finally:
        text.detach()  # the file belongs to the caller


def _guarded(text: str, decimal: str) -> str:
    """Keep a spreadsheet from running a text of ours."""
    is_harmless = FORMULA.match(text) is None or col.reads_as(text, col.number, decimal)
    return text if is_harmless else f"'{text}"


def check_delimited(names: Sequence[str], y: np.ndarray | None) -> None:
    """Refuse names and labels that would not be read back as they are."""
    check_header(names)
    _check_lines(names, "column name")
    demand(
        not names[0].startswith(BYTE_ORDER_MARK),
        f"the column name {show(names[0])} starts with a byte order mark; leave it out",
    )
    if y is None or y.dtype.kind == "i":
        return
    classes = np.unique(y).tolist()
    _check_lines(classes, "label")
    demand(
        col.as_labels(col.objects(classes)).dtype.kind != "i",
        f"labels such as {show(classes[0])} would be read back as integers; "
        "use y.astype(int), or write NPZ or Parquet",
    )


def _check_lines(found: Sequence[str], what: str) -> None:
    for text in found:
        if "\n" in text or "\r" in text:
            raise ValueError(f"{what} {show(text)} has a line break; replace it, or write NPZ or Parquet")
        if not text.strip():
            raise ValueError(f"{what} {show(text)} is only space and would be read as missing; replace it")


# JSON


@contextmanager
def _json(file: BinaryIO, layout: Layout, *, lines: bool = False) -> Iterator[Write]:
    """Write an array of objects, which stays open on failure and so incomplete, or an object per line."""
    start, between, end = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
    before = start

    def write(columns: Columns) -> None:
        nonlocal before
        for row in zip(*(columns[name].tolist() for name in layout.names), strict=True):
            cells = dict(zip(layout.names, map(json_value, row), strict=True))
            text = json.dumps(cells, default=str, ensure_ascii=False, allow_nan=False)
            file.write((before + text).encode())
            before = between

    yield write
    if before == between:
        file.write(end.encode())
    elif not lines:
        file.write(b"[]\n")


def json_value(value: Any) -> Any:
    """Return numpy's values as Python's, and None for what is not finite, for which JSON has no name."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Parquet


@contextmanager
def _parquet(file: BinaryIO, layout: Layout) -> Iterator[Write]:
    """Write a row group for each batch; the first batch decides the types that no input had."""
    pyarrow, parquet = require_pyarrow()
    writer = None

    def write(columns: Columns) -> None:
        nonlocal writer
        arrays = [pyarrow.array(columns[name], layout.types.get(name)) for name in layout.names]
        table = pyarrow.table(arrays, names=list(layout.names))
        if writer is None:
            writer = parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    try:
        yield write
        if writer is None:  # no rows: only the names are known
            empty = pyarrow.table({name: pyarrow.array([], "string") for name in layout.names})
            parquet.write_table(empty, file)
    finally:
        if writer is not None:  # else it would close itself later, when the file is closed already
            writer.close()


# Formats that are written in one piece


def _libsvm(file: BinaryIO, layout: Layout, columns: Columns) -> None:
    """Write every value, zeros too: a value left out would come back without its sign or its column."""
    demand(layout.label is not None, "LIBSVM files need labels; pass y, for instance zeros")
    y = col.check_labels(columns[layout.label])
    if y.dtype.kind != "i":
        raise ValueError(f"label {show(str(y[0]))} is a string; LIBSVM files hold integers")
    for extreme in (y.min(), y.max()):
        demand(
            abs(int(extreme)) <= EXACT,
            f"label {extreme} is beyond 2^53, where readers round; use smaller labels",
        )
    features = enumerate(layout.features, 1)
    cells = ([f"{j}:{text}" for text in col.texts(columns[name])] for j, name in features)
    file.writelines(f"{' '.join(row)}\n".encode() for row in zip(col.texts(y), *cells, strict=True))


def _npz(file: BinaryIO, layout: Layout, columns: Columns) -> None:
    """Write the arrays with their types."""
    arrays = {"X": np.column_stack([col.numbers(columns[name]) for name in layout.features])}
    if layout.label is not None:
        arrays["y"] = col.check_labels(columns[layout.label])
    out = io.BytesIO()  # numpy goes back in the file that it writes, which a packed one does not allow
    np.savez(out, **arrays, feature_names=np.array(layout.features))
    file.write(out.getbuffer())


@contextmanager
def _whole(file: BinaryIO, layout: Layout, *, function: Callable[..., None]) -> Iterator[Write]:
    form = {_npz: ""}.get(function, "LIBSVM" if function is _libsvm else "LibOPF")
    demand(
        not form or list(layout.features) == col.default_names(len(layout.features)),
        f"{form} files keep no feature names; leave feature_names out, or write CSV",
    )
    yield partial(function, file, layout)


SINKS: Mapping[str, Callable[..., Any]] = {
    ".csv": partial(_delimited, delimiter=","),
    ".tsv": partial(_delimited, delimiter="\t"),
    ".dat": partial(_whole, function=libopf.write),
    ".txt": partial(_whole, function=libopf.write_text),
    **dict.fromkeys((".libsvm", ".svm", ".svmlight"), partial(_whole, function=_libsvm)),
    ".npz": partial(_whole, function=_npz),
    ".parquet": _parquet,
    ".json": _json,
    ".jsonl": partial(_json, lines=True),
}


# Files


def check_sink(path: str | None, ending: str | None) -> Format:
    """Check, before any work, that the output has a format and a place; return the format."""
    form, suffix, _ = format_of(path, ending, "show")
    if suffix == ".parquet":
        require_pyarrow()
    if path is not None:
        check_writable(path)
    elif sys.stdout is None:
        raise ValueError(f"{STANDARD_OUTPUT} is closed; name a file with --out")
    return form


@contextmanager
def open_sink(path: str | os.PathLike[str] | None, ending: str | None, layout: Layout) -> Iterator[Write]:
    """Open a file that appears when complete, or standard output; what is yielded writes a batch."""
    suffix, is_packed = split_ending(path, ending)
    with ExitStack() as stack:
        if path is not None:
            file: Any = stack.enter_context(replacing(path))
        else:  # into pipes byte by byte, on a terminal without what it would act on
            stack.enter_context(naming(STANDARD_OUTPUT))
            file = _Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
        if is_packed:
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        with SINKS[suffix](file, layout) as write:
            yield write
        file.flush()


class _Terminal(io.RawIOBase):
    """A file of UTF-8 text that is shown on a terminal, without what that would act on."""

    def __init__(self, terminal: BinaryIO) -> None:
        self._terminal, self.flush = terminal, terminal.flush

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        text = bytes(data).decode("utf-8", "backslashreplace")
        self._terminal.write("".join(c if c in KEPT else escape(c) for c in text).encode())
        return len(data)
