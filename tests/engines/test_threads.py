"""The threads of the core: how many there may be, and what they do in forks, at rest and at the end."""

import os
import subprocess
import sys
import threading

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pathforest import _core
from pathforest._utils.checks import thread_count


def has_threads():
    with threadpool_limits({"_core": 2}):
        return _core.max_threads() == 2


pytestmark = pytest.mark.skipif(not has_threads(), reason="a build without threads")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# The core alone: no scikit-learn, whose import would take most of the time.
ALONE = """
import importlib.util, os, sys, threading, time
import numpy as np
spec = importlib.util.spec_from_file_location("_core", {path!r})
_core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(_core)

rng = np.random.default_rng(0)
engine = _core.Engine.brute(rng.random((3000, 20)), "euclidean")

def n_threads():
    return len(os.listdir("/proc/self/task"))

def in_child(call):
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(250)  # a child that hangs ends itself
        os._exit(0 if call() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run_alone(script, **environment):
    """Run a script with the core in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE.format(path=_core.__file__) + script],
        env=os.environ | environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize("limits", [1, {"openmp": 1}, {"_core": 1}])
def test_threadpoolctl_limits_our_threads(limits):
    before = _core.max_threads()
    with threadpool_limits(limits):
        assert thread_count(2) == thread_count(-1) == 1
    assert _core.max_threads() == before


def test_the_user_api_openmp_limits_our_threads_and_blas_does_not():
    before = _core.max_threads()
    with threadpool_limits(1, user_api="openmp"):
        assert _core.max_threads() == 1
    with threadpool_limits(1, user_api="blas"):
        assert _core.max_threads() == before


def test_threadpoolctl_finds_our_core_and_no_other():
    ours = [info["filepath"] for info in threadpool_info() if info["internal_api"] == "pathforest"]
    assert [os.path.realpath(path) for path in ours] == [os.path.realpath(_core.__file__)]


def test_a_limit_holds_for_the_thread_that_sets_it():
    before, elsewhere = _core.max_threads(), []
    with threadpool_limits(before + 1):
        worker = threading.Thread(target=lambda: elsewhere.append(_core.max_threads()))
        worker.start()
        worker.join()
        assert _core.max_threads() == before + 1
    assert elsewhere == [before]


@pytest.mark.parametrize(
    ("variable", "value", "limit"),
    [
        ("OMP_NUM_THREADS", "1", 1),
        ("OMP_NUM_THREADS", "5", 5),
        ("OMP_NUM_THREADS", " 3 ,2", 3),
        ("OMP_NUM_THREADS", "0", None),
        ("OMP_NUM_THREADS", "-2", None),
        ("OMP_NUM_THREADS", "3x", None),
        ("OMP_NUM_THREADS", "99999999999999999999", None),
        ("OMP_NUM_THREADS", "", None),
        ("OMP_THREAD_LIMIT", "1", 1),
    ],
)
def test_settings_of_openmp_limit_our_threads(variable, value, limit):
    n_cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    script = "print(_core.max_threads())"
    environment = {"OMP_NUM_THREADS": "", "OMP_THREAD_LIMIT": "", variable: value}
    assert int(run_alone(script, **environment)) == (n_cpus if limit is None else limit)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs CPU affinity")
def test_affinity_limits_our_threads():
    script = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); print(_core.max_threads())"
    assert run_alone(script, OMP_NUM_THREADS="") == "1"


def test_the_workers_of_a_threading_backend_share_the_cores():
    with joblib.parallel_config(backend="threading", n_jobs=2):
        counts = joblib.Parallel()(joblib.delayed(thread_count)(None) for _ in range(4))
    assert counts == [1] * 4


@needs_proc
def test_threads_start_when_first_needed_and_are_used_again():
    script = """
before = n_threads()
for _ in range(20):
    engine.knn(5, 3)
print(before, n_threads())
"""
    before, after = map(int, run_alone(script, OPENBLAS_NUM_THREADS="1").split())
    assert (before, after) == (1, 3)


@needs_fork
@needs_proc
@pytest.mark.parametrize("used_before", [False, True])
def test_a_forked_child_uses_as_many_threads_as_its_parent(used_before):
    script = f"""
expected = engine.knn(5, 3 if {used_before} else 1)
def same():
    answer = engine.knn(5, 3)
    return n_threads() == 3 and all((a == e).all() for a, e in zip(answer, expected))
print(in_child(same), in_child(lambda: in_child(same)), same())
"""
    assert run_alone(script, OPENBLAS_NUM_THREADS="1") == "True True True"


@needs_fork
@needs_proc
def test_a_child_forked_while_other_threads_compute_has_threads_of_its_own():
    script = """
engine.knn(5, 6)  # more threads than are used below: some are idle when the child is made
enough = threading.Event()
def compute():
    while not enough.is_set():
        engine.knn(5, 2)
workers = [threading.Thread(target=compute) for _ in range(2)]
for worker in workers:
    worker.start()
print(all(in_child(lambda: engine.knn(5, 3) and n_threads() == 3) for _ in range(5)))
enough.set()
for worker in workers:
    worker.join()
"""
    assert run_alone(script, OPENBLAS_NUM_THREADS="1") == "True"


@pytest.mark.parametrize("n_samples", [50, 3000])
def test_the_process_ends_cleanly_while_a_thread_computes(n_samples):
    """At any moment: inside a loop, and between one and the next."""
    script = f"""
engine = _core.Engine.brute(rng.random(({n_samples}, 20)), "euclidean")
def compute():
    while True:
        engine.knn(5, 2)
threading.Thread(target=compute, daemon=True).start()
time.sleep(0.05)
"""
    for _ in range(3):
        assert run_alone(script) == ""


def test_threads_at_rest_use_no_cpu():
    """A single one that kept looking for work would use much of each 0.2 s; a busy machine puts rest off."""
    script = """
engine.knn(5, 3)
def used():
    before = time.process_time()
    time.sleep(0.2)
    return time.process_time() - before
print(any(used() < 0.01 for _ in range(100)))
"""
    assert run_alone(script) == "True"


@needs_proc
def test_without_memory_for_threads_the_caller_does_the_work():
    script = """
import resource
small = _core.Engine.brute(rng.random((300, 20)), "euclidean")
expected = small.knn(5, 1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), resource.RLIM_INFINITY))  # a stack needs 8 MB
answer = small.knn(5, 4)
print(n_threads(), all((a == e).all() for a, e in zip(answer, expected)))
"""
    assert run_alone(script, OPENBLAS_NUM_THREADS="1") == "1 True"
