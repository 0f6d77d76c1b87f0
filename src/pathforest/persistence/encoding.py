"""From a model to JSON and plain arrays, and back: nothing else can be in a file.

JSON has no tuples, arrays or objects of Python. Each is written as ``{"tuple": [...]}``, ``{"array": 3}`` and
so on; only lists, text, finite numbers, booleans and None stand for themselves.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from pathforest.persistence.allowed import build_object, is_estimator, object_state

# Booleans, integers, floats, text of fixed width, dates and times: types without pointers.
DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,7}|<[mM]8\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
SCALARS = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # kinds of numpy's own scalars
PLAIN = (type(None), bool, int, float, str)
NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
DEEPEST = 32  # levels of lists in lists; none of ours has more than five
MOST_DIMENSIONS = 4
LAST_CODE_POINT = 0x10FFFF

brief = reprlib.Repr()  # for messages: a forged value, or an array, may be long
brief.maxother = 80


def encode(model: Any) -> tuple[list[Any], list[np.ndarray]]:
    """Return the objects that make up a model, itself the last, and the arrays they refer to."""
    encoder = _Encoder()
    encoder.value(model, type(model).__name__)
    return encoder.objects, encoder.arrays


def decode(objects: Any, arrays: list[np.ndarray]) -> Any:
    """Make the model that :func:`encode` has taken apart, checking everything."""
    if not isinstance(objects, list) or not objects:
        raise ValueError("there is no object in it")
    decoder = _Decoder(arrays)
    for item in objects:
        decoder.add(item)
    if not is_estimator(decoder.objects[-1]):
        raise ValueError(f"it holds a {type(decoder.objects[-1]).__name__}, which is no model")
    return decoder.objects[-1]


class _Encoder:
    """Takes objects apart. What is shared stays shared: each array and object is written once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.objects: list[Any] = []
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
            if not all(type(key) is str for key in value):
                _refuse(value, where, "its keys are not all text")
            items = {key: self.value(item, f"{where}[{key!r}]", depth + 1) for key, item in value.items()}
            return {"dict": items}
        if isinstance(value, np.generic) and kind is value.dtype.type:
            return self._scalar(value, where)
        return self._reference(value, where)

    def _scalar(self, value: np.generic, where: str) -> Any:
        """Encode a number of numpy, which keeps its type."""
        dtype = value.dtype.newbyteorder("<").str
        if value.dtype.kind not in SCALARS or not DTYPE.fullmatch(dtype):
            _refuse(value, where, f"numbers of type {value.dtype} are not portable")
        return {"scalar": [dtype, self.value(value.item(), where)]}

    def _reference(self, value: Any, where: str) -> Any:
        if id(value) not in self._written:
            self._written[id(value)] = value, self._write(value, where)
        return self._written[id(value)][1]

    def _write(self, value: Any, where: str) -> Any:
        """Write an array or an object and return how to refer to it."""
        if type(value) is np.ma.MaskedArray:
            parts = np.asarray(value.data), np.ma.getmaskarray(value)
            return {"masked": [self._reference(part, where) for part in parts]}
        if type(value) is np.ndarray and value.dtype == object:
            return self._texts(value, where)
        if type(value) is np.ndarray:
            if not DTYPE.fullmatch(value.dtype.newbyteorder("<").str) or value.ndim > MOST_DIMENSIONS:
                _refuse(value, where, f"arrays of type {value.dtype} are not portable")
            return {"array": self._append(value)}
        try:
            state = object_state(value)
        except TypeError as error:
            _refuse(value, where, str(error))
        name = type(value).__name__
        encoded = {key: self.value(item, _name_of(where, name, key)) for key, item in state.items()}
        if is_estimator(value):
            value._check_fitted_state()  # what could not be loaded is not written
        self.objects.append({"class": name, "state": encoded})
        return {"object": len(self.objects) - 1}

    def _texts(self, value: np.ndarray, where: str) -> Any:
        """Encode an object array of text: each text once, and a number per entry."""
        if value.ndim != 1 or not all(isinstance(text, str) for text in value):
            _refuse(value, where, "its entries are Python objects other than text")
        texts, codes = np.unique(value, return_inverse=True)
        return {"texts": [[str(text) for text in texts], self._append(codes.astype(np.int32))]}

    def _append(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1


def _name_of(where: str, owner: str, key: str) -> str:
    """Name an attribute the way a user knows it: `metric`, not `_fit_metric`."""
    key = key.removeprefix("_fit_")
    return key if where == owner else f"{where}.{key}"


def _refuse(value: Any, where: str, reason: str) -> NoReturn:
    raise ValueError(
        f"{where}={brief.repr(value)} cannot be saved: {reason}; use joblib.dump or skops.io.dump, which "
        "store any object, and load such files only from people you trust"
    )


class _Decoder:
    """Puts objects together again. An object may refer only to those before it, so there are no circles."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.objects: list[Any] = []
        self._arrays = arrays
        self._readers: dict[str, Callable[[Any, int], Any]] = {
            "array": lambda item, _: _item(self._arrays, item),
            "object": lambda item, _: _item(self.objects, item),
            "float": lambda item, _: NONFINITE[item],
            "scalar": self._scalar,
            "tuple": lambda item, depth: tuple(self.value(_typed(item, list), depth)),
            "dict": self._dict,
            "masked": self._masked,
            "texts": self._texts,
        }

    def add(self, item: Any) -> None:
        """Build the next object."""
        name, state = _typed(item, dict)["class"], _typed(item["state"], dict)
        self.objects.append(build_object(name, {key: self.value(part) for key, part in state.items()}))

    def value(self, value: Any, depth: int = 0) -> Any:
        """Decode one value."""
        if depth > DEEPEST:
            raise ValueError("values are nested too deeply")
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1 or (tag := next(iter(value))) not in self._readers:
            raise ValueError(f"{brief.repr(value)} is no value")
        return self._readers[tag](value[tag], depth + 1)

    def _dict(self, items: Any, depth: int) -> dict[str, Any]:
        return {key: self.value(item, depth) for key, item in _typed(items, dict).items()}

    def _scalar(self, item: Any, depth: int) -> np.generic:
        dtype = _dtype(_pair(item)[0])
        value = self.value(item[1], depth)
        if type(value) is not SCALARS.get(dtype.kind):
            raise ValueError(f"{value!r} is no number of type {dtype}")
        return dtype.type(value)

    def _masked(self, item: Any, depth: int) -> np.ma.MaskedArray:
        data, mask = (_typed(self.value(part, depth), np.ndarray) for part in _pair(item))
        if mask.dtype != bool or mask.shape != data.shape:
            raise ValueError("the mask of an array does not fit it")
        return np.ma.MaskedArray(data, mask)

    def _texts(self, item: Any, depth: int) -> np.ndarray:
        texts, codes = _typed(_pair(item)[0], list), _item(self._arrays, item[1])
        if not all(type(text) is str for text in texts):
            raise ValueError("an array of text holds something else")
        if codes.dtype != np.int32 or codes.ndim != 1 or not ((codes >= 0) & (codes < len(texts))).all():
            raise ValueError("an array of text refers to text that is not there")
        return np.array(texts, dtype=object)[codes]


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{brief.repr(value)} should be of type {kind.__name__}")
    return value


def _pair(value: Any) -> list[Any]:
    if len(_typed(value, list)) != 2:
        raise ValueError(f"{brief.repr(value)} should be a pair")
    return value


def _item(items: list[Any], number: Any) -> Any:
    """Return one of the arrays or objects by its number, which may be no negative one."""
    if not 0 <= _typed(number, int) < len(items):
        raise ValueError(f"there is no array or object {number}")
    return items[number]


def describe_array(array: np.ndarray) -> dict[str, Any]:
    """Tell type, shape and memory order of an array; the order, because it decides how products round."""
    dtype = array.dtype.newbyteorder("<").str
    return {"dtype": dtype, "shape": list(array.shape), "order": "F" if _is_fortran(array) else "C"}


def array_bytes(array: np.ndarray) -> np.ndarray:
    """Return the bytes of an array, little-endian."""
    array = array.T if _is_fortran(array) else array
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return array.reshape(-1).view(np.uint8)


def _is_fortran(array: np.ndarray) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def read_arrays(table: Any, payload: memoryview) -> list[np.ndarray]:
    """Read the arrays that a table describes; they must fill the payload exactly."""
    arrays, start = [], 0
    for item in _typed(table, list):
        dtype, shape, order = _check_description(item, len(payload))
        stop = start + dtype.itemsize * math.prod(shape)
        if stop > len(payload):
            raise ValueError(f"an array of type {dtype} and shape {shape} is larger than the file")
        arrays.append(_read_array(payload[start:stop], dtype, shape, order))
        start = stop
    if start != len(payload):
        raise ValueError(f"{len(payload) - start} bytes belong to no array")
    return arrays


def _check_description(item: Any, n_bytes: int) -> tuple[np.dtype, tuple[int, ...], str]:
    """Check an entry of the table before anything of that size is made."""
    if _typed(item, dict).keys() != {"dtype", "shape", "order"} or item["order"] not in ("C", "F"):
        raise ValueError(f"{brief.repr(item)} does not describe an array")
    shape = tuple(_typed(length, int) for length in _typed(item["shape"], list))
    # The second test also bounds arrays without entries, such as one of shape (0, 10**18).
    if len(shape) > MOST_DIMENSIONS or min(shape, default=0) < 0:
        raise ValueError(f"{brief.repr(shape)} is no shape")
    if math.prod(max(length, 1) for length in shape) > max(n_bytes, 1):
        raise ValueError(f"an array of shape {brief.repr(shape)} is larger than the file")
    return _dtype(item["dtype"]), shape, item["order"]


def _dtype(text: Any) -> np.dtype:
    if not DTYPE.fullmatch(_typed(text, str)):
        raise ValueError(f"arrays of type {brief.repr(text)} cannot be in a file")
    return np.dtype(text)


def _read_array(data: memoryview, dtype: np.dtype, shape: tuple[int, ...], order: str) -> np.ndarray:
    """Copy an array out of the file, into this machine's byte order."""
    if dtype.kind == "b" and np.frombuffer(data, np.uint8).max(initial=0) > 1:
        raise ValueError("a truth value is neither 0 nor 1")
    if dtype.kind == "U" and np.frombuffer(data, "<u4").max(initial=0) > LAST_CODE_POINT:
        raise ValueError("a text holds a character that does not exist")
    array = np.frombuffer(data, np.uint8).copy().view(dtype) if len(data) else np.empty(0, dtype)
    return array.astype(dtype.newbyteorder("="), copy=False).reshape(shape, order=order)
