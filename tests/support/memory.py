"""A bound on the memory that a test may take."""

import tracemalloc
from contextlib import contextmanager


@contextmanager
def little_memory():
    """Fail if more than 10 MiB are taken at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
