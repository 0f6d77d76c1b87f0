"""Data files of any size, read in batches."""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from pathforest.datasets.formats.endings import telling_name
from pathforest.datasets.formats.files import LIBSVM, format_of, named
from pathforest.datasets.formats.stream import Batch, Stream


@contextmanager
def open_stream(path: str, *, ending: str | None = None, n_features: int | None = None) -> Iterator[Stream]:
    """Open a file to be read in batches; `-` is the standard input.

    Memory stays small however large the file is, except in the hands of those who keep the batches.

    Parameters
    ----------
    path : str
        The file.
    ending : str, default=None
        The format by its ending, where the name has none that tells: ``"csv"`` or ``"csv.gz"``. None takes
        the name's, and CSV for the standard input.
    n_features : int, default=None
        Number of features, for LIBSVM files, which do not say it.

    Yields
    ------
    stream : Stream
        The table.
    """
    name = "standard input" if path == "-" else path
    form, is_packed = format_of(Path(telling_name(path, ending)), ending or name)
    with ExitStack() as stack:
        is_guess = path == "-" and ending is None
        with _told(name, is_guess):
            file = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
            if is_packed:
                file = stack.enter_context(gzip.open(file))
            if not form.in_one_pass and (is_packed or not file.seekable()):
                file = stack.enter_context(_copy(file))
            stream = form.stream(file, n_features) if form is LIBSVM else form.stream(file)
        yield stream._replace(name=name, batches=_read_on(stream.batches, name, is_guess))


def _read_on(batches: Iterator[Batch], name: str, is_guess: bool) -> Iterator[Batch]:
    with _told(name, is_guess):
        yield from batches


@contextmanager
def _told(name: str, is_guess: bool) -> Iterator[None]:
    """Let an error say which file it is about, or that it is not in the format that was assumed."""
    try:
        with named(name):
            yield
    except ValueError as error:
        if is_guess and isinstance(error.__cause__, UnicodeDecodeError):
            raise ValueError(
                f"{name} is no UTF-8 text; for other formats say --from, such as --from parquet"
            ) from None
        raise


@contextmanager
def _copy(file: BinaryIO) -> Iterator[BinaryIO]:
    """Copy a stream to a temporary file, for formats whose reader goes back and forth."""
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield copy
