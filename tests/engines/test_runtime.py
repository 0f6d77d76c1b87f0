"""Behaviour of the running process: Ctrl-C, forks, shared models, and threads under joblib."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from strategies import make_codes, make_samples

from pathforest import FuzzyOPFClassifier, OPFClassifier
from pathforest._utils.threads import thread_count
from pathforest.forest import path_to_root

PATIENCE = 60  # seconds until a process counts as hung; the jobs interrupted here would run for minutes

# A process started in the background may have been told to ignore SIGINT; Python then installs no handler.
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
import pathforest
from pathforest import _core

rng = np.random.default_rng(0)
{setup}
print("ready", flush=True)
try:
    {work}
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
try:
    check_is_fitted(model)
    print("fitted")
except NotFittedError:
    print("unfitted")
"""

WIDE = "X, y = rng.random((150_000, 200), dtype=np.float32), np.arange(150_000) % 5"
LONG = "X, y = rng.random((400_000, 14)), np.arange(400_000) % 5"
LONG_FITS = {
    "brute": (WIDE, "OPFClassifier(algorithm='brute', metric='canberra')"),
    "brute with threads": (WIDE, "OPFClassifier(algorithm='brute', n_jobs=2)"),
    "tree": (LONG, "FuzzyOPFClassifier(algorithm='tree', sigma=0.5)"),
    "clustering": (WIDE, "OPFClustering(k_max=50, n_jobs=2)"),
    "search": (WIDE, "FuzzyOPFClassifierCV(n_jobs=2)"),
    "full matrix": (
        "X, y = rng.random((8000, 200)), np.arange(8000) % 5",
        "OPFClassifier(metric='mahalanobis')",
    ),
}
LONG_PREDICTION = """
X, Q = rng.random(({n}, {d}), dtype=np.float32), rng.random(({m}, {d}), dtype=np.float32)
model = pathforest.OPFClassifier(metric={metric!r}).fit(X, np.arange({n}) % 5)
"""
# Kernels whose turn comes late in a fit, on inputs that keep each of them busy for minutes.
SAMPLES = """
n, model = 30_000, pathforest.OPFClassifier()
engine = _core.Engine.brute(rng.random((n, 200), dtype=np.float32), "canberra")
none = np.empty((n, 0)), np.empty((n, 0), dtype=np.int32)
"""
LISTS = """
n, k, model = 20_000, 500, pathforest.OPFClustering()
lists = np.sort(rng.random((n, k))), rng.integers(0, n, size=(n, k), dtype=np.int32)
"""
LONG_STAGES = {
    "spanning tree": (SAMPLES, "engine.spanning_tree(*none)"),
    "competition": (
        SAMPLES,
        "engine.compete(*none, np.zeros(1, dtype=np.int32), 0.01 + rng.random(n), False)",
    ),
    "search for k": (LISTS, "_core.search_k(*lists, k, False)"),
    "trials": (
        "X, y = rng.random((3000, 20)), np.arange(3000) % 5; model = pathforest.FuzzyOPFClassifierCV("
        "search='optuna', n_trials=10**6)",
        "model.fit(X, y)",
    ),
}
no_sigint = pytest.mark.skipif(
    sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows"
)


def interrupt(setup, work, patience=PATIENCE):
    """Run a job in its own process, press Ctrl-C one second into it, and return the words it then prints."""
    script = INTERRUPTED.format(setup=setup, work=work)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            return process.communicate(timeout=patience)[0].split()
        finally:
            process.kill()


@pytest.mark.slow
@no_sigint
@pytest.mark.parametrize("case", LONG_FITS)
def test_ctrl_c_stops_a_long_fit_and_leaves_it_unfitted(case):
    data, model = LONG_FITS[case]
    assert interrupt(f"{data}; model = pathforest.{model}", "model.fit(X, y)") == ["interrupted", "unfitted"]


@pytest.mark.slow
@no_sigint
def test_ctrl_c_does_not_wait_for_the_memory_of_a_full_matrix():
    """The first write to a new matrix, all of it at once, takes longer than this where memory is slow."""
    setup = (
        "import sklearn.metrics; X = rng.random((16_000, 2)); "
        "model = pathforest.OPFClassifier(metric='seuclidean')"
    )
    words = interrupt(setup, "model.fit(X, np.arange(len(X)) % 5)", patience=6)
    assert words == ["interrupted", "unfitted"]


@no_sigint
@pytest.mark.parametrize("case", LONG_STAGES)
def test_ctrl_c_stops_a_long_stage(case):
    assert interrupt(*LONG_STAGES[case])[0] == "interrupted"


@pytest.mark.slow
@no_sigint
@pytest.mark.parametrize(
    ("metric", "n", "m", "d"), [("canberra", 1000, 200_000, 200), ("mahalanobis", 300, 30_000, 280)]
)
def test_ctrl_c_stops_a_long_prediction_and_leaves_the_model_fitted(metric, n, m, d):
    setup = LONG_PREDICTION.format(metric=metric, n=n, m=m, d=d)
    assert interrupt(setup, "model.predict(Q)") == ["interrupted", "fitted"]


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
    signal.alarm(50)  # a child that hangs ends itself; its parent's time limit would not reach it
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


def test_other_threads_run_during_a_fit():
    X = np.random.default_rng(0).random((6000, 100))
    worker = threading.Thread(target=OPFClassifier(algorithm="brute").fit, args=(X, np.arange(6000) % 2))
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 20


@pytest.mark.parametrize("algorithm", ["tree", "brute"])
def test_a_path_through_every_sample_needs_no_deep_stack(algorithm):
    n = 100_000 if algorithm == "tree" else 10_000
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
