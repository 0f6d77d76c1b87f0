"""Data files read and written: the ending of the name chooses the format.

A format is a pair of pure functions between bytes and tables, and a third that reads tables too large for
memory. Opening, unpacking and replacing files happens here, once, so that no format can leave a file
half-written or hide which file it was.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pathforest._utils.files import replace_file
from pathforest.datasets.formats import delimited, libopf, libsvm, npz, parquet
from pathforest.datasets.formats.endings import split_ending
from pathforest.datasets.formats.stream import Stream
from pathforest.datasets.formats.table import Table, check_table


class Format(NamedTuple):
    """How bytes become a table, at once or in batches, and back."""

    decode: Callable[[bytes, str | int | None], Table]
    encode: Callable[[Table, str | int | None], bytes]
    stream: Callable[[BinaryIO], Stream]
    in_one_pass: bool = False  # whether a stream never goes back, so that it can come through a pipe


CSV = Format(delimited.decode, delimited.encode, delimited.stream, in_one_pass=True)
LIBOPF = Format(libopf.decode, libopf.encode, libopf.stream)
LIBSVM = Format(libsvm.decode, libsvm.encode, libsvm.stream)

FORMATS = {
    ".csv": CSV,
    ".tsv": Format(*(partial(function, delimiter="\t") for function in CSV[:3]), in_one_pass=True),
    ".dat": LIBOPF,
    ".txt": Format(libopf.decode_text, libopf.encode_text, libopf.stream_text, in_one_pass=True),
    ".libsvm": LIBSVM,
    ".svm": LIBSVM,
    ".svmlight": LIBSVM,
    ".npz": Format(npz.decode, npz.encode, npz.stream),
    ".parquet": Format(parquet.decode, parquet.encode, parquet.stream),
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
    form, is_packed = format_of(path)
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
    positions: Any = None,
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
    positions : array-like of shape (n_samples,), default=None
        For LibOPF's formats: where each sample stands in the set it was taken from, which is also its row in
        a file of distances. None counts from 0.

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
    form, is_packed = format_of(path)
    table = check_table(X, y, feature_names)
    if positions is None:
        data = form.encode(table, label)
    elif keeps_positions(form):
        data = form.encode(table, label, positions=positions)
    else:
        raise ValueError(f"{path}: only LibOPF's formats keep positions; leave them out")
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
    replace_file(Path(path), libopf.encode(check_table(X, y, None)))


def keeps_positions(form: Format) -> bool:
    """Tell whether a format has a place for the positions of samples in the set they come from."""
    return form.encode in (libopf.encode, libopf.encode_text)


def keeps_names(form: Format) -> bool:
    """Tell whether a format has a place for the names of features."""
    return form is not LIBSVM and not keeps_positions(form)


def format_of(path: Path, shown: object = None) -> tuple[Format, bool]:
    """Return the format that an ending tells, and whether the file is packed."""
    ending, is_packed = split_ending(path)
    if ending not in FORMATS:
        raise ValueError(
            f"{shown or path}: the ending tells no format; known are {', '.join(FORMATS)}, also with .gz"
        )
    return FORMATS[ending], is_packed


def _read(path: Path, form: Format, label: str | int | None, is_packed: bool) -> Table:
    data = path.read_bytes()
    with named(path):
        if not data:
            raise ValueError("the file is empty")
        return form.decode(gzip.decompress(data) if is_packed else data, label)


@contextmanager
def named(name: object) -> Iterator[None]:
    """Let an error say which file it is about."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: the gzip packing is damaged or cut off: {error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}: byte {error.object[error.start]:#04x} is no UTF-8 text; save the file as UTF-8, or "
            "read it with pandas, which knows other encodings"
        ) from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
