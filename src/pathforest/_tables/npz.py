"""NPZ: arrays `X`, `y` and `feature_names` in one archive, without pickled objects."""

from __future__ import annotations

import io
import math
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import numpy as np

from pathforest._tables.expansion import check_expansion
from pathforest._tables.stream import (
    ArrayColumn,
    Batch,
    Column,
    Layout,
    Stream,
    Write,
    array_columns,
    gather_columns,
    rows_per_batch,
)
from pathforest._tables.table import (
    Table,
    check_distinct,
    check_labels,
    check_samples,
    check_shapes,
    listed,
)
from pathforest._utils.files import scratch

# Errors of the zip module on bytes that are not a sound archive.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, KeyError)
UNCOMPRESS = "load it with numpy.load and save it with numpy.savez, which does not compress"


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    is_fortran: bool  # whether columns, not rows, lie together
    dtype: np.dtype


def stream(file: BinaryIO) -> Stream:
    """Read the arrays in batches. They are unpacked to temporary files, not into memory."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if "X" not in names:
                raise ValueError(f"there is no array 'X', only {listed(names)}")
            members = {name: archive.getinfo(f"{name}.npy") for name in Table._fields if name in names}
            unpacked = sum(member.file_size for member in members.values())
            check_expansion(unpacked, file.seek(0, os.SEEK_END), UNCOMPRESS)
            arrays = {name: _unpack(archive, member, name) for name, member in members.items()}
    except DAMAGE as error:
        if getattr(error, "filename", None) is not None:  # the disk that it is unpacked to
            raise
        raise ValueError(f"the archive is damaged: {error}") from None
    X, y, names = map(arrays.get, Table._fields)
    names = check_shapes(X.shape, None if y is None else y.shape, None if names is None else names.tolist())
    step = rows_per_batch(len(names))

    def batches() -> Iterator[Batch]:
        for first in range(0, len(X), step):
            rows = slice(first, min(first + step, len(X)))
            labels = [] if y is None else [ArrayColumn(check_labels(np.array(y[rows])))]
            samples = check_samples(np.array(X[rows]), first)
            yield Batch(range(rows.start, rows.stop), labels + array_columns(samples))

    label = None if y is None else "label"
    columns = names if y is None else ["label", *names]
    check_distinct(columns)
    return Stream(columns, label, batches=batches())


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> np.ndarray:
    """Unpack an array to a temporary file, and map that: it takes no memory of its own."""
    with archive.open(member) as packed, scratch() as file:
        header = _read_header(packed, member.file_size, name)
        if 0 in header.shape:  # nothing to map
            return np.empty(header.shape, header.dtype)
        shutil.copyfileobj(packed, file)
        return np.memmap(file, header.dtype, "r", 0, header.shape, "F" if header.is_fortran else "C")


def _read_header(file: BinaryIO, size: int, name: str) -> Header:
    """Read the header of an array, and compare it with the bytes that are there."""
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"format version {version} is not supported")
        header = Header(*readers[version](file))
        if header.dtype.hasobject or not header.dtype.itemsize:
            raise ValueError(f"type {header.dtype} is not read; save numbers or strings, not Python objects")
        needed, there = math.prod(header.shape) * header.dtype.itemsize, size - file.tell()
        if min(header.shape, default=0) < 0 or needed != there:
            raise ValueError(f"shape {header.shape} takes {needed} bytes; there are {there}")
    except DAMAGE:
        raise
    except Exception as error:  # numpy parses the header as Python, and trips in many ways over a forged one
        raise ValueError(f"array {name!r}: {' '.join(str(error).split()) or type(error).__name__}") from None
    return header


@contextmanager
def sink(file: BinaryIO, layout: Layout) -> Iterator[Write]:
    """Write the arrays with their types."""
    parts: list[Sequence[Column]] = []
    yield parts.append  # the shape of an array comes first, so nothing is written before all rows are there
    columns = gather_columns(layout, parts)
    arrays = {"X": np.column_stack([columns[name].numbers() for name in layout.features])}
    if layout.label is not None:
        arrays["y"] = columns[layout.label].labels()
    out = io.BytesIO()  # numpy goes back in the file that it writes, which a packed one does not allow
    np.savez(out, **arrays, feature_names=np.array(layout.features))
    file.write(out.getbuffer())
