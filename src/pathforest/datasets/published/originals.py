"""The published sets as their authors wrote them, one reader per form."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from pathforest._tables import libopf, libsvm
from pathforest._tables.stream import gather_table

ANOMALY = {"n": 0, "o": 1}  # normal, outlier
TISSUES = {name: code for code, name in enumerate(("car", "fad", "mas", "gla", "con", "adi"), 1)}

Samples = tuple[np.ndarray, np.ndarray]


def read_original(parts: Sequence[bytes], form: str) -> Samples:
    """Read the samples and labels of a set whose files follow one another."""
    X, y = zip(*map(FORMS[form], parts), strict=True)
    return np.concatenate(X), np.concatenate(y)


def _from_libopf(data: bytes) -> Samples:
    stream = libopf.stream(io.BytesIO(data))
    if stream.label is None:
        raise ValueError("the file has no labels")
    return gather_table(stream, "label")[:2]


def _from_libsvm(data: bytes) -> Samples:
    return gather_table(libsvm.stream(io.BytesIO(data)), "label")[:2]


def _from_numbers(data: bytes) -> Samples:
    """Read numbers between spaces, the label last."""
    values = np.array([line.split() for line in data.decode().splitlines() if line.strip()], dtype=float)
    if values.ndim != 2:
        raise ValueError("the file is not a table of numbers")
    return values[:, :-1], values[:, -1].astype(np.int64)


def _from_anomaly(data: bytes) -> Samples:
    """Read numbers between commas, `n` or `o` last; no header."""
    rows = [line.strip().split(",") for line in data.decode().splitlines() if line.strip()]
    unknown = {row[-1] for row in rows} - set(ANOMALY)
    if unknown or not rows:
        raise ValueError(f"the last cells are {sorted(unknown)[:3]}, not n or o")
    return np.array([row[:-1] for row in rows], dtype=float), np.array([ANOMALY[row[-1]] for row in rows])


def _from_breast_tissue(data: bytes) -> Samples:
    """Read an Excel sheet: running number, class, features."""
    try:
        import xlrd
    except ImportError:
        raise ImportError("breast_tissue is an .xls file; run pip install 'pathforest[datasets]'") from None
    try:
        sheets = xlrd.open_workbook(file_contents=data).sheets()
        tables = [[sheet.row_values(i) for i in range(sheet.nrows)] for sheet in sheets]
    except Exception as error:  # xlrd raises whatever a damaged file makes it trip over
        raise ValueError(f"it is not an Excel workbook: {error}") from error
    for rows in tables:
        if rows and "Class" in rows[0]:
            column = rows[0].index("Class")
            y = [TISSUES.get(str(row[column]).strip().lower(), 0) for row in rows[1:]]
            return np.array([row[column + 1 :] for row in rows[1:]], dtype=float), np.array(y)
    raise ValueError("no sheet of the workbook has a column 'Class'")


FORMS = {
    "libopf": _from_libopf,
    "libsvm": _from_libsvm,
    "numbers": _from_numbers,
    "anomaly": _from_anomaly,
    "breast_tissue": _from_breast_tissue,
}
