"""LibOPF's files of precomputed distances: the number of samples, then the whole matrix row by row."""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from pathforest._utils.checks import demand
from pathforest._utils.files import replacing
from pathforest._utils.text import escape

HEADER = struct.Struct("<i")


def read_distances(path: str | os.PathLike[str]) -> np.ndarray:
    """Read a matrix of distances that LibOPF's `opf_distance` has written.

    Parameters
    ----------
    path : str or path-like
        The file, usually `distances.dat`: a 32-bit count, then float32 values, little-endian.

    Returns
    -------
    D : ndarray of shape (n, n), float32
        Distances between the samples of the whole set. Those of the samples in a data file are
        ``D[np.ix_(p, p)]`` with the positions p of :func:`read_positions`, as models with
        ``metric="precomputed"`` take them.

    Raises
    ------
    ValueError
        If count and size of the file do not agree, or a value is negative or not finite.
    OSError
        If the file cannot be read.

    Notes
    -----
    What `opf_distance` calls Euclidean is its square, and the log of LibOPF's default is not taken.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathforest.libopf import read_distances, write_distances
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_distances(os.path.join(folder, "distances.dat"), [[0, 1.5], [1.5, 0]])
    ...     read_distances(os.path.join(folder, "distances.dat"))
    array([[0. , 1.5],
           [1.5, 0. ]], dtype=float32)
    """
    shown = escape(str(path))
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEADER.size)
        n = HEADER.unpack(head)[0] if len(head) == HEADER.size else 0
        demand(
            n >= 1 and size == HEADER.size + 4 * n * n,
            f"{shown} is not a matrix of LibOPF's distances: it announces {n} samples, which would take "
            f"{HEADER.size + 4 * max(n, 0) ** 2} bytes, and has {size}",
        )
        values = np.fromfile(file, "<f4", n * n)
    D = values.reshape(n, n).astype(np.float32, copy=False)
    _check(D, shown)
    return D


def write_distances(path: str | os.PathLike[str], D: Any) -> None:
    """Write a matrix of distances for LibOPF; the file appears complete or not at all.

    Parameters
    ----------
    path : str or path-like
        The file. One of that name is replaced.
    D : array-like of shape (n, n)
        Distances between all samples, rounded to float32. LibOPF looks them up by the positions in its data
        files, which :func:`pathforest.datasets.write` numbers from 0.

    Raises
    ------
    ValueError
        If D is not square, or a value is negative, not finite, or too large for float32.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from pathforest.libopf import write_distances
    >>> write_distances("distances.dat", [[0, -1], [-1, 0]])
    Traceback (most recent call last):
    ValueError: D: the distance at row 0, column 1 is -1.0; distances are finite and not negative
    """
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, and is refused below
        D = np.ascontiguousarray(D, dtype="<f4")
    demand(
        D.ndim == 2 and D.shape[0] == D.shape[1] and len(D),
        f"D has shape {D.shape}; pass the square matrix of distances between all samples",
    )
    _check(D, "D")
    with replacing(path) as file:
        file.write(HEADER.pack(len(D)))
        file.write(D.data)


def _check(D: np.ndarray, name: str) -> None:
    for row, values in enumerate(D):  # row by row: a mask of the whole would take a quarter of its memory
        if not (values >= 0).all() or np.isinf(values).any():
            column = int(np.argmax(~(values >= 0) | np.isinf(values)))
            raise ValueError(
                f"{name}: the distance at row {row}, column {column} is {values[column]}; distances are "
                "finite and not negative"
            )
