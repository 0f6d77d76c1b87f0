"""Bounds on the memory that a test may take."""

import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def little_memory():
    """Fail if more than 10 MiB are taken at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


@contextmanager
def resident_memory(megabytes):
    """Fail if the process ever grows by more, whoever allocates; the peak starts anew here."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        pytest.skip("needs the peak of resident memory, as Linux counts it")
    reset.write_text("5")
    before = _peak()
    yield
    assert _peak() - before < megabytes * 1024


def _peak():
    """Return the peak of resident memory in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
