"""What a device can do, and how much of its memory a block may take."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any

import torch

BLOCK_BYTES = 2**35  # of the arrays for a block of rows; larger ones are no faster
OLDEST_TRITON = 3, 6  # that the kernels have been tried with


def can_use(device: Any) -> bool:
    """Say whether there are kernels for a device."""
    if find_spec("triton") is None:
        return False
    import triton

    if tuple(int(part) for part in triton.__version__.split(".")[:2]) < OLDEST_TRITON:
        return False
    if device.type != "cuda":
        return os.environ.get("TRITON_INTERPRET") == "1"  # slow, for tests
    return torch.version.cuda is not None and torch.cuda.get_device_capability(device) >= (8, 0)


def current(device: Any) -> AbstractContextManager[Any]:
    """Make a GPU the one that kernels run on."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def free_bytes(device: Any) -> int:
    """Return how much memory a block may take."""
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
    except torch.OutOfMemoryError as error:
        _let_go(error)
        raise _no_room(what) from error


def in_blocks(
    device: Any, n_rows: int, row_bytes: int, work: Callable[[slice], None], probe: int | None = None
) -> None:
    """Call `work` with slices of rows that fit the device's memory, smaller ones if it runs out.

    The first slice has no more than `probe` rows.
    """
    step, first = max(1, min(n_rows, free_bytes(device) // max(1, row_bytes))), 0
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
    torch.cuda.empty_cache()


def pieces(n: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `size`."""
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))
