"""Files replaced in one step: readers see the old or the new contents, and a failure leaves no trace."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pathforest._utils.show import escape


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file."""
    with replacing(path) as file:
        file.write(data)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check, before any work, that a file can be written."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    shown = escape(str(path))
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
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when it is complete, and leaves no trace if writing fails.

    A pipe or a device is not replaced: the complete contents are written to it.
    """
    check_writable(path)
    if _is_pipe_or_device(path):
        with tempfile.TemporaryFile() as file:  # writers go back in the file, which a pipe does not allow
            yield file
            file.seek(0)
            with open(path, "wb") as out:
                shutil.copyfileobj(file, out)
        return
    target = os.path.realpath(path)  # a symbolic link stays one
    # In the same folder, because a file can be moved in one step only within a disk. The name is short,
    # because that of the target may be as long as names can be.
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
