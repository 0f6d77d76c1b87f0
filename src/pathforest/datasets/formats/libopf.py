"""LibOPF's data files: binary `.dat`, and the same numbers as text.

Both hold the numbers of samples, labels and features, then for each sample its position in the set it was
taken from, its label and its features. Positions are written in order; tables do not keep them, and
:func:`pathforest.libopf.read_positions` reads them. Labels count from 1; a file without labels says 0
everywhere.
"""

from __future__ import annotations

import io
import os
import struct
from array import array
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pathforest.datasets.formats.stream import ArrayColumn, Batch, Stream, array_columns, rows_per_batch
from pathforest.datasets.formats.table import (
    Table,
    check_exact,
    check_nameless,
    default_names,
    integer,
    number,
    text_lines,
    text_rows,
)

HEADER = struct.Struct("<3i")
POSITION = "position"  # the column that says where a sample stands in the set it was taken from
LARGEST = 2**31 - 1  # of a 32-bit integer


class Counts(NamedTuple):
    """What the header holds."""

    n_samples: int
    n_labels: int
    n_features: int


def decode(data: bytes, label: object = None) -> Table:
    """Read the binary form."""
    counts, rows = _records(data)
    y = rows["label"].astype(np.int64)
    _check_labels(y, counts)
    return Table(
        rows["features"].astype(np.float32), y if y.any() else None, default_names(counts.n_features)
    )


def positions(data: bytes) -> np.ndarray:
    """Read the positions of the binary form."""
    return _records(data)[1]["position"].astype(np.intp)


def stream(file: BinaryIO) -> Stream:
    """Read the binary form in batches."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    counts = _read_counts(file.read(HEADER.size), size)
    record, step = _record(counts.n_features), rows_per_batch(counts.n_features)

    def batches() -> Iterator[Batch]:
        for first in range(0, counts.n_samples, step):
            n_rows = min(step, counts.n_samples - first)
            rows = np.frombuffer(file.read(n_rows * record.itemsize), record)
            _check_labels(rows["label"], counts, first)
            columns = [ArrayColumn(rows["position"]), ArrayColumn(rows["label"].astype(np.int64))]
            columns += array_columns(rows["features"].astype(np.float32))
            yield Batch(range(first, first + n_rows), columns)

    return _stream_of(counts, "sample", batches())


def encode(table: Table, label: object = None, *, positions: Any = None) -> bytes:
    """Write the binary form, which holds float32 values and labels from 1 on."""
    n_labels = _count_labels(table)
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is not exact
        X = table.X.astype(np.float32)
    check_exact(table.X, X)
    rows = np.zeros(len(X), _record(X.shape[1]))
    rows["position"] = _check_positions(positions, len(X))
    rows["label"] = 0 if table.y is None else table.y
    rows["features"] = X
    return HEADER.pack(len(X), n_labels, X.shape[1]) + rows.tobytes()


def decode_text(data: bytes, label: object = None) -> Table:
    """Read the text form: one line of counts, then one line per sample."""
    counts, rows = _read_text(io.BytesIO(data))
    values, labels = array("d"), []
    for _, _, true_label, features in rows:
        labels.append(true_label)
        values.extend(features)
    y = np.array(labels, dtype=np.int64)
    X = np.array(values).reshape(counts.n_samples, counts.n_features)
    return Table(X, y if y.any() else None, default_names(counts.n_features))


def stream_text(file: BinaryIO) -> Stream:
    """Read the text form in batches."""
    counts, rows = _read_text(file)

    def batches() -> Iterator[Batch]:
        while chunk := list(islice(rows, rows_per_batch(counts.n_features))):
            lines, positions, labels, features = zip(*chunk, strict=True)
            columns = [ArrayColumn(np.array(column, dtype=np.int64)) for column in (positions, labels)]
            yield Batch(lines, columns + array_columns(np.array(features)))

    return _stream_of(counts, "line", batches())


def _stream_of(counts: Counts, place: str, batches: Iterator[Batch]) -> Stream:
    names = [POSITION, "label", *default_names(counts.n_features)]
    if counts.n_labels:
        return Stream(names, "label", (POSITION,), place, batches)
    return Stream(names, None, (POSITION, "label"), place, batches)


def _read_text(file: BinaryIO) -> tuple[Counts, Iterator[tuple[int, int, int, list[float]]]]:
    """Return the counts, and the line, position, label and features of each sample."""
    lines = ((i, text.split()) for i, text in enumerate(text_lines(file), 1) if text.strip())
    line, cells = next(lines, (0, []))
    if not line:
        raise ValueError("no line is there; the first holds the numbers of samples, labels and features")
    if len(cells) != 3:
        raise ValueError(f"line {line} has {len(cells)} numbers, not 3: samples, labels and features")
    counts = Counts(*(_at(line, integer, cell) for cell in cells))
    _check_counts(counts)
    return counts, _text_samples(lines, counts, line)


def _text_samples(
    lines: Iterator[tuple[int, list[str]]], counts: Counts, header: int
) -> Iterator[tuple[int, int, int, list[float]]]:
    n_found = 0
    for line, cells in lines:
        n_found += 1
        if len(cells) != counts.n_features + 2:
            raise ValueError(
                f"line {line} has {len(cells)} numbers, not {counts.n_features + 2}: position, label, "
                f"{counts.n_features} features"
            )
        position, label = (_at(line, integer, cell) for cell in cells[:2])
        _check_labels(np.array([label]), counts, n_found - 1)
        yield line, position, label, [_at(line, number, cell) for cell in cells[2:]]
    if n_found != counts.n_samples:
        raise ValueError(f"line {header} announces {counts.n_samples} samples; {n_found} lines follow")


def encode_text(table: Table, label: object = None, *, positions: Any = None) -> bytes:
    """Write the text form, with all digits; LibOPF itself reads them as float32."""
    n_labels = _count_labels(table)
    labels = [0] * len(table.X) if table.y is None else table.y.tolist()
    lines = [f"{len(table.X)} {n_labels} {table.X.shape[1]}"]
    positions = _check_positions(positions, len(table.X)).tolist()
    samples = zip(positions, labels, text_rows(table.X), strict=True)
    lines += (f"{i} {y} {' '.join(row)}" for i, y, row in samples)
    return ("\n".join(lines) + "\n").encode()


def _check_positions(positions: Any, n_samples: int) -> np.ndarray:
    if positions is None:
        return np.arange(n_samples)
    given = np.asarray(positions)
    if given.shape != (n_samples,) or given.dtype.kind not in "iu":
        raise ValueError(f"positions of shape {given.shape} and type {given.dtype} for {n_samples} samples")
    if given.min() < 0 or given.max() > LARGEST:
        raise ValueError(f"position {given[(given < 0) | (given > LARGEST)][0]} is outside 0 to {LARGEST}")
    return given


def _records(data: bytes) -> tuple[Counts, np.ndarray]:
    counts = _read_counts(data, len(data))
    return counts, np.frombuffer(data, _record(counts.n_features), offset=HEADER.size)


def _record(n_features: int) -> np.dtype:
    return np.dtype([("position", "<i4"), ("label", "<i4"), ("features", "<f4", (n_features,))])


def _read_counts(data: bytes, size: int) -> Counts:
    """Read the header of a binary file of `size` bytes, before anything is allocated."""
    if len(data) < HEADER.size:
        raise ValueError(f"the file has {size} bytes, and the header alone needs {HEADER.size}")
    counts = Counts(*HEADER.unpack_from(data))
    _check_counts(counts)
    announced = HEADER.size + counts.n_samples * (8 + 4 * counts.n_features)
    if size != announced:
        raise ValueError(
            f"the header announces {counts.n_samples} samples of {counts.n_features} features, "
            f"which take {announced} bytes; the file has {size}"
        )
    return counts


def _check_counts(counts: Counts) -> None:
    if counts.n_samples < 1 or counts.n_labels < 0 or counts.n_features < 1:
        raise ValueError(
            f"the header announces {counts.n_samples} samples, {counts.n_labels} labels and "
            f"{counts.n_features} features; samples and features start at 1, labels at 0"
        )


def _check_labels(y: np.ndarray, counts: Counts, first: int = 0) -> None:
    wrong = np.flatnonzero((y < 0) | (y > counts.n_labels))
    if len(wrong):
        raise ValueError(
            f"sample {first + wrong[0]} has label {y[wrong[0]]}; the header allows 0 to {counts.n_labels}"
        )


def _count_labels(table: Table) -> int:
    """Largest label: LibOPF counts the labels up to it, used or not."""
    check_nameless(table, "LibOPF")
    if table.y is None:
        return 0
    if table.y.dtype.kind != "i":
        raise ValueError(f"label {str(table.y[0])!r} is a string; LibOPF files hold integers from 1 on")
    for label in (table.y.min(), table.y.max()):
        if not 1 <= label <= LARGEST:
            raise ValueError(f"label {label} is outside 1 to {LARGEST}, what LibOPF files hold; renumber")
    return int(table.y.max())


def _at(line, convert, cell):
    """Convert a cell, or say on which line it is."""
    try:
        return convert(cell)
    except ValueError:
        kind = "integer" if convert is integer else "number"
        raise ValueError(f"line {line}: {cell[:30]!r} is no {kind}") from None
