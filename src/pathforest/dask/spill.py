"""Neighbour lists of a fit in files of a folder that all machines share."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from pathforest._utils.files import replace_file, replacing
from pathforest.dask.engine import Block, Lists, Piece
from pathforest.dask.futures import run_all

PLAN = "spill.json"


class Spill:
    """Neighbour lists in files, from which a fit goes on that was stopped."""

    def __init__(self, folder: Any) -> None:
        self._folder = os.path.abspath(folder)
        os.makedirs(self._folder, exist_ok=True)
        self._plan = os.path.join(self._folder, PLAN)
        self.plan: dict[str, Any] = {}  # of the fit that began: blocks and tasks are the same in later ones
        if os.path.exists(self._plan):
            with open(self._plan, encoding="utf-8") as file:
                self.plan = json.load(file)

    def path(self, piece: Piece) -> str:
        """Return the path of the lists of some samples."""
        return os.path.join(self._folder, f"lists-{piece.rows.start}-{piece.rows.stop}.npz")

    def open(self, samples: Any, k: int, task_rows: int) -> int:
        """Refuse lists of other samples; return how many samples a task asks."""
        digests = run_all(samples.client, len(samples.rows), lambda i: samples.ask(i, digest_of))
        about = [samples.shape, samples.dtype.str, repr(samples.how[0]), k, digests]
        fingerprint = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        plan = {"fingerprint": fingerprint, "block_bytes": samples.most, "task_rows": task_rows} | self.plan
        if plan["fingerprint"] != fingerprint:
            raise ValueError(
                f"spill_folder={self._folder!r} has lists of other samples, another metric or more or fewer "
                "neighbours; choose another folder, or empty this one"
            )
        replace_file(self._plan, json.dumps(plan).encode())
        return plan["task_rows"]


def check_shared(paths: Sequence[str]) -> None:
    """Say if the client does not see files that workers have written."""
    missing = next((path for path in paths if not os.path.exists(path)), None)
    if missing:
        raise FileNotFoundError(
            f"a worker has written {missing}, and the client does not see it; choose a folder on a disk that "
            "all machines share"
        )


# What runs on the workers


def digest_of(block: Block) -> str:
    """Return a checksum of samples."""
    return hashlib.sha256(block.X).hexdigest()


def write_lists(lists: Lists, path: str) -> None:
    """Write complete lists."""
    with replacing(path) as file:
        np.savez(file, **{name: array for name, array in lists._asdict().items() if name != "queries"})


def load_lists(path: str) -> Lists:
    """Read lists."""
    with np.load(path, allow_pickle=False) as arrays:
        return Lists(**arrays, queries=None)
