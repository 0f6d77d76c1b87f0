"""Parquet through pyarrow, which is imported when a file is read or written."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from pathforest.datasets.formats.stream import ArrayColumn, BadCell, Batch, Column, Stream, rows_per_batch
from pathforest.datasets.formats.table import (
    Table,
    check_distinct,
    check_exact,
    check_table,
    check_text,
    label_column,
)


def require_pyarrow() -> tuple[Any, Any]:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow; run pip install 'pathforest[parquet]'") from None
    return pyarrow, pyarrow.parquet


def decode(data: bytes, label: str | int | None) -> Table:
    """Read a table; features are float32 if all columns are, else float64."""
    pyarrow, parquet = require_pyarrow()
    with _told_as_damage(pyarrow):
        table = parquet.read_table(pyarrow.BufferReader(data), use_threads=False, pre_buffer=False)
        table.validate(full=True)
    names = table.column_names
    if not table.num_rows or not names:
        raise ValueError(
            f"the table has {table.num_rows} rows and {len(names)} columns; it needs one of each"
        )
    column = label_column(names, label)
    features = [j for j in range(len(names)) if j != column]
    if not features:
        raise ValueError(f"the only column is {names[0]!r}, which leaves no feature")
    X = np.column_stack([_convert(table, j, ArrowColumn.numbers) for j in features])
    y = None if column is None else _convert(table, column, ArrowColumn.labels)
    return check_table(X, y, [names[j] for j in features])


def stream(file: BinaryIO) -> Stream:
    """Read a table in batches."""
    pyarrow, parquet = require_pyarrow()
    with _told_as_damage(pyarrow):
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
            with _told_as_damage(pyarrow):
                part = next(parts, None)
                if part is None:
                    return
                part.validate(full=True)
            yield Batch(range(first, first + len(part)), [ArrowColumn(column) for column in part.columns])
            first += len(part)

    return Stream(names, None, (), "row", batches())


class ArrowColumn:
    """Cells of a Parquet file."""

    def __init__(self, cells: Any) -> None:
        self.cells = cells

    def numbers(self) -> np.ndarray:
        """Return numbers and truth values, unless float64 would round them."""
        pyarrow, _ = require_pyarrow()
        kind = self.cells.type
        if not (
            pyarrow.types.is_integer(kind)
            or pyarrow.types.is_floating(kind)
            or pyarrow.types.is_boolean(kind)
        ):
            raise BadCell(None, f"it holds {kind}, not numbers; leave the column out, or name it as label")
        self._refuse_missing()
        values = np.asarray(self.cells)
        if values.dtype == np.float32:
            return values
        wide = values.astype(np.float64)
        if values.dtype.kind in "iu":
            try:
                check_exact(values[:, None], wide[:, None])
            except ValueError as error:
                raise BadCell(None, str(error)) from None
        return wide

    def labels(self) -> np.ndarray:
        """Return integers or strings."""
        pyarrow, _ = require_pyarrow()
        kind = self.cells.type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        self._refuse_missing()
        if pyarrow.types.is_integer(kind):
            return np.array(self.cells.to_pylist(), dtype=np.uint64 if kind == pyarrow.uint64() else np.int64)
        if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
            return np.array(self.cells.to_pylist())
        raise BadCell(None, f"it holds {kind}; labels are integers or strings")

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


def arrow_column(column: Column) -> Any:
    """Return a column as pyarrow has it, with its type."""
    if isinstance(column, ArrowColumn):
        return column.cells
    pyarrow, _ = require_pyarrow()
    return pyarrow.array(column.array if isinstance(column, ArrayColumn) else column.text())


def _floats() -> tuple[Any, ...]:
    pyarrow, _ = require_pyarrow()
    return pyarrow.float16(), pyarrow.float32(), pyarrow.float64()


def _convert(table: Any, j: int, how: Callable[[ArrowColumn], np.ndarray]) -> np.ndarray:
    try:
        return how(ArrowColumn(table.column(j)))
    except BadCell as bad:
        raise bad.told("row", range(len(table)), table.column_names[j]) from None


@contextmanager
def _told_as_damage(pyarrow: Any) -> Iterator[None]:
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise ValueError(f"the file is damaged: {error}") from None


def encode(table: Table, label: str | int | None) -> bytes:
    """Write the label column first, then the features, with their types."""
    pyarrow, parquet = require_pyarrow()
    columns = dict(zip(table.feature_names, table.X.T, strict=True))
    if len(columns) < len(table.feature_names):
        raise ValueError("a feature name occurs more than once, and Parquet columns are told apart by name")
    if table.y is not None:
        check_text(label, "label column")
        if label in columns:
            raise ValueError(
                f"the label column {label!r} has the name of a feature; pass label=<another name>"
            )
        columns = {label: table.y.tolist(), **columns}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}), out)
    return out.getvalue()
