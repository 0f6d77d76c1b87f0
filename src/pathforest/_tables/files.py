"""Data files opened for reading and writing: the ending of the name chooses the format.

A format is a stream, which reads batches from a file that is open, and a sink, which writes them. Opening,
unpacking and replacing files happens here, once, so that no format can leave a file half-written or hide
which file it was.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pathforest._tables import delimited, json, libopf, libsvm, npz, parquet
from pathforest._tables.expansion import check_expansion
from pathforest._tables.stream import Batch, Layout, Stream, Write
from pathforest._utils.files import check_writable, naming, replacing, scratch
from pathforest._utils.text import TerminalOutput, escape

STANDARD_OUTPUT = "the standard output"  # in messages


class Format(NamedTuple):
    """How a file is read and written, and what it has room for."""

    stream: Callable[..., Stream] | None  # None: it is only written
    sink: Callable[[BinaryIO, Layout], AbstractContextManager[Write]]
    is_free: bool = False  # whether columns can be of any kind; if not, labels have a place of their own
    in_one_pass: bool = False  # whether a stream never goes back, so that it can come through a pipe
    has_types: bool = False  # whether columns of numbers differ from columns of text
    keeps_names: bool = True
    keeps_positions: bool = False
    check: Callable[[Sequence[str], np.ndarray | None], None] = lambda names, y: None  # before `write`


def _delimited(delimiter: str) -> Format:
    functions = (partial(f, delimiter=delimiter) for f in (delimited.stream, delimited.sink, delimited.check))
    stream, sink, check = functions
    return Format(stream, sink, is_free=True, in_one_pass=True, check=check)


_LIBSVM = Format(libsvm.stream, libsvm.sink, keeps_names=False)
_LIBOPF = Format(libopf.stream, libopf.sink, keeps_names=False, keeps_positions=True)

FORMATS = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".dat": _LIBOPF,
    ".txt": _LIBOPF._replace(stream=libopf.stream_text, sink=libopf.sink_text, in_one_pass=True),
    ".libsvm": _LIBSVM,
    ".svm": _LIBSVM,
    ".svmlight": _LIBSVM,
    ".npz": Format(npz.stream, npz.sink),
    ".parquet": Format(parquet.stream, parquet.sink, is_free=True, has_types=True),
    ".json": Format(None, json.sink, is_free=True, has_types=True),
    ".jsonl": Format(None, partial(json.sink, lines=True), is_free=True, has_types=True),
}


def format_of(
    path: str | os.PathLike[str] | None, ending: str | None = None, *, of_output: bool = False
) -> tuple[Format, str, bool]:
    """Return a format by the ending of a name, that ending without `.gz`, and whether that was there.

    Parameters
    ----------
    path : str, path-like or None
        The file. The standard input and output, `-` or None, have no ending; they are CSV unless
        `ending` says otherwise.
    ending : str, default=None
        The format by its ending, if the name does not say it: ``"csv"`` or ``"csv.gz"``.
    of_output : bool, default=False
        Whether the file is to hold columns of any kind; the others are formats that can be read.
    """
    suffix, is_packed = _split_ending(path, ending)
    known = [e for e, form in FORMATS.items() if (form.is_free if of_output else form.stream)]
    if suffix not in known:
        raise ValueError(
            f"{escape(str(ending or path))}: the ending is not that of "
            f"{'an output' if of_output else 'a data'} format; known are {', '.join(known)}, also with .gz"
        )
    return FORMATS[suffix], suffix, is_packed


def _split_ending(path: str | os.PathLike[str] | None, ending: str | None) -> tuple[str, bool]:
    if ending:
        path = f"x.{ending.removeprefix('.')}"
    name = "x.csv" if path in (None, "-") else Path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")


@contextmanager
def open_stream(
    path: str,
    *,
    ending: str | None = None,
    n_features: int | None = None,
    sep: str | None = None,
    decimal: str | None = None,
) -> Iterator[Stream]:
    """Open a file to be read in batches; `-` is the standard input.

    Memory stays small however large the file is, unless the caller keeps the batches. A `.gz` file that
    unpacks to very much more than it holds is refused.

    Parameters
    ----------
    path : str
        The file.
    ending : str, default=None
        The format by its ending, as for `format_of`.
    n_features : int, default=None
        Number of features, for LIBSVM files, which do not say it.
    sep, decimal : str, default=None
        Separator and decimal mark of CSV and TSV files, found in the file if they are not given.

    Yields
    ------
    stream : Stream
        The table.
    """
    is_input = path == "-"
    name = "standard input" if is_input else escape(path)
    form, suffix, is_packed = format_of(path, ending)
    dialect = {key: value for key, value in (("sep", sep), ("decimal", decimal)) if value is not None}
    if dialect and suffix not in (".csv", ".tsv"):
        raise ValueError(
            f"{name}: {min(dialect)} is for CSV and TSV files, and this is {suffix}; leave it out"
        )
    with ExitStack() as stack:
        with named(name, is_guess=is_input and ending is None):
            file: Any = sys.stdin.buffer if is_input else stack.enter_context(open(path, "rb"))
            if not is_input and not file.peek(1):
                raise ValueError("the file is empty")
            if is_packed:
                file = stack.enter_context(Unpacked(file))
            if not form.in_one_pass and (is_packed or not file.seekable()):
                file = stack.enter_context(_copy(file))
            stream = form.stream(file, n_features) if form is _LIBSVM else form.stream(file, **dialect)
        batches = _read_on(stream.batches, name, is_input and ending is None)
        yield replace(stream, name=name, batches=batches)


def _read_on(batches: Iterator[Batch], name: str, is_guess: bool) -> Iterator[Batch]:
    with named(name, is_guess):
        yield from batches


class Unpacked(gzip.GzipFile):
    """The contents of a gzip file, as long as they are not out of proportion to what was read of it."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = _Counted(packed)
        super().__init__(fileobj=self._packed, mode="rb")

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes."""
        return self._checked(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        """Read what is there, at most so many bytes."""
        return self._checked(super().read1(size))

    def _checked(self, data: bytes) -> bytes:
        check_expansion(self.tell(), self._packed.n_bytes, "unpack it with gunzip and read the result")
        return data


class _Counted:
    """A file that counts what was read of it; a pipe does not say."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.n_bytes = file, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.n_bytes += len(data)
        return data


@contextmanager
def _copy(file: BinaryIO) -> Iterator[BinaryIO]:
    """Copy a stream to a temporary file, for formats whose reader goes back and forth."""
    with scratch() as copy:
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield copy


@contextmanager
def named(name: object, is_guess: bool = False) -> Iterator[None]:
    """Let an error say which file it is about, or that it is not in the format that was assumed."""
    try:
        with naming(str(name)):
            yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: the gzip packing is damaged or cut off: {error}") from None
    except UnicodeDecodeError as error:
        if is_guess:
            raise ValueError(
                f"{name} is not UTF-8 text; for other formats pass --from, such as --from parquet"
            ) from None
        raise ValueError(
            f"{name}: byte {error.object[error.start]:#04x} is not UTF-8 text; save the file as UTF-8, or "
            "read it with pandas, which knows other encodings"
        ) from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def check_sink(path: str | None, ending: str | None) -> Format:
    """Check, before any work, that the output has a format and a place; return the format."""
    form, suffix, _ = format_of(path, ending, of_output=True)
    if suffix == ".parquet":
        parquet.require_pyarrow()
    if path is not None:
        check_writable(path)
    elif sys.stdout is None:
        raise ValueError(f"{STANDARD_OUTPUT} is closed; name a file with --out")
    return form


def _standard_output() -> BinaryIO:
    """Return where data go: into pipes byte by byte, on a terminal without what it would act on."""
    return TerminalOutput(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer


@contextmanager
def open_sink(path: str | os.PathLike[str] | None, ending: str | None, layout: Layout) -> Iterator[Write]:
    """Open a file that appears once it is complete, or with None the standard output.

    What is yielded writes the columns of a batch.
    """
    suffix, is_packed = _split_ending(path, ending)
    with ExitStack() as stack:
        if path is None:
            stack.enter_context(naming(STANDARD_OUTPUT))
        file: Any = _standard_output() if path is None else stack.enter_context(replacing(path))
        if is_packed:
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        with FORMATS[suffix].sink(file, layout) as sink:
            yield sink
        file.flush()
