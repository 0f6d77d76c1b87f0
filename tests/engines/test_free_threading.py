"""Threads at work at once, with the GIL and without it."""

import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from strategies import make_codes, make_samples

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFKNNClassifier

THREADS = 4
MODELS = [
    OPFClassifier(algorithm="kd_tree"),
    OPFClassifier(algorithm="brute", n_jobs=2),
    FuzzyOPFClassifier(competition="tree", k_max=5),
    OPFKNNClassifier(k_max=5),
    OPFClustering(k_max=5),
]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python")
def test_the_core_leaves_the_gil_off():
    code = "import sys, pathforest; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
def test_threads_that_fit_and_predict_at_once_get_the_answers_of_one():
    X, _ = make_samples("grid", 0, 300, 3)
    y = make_codes("regions", 0, X)
    start = Barrier(THREADS)

    def answers(wait=True):
        if wait:
            start.wait()
        models = [type(model)(**model.get_params(deep=False)).fit(X, y) for model in MODELS]
        return [model.predict(X) for model in models]

    expected = answers(wait=False)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda _: answers(), range(THREADS)))
    assert [np.array_equal(each, expected) for each in found] == [True] * THREADS
