"""Whole tables read from files and written to them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pathforest._tables.files import FORMATS, Format, format_of, named, open_sink, open_stream
from pathforest._tables.libopf import POSITION
from pathforest._tables.stream import ArrayColumn, Column, Layout, array_columns, gather_table
from pathforest._tables.table import Table, check_table, check_text, listed
from pathforest._utils.text import escape, show


def read(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = "label",
    sep: str | None = None,
    decimal: str | None = None,
) -> Table:
    r"""Read a data file.

    Parameters
    ----------
    path : str or path-like
        The ending chooses the format: `.csv`, `.tsv`, `.dat` (LibOPF), `.txt` (LibOPF's text), `.libsvm`,
        `.svm`, `.svmlight`, `.npz` or `.parquet`, each also with `.gz` behind it.
    label : str, int or None, default="label"
        Name or position of the label column of CSV, TSV and Parquet files; the other formats have a place of
        their own for labels. None reads no labels: `y` is None, and in CSV, TSV and Parquet every column is a
        feature.
    sep, decimal : str, default=None
        Separator and decimal mark of CSV and TSV files. None finds them where they are plain: a separator
        that gives every line the same number of cells, and commas in numbers that other characters separate.

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
    _, ending, is_packed = format_of(os.fspath(path))
    table = _read(path, ending + ".gz" * is_packed, label, sep=sep, decimal=decimal)
    if table.y is None and label is not None:
        raise ValueError(
            f"{escape(str(path))}: there are no labels; pass label=None to read the samples alone"
        )
    return table


def _read(path: str | os.PathLike[str], ending: str, label: str | int | None, **dialect: Any) -> Table:
    form, _, _ = format_of(None, ending)
    with open_stream(os.fspath(path), ending=ending, **dialect) as stream:
        if label is None or not form.is_free:
            column = None if label is None else stream.label
        else:
            with named(stream.name):
                column = _label_column(stream.names, label)
        table = gather_table(stream, column)
    # LibOPF writes 0 for labels that are not known, even if the header announces some.
    return table._replace(y=None) if form.keeps_positions and not np.any(table.y) else table


def _label_column(names: Sequence[str], label: str | int) -> str:
    if isinstance(label, str):
        if label not in names:
            raise ValueError(
                f"there is no column {show(label)}, only {listed(names)}; pass label=<name, position or None>"
            )
        return label
    if not -len(names) <= label < len(names):
        raise ValueError(f"label={label} is outside the {len(names)} columns; they are {listed(names)}")
    return names[label]


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
        The ending chooses the format, as for `read`. A file of that name is replaced.
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
    form, ending, is_packed = format_of(os.fspath(path))
    layout, columns = layout_of(check_table(X, y, feature_names), label, form)
    if positions is not None:
        if not form.keeps_positions:
            raise ValueError(f"{escape(str(path))}: only LibOPF's formats keep positions; leave them out")
        given = np.asarray(positions)
        if given.shape != (len(columns[0].array),) or given.dtype.kind not in "iu":
            raise ValueError(
                f"positions of shape {given.shape} and type {given.dtype} for {len(columns[0].array)} samples"
            )
        layout = replace(layout, names=[POSITION, *layout.names], beside=(POSITION,))
        columns.insert(0, ArrayColumn(given))
    with open_sink(os.fspath(path), ending + ".gz" * is_packed, layout) as sink:
        sink(columns)


def layout_of(table: Table, label: str, form: Format) -> tuple[Layout, list[Column]]:
    """Return the columns of a table, labels first, as a format is to hold them."""
    names, columns = table.feature_names, array_columns(table.X)
    if table.y is None:
        form.check(names, None)
        return Layout(names), columns
    check_text(label, "label column")
    names = [label, *names]
    form.check(names, table.y)
    return Layout(names, label), [ArrayColumn(table.y), *columns]


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
    return _read(path, ".dat", "label")


def write_libopf(path: str | os.PathLike[str], X: Any, y: Any = None) -> None:
    """Write a binary LibOPF file, whatever its name: float32 values, and labels from 1 on.

    Examples
    --------
    >>> from pathforest.datasets import write_libopf
    >>> write_libopf("training.dat", [[0.5, 2]], [0])
    Traceback (most recent call last):
    ValueError: label 0 is outside 1 to 2147483647, the range of LibOPF files; renumber
    """
    layout, columns = layout_of(check_table(X, y, None), "label", FORMATS[".dat"])
    with open_sink(os.fspath(path), ".dat", layout) as sink:
        sink(columns)
