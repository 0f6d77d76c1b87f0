"""A short name for everything that decides a result, so that results of older code are told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "scipy", "scikit-learn")
BUILT = (".pyc", ".so", ".pyd")


def fingerprint(*names: str, root: Path = ROOT) -> str:
    """Hash the library's sources, some modules of the benchmarks and the versions of other libraries."""
    digest = hashlib.sha256()
    modules = [root / "benchmarks" / "studies" / f"{name}.py" for name in names]
    for path in [*_sources(root / "src" / "pathforest"), *_sources(root / "cpp"), *modules]:
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}\n".encode())
    return digest.hexdigest()[:12]


def _sources(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in BUILT)
