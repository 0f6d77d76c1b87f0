"""Models in files: written in one go, read without trusting them.

A file has four parts::

    pathforest model 1                  the format and its version, as a line of text
    {"pathforest": "0.1.0", ...}        a line of JSON: classes, parameters, values, types of the arrays
    ...                                 the arrays, one after the other, little-endian
    ...                                 32 bytes: the SHA-256 of everything before

The first line and the checksum are the same in every version. `head -2` shows the two lines of text.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, BinaryIO, NoReturn

from sklearn.utils.validation import check_is_fitted

from pathforest._models.state import SavableEstimator
from pathforest._utils.files import replacing
from pathforest.persistence.encoding import array_bytes, decode, describe_array, encode, read_arrays

# Raise when older versions could not read a new file; files of all earlier versions must stay readable.
FILE_FORMAT = 1

START = b"pathforest model "  # of every file, in every version
FIRST_LINE = re.compile(START + rb"(\d{1,9})\n")
HEADER_LINE = re.compile(rb"([^\n]*)\n")
DIGEST_SIZE = hashlib.sha256().digest_size
KEYS = {"pathforest", "arrays", "objects"}


def save(model: SavableEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file; what :meth:`OPFClassifier.save` and its like do.

    Parameters
    ----------
    model : estimator
        A fitted estimator of pathforest.
    path : str or path-like
        The file. One that exists is replaced once the new one is complete.
    """
    check_is_fitted(model)
    objects, arrays = encode(model)
    header = {
        "pathforest": version("pathforest"),
        "arrays": [describe_array(array) for array in arrays],
        "objects": objects,
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    first = START + b"%d\n%s\n" % (FILE_FORMAT, text.encode("ascii"))
    with replacing(path) as file:
        _write(file, [first, *map(array_bytes, arrays)])


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` has written.

    Loading is safe whoever made the file: it holds numbers and text, no code and no pickle, and it can only
    ask for the estimators of this package and for the few transformers that they use themselves.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        With the class, the parameters and the fitted attributes of the one that was saved. It gives the same
        answers.

    Raises
    ------
    ValueError
        If the file is no model, is cut short, was altered in any bit, comes from a later version of the
        format, or holds values that do not fit together: indices out of range, paths that run in circles,
        costs that are no numbers, arrays of different lengths.
    OSError
        If the file cannot be read.

    Notes
    -----
    The checksum tells damage from soundness; it does not tell who made the file. A stranger's model is safe
    to open, but it may still give wrong answers on purpose.

    Loading needs memory for the file and for the model at the same time.

    Examples
    --------
    >>> import os, tempfile
    >>> import pathforest
    >>> model = pathforest.OPFClassifier().fit([[0.0], [1.0], [3.0], [4.5]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.opf"))
    ...     loaded = pathforest.load(os.path.join(folder, "model.opf"))
    >>> loaded.predict([[1.9], [2.1]]).tolist()
    ['a', 'b']
    """
    with open(path, "rb") as file:
        # No more than the file says it has: a device such as /dev/zero has no end.
        data = memoryview(file.read(os.fstat(file.fileno()).st_size))
    header, payload = _check_file(path, data)
    try:
        return _build(_parse(header), payload)
    except Exception as error:  # whatever a forged file has led to, the file is to blame
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path} cannot be loaded, its contents do not make a model: {reason}") from error


def _check_file(path: Any, data: memoryview) -> tuple[bytes, memoryview]:
    """Return the header and the bytes of the arrays of a sound file."""

    def refuse(reason: str) -> NoReturn:
        raise ValueError(f"{path} cannot be loaded: {reason}")

    first = FIRST_LINE.match(data)
    if not first:
        from pathforest.libopf._layout import looks_like_model  # here, because most never need it

        if looks_like_model(data):
            refuse(
                "it is no pathforest model; it looks like LibOPF's, which pathforest.libopf.read_model reads"
            )
        refuse("it is no pathforest model; files of pickle, joblib or skops are loaded by those")
    content, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if len(content) < first.end() or hashlib.sha256(content).digest() != digest:
        refuse("it is damaged: its checksum does not match, so it was cut short or altered; copy it again")
    if int(first[1]) > FILE_FORMAT:
        refuse(f"its format is {int(first[1])}, and this pathforest reads {FILE_FORMAT}; upgrade pathforest")
    if int(first[1]) < 1:
        refuse("there is no format 0")
    header = HEADER_LINE.match(content, first.end())
    if not header:
        refuse("its header has no end")
    return header[1], content[header.end() :]


def _parse(header: bytes) -> dict[str, Any]:
    """Read the header, which holds standard JSON only."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"the header holds {constant}")

    parsed = json.loads(header.decode("ascii"), parse_constant=refuse)
    if not isinstance(parsed, dict) or parsed.keys() != KEYS:
        raise ValueError(f"the header does not hold {', '.join(sorted(KEYS))} and nothing else")
    return parsed


def _build(header: dict[str, Any], payload: memoryview) -> SavableEstimator:
    """Make the model that the header describes."""
    return decode(header["objects"], read_arrays(header["arrays"], payload))


def _write(file: BinaryIO, pieces: Iterable[Any]) -> None:
    """Write the pieces and the checksum of all of them."""
    checksum = hashlib.sha256()
    for piece in pieces:
        checksum.update(piece)
        file.write(piece)
    file.write(checksum.digest())
