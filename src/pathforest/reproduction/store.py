"""Results on disk, one file per dataset, run and classifier, so that an interrupted experiment can go on."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pathforest import _core
from pathforest._utils.files import replace_file
from pathforest.reproduction.types import Samples

# Other versions of these may give other numbers.
LIBRARIES = ("numpy", "scipy", "scikit-learn")
SHOWING = ("cli", "plotting", "reporting")  # parts of this package


class Key(NamedTuple):
    """What decides a result; a file with another key is not ours."""

    dataset: str
    run: int
    classifier: str
    preset: str
    seed: int
    data: str  # checksum of the samples
    code: str  # checksum of the package, and versions of the libraries


def load(folder: Path, key: Key) -> dict[str, Any] | None:
    """Return what was saved under this key; None if nothing was, or if the file is torn or another's."""
    try:
        content = json.loads(_path(folder, key).read_bytes())
        whole = content["checksum"] == _checksum(content["key"], content["outcome"])
        if whole and content["key"] == key._asdict():
            return content["outcome"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    return None


def save(folder: Path, key: Key, outcome: Mapping[str, Any]) -> None:
    """Write an outcome, whole or not at all."""
    path = _path(folder, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"key": key._asdict(), "outcome": outcome, "checksum": _checksum(key._asdict(), outcome)}
    replace_file(path, json.dumps(content).encode())


def data_checksum(samples: Samples) -> str:
    """Tell datasets apart that carry the same name."""
    digest = hashlib.sha256(repr((samples.X.shape, samples.X.dtype.str, samples.y.dtype.str)).encode())
    for array in samples:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@cache
def code_checksum() -> str:
    """Tell versions of the package apart, and of what its numbers depend on."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256(repr([(name, version(name)) for name in LIBRARIES]).encode())
    digest.update(f"{platform.python_version()} {platform.machine()}".encode())
    # What shows results has no say in them.
    files = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in SHOWING]
    for path in sorted([*files, Path(_core.__file__)]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _path(folder: Path, key: Key) -> Path:
    return folder / "runs" / key.dataset / f"{key.run:03d}" / f"{key.classifier}.json"


def _checksum(key: Mapping[str, Any], outcome: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([key, outcome], sort_keys=True).encode()).hexdigest()
