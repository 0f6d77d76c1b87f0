"""What tests do to the machine: bounds on memory, and Ctrl-C in the middle of work."""

import signal
import sys
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest

no_sigint = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")


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


@contextmanager
def interrupted():
    """Expect a KeyboardInterrupt, which a process started in the background of a shell would not hear."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            yield raised
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(work, after=0.3):
    """Interrupt work after some seconds of the processor; return how many more it has taken to end."""
    # This clock stands still while other processes run: a busy machine changes nothing.
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.process_time() - start - after
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
