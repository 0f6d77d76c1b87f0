"""The machine: what it is, how many of its threads may be used, and how much memory is taken."""

import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pathforest import _core

PACKAGES = (
    "pathforest", "numpy", "scipy", "scikit-learn",
    "faiss-cpu", "mlpack", "fast_hdbscan", "numba", "opfython",
)  # fmt: skip


def processor() -> str:
    """Name the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def today() -> str:
    """Return the date."""
    return datetime.now(UTC).date().isoformat()


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the version of Python and of each package that is installed."""
    found = {"Python": platform.python_version()}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def describe() -> dict[str, Any]:
    """Processor, system, versions and date."""
    return {
        "date": today(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "simd": _core.simd_level(),
        "system": platform.platform(),
        "versions": versions(PACKAGES),
    }


def apart(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a fresh process, so that peaks of memory do not mix."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def megabytes(field: str) -> float:
    """Read a value of this process's status file, as Linux has it: getrusage counts the parent's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) * 1024 / 1e6
