"""LibOPF's data files: binary `.dat`, and the same numbers as text.

Both hold the numbers of samples, labels and features, then for each sample its position in the set it was
taken from, its label and its features. Positions are written in order; tables do not keep them, and
:func:`pathforest.libopf.read_positions` reads them. Labels count from 1; a file without labels says 0
everywhere.
"""

from __future__ import annotations

import struct
from array import array

import numpy as np

from pathforest.datasets._table import (
    Table,
    check_exact,
    check_nameless,
    default_names,
    integer,
    number,
    text_rows,
)

HEADER = struct.Struct("<3i")
LARGEST = 2**31 - 1  # of a 32-bit integer


def decode(data: bytes, label: object = None) -> Table:
    """Read the binary form."""
    rows, n_labels = _rows(data)
    y = _labels(rows["label"].astype(np.int64), n_labels)
    X = rows["features"].astype(np.float32)
    return Table(X, y, default_names(X.shape[1]))


def positions(data: bytes) -> np.ndarray:
    """Read the positions of the binary form."""
    return _rows(data)[0]["position"].astype(np.intp)


def encode(table: Table, label: object = None) -> bytes:
    """Write the binary form, which holds float32 values and labels from 1 on."""
    n_labels = _count_labels(table)
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is not exact
        X = table.X.astype(np.float32)
    check_exact(table.X, X)
    rows = np.zeros(len(X), _record(X.shape[1]))
    rows["position"] = np.arange(len(X))
    rows["label"] = 0 if table.y is None else table.y
    rows["features"] = X
    return HEADER.pack(len(X), n_labels, X.shape[1]) + rows.tobytes()


def decode_text(data: bytes, label: object = None) -> Table:
    """Read the text form: one line of counts, then one line per sample."""
    lines = [(i, line.split()) for i, line in enumerate(data.decode().splitlines(), 1) if line.strip()]
    if not lines:
        raise ValueError("no line is there; the first holds the numbers of samples, labels and features")
    if len(lines[0][1]) != 3:
        raise ValueError(
            f"line {lines[0][0]} has {len(lines[0][1])} numbers, not 3: samples, labels and features"
        )
    n_samples, n_labels, n_features = (_at(lines[0][0], integer, cell) for cell in lines[0][1])
    _check_counts(n_samples, n_labels, n_features)
    if len(lines) - 1 != n_samples:
        raise ValueError(f"line {lines[0][0]} announces {n_samples} samples; {len(lines) - 1} lines follow")
    values, labels = array("d"), []
    for line, (position, true_label, *features) in _wide_enough(lines[1:], n_features):
        _at(line, integer, position)
        labels.append(_at(line, integer, true_label))
        values.extend(_at(line, number, cell) for cell in features)
    X = np.array(values).reshape(n_samples, n_features)
    return Table(X, _labels(np.array(labels, dtype=np.int64), n_labels), default_names(n_features))


def encode_text(table: Table, label: object = None) -> bytes:
    """Write the text form, with all digits; LibOPF itself reads them as float32."""
    n_labels = _count_labels(table)
    labels = [0] * len(table.X) if table.y is None else table.y.tolist()
    lines = [f"{len(table.X)} {n_labels} {table.X.shape[1]}"]
    samples = zip(labels, text_rows(table.X), strict=True)
    lines += (f"{i} {y} {' '.join(row)}" for i, (y, row) in enumerate(samples))
    return ("\n".join(lines) + "\n").encode()


def _rows(data: bytes) -> tuple[np.ndarray, int]:
    """Return samples and number of labels; the header is held against the size before all else."""
    if len(data) < HEADER.size:
        raise ValueError(f"the file has {len(data)} bytes, and the header alone needs {HEADER.size}")
    n_samples, n_labels, n_features = HEADER.unpack_from(data)
    _check_counts(n_samples, n_labels, n_features)
    size = HEADER.size + n_samples * (8 + 4 * n_features)
    if len(data) != size:
        raise ValueError(
            f"the header announces {n_samples} samples of {n_features} features, which take {size} bytes; "
            f"the file has {len(data)}"
        )
    return np.frombuffer(data, _record(n_features), offset=HEADER.size), n_labels


def _record(n_features: int) -> np.dtype:
    return np.dtype([("position", "<i4"), ("label", "<i4"), ("features", "<f4", (n_features,))])


def _check_counts(n_samples: int, n_labels: int, n_features: int) -> None:
    if n_samples < 1 or n_labels < 0 or n_features < 1:
        raise ValueError(
            f"the header announces {n_samples} samples, {n_labels} labels and {n_features} features; "
            "samples and features start at 1, labels at 0"
        )


def _labels(y: np.ndarray, n_labels: int) -> np.ndarray | None:
    wrong = np.flatnonzero((y < 0) | (y > n_labels))
    if len(wrong):
        raise ValueError(f"sample {wrong[0]} has label {y[wrong[0]]}; the header allows 0 to {n_labels}")
    return y if y.any() else None


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


def _wide_enough(lines, n_features):
    for line, cells in lines:
        if len(cells) != n_features + 2:
            raise ValueError(
                f"line {line} has {len(cells)} numbers, not {n_features + 2}: position, label, "
                f"{n_features} features"
            )
        yield line, cells
