"""Ctrl-C within a search of the tree: one query over many features is long work already."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows"
)

# A task of 32 such queries takes ten seconds or more; powers are slow.
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from pathforest import _core

X = np.random.default_rng(0).random((20_000, 300), dtype=np.float32)
engine = _core.Engine.tree(X, "minkowski", 3.5)
print("ready", flush=True)
try:
    engine.knn(5, n_threads={n_threads})
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_stops_a_search_of_the_tree_at_once(n_threads):
    script = SCRIPT.format(n_threads=n_threads)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[0] == "interrupted\n"
            assert time.monotonic() - start < 4
        finally:
            process.kill()
