"""Data files read as arrays and written from them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pathforest._tables import columns as col
from pathforest._tables.batches import Layout
from pathforest._tables.libopf import POSITION
from pathforest._tables.read import as_columns, format_of, open_stream
from pathforest._tables.write import check_delimited, open_sink
from pathforest._utils.checks import demand
from pathforest._utils.text import escape, show


class Table(NamedTuple):
    """Samples, their labels and the names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from pathforest.datasets import Table
    >>> table = Table(np.eye(2), np.array([1, 2]), ["width", "height"])
    >>> table.X.shape, table.feature_names
    ((2, 2), ['width', 'height'])
    """

    X: np.ndarray  # (n_samples, n_features), float32 or float64
    y: np.ndarray | None  # (n_samples,) labels, int64 or strings; None without labels
    feature_names: list[str]


def read(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = "label",
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a data file.

    Parameters
    ----------
    path : str or path-like
        The ending chooses the format: `.csv`, `.tsv`, `.dat` (LibOPF), `.txt` (LibOPF's text), `.libsvm`,
        `.svm`, `.svmlight`, `.npz`, `.parquet`, `.xlsx` or `.xls` (the first sheet), each also with `.gz`
        behind it.
    label : str, int or None, default="label"
        Name or position of the label column of CSV, TSV, Parquet and Excel files; the other formats have a
        place of their own for labels. None reads no labels: `y` is None, and where labels are a column like
        others, every column is a feature.
    sep, decimal : str, default=None
        Separator and decimal mark of CSV and TSV files. None finds them where they are plain: a separator
        that gives every line the same number of cells, and commas in numbers that other characters separate.
    encoding : str, default=None
        Encoding of CSV and TSV files, such as ``"latin-1"``; None is UTF-8.

    Returns
    -------
    table : Table
        `X`, `y` and `feature_names`. `X` is float32 from `.dat` files, and from NPZ and Parquet files that
        hold float32; else float64. Labels are integers, or strings in CSV, TSV, NPZ, Parquet and Excel files.

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
    table = read_table(os.fspath(path), label, sep=sep, decimal=decimal, encoding=encoding)
    if table.y is None and label is not None:
        raise ValueError(
            f"{escape(str(path))}: there are no labels; pass label=None to read the samples alone"
        )
    return table


def read_table(
    path: str | BinaryIO, label: str | int | None = "label", ending: str | None = None, **how: str | None
) -> Table:
    """Read a file, whose format may be given; `y` is None if it has no labels."""
    form, _, _ = format_of(path if isinstance(path, str) else None, ending)
    X, y = [], []
    with open_stream(path, ending=ending, **how) as stream:
        column = None if label is None else stream.label
        if label is not None and form.is_free:
            column = stream.column(label, "; pass label=<name, position or None>")
        features = [name for name in stream.features if name != column]
        demand(features, f"{stream.name}: the only column is {show(column)}, which leaves no feature")
        for batch in stream.batches:
            X.append(batch.samples(features, finite=False))
            if column is not None:
                y.append(batch.labels(column))
    demand(X, f"{stream.name}: there is no sample")
    labels = col.as_labels(*y) if y else None
    # LibOPF writes 0 for labels that are not known, even if the header announces some.
    is_known = not form.keeps_positions or np.any(labels)
    return Table(np.concatenate(X), labels if is_known else None, features)


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
        The ending chooses the format, as for `read`, except Excel's. A file of that name is replaced.
    X : array-like of shape (n_samples, n_features)
        Numbers. Text formats write float32 values with all digits that the same float64 needs.
    y : array-like of shape (n_samples,), default=None
        Labels: integers, or strings for CSV, TSV, NPZ and Parquet.
    feature_names : list of str, default=None
        Column names for CSV, TSV, NPZ and Parquet; None writes `x0`, `x1` and so on.
    label : str, default="label"
        Name of the label column in CSV, TSV and Parquet files.
    positions : array-like of shape (n_samples,), default=None
        For LibOPF's formats: the position of each sample in the set it was taken from, which is also its row
        in a file of distances. None counts from 0.

    Notes
    -----
    Labels and names are written and read as they are, even those that a spreadsheet would run as a formula,
    such as ``=1+1``.

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
    form, suffix, _ = format_of(os.fspath(path), None, "write")
    layout, columns = as_columns(np.asarray(X), None if y is None else np.asarray(y), feature_names, label)
    if suffix in (".csv", ".tsv"):
        check_delimited(layout.names, columns.get(layout.label))
    if positions is not None:
        demand(
            form.keeps_positions, f"{escape(str(path))}: only LibOPF's formats keep positions; leave them out"
        )
        given, n_samples = np.asarray(positions), len(columns[layout.features[0]])
        if given.shape != (n_samples,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"positions of shape {given.shape} and type {given.dtype} for {n_samples} samples"
            )
        layout = Layout([POSITION, *layout.names], layout.label, (POSITION,))
        columns[POSITION] = given
    with open_sink(os.fspath(path), None, layout) as sink:
        sink(columns)
