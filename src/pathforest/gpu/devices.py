"""Which device computes, and how much of its memory a block may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

TORCH_CPU = "torch-cpu"  # runs the same code, which is how machines without a graphics card test it
BLOCK_BYTES = 2**35  # of the arrays for a block of rows; larger ones are no faster


def require_torch() -> Any:
    """Import torch, or say how to install it."""
    try:
        import torch
    except ImportError:
        raise ImportError("device='cuda' needs PyTorch; run pip install 'pathforest[gpu]'") from None
    return torch


def find_device(device: str) -> Any:
    """Return torch's device, or say why there is none; nothing falls back to the CPU in silence."""
    torch = require_torch()
    if device == TORCH_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"device={device!r}: PyTorch {torch.__version__} sees no graphics card; install a driver and a "
            "build of PyTorch for it, or use device='cpu'"
        )
    found = torch.device(device)
    if (found.index or 0) >= torch.cuda.device_count():
        raise RuntimeError(
            f"device={device!r}: there are {torch.cuda.device_count()} graphics cards, counted from 0"
        )
    return found


def free_bytes(device: Any) -> int:
    """Return how much memory a block may take."""
    torch = require_torch()
    if device.type == "cpu":
        return BLOCK_BYTES // 256
    return min(BLOCK_BYTES, torch.cuda.mem_get_info(device)[0] // 3)


def in_blocks(device: Any, n_rows: int, row_bytes: int, work: Callable[[slice], None]) -> None:
    """Call `work` with slices of rows that fit the device's memory, smaller ones if it runs out."""
    torch = require_torch()
    step = max(1, min(n_rows, free_bytes(device) // max(1, row_bytes)))
    first = 0
    while first < n_rows:
        try:
            work(slice(first, min(n_rows, first + step)))
            first += step
        except torch.OutOfMemoryError as error:
            if step == 1:
                raise MemoryError(
                    f"the device has no room for one row of {row_bytes:,} bytes beside the samples; use "
                    "fewer samples, a larger card, or device='cpu'"
                ) from error
            step = (step + 1) // 2
            torch.cuda.empty_cache()


def pieces(n: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `size`."""
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))
