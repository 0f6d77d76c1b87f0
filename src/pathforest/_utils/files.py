"""Files replaced in one step: readers see the old or the new contents, and a failure leaves no trace."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file."""
    with replacing(path) as file:
        file.write(data)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check, before any work, that a file can be written."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(f"{path} is a folder; pass the name of a file")
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(f"{path} is a device or a pipe, which cannot be replaced; name a file")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: the folder {folder} does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: the folder {folder} is not writable; choose another")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when it is complete, and leaves no trace if writing fails."""
    target = os.path.realpath(path)  # a symbolic link stays one
    check_writable(path)
    folder, name = os.path.split(target)
    # In the same folder, because a file can be moved in one step only within a disk.
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
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
