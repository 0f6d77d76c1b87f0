"""Model files taken apart and put together again, with a checksum that is right: what a forger would do."""

import hashlib
import json

import numpy as np

FIRST_LINE = b"pathforest model 1\n"


def forge(header, payload, first_line=FIRST_LINE):
    """The bytes of a file with this header, a dict or text, and a checksum that matches."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = first_line + text + b"\n" + payload
    return content + hashlib.sha256(content).digest()


def take_apart(data):
    """The header and the bytes of the arrays."""
    start = data.index(b"\n") + 1
    end = data.index(b"\n", start)
    return json.loads(data[start:end]), data[end + 1 : -32]


def arrays_of(header, payload):
    """Every array of a file, in the order of its table."""
    arrays, start = [], 0
    for item in header["arrays"]:
        dtype = np.dtype(item["dtype"])
        stop = start + dtype.itemsize * int(np.prod(item["shape"]))
        raw = np.frombuffer(payload[start:stop], dtype)
        arrays.append(raw.reshape(item["shape"], order=item["order"]).copy())
        start = stop
    return arrays


def with_arrays(header, arrays, **changed):
    """A file with other arrays; those in `changed` replace attributes of the model, by name."""
    header, arrays = json.loads(json.dumps(header)), list(arrays)
    state = header["objects"][-1]["state"]
    for name, array in changed.items():
        state[name] = {"array": len(arrays)}
        arrays.append(np.asarray(array))
    table = [{"dtype": a.dtype.newbyteorder("<").str, "shape": list(a.shape), "order": "C"} for a in arrays]
    header["arrays"] = table
    return forge(header, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))


def positions(tree, path=()):
    """The path to every value in nested lists and dicts."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield from positions(item, (*path, key))


def replaced(tree, path, value):
    """A copy of nested lists and dicts with another value at one path."""
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = replaced(tree[path[0]], path[1:], value)
    return copy
