"""Tables written row by row: CSV, TSV, JSON and Parquet, to a file or to the standard output."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Protocol

from pathforest._utils.files import check_writable, replacing
from pathforest.datasets.formats.endings import split_ending, telling_name
from pathforest.datasets.formats.parquet import arrow_column, require_pyarrow
from pathforest.datasets.formats.stream import Column


class Sink(Protocol):
    """Where batches go."""

    def write(self, columns: Sequence[Column]) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what comes last."""

    def abandon(self) -> None:
        """Let go of a file that will not be complete."""


class DelimitedSink:
    """CSV and TSV."""

    def __init__(self, file: BinaryIO, names: Sequence[str], delimiter: str) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self._writer = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._header = [names]  # not written before the first rows are there: they may be in error

    def write(self, columns: Sequence[Column]) -> None:
        """Write lines."""
        self._write_header()
        self._writer.writerows(zip(*(column.text() for column in columns), strict=True))

    def close(self) -> None:
        """Write the header if there were no rows."""
        self._write_header()
        self.abandon()

    def abandon(self) -> None:
        """Let go of the file, which belongs to the caller."""
        self._text.detach()

    def _write_header(self) -> None:
        self._writer.writerows(self._header)
        self._header = []


class JsonSink:
    """One array of objects, or with `lines` an object per line."""

    def __init__(self, file: BinaryIO, names: Sequence[str], lines: bool) -> None:
        self._file, self._names = file, names
        self._start, self._between, self._end = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
        self._is_empty = True

    def write(self, columns: Sequence[Column]) -> None:
        """Write objects."""
        for row in zip(*(column.values() for column in columns), strict=True):
            cells = dict(zip(self._names, map(json_value, row), strict=True))
            text = json.dumps(cells, default=str, ensure_ascii=False, allow_nan=False)
            self._file.write(((self._start if self._is_empty else self._between) + text).encode())
            self._is_empty = False

    def close(self) -> None:
        """End the array."""
        if not self._is_empty:
            self._file.write(self._end.encode())
        elif self._start:
            self._file.write(b"[]\n")

    def abandon(self) -> None:
        """Leave the array open, so that nobody takes it for complete."""


def json_value(value: Any) -> Any:
    """Put None for what is not finite, for which JSON has no name."""
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class ParquetSink:
    """Parquet; the first batch decides the types."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        self._pyarrow, self._parquet = require_pyarrow()
        self._file, self._names, self._writer = file, names, None

    def write(self, columns: Sequence[Column]) -> None:
        """Write a row group."""
        arrays = [arrow_column(column) for column in columns]
        table = self._pyarrow.table(arrays, names=list(self._names))
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        if self._writer is None:  # no rows: all that is known is the names
            empty = self._pyarrow.table({name: self._pyarrow.array([], "string") for name in self._names})
            self._parquet.write_table(empty, self._file)
        else:
            self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would do so later on a file that is closed by then."""
        if self._writer is not None:
            self._writer.close()


SINKS: dict[str, Callable[[BinaryIO, Sequence[str]], Sink]] = {
    ".csv": lambda file, names: DelimitedSink(file, names, ","),
    ".tsv": lambda file, names: DelimitedSink(file, names, "\t"),
    ".json": lambda file, names: JsonSink(file, names, lines=False),
    ".jsonl": lambda file, names: JsonSink(file, names, lines=True),
    ".parquet": ParquetSink,
}


def can_sink(path: str | os.PathLike[str]) -> bool:
    """Tell whether an ending is one of these formats."""
    return split_ending(path)[0] in SINKS


def has_types(path: str | None, ending: str | None) -> bool:
    """Tell whether a format of output tells numbers from text."""
    return _sink_of(path, ending)[0] not in (".csv", ".tsv")


def check_sink(path: str | None, ending: str | None) -> None:
    """Check, before any work, that the output has a format and a place."""
    chosen, _ = _sink_of(path, ending)
    if chosen == ".parquet":
        require_pyarrow()
    if path is not None:
        check_writable(path)


@contextmanager
def open_sink(path: str | None, ending: str | None, names: Sequence[str]) -> Iterator[Sink]:
    """Open a file that appears once it is complete, or with None the standard output."""
    chosen, is_packed = _sink_of(path, ending)
    with ExitStack() as stack:
        file: Any = sys.stdout.buffer if path is None else stack.enter_context(replacing(path))
        if is_packed:
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        sink = SINKS[chosen](file, names)
        try:
            yield sink
        except BaseException:
            sink.abandon()
            raise
        sink.close()
        file.flush()


def _sink_of(path: str | None, ending: str | None) -> tuple[str, bool]:
    suffix, is_packed = split_ending(telling_name(path, ending))
    if suffix not in SINKS:
        raise ValueError(
            f"{ending or path}: the ending tells no format of output; known are {', '.join(SINKS)}, "
            "also with .gz"
        )
    return suffix, is_packed
