"""LibOPF's data files: binary `.dat`, and the same numbers as text.

Both hold the numbers of samples, labels and features, then for each sample its position in the set it was
taken from, its label and its features. Tables do not keep positions, and
:func:`pathforest.libopf.read_positions` reads them. Labels count from 1; a file without labels has 0
everywhere.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pathforest._tables import columns as col
from pathforest._tables.batches import Columns, Layout, Parts, Stream, rows_per_batch, text_lines
from pathforest._utils.checks import demand
from pathforest._utils.text import show

HEADER = struct.Struct("<3i")
POSITION = "position"  # the column that says where a sample is in the set it was taken from
LARGEST = 2**31 - 1  # of a 32-bit integer


class Counts(NamedTuple):
    """The header."""

    n_samples: int
    n_labels: int
    n_features: int


def read(file: BinaryIO) -> Stream:
    """Read the binary form in batches. Its header is held against its size before anything is allocated."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    demand(size >= HEADER.size, f"the file has {size} bytes, and the header alone needs {HEADER.size}")
    counts = _check_counts(Counts(*HEADER.unpack(file.read(HEADER.size))))
    announced = HEADER.size + counts.n_samples * (8 + 4 * counts.n_features)
    demand(
        size == announced,
        f"the header announces {counts.n_samples} samples of {counts.n_features} features, "
        f"which take {announced} bytes; the file has {size}",
    )
    record, step = _record(counts.n_features), rows_per_batch(counts.n_features)

    def parts() -> Parts:
        for first in range(0, counts.n_samples, step):
            n_rows = min(step, counts.n_samples - first)
            rows = np.frombuffer(file.read(n_rows * record.itemsize), record)
            columns = _columns(counts, first, rows["position"], rows["label"], rows["features"].astype("f4"))
            yield range(first, first + n_rows), columns

    return _stream_of(counts, "sample", parts())


def read_text(file: BinaryIO) -> Stream:
    """Read the text form in batches: one line of counts, then one line per sample."""
    lines = ((i, text.split()) for i, text in enumerate(text_lines(file), 1) if text.strip())
    header, cells = next(lines, (0, []))
    demand(header, "there is no line; the first holds the numbers of samples, labels and features")
    hint = "; if this is CSV, read it with --from csv or end its name with .csv"
    counted = f"line {header} has {len(cells)} numbers, not 3: samples, labels and features"
    demand(len(cells) == 3, counted + hint)
    counts = _check_counts(Counts(*_at(header, col.integer, cells, "an integer")))
    width = counts.n_features + 2

    def parts() -> Parts:
        first = 0
        while chunk := list(islice(lines, rows_per_batch(counts.n_features))):
            for line, cells in chunk:
                if len(cells) != width:
                    raise ValueError(
                        f"line {line} has {len(cells)} numbers, not {width}: position, label, "
                        f"{counts.n_features} features"
                    )
            whole = np.array([_at(line, col.integer, cells[:2], "an integer") for line, cells in chunk])
            features = np.array([_at(line, col.number, cells[2:], "a number") for line, cells in chunk])
            yield [line for line, _ in chunk], _columns(counts, first, *whole.T, features)
            first += len(chunk)
        demand(
            first == counts.n_samples,
            f"line {header} announces {counts.n_samples} samples; {first} lines follow",
        )

    return _stream_of(counts, "line", parts())


def _columns(counts: Counts, first: int, positions: np.ndarray, y: np.ndarray, X: np.ndarray) -> Columns:
    """Make columns of rows from `first` on, whose labels must be among those that the header counts."""
    wrong = np.flatnonzero((y < 0) | (y > counts.n_labels))
    if len(wrong):
        raise ValueError(
            f"sample {first + wrong[0]} has label {y[wrong[0]]}; the header allows 0 to {counts.n_labels}"
        )
    columns = dict(zip(col.default_names(X.shape[1]), np.ascontiguousarray(X.T), strict=True))
    return {POSITION: positions.astype(np.int64), "label": y.astype(np.int64), **columns}


def _stream_of(counts: Counts, place: str, parts: Parts) -> Stream:
    names = [POSITION, "label", *col.default_names(counts.n_features)]
    if counts.n_labels:
        return Stream(names, "label", (POSITION,), place=place, parts=parts)
    return Stream(names, None, (POSITION, "label"), place=place, parts=parts)


def _at(line: int, convert: Callable[[str], Any], cells: Sequence[str], kind: str) -> list[Any]:
    """Convert cells, or say which of them is wrong and on which line it is."""
    try:
        return list(map(convert, cells))
    except ValueError:
        wrong = next(cell for cell in cells if not col.reads_as(cell, convert))
        raise ValueError(f"line {line}: {show(wrong)} is not {kind}") from None


def _record(n_features: int) -> np.dtype:
    return np.dtype([("position", "<i4"), ("label", "<i4"), ("features", "<f4", (n_features,))])


def _check_counts(counts: Counts) -> Counts:
    demand(
        counts.n_samples >= 1 and counts.n_labels >= 0 and counts.n_features >= 1,
        f"the header announces {counts.n_samples} samples, {counts.n_labels} labels and "
        f"{counts.n_features} features; samples and features start at 1, labels at 0",
    )
    return counts


def write(file: BinaryIO, layout: Layout, columns: Columns) -> None:
    """Write the binary form, which holds float32 values and labels from 1 on."""
    counts, positions, y, features = _contents(layout, columns)
    given = np.column_stack([col.numbers(column) for column in features])
    rows = np.zeros(counts.n_samples, _record(counts.n_features))
    rows["position"], rows["label"] = positions, y
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is not exact
        rows["features"] = given
    col.check_exact(given, rows["features"])
    file.write(HEADER.pack(*counts))
    file.write(rows.tobytes())


def write_text(file: BinaryIO, layout: Layout, columns: Columns) -> None:
    """Write the text form, with all digits; LibOPF itself reads them as float32."""
    counts, positions, y, features = _contents(layout, columns)
    cells = map(col.texts, (positions, y, *features))
    lines = map(" ".join, zip(*cells, strict=True))
    file.write("\n".join([" ".join(map(str, counts)), *lines, ""]).encode())


def _contents(layout: Layout, columns: Columns) -> tuple[Counts, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return the counts, positions, labels and features."""
    features = [columns[name] for name in layout.features]
    n_samples = len(features[0])
    positions, y = np.arange(n_samples), np.zeros(n_samples, dtype=np.int64)
    if POSITION in layout.beside:
        positions = col.check_labels(columns[POSITION])
        _check_range(positions, 0, "position")
    if layout.label is not None:
        y = col.check_labels(columns[layout.label])
        _check_range(y, 1, "label")
    # LibOPF counts the labels up to the largest, used or not.
    return Counts(n_samples, int(y.max()), len(features)), positions, y, features


def _check_range(values: np.ndarray, smallest: int, what: str) -> None:
    if values.dtype.kind != "i":
        raise ValueError(f"{what} {show(str(values[0]))} is a string; LibOPF files hold integers")
    for value in (values.min(), values.max()):
        demand(
            smallest <= value <= LARGEST,
            f"{what} {value} is outside {smallest} to {LARGEST}, the range of LibOPF files; renumber",
        )
