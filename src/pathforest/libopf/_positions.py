"""Positions of the samples of LibOPF's files in a matrix of distances."""

from __future__ import annotations

import io
import os

import numpy as np

from pathforest._tables.libopf import POSITION, read
from pathforest._utils.text import escape
from pathforest.libopf._bytes import read_bytes
from pathforest.libopf._layout import looks_like_model, parse


def read_positions(path: str | os.PathLike[str]) -> np.ndarray:
    """Read the positions of the samples in a data file or a model file of LibOPF.

    LibOPF's programs split a set and keep with each sample its row in the matrix of distances of the whole.
    :func:`pathforest.datasets.read` does not return that column.

    Parameters
    ----------
    path : str or path-like
        A binary data file (`.dat`), or a model file; `opf_learn` and `opf_pruning` keep other samples than
        they were given.

    Returns
    -------
    positions : ndarray of shape (n_samples,)
        Rows and columns of the matrix, in the order of the file's samples.

    Raises
    ------
    ValueError
        If the file is neither, or a position is negative.
    OSError
        If the file cannot be read.

    Examples
    --------
    Distances as a model takes them, ``D[np.ix_(queries, training)]``:

    >>> import os, tempfile
    >>> import numpy as np
    >>> from pathforest.datasets import write
    >>> from pathforest.libopf import read_positions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(os.path.join(folder, "testing.dat"), [[0.5], [2.0]], [1, 2])
    ...     read_positions(os.path.join(folder, "testing.dat")).tolist()
    [0, 1]
    """
    data = read_bytes(path)
    try:
        if looks_like_model(data):
            positions = parse(data).position
        else:
            positions = read(io.BytesIO(data)).gather().columns[POSITION].astype(np.intp)
        if positions.min() < 0:
            first = int(np.argmax(positions < 0))
            raise ValueError(f"sample {first} has position {positions[first]}; positions count from 0")
    except ValueError as error:
        raise ValueError(f"{escape(str(path))}: {error}") from error
    return positions
