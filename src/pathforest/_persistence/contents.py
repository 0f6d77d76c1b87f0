"""Models as JSON and arrays, and back: nothing else can be in a file.

JSON has no tuples, arrays or objects of Python. They are written as ``{"tuple": [...]}``, ``{"array": 3}``
and so on; only lists, text, finite numbers, booleans and None stand for themselves.
"""

from __future__ import annotations

import math
import re
import reprlib
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from pathforest._persistence.checks import MODELS, PARTS, TABLES, Saved, check_model, check_pipeline_model

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

brief = reprlib.Repr()  # for messages: a forged value, or an array, may be long
brief.maxother = 80


def encode(model: Any, growable: bool) -> tuple[list[Any], list[np.ndarray]]:
    """Return the objects that make up a model, itself the last, and the arrays they refer to."""
    encoder = _Encoder(growable)
    encoder.value(model, type(model).__name__)
    decode(encoder.objects, encoder.arrays)  # a model that could not be loaded is not written
    return encoder.objects, encoder.arrays


def decode(objects: list[Any], arrays: list[np.ndarray]) -> Any:
    """Make the model that :func:`encode` has taken apart, and check everything."""
    names = [item["class"] for item in objects]
    # A pipeline comes last, after the model that it ends with; the parts of models come before.
    is_pipeline = names[-1:] == ["Pipeline"]
    n_parts = len(names) - 1 - is_pipeline
    if n_parts < 0 or not (_class_of(names[n_parts]) and names[n_parts] in MODELS):
        raise ValueError(f"{brief.repr(names[-1:])} is not a model; it may need a later pathforest")
    if unknown := [name for name in names[:n_parts] if not (_class_of(name) and name in PARTS)]:
        raise ValueError(
            f"{brief.repr(unknown[0])} cannot be part of a model; it may need a later pathforest"
        )
    decoder = _Decoder(arrays)
    for name, item in zip(names, objects, strict=True):
        value = decoder.add(name, item["state"])
        if name in MODELS:
            check_model(value)
        TABLES[name].derive(value)
    if is_pipeline:
        check_pipeline_model(value)
    return value


def _class_of(name: str) -> type | None:
    """Return the class that a name in a file stands for, if there is one.

    No module is imported because a file says so, but for those of public names; they list the classes that
    their objects contain.
    """
    package = import_module(__package__.partition(".")[0])
    if name not in TABLES and name in package.__all__:
        getattr(package, name)
    kind = MODELS.get(name) or PARTS.get(name)
    return getattr(import_module(kind), name) if isinstance(kind, str) else kind


def _params(kind: type, table: Saved) -> tuple[str, ...]:
    return tuple(kind._get_param_names()) if table.params is None else table.params


class _Encoder:
    """Takes objects apart. Shared parts stay shared: each array and object is written once."""

    def __init__(self, growable: bool) -> None:
        self.arrays: list[np.ndarray] = []
        self.objects: list[Any] = []
        self._growable = growable
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
        left_out = set() if self._growable else {GROWTH}
        known = [key for key in (*_params(kind, table), *table.always, *table.sometimes) if key in attributes]
        for key in attributes.keys() - {*known, *table.derived}:
            if attributes[key] is not None and (key[0] != "_" or key.startswith("_fit_")):
                _refuse(value, where, f"a file has no place for its {key}")
        state = {key: attributes[key] for key in known if key not in left_out}
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
        if self._size > MOST_OBJECTS:
            raise ValueError(f"{name} consists of {self._size} objects; a file takes {MOST_OBJECTS}")
        kind, table = _class_of(name), TABLES[name]
        params = _params(kind, table)
        if unknown := state.keys() - {*params, *table.always, *table.sometimes}:
            raise ValueError(f"{name} has no attribute {min(unknown)!r}; it may need a later pathforest")
        value = kind(**{key: values[key] for key in params if key in values})
        for key, item in values.items():
            setattr(value, key, item)
        self._sizes.append(self._size)
        self._objects.append(value)
        return value

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
                return self._objects[number]
            case [("float", "nan" | "inf" | "-inf" as text)]:
                return float(text)
            case [("tuple", list(items))]:
                return tuple(self.value(items, depth + 1))
            case [("dict", dict(items))]:
                return {key: self.value(item, depth + 1) for key, item in items.items()}
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
    if type(number) is not int or not 0 <= number < len(items):
        raise ValueError(f"there is no array or object {number}")
    return items[number]
