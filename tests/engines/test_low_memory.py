"""Lack of memory is an exception, with threads too: it never ends the process."""

import subprocess
import sys

import pytest

# Not marked `kernel`: the sanitizers reserve more address space than any limit would leave them.
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the address space, and reads /proc")

# Each job in turn with little more address space than the process has by then. Threads are started by the
# first that asks for them, so their stacks are short of room as well.
SCRIPT = """
import resource
import numpy as np
from pathforest import _core

rng = np.random.default_rng(0)
X, D = rng.random((6000, 30)), rng.random((1000, 1000))
n, order = len(D), np.arange(len(D), dtype=np.int32)
D, P = np.sort(D, axis=1), np.tile(order, (n, 1))
engine, flat = _core.Engine.kd_tree(X[:, :3].copy(), "euclidean"), _core.Engine.brute(X, "euclidean")
lists = engine.knn(20)
jobs = dict(
    tree=lambda: _core.Engine.kd_tree(X, "euclidean", n_threads=2),
    knn=lambda: flat.knn(300, 2),
    spanning_tree=lambda: engine.spanning_tree(lists, 2),
    distances=lambda: flat.distances(X[:200].copy(), 2),
    search_k=lambda: _core.search_k(*lists, 20, False, 2),
    class_costs=lambda: _core.class_costs(D, P, D[0], order, D[:, :0].copy(), order, order[1:3].copy(), n, 2),
    subset_lists=lambda: _core.subset_lists(*lists, np.arange(5000, dtype=np.int32), 19, 2),
    conquer=lambda: flat.conquer(X[:2000].copy(), np.zeros(len(X)), np.arange(len(X), dtype=np.int32), 99, 2),
)
for name, job in jobs.items():
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ({spare} << 20), resource.RLIM_INFINITY))
    try:
        job()
    except MemoryError:
        print(name, "MemoryError")
    else:
        print(name, "done")
"""


@pytest.mark.parametrize("spare", [0, 1, 6, 12, 40])
def test_lack_of_memory_never_ends_the_process(spare):
    command = [sys.executable, "-c", SCRIPT.replace("{spare}", str(spare))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = [line.split()[1] for line in done.stdout.splitlines()]
    assert len(outcomes) == 8
    assert set(outcomes) <= {"MemoryError", "done"}
    assert spare or "MemoryError" in outcomes  # with room to spare some machines manage
