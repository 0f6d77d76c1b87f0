"""Behaviour of the running process: Ctrl-C, forks, shared models, and threads under joblib."""

import _thread
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from machines import interrupt, interrupted, no_sigint
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from strategies import make_codes, make_samples

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, OPFClustering, _core
from pathforest._engines import matrix
from pathforest._engines.metric import resolve_metric
from pathforest._utils.checks import thread_count
from pathforest.forest import path_to_root

PATIENCE = 300  # seconds until a process counts as hung


@functools.lru_cache(maxsize=1)
def samples(n, d, dtype=np.float64):
    return np.random.default_rng(0).random((n, d), dtype=dtype), np.arange(n) % 5


# Each would take minutes.
WIDE, LONG = (150_000, 200, np.float32), (400_000, 14)
LONG_FITS = {
    "brute": (WIDE, OPFClassifier(algorithm="brute", metric="canberra")),
    "brute with threads": (WIDE, OPFClassifier(algorithm="brute", n_jobs=2)),
    "kd_tree": (LONG, FuzzyOPFClassifier(algorithm="kd_tree", sigma=0.5)),
    "clustering": (WIDE, OPFClustering(k_max=50, n_jobs=2)),
    "search": (WIDE, FuzzyOPFClassifierCV(n_jobs=2)),
    "full matrix": ((8000, 200), OPFClassifier(metric="mahalanobis")),
}


@no_sigint
@pytest.mark.parametrize("case", LONG_FITS)
def test_ctrl_c_stops_a_long_fit_and_leaves_it_unfitted(case):
    size, model = LONG_FITS[case]
    X, y = samples(*size)
    interrupt(lambda: model.fit(X, y))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@no_sigint
@pytest.mark.parametrize(
    ("metric", "n", "m", "d"), [("canberra", 1000, 200_000, 200), ("mahalanobis", 300, 30_000, 280)]
)
def test_ctrl_c_stops_a_long_prediction_and_leaves_the_model_fitted(metric, n, m, d):
    model = OPFClassifier(metric=metric).fit(*samples(n, d))
    Q, _ = samples(m, d, np.float32)
    interrupt(lambda: model.predict(Q))
    check_is_fitted(model)


def long_tree(engine, none):
    engine.spanning_tree(none)


def long_competition(engine, none):
    engine.compete(*none, np.zeros(1, np.int32), np.linspace(0.01, 1, engine.n_samples), False)


@no_sigint
@pytest.mark.parametrize("stage", [long_tree, long_competition])
def test_ctrl_c_stops_a_long_stage(stage):
    """Kernels whose turn comes late in a fit, on samples that keep each of them busy for minutes."""
    X, _ = samples(30_000, 200, np.float32)
    engine, none = _core.Engine.brute(X, "canberra"), (np.empty((len(X), 0)), np.empty((len(X), 0), np.int32))
    interrupt(lambda: stage(engine, none))


@no_sigint
def test_ctrl_c_stops_a_long_search_for_k():
    rng, n, k = np.random.default_rng(0), 20_000, 500
    lists = np.sort(rng.random((n, k))), rng.integers(0, n, size=(n, k), dtype=np.int32)
    interrupt(lambda: _core.search_k(*lists, k, False))


@no_sigint
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_stops_a_search_of_the_tree_at_once(n_threads):
    """One query over many features is long work already: a task of 32 takes ten seconds or more."""
    engine = _core.Engine.kd_tree(samples(20_000, 300, np.float32)[0], "minkowski", 3.5)
    assert interrupt(lambda: engine.knn(5, n_threads=n_threads)) < 2


# A process started in the background may have been told to ignore SIGINT; Python then installs no handler.
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from pathforest import OPFClassifier

X = np.random.default_rng(0).random((150_000, 200), dtype=np.float32)
try:
    print("ready", flush=True)
    OPFClassifier(algorithm="brute", n_jobs=2).fit(X, np.arange(len(X)) % 5)
except KeyboardInterrupt:
    print("interrupted")
"""


@no_sigint
def test_ctrl_c_reaches_a_process():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE)[0] == "interrupted\n"
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_does_not_wait_for_the_memory_of_a_full_matrix(monkeypatch):
    """The first write to a new matrix, all of it in one call, takes seconds where memory is slow."""
    n, resident, original = 6000, [], matrix.blocks

    def watched(*args):
        for rows in original(*args):
            resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
            yield rows

    monkeypatch.setattr(matrix, "blocks", watched)
    matrix.distance_matrix(samples(n, 2)[0], resolve_metric("hamming"))
    assert max(np.diff(resident)) < 8 * n**2 / 2


FORKED = """
import os
import signal
import numpy as np
import pathforest

rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, {d})), np.arange(3000) % 3
expected = pathforest.OPFClassifier(n_jobs=2).fit(X, y)
child = os.fork()
if child == 0:
    signal.alarm(250)  # a child that hangs ends itself; its parent's time limit would not reach it
    model = pathforest.OPFClassifier(n_jobs=2).fit(X, y)
    same = (model.cost_ == expected.cost_).all() and (model.predict(X) == expected.predict(X)).all()
    os._exit(0 if same else 1)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("d", [2, 40])
def test_a_forked_child_fits_after_a_parallel_fit_in_the_parent(d):
    command = [sys.executable, "-W", "ignore", "-c", FORKED.format(d=d)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "child 0\n"


SHARED = [OPFClassifier(n_jobs=2), FuzzyOPFClassifier(competition="tree", n_conquerors=3)]


@pytest.mark.parametrize("model", SHARED, ids=repr)
def test_threads_share_a_fitted_model(model):
    X, _ = make_samples("grid", 0, 400, 3)
    model.fit(X, make_codes("regions", 0, X))
    expected, answers = model.predict(X), []
    workers = [threading.Thread(target=lambda: answers.append(model.predict(X))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [np.array_equal(answer, expected) for answer in answers] == [True] * 4


def test_other_threads_run_during_a_long_stage():
    """Only another thread can end this one before minutes have passed."""
    engine, ready = _core.Engine.brute(samples(30_000, 200, np.float32)[0], "canberra"), threading.Event()

    def interrupt_soon():
        ready.wait()
        for _ in range(20):
            time.sleep(0.001)  # and then it needs the interpreter again
        _thread.interrupt_main()

    def work():
        ready.set()
        engine.knn(5)

    worker = threading.Thread(target=interrupt_soon)
    with interrupted():
        worker.start()
        try:
            work()
        finally:
            worker.join()


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_a_path_through_every_sample_needs_no_deep_stack(algorithm):
    n = 100_000 if algorithm == "kd_tree" else 10_000
    X = np.cumsum(np.linspace(1, 2, n))[:, None]  # the one tree is the chain of all samples
    model = OPFClassifier(algorithm=algorithm).fit(X, np.zeros(n))
    assert len(path_to_root(model.predecessor_, n - 1)) == n


@pytest.mark.slow
def test_workers_of_a_parallel_search_share_the_cores():
    counts = joblib.Parallel(n_jobs=2)(joblib.delayed(thread_count)(-1) for _ in range(4))
    assert max(counts) <= max(1, joblib.cpu_count() // 2)


def test_n_jobs_none_is_one_thread():
    assert thread_count(None) == 1


def test_n_jobs_minus_one_is_every_core():
    assert 1 <= thread_count(-1) <= joblib.cpu_count()
