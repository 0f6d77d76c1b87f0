"""Behaviour of the running process: Ctrl-C, forks, shared models, and threads under joblib."""

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
from pathforest._validation import thread_count

PATIENCE = 60  # seconds until a process counts as hung; the jobs interrupted here would run for minutes

INTERRUPTED = """
import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
import pathforest

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

LONG_FIT = "X = rng.random((150_000, 200), dtype=np.float32); y = np.arange(len(X)) % 5"
SLOW_TREE = "X = rng.random((400_000, 14)); y = np.arange(len(X)) % 5"
LONG_JOBS = {
    "brute": (
        f"{LONG_FIT}; model = pathforest.OPFClassifier(algorithm='brute', metric='canberra')",
        "model.fit(X, y)",
    ),
    "brute-threads": (
        f"{LONG_FIT}; model = pathforest.OPFClassifier(algorithm='brute', n_jobs=2)",
        "model.fit(X, y)",
    ),
    "tree": (
        f"{SLOW_TREE}; model = pathforest.FuzzyOPFClassifier(algorithm='tree', sigma=0.5)",
        "model.fit(X, y)",
    ),
    "clustering": (f"{LONG_FIT}; model = pathforest.OPFClustering(k_max=50, n_jobs=2)", "model.fit(X)"),
}
LONG_PREDICTION = (
    "X = rng.random((4000, 200), dtype=np.float32); Q = rng.random((400_000, 200), dtype=np.float32);"
    "model = pathforest.OPFClassifier(metric='canberra').fit(X, np.arange(4000) % 5)"
)


def interrupt(setup, work):
    """Run a job in its own process, press Ctrl-C one second into it, and return the lines it prints after that."""
    script = INTERRUPTED.format(setup=setup, work=work)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            return process.communicate(timeout=PATIENCE)[0].split()
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize("job", LONG_JOBS)
def test_ctrl_c_stops_a_long_fit_and_leaves_it_unfitted(job):
    assert interrupt(*LONG_JOBS[job]) == ["interrupted", "unfitted"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_stops_a_long_prediction_and_leaves_the_model_fitted():
    assert interrupt(LONG_PREDICTION, "model.predict(Q)") == ["interrupted", "fitted"]


FORKED = """
import os
import numpy as np
import pathforest

rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, {d})), np.arange(3000) % 3
expected = pathforest.OPFClassifier(n_jobs=2).fit(X, y)
child = os.fork()
if child == 0:
    model = pathforest.OPFClassifier(n_jobs=2).fit(X, y)
    same = np.array_equal(model.cost_, expected.cost_) and np.array_equal(model.predict(X), expected.predict(X))
    os._exit(0 if same else 1)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("d", [2, 40])
def test_a_forked_child_fits_after_a_parallel_fit_in_the_parent(d):
    command = [sys.executable, "-W", "ignore", "-c", FORKED.format(d=d)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "child 0\n"


@pytest.mark.parametrize(
    "model", [OPFClassifier(n_jobs=2), FuzzyOPFClassifier(n_conquerors=3)], ids=["plain", "fuzzy"]
)
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


def test_workers_of_a_parallel_search_share_the_cores():
    counts = joblib.Parallel(n_jobs=2)(joblib.delayed(thread_count)(-1) for _ in range(4))
    assert max(counts) <= max(1, joblib.cpu_count() // 2)


def test_n_jobs_none_is_one_thread():
    assert thread_count(None) == 1


def test_n_jobs_minus_one_is_every_core_openmp_allows():
    assert 1 <= thread_count(-1) <= joblib.cpu_count()
