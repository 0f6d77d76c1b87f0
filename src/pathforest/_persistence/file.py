"""Model files: NPZ archives, written in one step and read without trusting them.

A file is a ZIP archive without compression, which `unzip` and :func:`numpy.load` also open::

    pathforest.json      the format, the version of pathforest, and all values that are not arrays
    0.npy, 1.npy, ...    the arrays, little-endian
    (comment)            the last 64 bytes of the file: the SHA-256 of all before, in hexadecimal digits

The name of the first member, its key "format" and the checksum are the same in every version.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from sklearn.utils.validation import check_is_fitted

from pathforest._persistence.contents import DTYPE, MOST_DIMENSIONS, decode, encode
from pathforest._utils.files import replacing
from pathforest._utils.text import escape

# Raise when older versions could not read a new file.
FILE_FORMAT = 1

HEAD = "pathforest.json"
START = re.compile(rb"PK\x03\x04.{26}" + re.escape(HEAD.encode()), re.DOTALL)  # entry of the first member
START_SIZE = 30 + len(HEAD)
LARGEST_HEAD = 2**25  # bytes; JSON takes up to 50 times as much memory when it is parsed
DIGEST_SIZE = len(hashlib.sha256().hexdigest())
BLOCK = 2**20  # bytes hashed at a time
NPY_VERSION = 1, 0
LONGEST = 2**31  # of any length, that of arrays without entries too: the core counts with 32 bits
LAST_CODE_POINT = 0x10FFFF


def save(model: Any, path: str | os.PathLike[str], *, growable: bool = False) -> None:
    """Write a fitted model, or a pipeline that ends with one, to a file that is safe to open.

    A pipeline may contain :class:`TablePreprocessor`, scikit-learn's scalers and
    :class:`~sklearn.decomposition.PCA`. The file has no code and no pickle; :func:`load` reads it.

    Parameters
    ----------
    model : estimator or pipeline
        A fitted estimator of pathforest, or a fitted pipeline of scikit-learn around one.
    path : str or path-like
        The file. An existing file is replaced once the new one is complete.
    growable : bool, default=False
        Whether the loaded model can grow, for a model that can.

    Raises
    ------
    ValueError
        If the model contains something that is not on the list: a function, or another class. Use skops
        for such models.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> import pathforest
    >>> from sklearn.pipeline import make_pipeline
    >>> table = {"age": [22, 38, None, 35], "sex": ["male", "female", "female", "male"]}
    >>> model = make_pipeline(pathforest.TablePreprocessor(), pathforest.OPFClassifier())
    >>> _ = model.fit(table, ["no", "yes", "yes", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pathforest.save(model, os.path.join(folder, "model.pf"))
    ...     loaded = pathforest.load(os.path.join(folder, "model.pf"))
    >>> loaded.predict({"age": [None], "sex": ["female"]}).tolist()
    ['yes']
    """
    check_is_fitted(model)
    objects, arrays = encode(model, growable)
    split = [_split_texts(array) for array in arrays]
    head = {
        "format": FILE_FORMAT,
        "pathforest": version("pathforest"),
        "texts": {str(i): texts for i, (_, texts) in enumerate(split) if texts is not None},
        "objects": objects,
    }
    text = json.dumps(head, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > LARGEST_HEAD:
        raise ValueError(
            f"the model has {len(text)} bytes of text and parameters, and a file takes {LARGEST_HEAD}; use "
            "joblib.dump, and load such files only from people you trust"
        )
    with replacing(path) as file:
        _write(file, text, [array for array, _ in split])


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model or a pipeline that `save` has written.

    Loading is safe whoever made the file: it contains numbers and text, no code and no pickle, and can only
    ask for the estimators of this package and a few transformers on a list.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        With the class, the parameters and the fitted attributes of the saved model. It gives the same
        answers.

    Raises
    ------
    ValueError
        If the file is not a model, is incomplete, was changed in any bit, has a later version of the format,
        or contains values that do not fit together: indices out of range, paths that run in circles, costs
        that are not numbers, arrays of different lengths.
    OSError
        If the file cannot be read.

    Notes
    -----
    The checksum detects damage; it does not say who made the file. A stranger's model is safe to open, but
    it may give wrong answers on purpose.

    Loading needs memory for the model and a second copy of its largest array.

    Examples
    --------
    >>> import os, tempfile
    >>> import pathforest
    >>> model = pathforest.OPFClassifier().fit([[0.0], [1.0], [3.0], [4.5]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.pf"))
    ...     loaded = pathforest.load(os.path.join(folder, "model.pf"))
    >>> loaded.predict([[1.9], [2.1]]).tolist()
    ['a', 'b']
    """
    with open(path, "rb") as file:
        try:
            size = _check_file(file)
            with ZipFile(file) as archive:
                return _read(archive, size)
        except Exception as error:  # forged files lead to all kinds of errors
            known = type(error) is ValueError
            reason = error if known else f"its contents are not a model ({type(error).__name__}: {error})"
            raise ValueError(f"{escape(str(path))} cannot be loaded: {reason}") from error


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Say whether a file begins as model files do."""
    with open(path, "rb") as file:
        return START.match(file.read(START_SIZE)) is not None


def _write(file: BinaryIO, head: bytes, arrays: Sequence[np.ndarray]) -> None:
    """Write the archive, then the checksum into the place that its comment has kept."""
    with ZipFile(file, "w") as archive:
        archive.comment = bytes(DIGEST_SIZE)
        archive.writestr(_member(HEAD, len(head)), head)
        for i, array in enumerate(arrays):
            with archive.open(_member(f"{i}.npy", array.nbytes), "w") as member:
                write_array(member, array)
    size = file.tell() - DIGEST_SIZE
    digest = _checksum(file, size)
    file.seek(size)
    file.write(digest)


def _member(name: str, size: int) -> ZipInfo:
    """Describe a member so that the same model gives the same bytes at any time and on any system."""
    member = ZipInfo(name)  # of 1980
    member.create_system = 3
    member.file_size = size  # a large one needs a longer entry
    return member


def _checksum(file: BinaryIO, size: int) -> bytes:
    """Return the SHA-256 of the first bytes of a file, which stays there."""
    file.seek(0)
    checksum = hashlib.sha256()
    while size > 0 and (block := file.read(min(size, BLOCK))):
        checksum.update(block)
        size -= len(block)
    return checksum.hexdigest().encode()


def _check_file(file: BinaryIO) -> int:
    """Return the size of a file that is a model file and undamaged."""
    size = os.fstat(file.fileno()).st_size  # 0 for devices such as /dev/zero, which have no end
    if not START.match(file.read(min(size, START_SIZE))):
        raise ValueError(
            "it is not a pathforest model; pathforest.libopf.read_model reads the models of LibOPF, and "
            "pickle, joblib and skops read their own"
        )
    if _checksum(file, size - DIGEST_SIZE) != file.read(DIGEST_SIZE):
        raise ValueError("it is damaged: its checksum does not match; copy it again")
    return size


def _read(archive: ZipFile, size: int) -> Any:
    """Make the model in an archive of `size` bytes."""
    first, *others = members = archive.infolist()
    if [member.filename for member in members] != [HEAD, *(f"{i}.npy" for i in range(len(others)))]:
        raise ValueError(f"it does not consist of {HEAD} and numbered arrays")
    if any(member.compress_type != ZIP_STORED for member in members):
        raise ValueError("it is compressed, which model files are not")
    if sum(member.file_size for member in members) > size or first.file_size > LARGEST_HEAD:
        raise ValueError("it announces more than it can contain")
    head = json.loads(archive.read(first).decode("ascii"))
    found = head["format"]
    if type(found) is not int or found < 1:
        raise ValueError(f"there is no format {found!r}")
    if found > FILE_FORMAT:
        raise ValueError(f"its format is {found}, and this version reads {FILE_FORMAT}; upgrade pathforest")
    arrays = [_read_array(archive.read(member)) for member in others]
    for number, texts in head["texts"].items():
        arrays[int(number)] = _read_texts(texts, arrays[int(number)])
    return decode(head["objects"], arrays)


# Arrays in NumPy's NPY format, limited to types without pointers


def _split_texts(array: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Split an object array of text into a number for each entry and a list that has each text once."""
    if array.dtype != object:
        return array, None
    texts, numbers = np.unique(array, return_inverse=True)
    return numbers.astype(np.int32), [str(text) for text in texts]


def _read_texts(texts: Any, numbers: np.ndarray) -> np.ndarray:
    """Make the object array that :func:`_split_texts` has split."""
    if type(texts) is not list or not all(type(text) is str for text in texts):
        raise ValueError("an array of text contains something else")
    if numbers.dtype != np.int32 or numbers.ndim != 1 or not ((numbers >= 0) & (numbers < len(texts))).all():
        raise ValueError("an array of text refers to text that is missing")
    return np.array(texts, dtype=object)[numbers]


def write_array(stream: BinaryIO, array: np.ndarray) -> None:
    """Write an array in its memory order, which decides how products round."""
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    npy.write_array(stream, array, NPY_VERSION, allow_pickle=False)


def _read_array(data: bytes) -> np.ndarray:
    """Read an array, after checking its header, in the byte order of this machine."""
    stream = io.BytesIO(data)
    if npy.read_magic(stream) != NPY_VERSION:
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
