"""Behaviour of the running process: threads and their number, forks, little memory, the end, Ctrl-C."""

import _thread
import functools
import os
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from checks import same_arrays
from machines import interrupt, interrupted, no_sigint
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from strategies import make_codes, make_samples
from threadpoolctl import threadpool_info, threadpool_limits

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFKNNClassifier, _core
from pathforest._engines import matrix
from pathforest._utils.checks import thread_count
from pathforest.distances import make_engine, resolve_metric
from pathforest.forest import path_to_root


def has_threads():
    with threadpool_limits({"_core": 2}):
        return _core.max_threads() == 2


needs_threads = pytest.mark.skipif(not has_threads(), reason="a build without threads")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="forks, and reads /proc")

# How many threads there may be


@needs_threads
@pytest.mark.parametrize(
    "limits", [{"limits": 1}, {"limits": {"_core": 1}}, {"limits": 1, "user_api": "openmp"}]
)
def test_threadpoolctl_limits_our_threads(limits):
    before = _core.max_threads()
    with threadpool_limits(**limits):
        assert thread_count(2) == thread_count(-1) == 1
    with threadpool_limits(1, user_api="blas"):
        assert _core.max_threads() == before


def test_threadpoolctl_finds_our_core_and_no_other():
    ours = [info["filepath"] for info in threadpool_info() if info["internal_api"] == "pathforest"]
    assert [os.path.realpath(path) for path in ours] == [os.path.realpath(_core.__file__)]


def test_n_jobs_are_one_thread_or_every_core_and_one_in_workers_that_are_threads():
    assert thread_count(None) == 1 <= thread_count(-1) <= joblib.cpu_count()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert joblib.Parallel()(joblib.delayed(thread_count)(None) for _ in range(4)) == [1] * 4


# The core alone in a process of its own: no scikit-learn, whose import would take most of the time.
ALONE = """
import importlib.util, os, signal, threading, time
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
        signal.alarm(250)  # a child that hangs ends itself
        code = 1
        try:
            code = 0 if call() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def leave_memory(spare):
    import resource  # which Windows lacks
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (spare << 20), resource.RLIM_INFINITY))
"""


def run_alone(script, **environment):
    """Run a script with the core in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE.format(path=_core.__file__) + script],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


SETTINGS = [
    ("OMP_NUM_THREADS", "1", 1),
    ("OMP_NUM_THREADS", "5", 5),
    ("OMP_NUM_THREADS", " 3 ,2", 3),
    *(("OMP_NUM_THREADS", value, None) for value in ("0", "-2", "3x", "99999999999999999999", "")),
    ("OMP_THREAD_LIMIT", "1", 1),
    ("affinity", "", 1),
]
# Threads in forks; each prints what must be true.
FORKS = {
    "settings of OpenMP and affinity limit threads": f"""
def limited():  # in a child, because settings are read when first needed
    if name == "affinity":
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    os.environ[name] = value
    return _core.max_threads() == (limit or len(os.sched_getaffinity(0)))
for name, value, limit in {SETTINGS}:
    print(in_child(limited))
""",
    "threads start when first needed, in a child too, and are used again": """
print(n_threads() == 1)
expected = engine.knn(5, 1)
def same():
    answers = [engine.knn(5, 3) for _ in range(9)]
    return n_threads() == 3 and all((a == e).all() for answer in answers for a, e in zip(answer, expected))
for _ in range(2):  # the second time the parent has threads that a child cannot use
    print(in_child(same), in_child(lambda: in_child(same)), same())
""",
    "a child forked while other threads compute has threads of its own": """
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
""",
    "without memory for threads the caller does the work": """
small = _core.Engine.brute(rng.random((300, 20)), "euclidean")
expected = small.knn(5, 1)
leave_memory(4)  # a stack needs 8 MB
answer = small.knn(5, 4)
print(n_threads() == 1, all((a == e).all() for a, e in zip(answer, expected)))
""",
}


@needs_threads
@needs_proc
@pytest.mark.parametrize("case", FORKS)
def test_threads_in_forks_and_without_memory(case):
    assert set(run_alone(FORKS[case], OMP_NUM_THREADS="", OMP_THREAD_LIMIT="").split()) == {"True"}


# Not marked `kernel`: the sanitizers reserve more address space than any limit would leave them.
SHORT_OF_MEMORY = """
X, D = rng.random((6000, 30)), rng.random((1000, 1000))
n, order = len(D), np.arange(len(D), dtype=np.int32)
D, P = np.sort(D, axis=1)[:, None], np.tile(order, (n, 1, 1))
whole, zeros, none = np.array([n], dtype=np.int32), 0 * order, np.empty((n, 1, 0))
engine, flat = _core.Engine.kd_tree(X[:, :3].copy(), "euclidean"), _core.Engine.brute(X, "euclidean")
lists = engine.knn(20)
jobs = [
    lambda: _core.Engine.kd_tree(X, "euclidean", n_threads=2),
    lambda: flat.knn(300, 2),
    lambda: engine.spanning_tree(lists, 2),
    lambda: flat.distances(X[:200].copy(), 2),
    lambda: _core.search_k(*lists, 20, False, 2),
    lambda: _core.class_costs(
        D, P, whole, D[0, 0], order, zeros, none, order[:, None].copy(), order[1:3].copy(), 2
    ),
    lambda: _core.subset_lists(*lists, np.arange(5000, dtype=np.int32), 19, 2),
    lambda: flat.conquer(X[:2000].copy(), np.zeros(len(X)), np.arange(len(X), dtype=np.int32), 99, 2),
]
def do_all(spare):
    n_failed = 0
    for job in jobs:  # the first that asks for threads starts them: their stacks are short of room as well
        leave_memory(spare)
        try:
            job()
        except MemoryError:
            n_failed += 1
    return spare or n_failed  # with room to spare some machines manage
for spare in (0, 1, 6, 12, 40):
    print(in_child(lambda: do_all(spare)))
"""


@needs_proc
def test_lack_of_memory_never_ends_the_process():
    assert run_alone(SHORT_OF_MEMORY).split() == ["True"] * 5


@needs_threads
@pytest.mark.parametrize("n_samples", [50, 3000])
def test_the_process_ends_cleanly_while_a_thread_computes(n_samples):
    """Inside a loop, between one and the next, and where Python code would let go of the GIL."""
    script = f"""
engine, computing = _core.Engine.brute(rng.random(({n_samples}, 20)), "euclidean"), threading.Event()
main_thread, threading.main_thread = threading.main_thread, lambda: time.sleep(0.01) or main_thread()
def compute():
    while True:
        engine.knn(5, 2)
        computing.set()
threading.Thread(target=compute, daemon=True).start()
computing.wait()
"""
    for _ in range(3):
        assert run_alone(script) == ""


@needs_threads
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


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python")
def test_the_core_leaves_the_gil_off():
    code = "import sys, pathforest; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", done.stderr


MODELS = [
    OPFClassifier(algorithm="kd_tree"),
    OPFClassifier(algorithm="brute", n_jobs=2),
    FuzzyOPFClassifier(competition="tree", k_max=5, n_conquerors=3),
    OPFKNNClassifier(k_max=5),
    OPFClustering(k_max=5),
]


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
def test_threads_that_fit_and_predict_at_once_get_the_answers_of_one():
    X, _ = make_samples("grid", 0, 300, 3)
    y, start = make_codes("regions", 0, X), threading.Barrier(4)
    shared = [clone(model).fit(X, y) for model in MODELS]
    expected = [model.predict(X) for model in shared] * 2

    def answers():
        start.wait()
        own = [clone(model).fit(X, y) for model in MODELS]
        return [model.predict(X) for model in own + shared]

    with ThreadPoolExecutor(start.parties) as pool:
        futures = [pool.submit(answers) for _ in range(start.parties)]
    for future in futures:
        same_arrays(future.result(), expected)


@functools.lru_cache(maxsize=1)
def samples(n, d, dtype=np.float32):
    return np.random.default_rng(0).random((n, d), dtype=dtype)


def a_long_scan():
    return _core.Engine.brute(samples(30_000, 200), "canberra")


def test_other_threads_run_during_a_long_stage():
    """Only another thread can end this one before minutes have passed."""
    engine, ready, ended = a_long_scan(), threading.Event(), []

    def interrupt_soon():
        ready.wait()
        for _ in range(20):
            time.sleep(0.001)  # and then it needs the interpreter again
        _thread.interrupt_main()

    def work():
        ready.set()
        engine.knn(5)
        ended.append("by itself")

    worker = threading.Thread(target=interrupt_soon)
    with interrupted():
        worker.start()
        try:
            work()
        finally:
            worker.join()
    assert not ended


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_a_path_through_every_sample_needs_no_deep_stack(algorithm):
    n = 100_000 if algorithm == "kd_tree" else 10_000
    X = np.cumsum(np.linspace(1, 2, n))[:, None]  # the one tree is the chain of all samples
    model = OPFClassifier(algorithm=algorithm).fit(X, np.zeros(n))
    assert len(path_to_root(model.predecessor_, n - 1)) == n


# Ctrl-C


def long_competition():
    n = 30_000
    lists = np.empty((n, 0)), np.empty((n, 0), np.int32)
    return partial(a_long_scan().compete, *lists, np.zeros(1, np.int32), np.linspace(0.01, 1, n), False)


def long_conquest():
    engine = _core.Engine.brute(samples(1000, 200), "canberra")
    return partial(engine.conquer, samples(200_000, 200), np.zeros(1000), np.arange(1000, dtype=np.int32))


def long_search_for_k():
    rng, n, k = np.random.default_rng(0), 20_000, 500
    lists = np.sort(rng.random((n, k))), rng.integers(0, n, size=(n, k), dtype=np.int32)
    return partial(_core.search_k, *lists, k, False)


# Work that would take minutes.
LONG = {
    "lists": lambda: partial(a_long_scan().knn, 5),
    "lists by threads": lambda: partial(_core.Engine.brute(samples(150_000, 200), "euclidean").knn, 5, 2),
    "lists of the k-d tree": lambda: partial(_core.Engine.kd_tree(samples(400_000, 14), "euclidean").knn, 5),
    "the tree": lambda: a_long_scan().spanning_tree,
    "a competition": long_competition,
    "a conquest": long_conquest,
    "the search for k": long_search_for_k,
    "a full matrix": lambda: partial(make_engine, samples(8000, 200, np.float64), "mahalanobis"),
}


@no_sigint
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_stops_long_work(work):
    interrupt(LONG[work]())


@no_sigint
def test_ctrl_c_leaves_a_model_fitted_that_predicts_and_unfitted_that_fits():
    model = OPFClassifier(metric="mahalanobis").fit(samples(300, 280), np.arange(300) % 5)
    Q = samples(30_000, 280)
    interrupt(lambda: model.predict(Q))
    check_is_fitted(model)
    model.set_params(metric="euclidean", algorithm="brute", n_jobs=2)
    X = samples(150_000, 200)
    interrupt(lambda: model.fit(X, np.arange(len(X)) % 5))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@no_sigint
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_stops_a_search_of_the_tree_at_once(n_threads):
    """One query over many features is long work already: a task of 32 takes ten seconds or more."""
    engine = _core.Engine.kd_tree(samples(20_000, 300), "minkowski", 3.5)
    assert interrupt(lambda: engine.knn(5, n_threads=n_threads)) < 2


@needs_proc
def test_ctrl_c_does_not_wait_for_the_memory_of_a_full_matrix(monkeypatch):
    """The first write to a new matrix, all of it in one call, takes seconds where memory is slow."""
    n, resident, original = 6000, [], matrix.blocks

    def watched(*args):
        for rows in original(*args):
            resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
            yield rows

    monkeypatch.setattr(matrix, "blocks", watched)
    matrix.distance_matrix(samples(n, 2, np.float64), resolve_metric("hamming"))
    assert max(np.diff(resident)) < 8 * n**2 / 2
