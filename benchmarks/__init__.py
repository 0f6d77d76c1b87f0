"""What pathforest takes and gives: `speed` beside other libraries, and `studies` of accuracy.

Peers bring an OpenBLAS of their own. One that does not know the processor falls back to SSE kernels, which
made faiss two to eight times slower here: not a fair comparison. So its kernels are named here, before any
module loads a library that asks; the user's choice comes first.
"""

import os
from pathlib import Path

_INFO = Path("/proc/cpuinfo")
_FLAGS = set(_INFO.read_text().partition("flags")[2].partition("\n")[0].split()) if _INFO.exists() else set()
if "avx512f" in _FLAGS:
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
elif {"avx2", "fma"} <= _FLAGS:
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
