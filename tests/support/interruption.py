"""Ctrl-C in the middle of work.

It comes by the clock of the processor, which stands still while other processes run: a busy machine changes
nothing, and what the work still does can be held against a limit.
"""

import signal
import sys
import time

import pytest

no_sigint = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")


def interrupt(work, after=0.3):
    """Interrupt work after some seconds of the processor; return how many more it has taken to end."""
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
