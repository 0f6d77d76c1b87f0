"""The right kernels for every OpenBLAS, also for one older than the processor.

Peers bring an OpenBLAS of their own. One that does not know the processor falls back to SSE kernels, which
made faiss two to eight times slower here: not a fair comparison.
"""

import os
from pathlib import Path


def name_kernels() -> None:
    """Name the kernels in the environment, unless the user has; it acts on libraries loaded later."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    if "avx512f" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif {"avx2", "fma"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
