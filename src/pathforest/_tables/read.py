"""Tables read from files in batches: places in the file and a dict of arrays.

The ending of the name chooses the format. Files of text are read strictly, by Python's own CSV reader, so
that an error names the line; a cell keeps its text, and :mod:`pathforest._tables.columns` decides what it
means.
"""

from __future__ import annotations

import csv
import gzip
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from pathforest._tables import columns as col
from pathforest._tables import libopf
from pathforest._tables.batches import (
    EXACT,
    Columns,
    Dialect,
    Layout,
    Parts,
    Stream,
    cut,
    rows_per_batch,
    text_lines,
)
from pathforest._utils.checks import demand
from pathforest._utils.files import naming, scratch
from pathforest._utils.text import escape, listed, show

SEPARATORS = ",;\t|"
SAMPLED = 100  # lines from which separator and decimal mark are found, at most
THOUSANDS = re.compile(r"\s*[+-]?[0-9]{1,3},[0-9]{3}\s*")
SMALL, SPARSEST = 10**6, 1000  # cells of a table that is always made dense; cells per value of larger ones

# CSV and TSV


def _delimited(
    file: BinaryIO,
    *,
    own: str,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Stream:
    """Read a table, lines counted from 1, the header's; `sep` is `own` unless another is plain."""
    lines = text_lines(file, encoding or "utf-8")
    first = list(islice(lines, SAMPLED))
    is_cut = len(first) == SAMPLED
    sep = sep or _find_separator(first, is_cut, own)
    decimal = decimal or _find_decimal(_sampled(first, is_cut, sep), sep)
    rows = _rows(chain(first, lines), sep)
    _, names = next(rows, (1, []))
    demand(names, "line 1 is empty; the first line must name the columns")
    check_header(names)

    def parts() -> Parts:
        while chunk := list(islice(rows, rows_per_batch(len(names)))):
            places, cells = zip(*chunk, strict=True)
            columns = zip(*cells, strict=True)
            yield places, {name: col.objects(column) for name, column in zip(names, columns, strict=True)}

    return Stream(names, place="line", dialect=Dialect(sep, decimal), parts=parts())


def _sampled(lines: Sequence[str], is_cut: bool, delimiter: str) -> list[list[str]]:
    """Return the cells of the first rows, without the last if more of it may follow."""
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []
    return rows[:-1] if is_cut else rows


def _find_separator(lines: Sequence[str], is_cut: bool, own: str) -> str:
    """Return what separates cells: `own`, unless it does not and exactly one other does."""

    def separates(delimiter: str) -> bool:
        widths = {len(row) for row in _sampled(lines, is_cut, delimiter)}
        return len(widths) == 1 and min(widths) > 1

    others = [other for other in SEPARATORS if other != own and separates(other)]
    return others[0] if len(others) == 1 and not separates(own) else own


def _find_decimal(rows: Sequence[Sequence[str]], sep: str) -> str:
    """Return the decimal mark: a comma only if numbers have commas that are not those of thousands."""
    cells = [cell for row in rows[1:] for cell in row]
    if sep == "," or any("." in cell and col.reads_as(cell, col.number) for cell in cells):
        return "."
    is_comma = any(col.DECIMAL_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell) for cell in cells)
    return "," if is_comma else "."


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the header, then the lines that are not empty, all of them as wide as the header."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width = None
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield reader.line_num, row
            elif row:
                raise ValueError(
                    f"line {reader.line_num} has {len(row)} cells and the header {width}; add or remove some"
                )
            width = width or len(row)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _check_distinct(names: Sequence[str]) -> None:
    """Refuse column names that cannot be distinguished."""
    if len(set(names)) < len(names):
        repeated = min(name for name in names if names.count(name) > 1)
        places = " and ".join(str(j) for j, name in enumerate(names, 1) if name == repeated)
        raise ValueError(
            f"the column name {show(repeated)} occurs more than once, in columns {places}; rename one of them"
        )


def check_header(names: Sequence[str]) -> None:
    """Refuse column names that cannot be distinguished, or that are samples."""
    _check_distinct(names)
    found = [name for name in names if col.reads_as(name, col.number)]
    demand(
        len(found) != len(names),
        f"the header holds only numbers ({listed(names)}); the first line must name the columns",
    )
    # Data frames name columns without names 0, 1, 2 and so on.
    counted = any(found == [str(start + i) for i in range(len(found))] for start in (0, 1))
    demand(
        len(found) < 2 or 2 * len(found) <= len(names) or counted,
        f"line 1 looks like a sample: {len(found)} of its {len(names)} cells are numbers; the first "
        "line must name the columns",
    )


# LIBSVM, NPZ, Parquet and Excel


def _libsvm(file: BinaryIO, n_features: int | None = None) -> Stream:
    """Read LIBSVM's text: what is not given is 0, indices count from 1, or from 0 if one of them is 0."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(file, zero_based="auto")
    except Exception as error:  # of many kinds
        raise ValueError(f"a line is not 'label index:value ...' with ascending indices: {error}") from None
    demand(X.nnz, "there is no sample with an index:value pair")
    n_rows, n_columns = len(y), max(X.shape[1], n_features or 0)
    demand(
        n_rows * n_columns <= max(SMALL, SPARSEST * X.nnz),
        f"{X.nnz} values, spread over {n_rows} x {n_columns} cells by their indices, are too sparse for "
        "this library, which works on dense rows",
    )
    wrong = np.flatnonzero(~((y == np.round(y)) & (np.abs(y) <= EXACT)))
    if len(wrong):
        raise ValueError(
            f"the label {show(format(y[wrong[0]], 'g'))} is not a class; labels are integers up to 2^53"
        )
    names = col.default_names(n_columns)

    def parts() -> Parts:
        step = rows_per_batch(n_columns)
        for start in range(0, n_rows, step):
            rows = X[start : start + step]
            values = np.zeros((rows.shape[0], n_columns))
            values[np.repeat(np.arange(len(values)), np.diff(rows.indptr)), rows.indices] = rows.data
            labels = y[start : start + step].astype(np.int64)
            places = range(start, start + len(values))
            yield places, {"label": labels} | dict(zip(names, np.ascontiguousarray(values.T), strict=True))

    return Stream(["label", *names], "label", parts=parts())


def _npz(file: BinaryIO) -> Stream:
    """Read the arrays `X`, `y` and `feature_names` of an archive, without pickled objects."""
    try:
        archive = np.load(file, allow_pickle=False)
        arrays = {name: archive[name] for name in ("X", "y", "feature_names") if name in archive}
    except Exception as error:  # numpy trips in many ways over damaged bytes
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"the archive is damaged: {reason}") from None
    demand("X" in arrays, f"there is no array 'X', only {listed(archive)}")
    demand(
        all(isinstance(array, np.ndarray) for array in arrays.values()), "an array is not in NumPy's format"
    )
    names = arrays["feature_names"].tolist() if "feature_names" in arrays else None
    layout, columns = as_columns(arrays["X"], arrays.get("y"), names)
    return Stream(layout.names, layout.label, parts=cut(len(arrays["X"]), columns))


def require_pyarrow() -> tuple[Any, Any]:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow; run pip install 'pathforest[parquet]'") from None
    return pyarrow, pyarrow.parquet


def _parquet(file: BinaryIO) -> Stream:
    """Read a Parquet file, its columns with their types."""
    pyarrow, parquet = require_pyarrow()

    @contextmanager
    def damage() -> Iterator[None]:
        try:
            yield
        except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
            raise ValueError(f"the file is damaged: {error}") from None

    with damage():
        # Without pre_buffer no thread but ours touches the file: one that lets go of it while Python ends
        # would abort the process.
        source = parquet.ParquetFile(file, pre_buffer=False)
        schema = source.schema_arrow
    demand(schema.names, "the table has no columns; it needs one")
    _check_distinct(schema.names)

    def parts() -> Parts:
        first, found = 0, source.iter_batches(rows_per_batch(len(schema.names)), use_threads=False)
        while True:
            with damage():
                part = next(found, None)
                if part is None:
                    return
                part.validate(full=True)
                columns = dict(zip(schema.names, map(_of_arrow, part.columns), strict=True))
            yield range(first, first + len(part)), columns
            first += len(part)

    types = dict(zip(schema.names, schema.types, strict=True))
    return Stream(schema.names, types=types, parts=parts())


def _of_arrow(column: Any) -> np.ndarray:
    """Return numbers without gaps as an array of their type, and all else as Python's values."""
    pyarrow, _ = require_pyarrow()
    kind, types = column.type, pyarrow.types
    is_plain = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if is_plain and not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    if types.is_timestamp(kind):  # Python has no nanoseconds
        column = column.cast(pyarrow.timestamp("us", kind.tz), safe=False)
    return col.objects(column.to_pylist())


def _excel(file: BinaryIO) -> Stream:
    """Read the first sheet of a workbook; its text may be numbers, as in a text file."""
    try:
        import pandas

        sheet = pandas.read_excel(file, header=None, dtype=object, na_filter=False)
    except ImportError as error:
        raise ImportError(f"Excel files need pathforest[excel]; install it with pip ({error})") from None
    except Exception as error:  # whatever a damaged file makes the readers trip over
        raise ValueError(f"it is not an Excel workbook: {error}") from None
    demand(len(sheet), "the first sheet is empty; its first row must name the columns")
    names = list(map(str, sheet.iloc[0]))
    check_header(names)
    columns = {name: sheet.iloc[1:, j].to_numpy(dtype=object) for j, name in enumerate(names)}
    return Stream(names, dialect=Dialect(","), parts=cut(len(sheet) - 1, columns, first=2))


def as_columns(
    X: np.ndarray, y: np.ndarray | None, feature_names: Sequence[str] | None = None, label: str = "label"
) -> tuple[Layout, Columns]:
    """Check that samples, labels and names can be a file's; return them as columns, the labels first."""
    demand(
        X.ndim == 2 and 0 not in X.shape,
        f"X of shape {X.shape} is not a table; it needs at least one row and one column",
    )
    names = col.default_names(X.shape[1]) if feature_names is None else list(feature_names)
    demand(
        len(names) == X.shape[1],
        f"{len(names)} feature_names for {X.shape[1]} features; pass one name per column of X",
    )
    for name in names:
        col.check_text(name, "feature name")
    labels = {}
    if y is not None:
        demand(y.ndim == 1, f"y of shape {y.shape} is not a list of labels; pass one label per sample")
        demand(len(y) == len(X), f"{len(y)} labels for {len(X)} samples; pass one label per row of X")
        col.check_text(label, "label column")
        labels = {label: col.check_labels(y)}
    names = [*labels, *names]
    _check_distinct(names)
    features = np.ascontiguousarray(_check_samples(X).T)
    columns = dict(zip(names, [*labels.values(), *features], strict=True))
    return Layout(names, label if labels else None), columns


def _check_samples(given: np.ndarray) -> np.ndarray:
    """Return a matrix as float32 or float64."""
    if given.dtype.kind in "mM":
        # A plain conversion would turn NaT, a missing date, into a number.
        raise ValueError(
            f"X of type {given.dtype} holds dates; turn them into numbers, such as days since the first: "
            "(X - X.min()) / np.timedelta64(1, 'D')"
        )
    demand(given.dtype.kind in "biuf", f"X of type {given.dtype} holds no real numbers; convert it to float")
    values = given.astype(np.float32 if given.dtype in (np.float16, np.float32) else np.float64)
    col.check_exact(given, values)
    return values


# Files


class Format(NamedTuple):
    """How a file is read, and what it has room for."""

    read: Callable[..., Stream] | None  # None: it is only written
    is_written: bool = True
    is_free: bool = False  # whether columns can be of any kind; if not, labels have a place of their own
    in_one_pass: bool = False  # whether a reader never goes back, so that the file can come through a pipe
    has_types: bool = False  # whether columns of numbers differ from columns of text
    keeps_names: bool = True
    keeps_positions: bool = False


_LIBSVM = Format(_libsvm, in_one_pass=True, keeps_names=False)
_LIBOPF = Format(libopf.read, keeps_names=False, keeps_positions=True)
_EXCEL = Format(_excel, is_written=False, is_free=True)
_JSON = Format(None, is_free=True, has_types=True)
FORMATS = {
    ".csv": Format(partial(_delimited, own=","), is_free=True, in_one_pass=True),
    ".tsv": Format(partial(_delimited, own="\t"), is_free=True, in_one_pass=True),
    ".dat": _LIBOPF,
    ".txt": _LIBOPF._replace(read=libopf.read_text, in_one_pass=True),
    ".libsvm": _LIBSVM,
    ".svm": _LIBSVM,
    ".svmlight": _LIBSVM,
    ".npz": Format(_npz),
    ".parquet": Format(_parquet, is_free=True, has_types=True),
    ".xlsx": _EXCEL,
    ".xls": _EXCEL,
    ".json": _JSON,
    ".jsonl": _JSON,
}


def format_of(
    path: str | PathLike[str] | None,
    ending: str | None = None,
    use: Literal["read", "write", "show"] = "read",
) -> tuple[Format, str, bool]:
    """Return the format by the ending of a name or `ending`, that without `.gz`, and if that was there."""
    suffix, is_packed = split_ending(path, ending)
    fits = {
        "read": lambda form: form.read is not None,
        "write": lambda form: form.read is not None and form.is_written,
        "show": lambda form: form.is_free and form.is_written,
    }
    known = [end for end, form in FORMATS.items() if fits[use](form)]
    if suffix not in known:
        what = "an output" if use == "show" else "a data"
        raise ValueError(
            f"{escape(str(ending or path))}: the ending is not that of {what} format; known are "
            f"{', '.join(known)}, also with .gz"
        )
    return FORMATS[suffix], suffix, is_packed


def split_ending(path: str | PathLike[str] | None, ending: str | None = None) -> tuple[str, bool]:
    """Return the ending of a name without `.gz`, and whether that was there."""
    if ending:
        path = f"x.{ending.removeprefix('.')}"
    name = "x.csv" if path in (None, "-") else Path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")


@contextmanager
def open_stream(
    path: str | BinaryIO, *, ending: str | None = None, n_features: int | None = None, **how: str | None
) -> Iterator[Stream]:
    """Open a file, `-` for the standard input, to be read in batches: little memory however large it is."""
    # LIBSVM files do not say `n_features`; `sep`, `decimal` and `encoding` are of CSV and TSV files.
    is_input, is_file = path == "-", not isinstance(path, str)
    name = "standard input" if is_input else "the file" if is_file else escape(path)
    form, suffix, is_packed = format_of(None if is_file else path, ending)
    how = {key: value for key, value in how.items() if value is not None}
    if how and suffix not in (".csv", ".tsv"):
        raise ValueError(f"{name}: {min(how)} is for CSV and TSV files, and this is {suffix}; leave it out")
    options = {"n_features": n_features} if form is _LIBSVM else how
    with ExitStack() as stack:
        with _named(name, is_guess=is_input and ending is None):
            file: Any = sys.stdin.buffer if is_input else path
            if isinstance(path, str) and not is_input:
                file = stack.enter_context(open(path, "rb"))
                demand(file.peek(1), "the file is empty")
            if is_packed:
                file = stack.enter_context(gzip.GzipFile(fileobj=file))
            if not form.in_one_pass and (is_packed or not file.seekable()):
                copy = stack.enter_context(scratch())  # for readers that go back and forth
                with naming(tempfile.gettempdir()):
                    shutil.copyfileobj(file, copy)
                copy.seek(0)
                file = copy
            stream = form.read(file, **options)
        yield replace(stream, name=name, parts=_read_on(stream.parts, name, is_input and ending is None))


def _read_on(parts: Parts, name: str, is_guess: bool) -> Parts:
    with _named(name, is_guess):
        yield from parts


@contextmanager
def _named(name: str, is_guess: bool = False) -> Iterator[None]:
    """Let an error say which file it is about, or that it is not in the format that was assumed."""
    try:
        with naming(name):
            yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: the gzip packing is damaged or cut off: {error}") from None
    except UnicodeDecodeError as error:
        if is_guess:
            raise ValueError(
                f"{name} is not UTF-8 text; for other formats pass --from, such as --from parquet"
            ) from None
        found = f"byte {error.object[error.start]:#04x} is not {error.encoding.upper()} text"
        raise ValueError(
            f"{name}: {found}; save the file as UTF-8, or pass --encoding, such as --encoding latin-1 "
            "(encoding='latin-1' in Python)"
        ) from error
    except LookupError as error:
        raise ValueError(f"{name}: {error}; name another, such as latin-1") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
