"""Peak memory, measured in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.speed.data import Spec, load
from benchmarks.speed.machine import limited_threads


def apart(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a fresh process, so that peaks of memory do not mix."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def peak_memory(name: str, spec: Spec, threads: int) -> float | None:
    """Measure MB at the peak of one call of a contender, libraries and data included; None if it fails."""
    try:
        return apart(_peak, name, spec, threads)
    except Exception:  # of the contender, or of its process; one contender must not end the run
        return None


def _peak(name: str, spec: Spec, threads: int) -> float:
    from benchmarks.speed.rows import CONTENDERS

    problem = load(spec)
    with limited_threads(threads):
        CONTENDERS[name].prepare(problem, threads)()
    return megabytes("VmHWM")


def megabytes(field: str) -> float:
    """Read a value of this process's status file; the peak from getrusage if there is no such file.

    The status file comes first because getrusage lets a child inherit the peak of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = next(
            line.split()[1] for line in status.read_text().splitlines() if line.startswith(field)
        )
        return int(kilobytes) * 1024 / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
