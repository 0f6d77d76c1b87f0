"""Arrays as bytes: NumPy's NPY format, limited to types without pointers, and lists of text beside it."""

from __future__ import annotations

import io
import math
import re
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

# Booleans, integers, floats, text of fixed width, dates and times.
DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,7}|<[mM]8\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
VERSION = 1, 0  # of NPY
MOST_DIMENSIONS = 4
LONGEST = 2**31  # of any length, that of arrays without entries too: the core counts with 32 bits
LAST_CODE_POINT = 0x10FFFF


def is_portable(dtype: np.dtype) -> bool:
    """Say whether values of a type can be in a file; they are little-endian there."""
    return DTYPE.fullmatch(dtype.newbyteorder("<").str) is not None


def split_texts(array: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Split an object array of text into a number for each entry and a list that has each text once."""
    if array.dtype != object:
        return array, None
    texts, numbers = np.unique(array, return_inverse=True)
    return numbers.astype(np.int32), [str(text) for text in texts]


def read_texts(texts: Any, numbers: np.ndarray) -> np.ndarray:
    """Make the object array that :func:`split_texts` has split."""
    if type(texts) is not list or not all(type(text) is str for text in texts):
        raise ValueError("an array of text contains something else")
    if numbers.dtype != np.int32 or numbers.ndim != 1 or not ((numbers >= 0) & (numbers < len(texts))).all():
        raise ValueError("an array of text refers to text that is missing")
    return np.array(texts, dtype=object)[numbers]


def write_array(stream: BinaryIO, array: np.ndarray) -> None:
    """Write an array in its memory order, which decides how products round."""
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    npy.write_array(stream, array, VERSION, allow_pickle=False)


def read_array(data: bytes) -> np.ndarray:
    """Read an array, after checking its header, in the byte order of this machine."""
    stream = io.BytesIO(data)
    if npy.read_magic(stream) != VERSION:
        raise ValueError("an array has another version of the NPY format")
    shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
    if not DTYPE.fullmatch(dtype.str):
        raise ValueError(f"arrays of type {dtype.str[:80]} cannot be in a file")
    start = stream.tell()
    is_shape = all(type(length) is int and 0 <= length < LONGEST for length in shape)
    if not is_shape or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"{str(shape)[:80]} is not the shape of an array in a file")
    if math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError(f"an array of shape {shape} does not fill its {len(data) - start} bytes")
    if dtype.kind == "b" and np.frombuffer(data, np.uint8, offset=start).max(initial=0) > 1:
        raise ValueError("a truth value is neither 0 nor 1")
    if dtype.kind == "U" and np.frombuffer(data, "<u4", offset=start).max(initial=0) > LAST_CODE_POINT:
        raise ValueError("a text contains a character that does not exist")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape, order="F" if is_fortran else "C")
    return array.astype(dtype.newbyteorder("="), order="K")
