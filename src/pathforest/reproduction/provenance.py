"""Where numbers come from: the versions, the machine, and a checksum of the code behind them."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pathforest import _core

PACKAGES = ("pathforest", "numpy", "scipy", "scikit-learn", "pandas", "plotly")
LIBRARIES = ("numpy", "scipy", "scikit-learn")  # other versions of these may give other numbers
PACKAGE = Path(__file__).parent.parent

# Parts of this package that have no say in what is measured. Of this folder only a few files have.
SHOWING = ("cli", "plotting")
MEASURING = ("contestants.py", "runner.py", "sources.py", "splits.py", "textbook.py")


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return the version of Python and of each package that is installed."""
    found = {"Python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine() -> str:
    """Describe the processor and the system."""
    return f"{processor()}, {os.cpu_count()} logical cores, {platform.system()} {platform.release()}"


def code_checksum(*files: Path, package: Path = PACKAGE) -> str:
    """Tell versions of the measuring code apart: this package, `files`, and the libraries behind them."""
    digest = hashlib.sha256(repr((versions(LIBRARIES), platform.machine())).encode())
    digest.update(source_checksum(package, Path(_core.__file__), *files).encode())
    return digest.hexdigest()


def source_checksum(package: Path, *files: Path) -> str:
    """Tell versions of the measuring code apart, on any machine: the modules of a package, and `files`."""
    digest = hashlib.sha256()
    parts = {path: path.relative_to(package).parts for path in package.rglob("*.py")}
    own = [
        path
        for path, (first, *_) in parts.items()
        if first not in SHOWING and (first != "reproduction" or path.name in MEASURING)
    ]
    for path in [*sorted(own), *files]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
