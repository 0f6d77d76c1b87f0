"""Models as JSON and arrays, and back: nothing else can be in a file.

JSON has no tuples, arrays or objects of Python. They are written as ``{"tuple": [...]}``, ``{"array": 3}``
and so on; only lists, text, finite numbers, booleans and None stand for themselves.
"""

from __future__ import annotations

import math
import reprlib
from typing import Any, NoReturn

import numpy as np

from pathforest._persistence.allowed import (
    ESTIMATORS,
    INNER,
    PIPELINE,
    build_object,
    check_pipeline_model,
    object_state,
)
from pathforest._persistence.arrays import DTYPE, MOST_DIMENSIONS, is_portable

SCALARS = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # kinds of NumPy's own scalars
PLAIN = (type(None), bool, int, float, str)
DEEPEST = 32  # levels of lists in lists; our models have at most five
MOST_OBJECTS = 20_000  # in a model, an object counted each time that another refers to it

brief = reprlib.Repr()  # for messages: a forged value, or an array, may be long
brief.maxother = 80


def encode(model: Any) -> tuple[list[Any], list[np.ndarray]]:
    """Return the objects that make up a model, itself the last, and the arrays they refer to."""
    encoder = _Encoder()
    encoder.value(model, type(model).__name__)
    decode(encoder.objects, encoder.arrays)  # a model that could not be loaded is not written
    return encoder.objects, encoder.arrays


def decode(objects: list[Any], arrays: list[np.ndarray]) -> Any:
    """Make the model that :func:`encode` has taken apart, and check everything."""
    names = [item["class"] for item in objects]
    # A pipeline comes last, after the model that it ends with; the parts of models come before.
    is_pipeline = names[-1:] == [PIPELINE]
    n_parts = len(names) - 1 - is_pipeline
    if n_parts < 0 or names[n_parts] not in ESTIMATORS:
        raise ValueError(f"{brief.repr(names[-1:])} is not a model; it may need a later pathforest")
    if unknown := [name for name in names[:n_parts] if name not in INNER]:
        raise ValueError(
            f"{brief.repr(unknown[0])} cannot be part of a model; it may need a later pathforest"
        )
    decoder = _Decoder(arrays)
    for item in objects:
        decoder.add(item["class"], item["state"])
    model = decoder.objects[-1]
    if is_pipeline:
        check_pipeline_model(model)
    return model


class _Encoder:
    """Takes objects apart. Shared parts stay shared: each array and object is written once."""

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
            if value.dtype.kind not in SCALARS or not is_portable(value.dtype):
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
            elif not is_portable(value.dtype) or value.ndim > MOST_DIMENSIONS:
                _refuse(value, where, f"arrays of type {value.dtype} are not portable")
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        try:
            state = object_state(value)
        except TypeError as error:
            _refuse(value, where, str(error))
        name = type(value).__name__
        encoded = {key: self.value(item, _name_of(where, name, key)) for key, item in state.items()}
        self.objects.append({"class": name, "state": encoded})
        return {"object": len(self.objects) - 1}


def _name_of(where: str, owner: str, key: str) -> str:
    """Name an attribute as users know it: `metric`, not `_fit_metric`."""
    key = key.removeprefix("_fit_")
    return key if where == owner else f"{where}.{key}"


def _refuse(value: Any, where: str, reason: str) -> NoReturn:
    best = "save its .best_estimator_, or " if hasattr(value, "best_estimator_") else ""
    raise ValueError(
        f"{where}={brief.repr(value)} cannot be saved: {reason}; {best}use joblib.dump or skops.io.dump, "
        "which store any object, and load such files only from people you trust"
    )


class _Decoder:
    """Puts objects together again. An object may refer only to those before it, so there are no circles."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.objects: list[Any] = []
        self._arrays = arrays
        self._sizes: list[int] = []  # of each object: itself and the objects in it
        self._size = 0  # of the one that is being built

    def add(self, name: str, state: dict[str, Any]) -> None:
        """Build the next object, unless it repeats others so often that checks and predictions never end."""
        self._size = 1
        values = {key: self.value(part) for key, part in state.items()}
        if self._size > MOST_OBJECTS:
            raise ValueError(f"{name} consists of {self._size} objects; a file takes {MOST_OBJECTS}")
        self._sizes.append(self._size)
        self.objects.append(build_object(name, values))

    def value(self, value: Any, depth: int = 0) -> Any:
        """Decode one value."""
        if depth > DEEPEST:
            raise ValueError("values are nested too deeply")
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        match list(value.items()):
            case [("array", int(number))]:
                return _item(self._arrays, number)
            case [("object", int(number))]:
                self._size += _item(self._sizes, number)
                return self.objects[number]
            case [("float", "nan" | "inf" | "-inf" as text)]:
                return float(text)
            case [("tuple", list(items))]:
                return tuple(self.value(items, depth + 1))
            case [("dict", dict(items))]:
                return {key: self.value(item, depth + 1) for key, item in items.items()}
            case [("scalar", [str(dtype), item])] if DTYPE.fullmatch(dtype):
                return _scalar(np.dtype(dtype), self.value(item, depth + 1))
            case [("masked", [data, mask])]:
                return _masked(self.value(data, depth + 1), self.value(mask, depth + 1))
        raise ValueError(f"{brief.repr(value)} is not a value")


def _item(items: list[Any], number: int) -> Any:
    """Return one of the arrays or objects by its number, which may not be negative or True."""
    if type(number) is not int or not 0 <= number < len(items):
        raise ValueError(f"there is no array or object {number}")
    return items[number]


def _scalar(dtype: np.dtype, value: Any) -> np.generic:
    if type(value) is not SCALARS.get(dtype.kind):
        raise ValueError(f"{brief.repr(value)} is not a number of type {dtype}")
    return dtype.type(value)


def _masked(data: Any, mask: Any) -> np.ma.MaskedArray:
    if not type(data) is type(mask) is np.ndarray or mask.dtype != bool or mask.shape != data.shape:
        raise ValueError("the mask of an array does not fit it")
    return np.ma.MaskedArray(data, mask)
