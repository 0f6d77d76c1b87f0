"""Model files: NPZ archives, written in one step and read without trusting them.

A file is a ZIP archive without compression, which `unzip` and :func:`numpy.load` also open. A folder has such
a file without the samples, and these in shards beside it, with a checksum of each in the file::

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
import reprlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any, BinaryIO, NoReturn
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from sklearn.utils.validation import check_is_fitted

from pathforest._persistence.checks import (
    MODELS,
    PARTS,
    TABLES,
    Saved,
    check_model,
    check_pipeline_model,
    demand,
)
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
# By kind, the largest value that parts of an array may have, their type, and what is wrong with others.
LARGEST_VALUES = {
    "b": (1, "<u1", "a truth value is neither 0 nor 1"),
    "U": (0x10FFFF, "<u4", "a text contains a character that does not exist"),
}
# Booleans, integers, floats, text of fixed width, dates and times.
DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,7}|<[mM]8\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
MOST_DIMENSIONS = 4
SCALARS = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # kinds of NumPy's own scalars
PLAIN = (type(None), bool, int, float, str)
DEEPEST = 32  # levels of lists in lists; our models have at most five
MOST_OBJECTS = 20_000  # in a model, an object counted each time that another refers to it
GROWTH = "_fit_grown"  # large, and stored only if asked for
SAMPLES = "_fit_X"  # stored apart in a folder
MODEL = "model.pf"  # the file in a folder

brief = reprlib.Repr()  # for messages: a forged value, or an array, may be long
brief.maxother = 80


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
    write(model, path, growable)


def write(
    model: Any, path: str | os.PathLike[str], growable: bool = False, shards: list[Any] | None = None
) -> None:
    """Write a model; with `shards` (rows and checksum of each) its samples are in files beside it."""
    check_is_fitted(model)
    encoder = _Encoder({GROWTH: growable, SAMPLES: shards is None})
    encoder.value(model, type(model).__name__)
    # A model that could not be loaded is not written.
    decode(encoder.objects, encoder.arrays, None if shards is None else lambda made: model._fit_X)
    split = [_split_texts(array) for array in encoder.arrays]
    head = {
        "format": FILE_FORMAT,
        "pathforest": version("pathforest"),
        "texts": {str(i): texts for i, (_, texts) in enumerate(split) if texts is not None},
        "objects": encoder.objects,
    } | ({} if shards is None else {"shards": shards})
    text = json.dumps(head, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > LARGEST_HEAD:
        raise ValueError(
            f"the model has {len(text)} bytes of text and parameters, and a file takes {LARGEST_HEAD}; use "
            "joblib.dump, and load such files only from people you trust"
        )
    with replacing(path) as file:
        with ZipFile(file, "w") as archive:
            archive.comment = bytes(DIGEST_SIZE)
            archive.writestr(_member(HEAD, len(text)), text)
            for i, (array, _) in enumerate(split):
                little = array.astype(array.dtype.newbyteorder("<"), copy=False)
                with archive.open(_member(f"{i}.npy", array.nbytes), "w") as member:
                    # In the array's memory order, which decides how products round.
                    npy.write_array(member, little, NPY_VERSION, allow_pickle=False)
        size = file.tell() - DIGEST_SIZE
        digest = _checksum(file, size)
        file.seek(size)  # the place that the comment has kept
        file.write(digest)


def read_model(path: str | os.PathLike[str], read_shards: Callable[..., Any]) -> Any:
    """Read a model; the samples of a folder by a function of the folder, its shards and the model."""
    name = os.path.join(path, MODEL) if os.path.isdir(path) else path
    with open(name, "rb") as file:
        try:
            return _read(file, partial(read_shards, os.path.dirname(os.path.abspath(name))))
        except Exception as error:  # forged files lead to all kinds of errors
            known = type(error) is ValueError
            reason = error if known else f"its contents are not a model ({type(error).__name__}: {error})"
            raise ValueError(f"{escape(str(path))} cannot be loaded: {reason}") from error


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Say whether a file begins as model files do."""
    with open(path, "rb") as file:
        return START.match(file.read(START_SIZE)) is not None


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


def shard_path(folder: str, number: int) -> str:
    """Return the path of a shard."""
    return os.path.join(folder, f"samples-{number:05}.npy")


def read_shard(folder: str, number: int, digest: str) -> np.ndarray:
    """Read a shard that is undamaged."""
    with open(shard_path(folder, number), "rb") as file:
        data = file.read()
    is_whole = hashlib.sha256(data).hexdigest() == digest
    demand(is_whole, f"shard {number} is damaged: its checksum does not match; copy it again")
    return _read_array(data)


def _read(file: BinaryIO, read_shards: Callable[..., Any]) -> Any:
    """Make the model in a file that is a model file and undamaged."""
    size = os.fstat(file.fileno()).st_size  # 0 for devices such as /dev/zero, which have no end
    demand(
        START.match(file.read(min(size, START_SIZE))),
        "it is not a pathforest model; pathforest.libopf.read_model reads the models of LibOPF, and "
        "pickle, joblib and skops read their own",
    )
    is_whole = _checksum(file, size - DIGEST_SIZE) == file.read(DIGEST_SIZE)
    demand(is_whole, "it is damaged: its checksum does not match; copy it again")
    with ZipFile(file) as archive:
        first, *others = members = archive.infolist()
        is_ours = [member.filename for member in members] == [HEAD, *map("{}.npy".format, range(len(others)))]
        demand(is_ours, f"it does not consist of {HEAD} and numbered arrays")
        is_plain = all(member.compress_type == ZIP_STORED for member in members)
        demand(is_plain, "it is compressed, which model files are not")
        is_within = sum(member.file_size for member in members) <= size and first.file_size <= LARGEST_HEAD
        demand(is_within, "it announces more than it can contain")
        head = json.loads(archive.read(first).decode("ascii"))
        found = head["format"]
        demand(type(found) is int and found >= 1, f"there is no format {found!r}")
        is_known = found <= FILE_FORMAT
        demand(is_known, f"its format is {found}, and this version reads {FILE_FORMAT}; upgrade pathforest")
        arrays = [_read_array(archive.read(member)) for member in others]
    for number, texts in head["texts"].items():
        arrays[int(number)] = _read_texts(texts, arrays[int(number)])
    shards = head.get("shards")
    return decode(head["objects"], arrays, None if shards is None else partial(read_shards, shards))


# Arrays in NumPy's NPY format, limited to types without pointers


def _split_texts(array: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Split an object array of text into a number for each entry and a list that has each text once."""
    if array.dtype != object:
        return array, None
    texts, numbers = np.unique(array, return_inverse=True)
    return numbers.astype(np.int32), [str(text) for text in texts]


def _read_texts(texts: Any, numbers: np.ndarray) -> np.ndarray:
    """Make the object array that :func:`_split_texts` has split."""
    is_text = type(texts) is list and all(type(text) is str for text in texts)
    demand(is_text, "an array of text contains something else")
    is_list = numbers.dtype == np.int32 and numbers.ndim == 1
    is_within = is_list and ((numbers >= 0) & (numbers < len(texts))).all()
    demand(is_within, "an array of text refers to text that is missing")
    return np.array(texts, dtype=object)[numbers]


def _read_array(data: bytes) -> np.ndarray:
    """Read an array, after checking its header, in the byte order of this machine."""
    stream = io.BytesIO(data)
    demand(npy.read_magic(stream) == NPY_VERSION, "an array has another version of the NPY format")
    shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
    demand(DTYPE.fullmatch(dtype.str), f"arrays of type {dtype.str[:80]} cannot be in a file")
    start = stream.tell()
    is_shape = all(type(length) is int and 0 <= length < LONGEST for length in shape)
    is_shape = is_shape and len(shape) <= MOST_DIMENSIONS
    demand(is_shape, f"{str(shape)[:80]} is not the shape of an array in a file")
    is_full = math.prod(shape) * dtype.itemsize == len(data) - start
    demand(is_full, f"an array of shape {shape} does not fill its {len(data) - start} bytes")
    if dtype.kind in LARGEST_VALUES:
        largest, words, reason = LARGEST_VALUES[dtype.kind]
        demand(np.frombuffer(data, words, offset=start).max(initial=0) <= largest, reason)
    array = np.frombuffer(data, dtype, offset=start).reshape(shape, order="F" if is_fortran else "C")
    return array.astype(dtype.newbyteorder("="), order="K")


# Models as JSON and arrays: nothing else can be in a file. JSON has no tuples, arrays or objects of Python.
# They are written as {"tuple": [...]}, {"array": 3} and so on; only lists, text, finite numbers, booleans and
# None stand for themselves.


def decode(objects: list[Any], arrays: list[np.ndarray], samples: Callable[[Any], Any] | None = None) -> Any:
    """Make the model that `save` has taken apart, and check everything; its samples may come from shards."""
    names = [item["class"] for item in objects]
    # A pipeline comes last, after the model that it ends with; the parts of models come before.
    is_pipeline = names[-1:] == ["Pipeline"]
    n_parts = len(names) - 1 - is_pipeline
    is_model = n_parts >= 0 and _class_of(names[n_parts]) and names[n_parts] in MODELS
    demand(is_model, f"{brief.repr(names[-1:])} is not a model; it may need a later pathforest")
    for name in names[:n_parts]:
        is_part = _class_of(name) and name in PARTS
        demand(is_part, f"{brief.repr(name)} cannot be part of a model; it may need a later pathforest")
    decoder = _Decoder(arrays)
    for name, item in zip(names, objects, strict=True):
        value = decoder.add(name, item["state"])
        if name in MODELS:
            if samples is not None:
                setattr(value, SAMPLES, samples(value))
            check_model(value)
        TABLES[name].derive(value)
    if is_pipeline:
        check_pipeline_model(value)
    return value


def _class_of(name: str) -> type | None:
    """Return the class that a name in a file stands for, if there is one."""
    # No module is imported because a file says so, but for those of public names, which list what is in them.
    package = import_module(__package__.partition(".")[0])
    if name not in TABLES and name in package.__all__:
        getattr(package, name)
    kind = MODELS.get(name) or PARTS.get(name)
    return getattr(import_module(kind), name) if isinstance(kind, str) else kind


def _params(kind: type, table: Saved) -> tuple[str, ...]:
    return tuple(kind._get_param_names()) if table.params is None else table.params


class _Encoder:
    """Takes objects apart. Shared parts stay shared: each array and object is written once."""

    def __init__(self, wanted: dict[str, bool]) -> None:
        self.arrays: list[np.ndarray] = []
        self.objects: list[Any] = []
        self._left_out = {name for name, is_wanted in wanted.items() if not is_wanted}
        self._written: dict[int, tuple[Any, Any]] = {}  # by id: the value, kept alive, and how to refer to it

    def value(self, value: Any, where: str, depth: int = 0) -> Any:
        """Encode one value; `where` names it in errors."""
        if depth > DEEPEST:
            _refuse(value, where, "it is nested too deeply")
        kind = type(value)
        if kind is float and not math.isfinite(value):
            return {"float": str(value)}
        if kind in PLAIN:
            return value
        if kind in (list, tuple, range):  # a range comes back as a tuple
            items = [self.value(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            if not all(type(key) is str for key in value):  # weights of classes that are numbers
                if not all(type(key) in PLAIN or isinstance(key, np.generic) for key in value):
                    _refuse(value, where, "its keys are not all text or numbers")
                return {"pairs": [self.value([*pair], where, depth + 1) for pair in value.items()]}
            items = {key: self.value(item, f"{where}[{key!r}]", depth + 1) for key, item in value.items()}
            return {"dict": items}
        if isinstance(value, np.generic) and kind is value.dtype.type:
            if value.dtype.kind not in SCALARS or not _is_portable(value.dtype):
                _refuse(value, where, f"numbers of type {value.dtype} are not portable")
            return {"scalar": [value.dtype.newbyteorder("<").str, self.value(value.item(), where)]}
        if id(value) not in self._written:
            self._written[id(value)] = value, self._write(value, where)
        return self._written[id(value)][1]

    def _write(self, value: Any, where: str) -> Any:
        """Write an array or an object and return how to refer to it."""
        if type(value) is np.ma.MaskedArray:
            parts = np.asarray(value.data), np.ma.getmaskarray(value)
            return {"masked": [self.value(part, where) for part in parts]}
        if type(value) is np.ndarray:
            if value.dtype == object:
                if value.ndim != 1 or not all(isinstance(text, str) for text in value):
                    _refuse(value, where, "its entries are Python objects other than text")
            elif not _is_portable(value.dtype) or value.ndim > MOST_DIMENSIONS:
                _refuse(value, where, f"arrays of type {value.dtype} are not portable")
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        name = type(value).__name__
        state = {
            # Attributes are named as users know them: `metric`, not `_fit_metric`.
            key: self.value(item, f"{where}.{key.removeprefix('_fit_')}".removeprefix(f"{name}."))
            for key, item in self._state(value, where).items()
        }
        self.objects.append({"class": name, "state": state})
        return {"object": len(self.objects) - 1}

    def _state(self, value: Any, where: str) -> dict[str, Any]:
        """Return the attributes of an object that are stored."""
        kind = type(value)
        if kind is not _class_of(kind.__name__):  # nor may it be of a class derived from ours
            _refuse(value, where, "a file that is safe to open has no place for such an object")
        table, attributes = TABLES[kind.__name__], vars(value)
        known = [key for key in (*_params(kind, table), *table.always, *table.sometimes) if key in attributes]
        for key in attributes.keys() - {*known, *table.derived}:
            if attributes[key] is not None and (key[0] != "_" or key.startswith("_fit_")):
                _refuse(value, where, f"a file has no place for its {key}")
        state = {key: attributes[key] for key in known if key not in self._left_out}
        try:
            return table.pack(value, state) if table.pack else state
        except TypeError as error:
            _refuse(value, where, str(error))


def _is_portable(dtype: np.dtype) -> bool:
    """Say whether values of a type can be in a file; they are little-endian there."""
    return DTYPE.fullmatch(dtype.newbyteorder("<").str) is not None


def _refuse(value: Any, where: str, reason: str) -> NoReturn:
    best = "save its .best_estimator_, or " if hasattr(value, "best_estimator_") else ""
    raise ValueError(
        f"{where}={brief.repr(value)} cannot be saved: {reason}; {best}use joblib.dump or skops.io.dump, "
        "which store any object, and load such files only from people you trust"
    )


class _Decoder:
    """Puts objects together again. An object may refer only to those before it, so there are no circles."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._objects: list[Any] = []
        self._arrays = arrays
        self._sizes: list[int] = []  # of each object: itself and the objects in it
        self._size = 0  # of the one that is being built

    def add(self, name: str, state: dict[str, Any]) -> Any:
        """Build the next object, unless it repeats others so often that checks and predictions never end."""
        self._size = 1
        values = {key: self.value(part) for key, part in state.items()}
        is_small = self._size <= MOST_OBJECTS
        demand(is_small, f"{name} consists of {self._size} objects; a file takes {MOST_OBJECTS}")
        kind, table = _class_of(name), TABLES[name]
        params = _params(kind, table)
        unknown = min(state.keys() - {*params, *table.always, *table.sometimes}, default=None)
        demand(unknown is None, f"{name} has no attribute {unknown!r}; it may need a later pathforest")
        value = kind(**{key: values[key] for key in params if key in values})
        for key, item in values.items():
            setattr(value, key, item)
        self._sizes.append(self._size)
        self._objects.append(value)
        return value

    def value(self, value: Any, depth: int = 0) -> Any:
        """Decode one value."""
        demand(depth <= DEEPEST, "values are nested too deeply")
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        match list(value.items()):
            case [("array", int(number))]:
                return _item(self._arrays, number)
            case [("object", int(number))]:
                self._size += _item(self._sizes, number)
                return self._objects[number]
            case [("float", "nan" | "inf" | "-inf" as text)]:
                return float(text)
            case [("tuple", list(items))]:
                return tuple(self.value(items, depth + 1))
            case [("dict", dict(items))]:
                return {key: self.value(item, depth + 1) for key, item in items.items()}
            case [("pairs", list(pairs))]:
                pairs = self.value(pairs, depth + 1)
                if all(len(p) == 2 and (type(p[0]) in PLAIN or isinstance(p[0], np.generic)) for p in pairs):
                    return dict(pairs)
            case [("scalar", [str(dtype), item])] if DTYPE.fullmatch(dtype):
                kind, number = np.dtype(dtype), self.value(item, depth + 1)
                if type(number) is SCALARS.get(kind.kind):
                    return kind.type(number)
            case [("masked", parts)]:
                data, mask = self.value(parts, depth + 1)
                if type(data) is type(mask) is np.ndarray and mask.dtype == bool and mask.shape == data.shape:
                    return np.ma.MaskedArray(data, mask)
        raise ValueError(f"{brief.repr(value)} is not a value")


def _item(items: list[Any], number: int) -> Any:
    """Return one of the arrays or objects by its number, which may not be negative or True."""
    demand(type(number) is int and 0 <= number < len(items), f"there is no array or object {number}")
    return items[number]
