"""Parquet through pyarrow, which is imported when a file is read or written."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from pathforest.datasets._table import Table, check_exact, check_table, check_text, label_column


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow; run pip install 'pathforest[parquet]'") from None
    return pyarrow, pyarrow.parquet


def decode(data: bytes, label: str | int | None) -> Table:
    """Read a table; features are float32 if all columns are, else float64."""
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(pyarrow.BufferReader(data), use_threads=False)
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise ValueError(f"the file is damaged: {error}") from None
    names = table.column_names
    if not table.num_rows or not names:
        raise ValueError(
            f"the table has {table.num_rows} rows and {len(names)} columns; it needs one of each"
        )
    column = label_column(names, label)
    features = [j for j in range(len(names)) if j != column]
    if not features:
        raise ValueError(f"the only column is {names[0]!r}, which leaves no feature")
    for name, values in zip(names, table.columns, strict=True):
        if values.null_count:
            row = values.is_null().to_pylist().index(True)
            raise ValueError(
                f"row {row}, column {name!r}: the value is missing; fill it or leave the row out"
            )
    X = np.column_stack([_numbers(table.column(j), names[j], pyarrow) for j in features])
    y = None if column is None else _labels(table.column(column), names[column], pyarrow)
    return check_table(X, y, [names[j] for j in features])


def _numbers(column: Any, name: str, pyarrow: Any) -> np.ndarray:
    kind = column.type
    if not (
        pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)
    ):
        raise ValueError(f"column {name!r} holds {kind}, not numbers; leave it out, or name it as label")
    values = column.to_numpy()
    if values.dtype == np.float32:
        return values
    wide = values.astype(np.float64)
    if values.dtype.kind in "iu":
        try:
            check_exact(values[:, None], wide[:, None])
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
    return wide


def _labels(column: Any, name: str, pyarrow: Any) -> np.ndarray:
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    if pyarrow.types.is_integer(kind):
        return np.array(column.to_pylist(), dtype=np.uint64 if kind == pyarrow.uint64() else np.int64)
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return np.array(column.to_pylist())
    raise ValueError(f"the labels in column {name!r} are {kind}; they must be integers or strings")


def encode(table: Table, label: str | int | None) -> bytes:
    """Write the label column first, then the features, with their types."""
    pyarrow, parquet = _pyarrow()
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
