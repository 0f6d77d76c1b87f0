"""NPZ: arrays `X`, `y` and `feature_names` in one archive, without pickled objects."""

from __future__ import annotations

import io
import math
import zipfile
import zlib

import numpy as np

from pathforest.datasets._table import Table, check_table, show

# What the zip module may raise on bytes that are no sound archive.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, KeyError)


def decode(data: bytes, label: object = None) -> Table:
    """Read the arrays; names of features are optional, and so are labels if none are asked for."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            present = [name.removesuffix(".npy") for name in archive.namelist()]
            members = {name: archive.read(f"{name}.npy") for name in Table._fields if name in present}
    except DAMAGE as error:
        raise ValueError(f"the archive is damaged: {error}") from None
    missing = [name for name in ("X", "y") if name not in members and not (name == "y" and label is None)]
    if missing:
        raise ValueError(f"there is no array {missing[0]!r}, only {show(present)}")
    X, y, names = (_array(members[name], name) if name in members else None for name in Table._fields)
    return check_table(X, y, None if names is None else names.tolist())


def _array(data: bytes, name: str) -> np.ndarray:
    """Read one array, after its header has been held against the bytes that are there."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in header:
            raise ValueError(f"format version {version} is not supported")
        shape, _, dtype = header[version](file)
        if dtype.hasobject or not dtype.itemsize:
            raise ValueError(f"type {dtype} is not read; save numbers or strings, not Python objects")
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size != len(data) - file.tell():
            raise ValueError(f"shape {shape} takes {size} bytes; there are {len(data) - file.tell()}")
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"array {name!r}: {error}") from None


def encode(table: Table, label: object = None) -> bytes:
    """Write the arrays with their types."""
    arrays = {"X": table.X, "y": table.y, "feature_names": np.array(table.feature_names)}
    out = io.BytesIO()
    np.savez(out, **{name: array for name, array in arrays.items() if array is not None})
    return out.getvalue()
