"""Model files taken apart and put together again, with a correct checksum, as a forger would do."""

import copy
import hashlib
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_STORED, ZipFile

import numpy as np

import pathforest

HEAD = "pathforest.json"


def stored(model):
    """The bytes of a model's file."""
    with TemporaryDirectory() as folder:
        pathforest.save(model, f"{folder}/model.opf")
        return Path(f"{folder}/model.opf").read_bytes()


def take_apart(data):
    """The head and the arrays of a file."""
    archive = np.load(io.BytesIO(data))
    head, *arrays = (archive[name] for name in archive.files)
    return json.loads(head), arrays


def forge(head, arrays, **changed):
    """A file of this head and these arrays, which may also be bytes, with other attributes of the model."""
    head, arrays = copy.deepcopy(head), list(arrays)
    for name, value in changed.items():
        if isinstance(value, np.ndarray):
            arrays.append(value)
            value = {"array": len(arrays) - 1}
        head["objects"][-1]["state"][name] = value
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    return pack([(HEAD, head), *((f"{i}.npy", npy(array)) for i, array in enumerate(arrays))])


def npy(array):
    """The bytes of an array in NumPy's format; bytes stay as they are."""
    if isinstance(array, bytes):
        return array
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, (1, 0), allow_pickle=True)
    return stream.getvalue()


def lying(array, **header):
    """The bytes of an array with another header."""
    header = np.lib.format.header_data_from_array_1_0(array) | header
    text = f"{header!r}\n".encode("latin1")
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + array.tobytes()


def pack(members, compression=ZIP_STORED):
    """A file of these pairs of name and bytes."""
    file = io.BytesIO()
    with ZipFile(file, "w", compression) as archive:
        archive.comment = bytes(64)
        for name, data in members:
            archive.writestr(name, data)
    return sign(file.getvalue())


def sign(data):
    """A file with its last bytes replaced by the checksum of those before."""
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


def positions(tree, path=()):
    """The path to every value in nested lists and dicts."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield from positions(item, (*path, key))


def replaced(tree, path, value):
    """A copy of nested lists and dicts with another value at one path, or without it for `...`."""
    if not path:
        return value
    (first, *others), copied = path, dict(tree) if isinstance(tree, dict) else list(tree)
    if value is ... and not others:
        del copied[first]
    else:
        copied[first] = replaced(tree[first], others, value) if others else value
    return copied
