"""The right kernels for every OpenBLAS, even if it is older than the processor.

Peers ship their own OpenBLAS. If it does not know the processor, it falls back to SSE kernels, which made
faiss two to eight times slower here. That would be an unfair comparison.
"""

import os
from pathlib import Path


def name_kernels() -> None:
    """Set the kernels in the environment, unless the user has; this affects libraries loaded later."""
    flags = set(cpu_info("flags").split())
    if "avx512f" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif {"avx2", "fma"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


def cpu_info(field: str) -> str:
    """Read a field of the first processor; empty if the system has no such file."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")
