"""Where numbers come from: versions, machine, and the command that makes them again."""

from __future__ import annotations

import os
import platform
import shlex
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pathforest.reproduction.types import Settings

PACKAGES = ("pathforest", "numpy", "scipy", "scikit-learn", "pandas", "plotly")


def versions() -> dict[str, str]:
    """Return the version of Python and of every package that has a say in the numbers."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Describe the processor and the system."""
    return f"{_processor()}, {os.cpu_count()} logical cores, {platform.system()} {platform.release()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def repeat_command(settings: Settings) -> str:
    """Return the command line that runs an experiment with these settings again."""
    words = ["pathforest", "reproduce", "--datasets", ",".join(settings.datasets)]
    words += ["--classifiers", ",".join(settings.classifiers), "--runs", str(settings.runs)]
    words += ["--seed", str(settings.seed), "--preset", settings.preset]
    return shlex.join(words)
