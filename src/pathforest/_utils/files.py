"""Files replaced in one step: readers see the old or the new contents, and a failure leaves no trace.

Neither does a signal that asks the process to end; one that kills it at once, such as SIGKILL, leaves a file.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from pathforest._utils.text import escape

STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_begun: list[str] = []  # files that a signal removes


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check, before any work, that a file can be written."""
    target, shown = os.path.realpath(path), escape(str(path))
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(f"{shown} is a folder; pass the name of a file")
    if _is_pipe_or_device(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{shown} is not writable; choose another")
        return
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{shown}: the folder {escape(folder)} does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{shown}: the folder {escape(folder)} is not writable; choose another")


def _is_pipe_or_device(path: str | os.PathLike[str]) -> bool:
    # Not by the real path: that of /dev/stdout is a name such as pipe:[123], which does not exist.
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def naming(path: str | os.PathLike[str], temporary: str | None = None) -> Iterator[None]:
    """Let an error of the system name a file if it names none, or the one that is written in its place."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, temporary):
            error.filename = os.fspath(path)
        raise


@contextmanager
def scratch() -> Iterator[BinaryIO]:
    """Open a file without a name; errors name the folder whose disk it takes."""
    with naming(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
        yield file


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when complete, else leaves no trace; pipes are written to."""
    check_writable(path)
    if _is_pipe_or_device(path):
        with scratch() as file:  # writers go back in the file, which a pipe does not allow
            yield file
            file.seek(0)
            with naming(path), open(path, "wb") as out:
                shutil.copyfileobj(file, out)
        return
    target = os.path.realpath(path)  # a symbolic link stays one
    # In the same folder, because a file can be moved in one step only within a disk. The name is short,
    # because that of the target may be as long as names can be.
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    with _removed_by_signals(temporary), naming(path, temporary):
        try:
            with open(temporary, "x+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def _removed_by_signals(path: str) -> Iterator[None]:
    """Let a signal that ends the process remove a file first."""
    taken = []
    if threading.current_thread() is threading.main_thread():  # no other may, and Python's handlers run in it
        taken = [number for number in STOPS if signal.getsignal(number) in (signal.SIG_DFL, _end)]
    before = [signal.signal(number, _end) for number in taken]
    _begun.append(path)
    try:
        yield
    finally:
        _begun.remove(path)
        for number, handler in zip(taken, before, strict=True):
            signal.signal(number, handler)


def _end(number: int, frame: Any) -> None:
    for path in _begun:
        with suppress(OSError):
            os.unlink(path)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
