"""Parquet through pyarrow, which is imported when a file is read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from pathforest._tables.stream import (
    ArrayColumn,
    BadCell,
    Batch,
    Column,
    Layout,
    Stream,
    Write,
    objects,
    rows_per_batch,
)
from pathforest._tables.table import check_distinct, check_exact, check_labels


def require_pyarrow() -> tuple[Any, Any]:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow; run pip install 'pathforest[parquet]'") from None
    return pyarrow, pyarrow.parquet


def stream(file: BinaryIO) -> Stream:
    """Read a table in batches."""
    pyarrow, parquet = require_pyarrow()
    with _damage(pyarrow):
        # Without pre_buffer no thread but ours touches the file: one that lets go of it while Python ends
        # would abort the process.
        source = parquet.ParquetFile(file, pre_buffer=False)
        names = source.schema_arrow.names
    if not names:
        raise ValueError("the table has no columns; it needs one")
    check_distinct(names)

    def batches() -> Iterator[Batch]:
        first, parts = 0, source.iter_batches(rows_per_batch(len(names)), use_threads=False)
        while True:
            with _damage(pyarrow):
                part = next(parts, None)
                if part is None:
                    return
                part.validate(full=True)
            yield Batch(range(first, first + len(part)), [ArrowColumn(column) for column in part.columns])
            first += len(part)

    return Stream(names, batches=batches())


class ArrowColumn:
    """Cells of a Parquet file."""

    def __init__(self, cells: Any) -> None:
        self.cells = cells

    def numbers(self) -> np.ndarray:
        """Return numbers and truth values, unless float64 would round them."""
        pyarrow, _ = require_pyarrow()
        kind, types = self.cells.type, pyarrow.types
        if types.is_temporal(kind):
            raise ValueError(
                f"it holds dates ({kind}), not numbers; convert them, for instance to days since the first, "
                "or leave the column out"
            )
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"it holds {kind}, not numbers; leave the column out, or name it as label")
        self._refuse_missing()
        values = np.asarray(self.cells)
        if values.dtype == np.float32:
            return values
        wide = values.astype(np.float64)
        if values.dtype.kind in "iu":
            check_exact(values[:, None], wide[:, None])
        return wide

    def numbers_and_gaps(self) -> np.ndarray:
        """Return numbers as float64, NaN for what is missing."""
        pyarrow, _ = require_pyarrow()
        if pyarrow.types.is_boolean(self.cells.type):
            raise ValueError("it holds truth values, not numbers")
        present = np.flatnonzero(~np.asarray(self.cells.is_null()))
        numbers = np.full(len(self.cells), np.nan)
        numbers[present] = self.take(present).numbers() if len(present) else []
        return numbers

    def categories(self) -> np.ndarray:
        """Return text and truth values; what is missing is None."""
        pyarrow, _ = require_pyarrow()
        kind, types = self.cells.type, pyarrow.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_boolean(kind):
            return objects(self.cells.to_pylist())
        if types.is_integer(kind) or types.is_floating(kind):
            return objects(
                [
                    None if value is None else ArrayColumn(np.array([value])).text()[0]
                    for value in self.cells.to_pylist()
                ]
            )
        if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
            return objects(self.cells.to_pylist())
        self.numbers()  # which says what is wrong with the others
        raise ValueError(f"it holds {kind}, which is neither numbers nor text; leave the column out")

    def labels(self) -> np.ndarray:
        """Return integers or strings."""
        pyarrow, _ = require_pyarrow()
        kind, types = self.cells.type, pyarrow.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        self._refuse_missing()
        if types.is_integer(kind):
            dtype = np.uint64 if kind == pyarrow.uint64() else np.int64
            return check_labels(np.array(self.cells.to_pylist(), dtype))
        if types.is_string(kind) or types.is_large_string(kind):
            return check_labels(np.array(self.cells.to_pylist()))
        raise ValueError(f"it holds {kind}; labels are integers or strings, so convert it to one of them")

    def text(self) -> list[str]:
        """Return what is missing as nothing."""
        if self.cells.type in _floats() and not self.cells.null_count:
            return ArrayColumn(np.asarray(self.cells)).text()
        return ["" if value is None else str(value) for value in self.cells.to_pylist()]

    def values(self) -> list[Any]:
        """Return Python's values."""
        if self.cells.type in _floats() and not self.cells.null_count:
            return ArrayColumn(np.asarray(self.cells)).values()
        return self.cells.to_pylist()

    def take(self, rows: np.ndarray) -> ArrowColumn:
        """Return some of the cells."""
        return ArrowColumn(self.cells.take(require_pyarrow()[0].array(rows)))

    @classmethod
    def join(cls, columns: Sequence[ArrowColumn]) -> ArrowColumn:
        """Return the cells of all columns."""
        return cls(require_pyarrow()[0].chunked_array([column.cells for column in columns]))

    def _refuse_missing(self) -> None:
        if self.cells.null_count:
            row = self.cells.is_null().to_pylist().index(True)
            raise BadCell(row, "the value is missing; fill it or leave the row out")


def _floats() -> tuple[Any, ...]:
    pyarrow, _ = require_pyarrow()
    return pyarrow.float16(), pyarrow.float32(), pyarrow.float64()


@contextmanager
def _damage(pyarrow: Any) -> Iterator[None]:
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise ValueError(f"the file is damaged: {error}") from None


@contextmanager
def sink(file: BinaryIO, layout: Layout) -> Iterator[Write]:
    """Write a row group for each batch; the first batch decides the types."""
    pyarrow, parquet = require_pyarrow()
    check_distinct(layout.names)
    writer = None

    def write(columns: Sequence[Column]) -> None:
        nonlocal writer
        table = pyarrow.table([_arrow_array(column) for column in columns], names=list(layout.names))
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


def _arrow_array(column: Column) -> Any:
    if isinstance(column, ArrowColumn):
        return column.cells
    pyarrow, _ = require_pyarrow()
    return pyarrow.array(column.array if isinstance(column, ArrayColumn) else column.text())
