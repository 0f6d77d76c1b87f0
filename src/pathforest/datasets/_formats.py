"""Data files read and written whole: the ending of the name chooses the format.

A format is a pair of pure functions between bytes and tables. Opening, unpacking and replacing files
happens here, once, so that no format can leave a file half-written or hide which file it was.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pathforest._files import replace_file
from pathforest.datasets import _delimited, _libopf, _libsvm, _npz, _parquet
from pathforest.datasets._table import Table, check_table


class Format(NamedTuple):
    """How bytes become a table, and back."""

    decode: Callable[[bytes, str | int | None], Table]
    encode: Callable[[Table, str | int | None], bytes]


LIBOPF = Format(_libopf.decode, _libopf.encode)
LIBSVM = Format(_libsvm.decode, _libsvm.encode)

FORMATS = {
    ".csv": Format(_delimited.decode, _delimited.encode),
    ".tsv": Format(partial(_delimited.decode, delimiter="\t"), partial(_delimited.encode, delimiter="\t")),
    ".dat": LIBOPF,
    ".txt": Format(_libopf.decode_text, _libopf.encode_text),
    ".libsvm": LIBSVM,
    ".svm": LIBSVM,
    ".svmlight": LIBSVM,
    ".npz": Format(_npz.decode, _npz.encode),
    ".parquet": Format(_parquet.decode, _parquet.encode),
}


def read(path: str | os.PathLike[str], *, label: str | int | None = "label") -> Table:
    r"""Read a data file.

    Parameters
    ----------
    path : str or path-like
        The ending tells the format: `.csv`, `.tsv`, `.dat` (LibOPF), `.txt` (LibOPF's text), `.libsvm`,
        `.svm`, `.svmlight`, `.npz` or `.parquet`, each also with `.gz` behind it.
    label : str, int or None, default="label"
        Name or position of the label column of CSV, TSV and Parquet files; the other formats have a place of
        their own for labels. None reads no labels: `y` is None, and in CSV, TSV and Parquet every column is a
        feature.

    Returns
    -------
    table : Table
        `X`, `y` and `feature_names`. `X` is float32 from `.dat` files, and from NPZ and Parquet files that
        hold float32; else float64. Labels are integers, or strings in CSV, TSV, NPZ and Parquet files.

    Raises
    ------
    ValueError
        If the content is damaged or does not fit the format; the message says where.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pathforest.datasets import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.csv"
    ...     _ = path.write_text("kind,weight,height\ncat,4.5,25\ndog,30,60\n")
    ...     table = read(path, label="kind")
    >>> table.y.tolist(), table.feature_names
    (['cat', 'dog'], ['weight', 'height'])
    """
    path = Path(path)
    form, is_packed = _format_of(path)
    table = _read(path, form, label, is_packed)
    if label is None:
        return table._replace(y=None)
    if table.y is None:
        raise ValueError(f"{path}: there are no labels; pass label=None to read the samples alone")
    return table


def write(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    label: str = "label",
) -> None:
    """Write a data file; it appears complete or not at all.

    What is read back equals what was written, bit for bit. Values that the format cannot hold are refused
    before anything is written.

    Parameters
    ----------
    path : str or path-like
        The ending tells the format, as for `read`. A file of that name is replaced.
    X : array-like of shape (n_samples, n_features)
        Numbers. Text formats write float32 values with the digits that restore the same float32.
    y : array-like of shape (n_samples,), default=None
        Labels: integers, or strings for CSV, TSV, NPZ and Parquet.
    feature_names : list of str, default=None
        Column names for CSV, TSV, NPZ and Parquet; None writes `f0`, `f1` and so on.
    label : str, default="label"
        Name of the label column in CSV, TSV and Parquet files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pathforest.datasets import read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "square.csv.gz"
    ...     write(path, [[0, 0], [0, 1], [1, 0], [1, 1]], [1, 1, 2, 2])
    ...     read(path).y
    array([1, 1, 2, 2])
    """
    path = Path(path)
    form, is_packed = _format_of(path)
    data = form.encode(check_table(X, y, feature_names), label)
    # No time stamp, so that equal tables give equal files.
    replace_file(path, gzip.compress(data, mtime=0) if is_packed else data)


def read_libopf(path: str | os.PathLike[str]) -> Table:
    """Read a binary LibOPF file, whatever its name; `y` is None if it has no labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pathforest.datasets import read_libopf, write_libopf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_libopf(Path(folder) / "training", [[0.5, 2]], [1])
    ...     read_libopf(Path(folder) / "training").X
    array([[0.5, 2. ]], dtype=float32)
    """
    return _read(Path(path), LIBOPF, None, is_packed=False)


def write_libopf(path: str | os.PathLike[str], X: Any, y: Any = None) -> None:
    """Write a binary LibOPF file, whatever its name: float32 values, and labels from 1 on.

    Examples
    --------
    >>> from pathforest.datasets import write_libopf
    >>> write_libopf("training.dat", [[0.5, 2]], [0])
    Traceback (most recent call last):
    ValueError: label 0 is outside 1 to 2147483647, what LibOPF files hold; renumber
    """
    replace_file(Path(path), _libopf.encode(check_table(X, y, None)))


def _format_of(path: Path) -> tuple[Format, bool]:
    name = path.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in FORMATS:
        raise ValueError(f"{path}: the ending tells no format; known are {', '.join(FORMATS)}, also with .gz")
    return FORMATS[ending], name.endswith(".gz")


def _read(path: Path, form: Format, label: str | int | None, is_packed: bool) -> Table:
    data = path.read_bytes()
    try:
        if not data:
            raise ValueError("the file is empty")
        return form.decode(_unpack(data) if is_packed else data, label)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _unpack(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"the gzip packing is damaged or cut off: {error}") from None
