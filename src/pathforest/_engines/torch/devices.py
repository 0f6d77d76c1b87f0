"""Which device computes, and how much of its memory a block may take."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

TORCH_CPU = "torch-cpu"  # runs the same code, which is how machines without a GPU test it
BLOCK_BYTES = 2**35  # of the arrays for a block of rows; larger ones are no faster


def require_torch() -> Any:
    """Import torch, or say how to install it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "device='cuda' needs PyTorch; run pip install 'pathforest[gpu]', or set_params(device='cpu') for "
            "the same answers from the CPU"
        ) from error
    return torch


def find_device(device: str) -> Any:
    """Return torch's device, or say why there is none; nothing falls back to the CPU in silence."""
    torch = require_torch()
    if device == TORCH_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"device={device!r}: PyTorch {torch.__version__} sees no GPU; install a driver and a "
            "build of PyTorch for it, or use device='cpu'"
        )
    # Torch itself takes 200 for -56.
    count, index = torch.cuda.device_count(), device.partition(":")[2]
    if index and int(index) >= count:
        raise RuntimeError(
            f"device={device!r}: there is no such GPU, only {count}, counted from 0; use "
            "device='cuda', or 'cpu'"
        )
    return torch.device(device)


def current(device: Any) -> AbstractContextManager[Any]:
    """Make a GPU the one that kernels run on."""
    return require_torch().cuda.device(device) if device.type == "cuda" else nullcontext()


def free_bytes(device: Any) -> int:
    """Return how much memory a block may take."""
    torch = require_torch()
    if device.type == "cpu":
        return BLOCK_BYTES // 256
    # What torch keeps of earlier blocks is free for the next ones.
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return min(BLOCK_BYTES, (torch.cuda.mem_get_info(device)[0] + kept) // 3)


@contextmanager
def room_for(what: str) -> Iterator[None]:
    """Say what the device has no room for if its memory runs out."""
    try:
        yield
    except require_torch().OutOfMemoryError as error:
        _let_go(error)
        raise _no_room(what) from error


def in_blocks(
    device: Any, n_rows: int, row_bytes: int, work: Callable[[slice], None], probe: int | None = None
) -> None:
    """Call `work` with slices of rows that fit the device's memory, smaller ones if it runs out.

    The first slice has no more than `probe` rows.
    """
    torch = require_torch()
    step = max(1, min(n_rows, free_bytes(device) // max(1, row_bytes)))
    first = 0
    while first < n_rows:
        rows = slice(first, min(n_rows, first + (step if first or probe is None else min(step, probe))))
        try:
            work(rows)
        except torch.OutOfMemoryError as error:
            _let_go(error)
            if step == 1:
                raise _no_room(f"one row of {row_bytes:,} bytes beside the samples") from error
            step = (step + 1) // 2
        else:
            first = rows.stop


def _no_room(what: str) -> MemoryError:
    return MemoryError(f"the device has no room for {what}; use fewer samples, a larger GPU, or device='cpu'")


def _let_go(error: BaseException) -> None:
    """Free what the work that failed has taken: its error holds the variables of every function it left."""
    traceback.clear_frames(error.__traceback__)
    require_torch().cuda.empty_cache()


def pieces(n: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `size`."""
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))
