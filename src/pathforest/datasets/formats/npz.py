"""NPZ: arrays `X`, `y` and `feature_names` in one archive, without pickled objects."""

from __future__ import annotations

import io
import math
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import numpy as np

from pathforest.datasets.formats.stream import ArrayColumn, Batch, Stream, array_columns, rows_per_batch
from pathforest.datasets.formats.table import Table, check_distinct, check_shapes, check_table, show

# What the zip module may raise on bytes that are no sound archive.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, KeyError)


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    is_fortran: bool  # whether columns, not rows, lie together
    dtype: np.dtype


def decode(data: bytes, label: object = None) -> Table:
    """Read the arrays; names of features are optional, and so are labels if none are asked for."""
    with _opened(io.BytesIO(data)) as archive:
        needed = ("X",) if label is None else ("X", "y")
        members = {name: archive.read(f"{name}.npy") for name in _present(archive, needed)}
    X, y, names = (_array(members[name], name) if name in members else None for name in Table._fields)
    return check_table(X, y, None if names is None else names.tolist())


def stream(file: BinaryIO) -> Stream:
    """Read the arrays in batches. They are unpacked to temporary files, not into memory."""
    with _opened(file) as archive:
        arrays = {name: _map_array(archive, name) for name in _present(archive, ("X",))}
    X, y, names = map(arrays.get, Table._fields)
    names = check_shapes(X.shape, None if y is None else y.shape, None if names is None else names.tolist())
    step = rows_per_batch(len(names))

    def batches() -> Iterator[Batch]:
        for first in range(0, len(X), step):
            rows = slice(first, min(first + step, len(X)))
            part = check_table(np.array(X[rows]), None if y is None else np.array(y[rows]), names)
            labels = [] if part.y is None else [ArrayColumn(part.y)]
            yield Batch(range(rows.start, rows.stop), labels + array_columns(part.X))

    check_distinct(names if y is None else ["label", *names])
    if y is None:
        return Stream(names, None, (), "row", batches())
    return Stream(["label", *names], "label", (), "row", batches())


@contextmanager
def _opened(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except DAMAGE as error:
        raise ValueError(f"the archive is damaged: {error}") from None


def _present(archive: zipfile.ZipFile, needed: Sequence[str]) -> list[str]:
    """Return the names of our arrays that an archive holds."""
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    for name in needed:
        if name not in names:
            raise ValueError(f"there is no array {name!r}, only {show(names)}")
    return [name for name in Table._fields if name in names]


def _array(data: bytes, name: str) -> np.ndarray:
    file = io.BytesIO(data)
    _read_header(file, len(data), name)
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _map_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Unpack an array to a temporary file, and map that: it takes no memory of its own."""
    with tempfile.TemporaryFile() as file:
        with archive.open(f"{name}.npy") as member:
            shutil.copyfileobj(member, file)
        size = file.tell()
        file.seek(0)
        header = _read_header(file, size, name)
        if 0 in header.shape:  # nothing to map
            return np.empty(header.shape, header.dtype)
        order = "F" if header.is_fortran else "C"
        return np.memmap(file, header.dtype, "r", file.tell(), header.shape, order)


def _read_header(file: BinaryIO, size: int, name: str) -> Header:
    """Read the header of an array and hold it against the bytes that are there."""
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"format version {version} is not supported")
        header = Header(*readers[version](file))
        if header.dtype.hasobject or not header.dtype.itemsize:
            raise ValueError(f"type {header.dtype} is not read; save numbers or strings, not Python objects")
        needed = math.prod(header.shape) * header.dtype.itemsize
        if min(header.shape, default=0) < 0 or needed != size - file.tell():
            raise ValueError(f"shape {header.shape} takes {needed} bytes; there are {size - file.tell()}")
    except ValueError as error:
        raise ValueError(f"array {name!r}: {error}") from None
    return header


def encode(table: Table, label: object = None) -> bytes:
    """Write the arrays with their types."""
    arrays = {"X": table.X, "y": table.y, "feature_names": np.array(table.feature_names)}
    out = io.BytesIO()
    np.savez(out, **{name: array for name, array in arrays.items() if array is not None})
    return out.getvalue()
