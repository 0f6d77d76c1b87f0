"""Outcomes on disk, one file each, so that an interrupted experiment can continue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathforest._utils.files import replace_file


def load(path: Path, key: Mapping[str, Any]) -> Any:
    """Return what was saved under this key; None if nothing was, or if the file is torn or another's."""
    try:
        content = json.loads(path.read_bytes())
        if content["checksum"] == _checksum(key, content["outcome"]):  # of the key asked for
            return content["outcome"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    return None


def save(path: Path, key: Mapping[str, Any], outcome: Any) -> None:
    """Write an outcome with everything that decides it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"key": key, "outcome": outcome, "checksum": _checksum(key, outcome)}
    replace_file(path, json.dumps(content).encode())


def _checksum(key: Mapping[str, Any], outcome: Any) -> str:
    return hashlib.sha256(json.dumps([key, outcome], sort_keys=True).encode()).hexdigest()
