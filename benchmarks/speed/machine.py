"""The machine: what it is, how fast it can be, and how many of its threads may be used."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from pathforest import _core
from pathforest._reproduction.run import processor, versions

PACKAGES = (
    "pathforest", "numpy", "scipy", "scikit-learn",
    "faiss-cpu", "mlpack", "fast_hdbscan", "numba", "opfython",
)  # fmt: skip


def describe() -> dict[str, Any]:
    """Processor, system, versions and date."""
    found = versions(PACKAGES)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "simd": _core.simd_level(),
        "system": platform.platform(),
        "python": found.pop("Python"),
        "versions": dict.fromkeys(PACKAGES) | found,
        "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE"),
        # Decides what waiting threads cost on a busy machine.
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY"),
        "blas": [
            {key: info.get(key) for key in ("prefix", "version", "architecture", "threading_layer")}
            for info in threadpool_info()
            if info["user_api"] == "blas"
        ],
    }


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Hold every OpenMP and BLAS library loaded so far to a number of threads; numba's peer sets its own."""
    with threadpool_limits(threads):
        yield


@contextmanager
def busy_core(wanted: bool) -> Iterator[None]:
    """Let a second process load one core meanwhile, if wanted."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if wanted else None
    try:
        yield
    finally:
        if process:
            process.terminate()
            process.wait()


def limits(threads: int, repeats: int) -> dict[str, float]:
    """Measure GFLOP/s of a large float32 matrix product, and GB/s (read and written) of a large copy."""
    with limited_threads(threads):
        return {"sgemm": _product_rate(repeats), "copy": _copy_rate(threads, repeats)}


def _product_rate(repeats: int, n: int = 3000) -> float:
    a, b = np.ones((2, n, n), dtype=np.float32)
    out = np.empty_like(a)
    return 2 * n**3 / 1e9 / _median_time(lambda: np.matmul(a, b, out=out), repeats)


def _copy_rate(threads: int, repeats: int, size: int = 2**29) -> float:
    """Copy more than a cache holds; numpy releases the interpreter lock, so each thread copies a part."""
    source = np.ones(size // 8)
    target = np.empty_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> None:
            list(pool.map(lambda part: np.copyto(*part), parts))

        return 2 * source.nbytes / 1e9 / _median_time(copy, repeats)


def _median_time(call: Any, repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)
