"""The published sets, for tests that need the real files."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PATHFOREST_DATA") or "data").resolve()


def published(name):
    """Path of a published set, or a reason to skip."""
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs {path.name} in a folder named by PATHFOREST_DATA")
    return path
