"""Progress is shown where a person watches, on a terminal or in a notebook, and only there."""

import io
import multiprocessing
import re
import sys
import threading
import types
import warnings
from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import FuzzyOPFClassifierCV
from pathforest._utils.progress import SILENCE, SWITCH, Bar, hidden_progress, progress

pytest.importorskip("tqdm")
MODULE = "pathforest._utils.progress"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def no_delay(monkeypatch):
    monkeypatch.setattr(f"{MODULE}.DELAY", 0.0)
    monkeypatch.setattr(f"{MODULE}.INTERVAL", 0.0)
    monkeypatch.delenv(SWITCH, raising=False)


def watched(monkeypatch, work, stream=None):
    """Return what a stream, a terminal by default, shows of some work."""
    stream = stream or Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    work()
    return stream.getvalue()


def search(unit="models", parts=(1, 1)):
    with progress(2, "searching", unit) as bar:
        for part in parts:
            bar.update(part)


def nested():
    with progress(1, "outer") as bar:
        search()
        bar.update()


def fails():
    with suppress(KeyboardInterrupt), progress(2, "searching") as bar:
        bar.update()
        raise KeyboardInterrupt


def hidden():
    with hidden_progress():
        search()


def elsewhere():
    thread = threading.Thread(target=search)
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("work", "shown"),
    [
        (search, r"searching:  50%.*\d models/s"),
        (lambda: search(parts=[1 / 3] * 4), r"\| 1/2 \["),  # whole steps
        (lambda: search("stages"), r"2/2 stages \[00:\d\d\]"),  # no promise of a time
        (nested, "^((?!searching).)*outer((?!searching).)*$"),
        (fails, r"searching.*\r +\r$"),  # blanked at the end
        (hidden, "^$"),
        (elsewhere, "^$"),
    ],
)
def test_a_terminal_shows_progress_of_the_outermost_work(monkeypatch, work, shown):
    assert re.search(shown, watched(monkeypatch, work), re.DOTALL)
    assert "searching" in watched(monkeypatch, search)  # nothing is left that would hide the next


def test_a_stream_without_a_person_shows_nothing_unless_the_switch_says_so(monkeypatch):
    for switch, stream, shown in (("", io.StringIO, False), ("0", Terminal, False), ("1", io.StringIO, True)):
        monkeypatch.setenv(SWITCH, switch)
        assert ("searching" in watched(monkeypatch, search, stream())) == shown


def test_worker_processes_short_work_missing_streams_and_missing_tqdm_show_no_bar(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(multiprocessing.current_process(), "name", "LokyProcess-1")
        assert watched(patch, search) == ""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)  # as under pythonw
        search()
    with monkeypatch.context() as patch:
        patch.setattr(f"{MODULE}.DELAY", 10**6)
        patch.setattr(f"{MODULE}._find_tqdm", lambda: pytest.fail("asked for tqdm"))
        assert watched(patch, search) == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert watched(monkeypatch, search) == ""


# Estimators


def blobs(n=300, d=4):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, X[:, 0] > 0


@pytest.mark.parametrize(
    ("name", "params", "stages"),
    [
        ("OPFClassifier", {}, ["build engine", "spanning tree", "grow forest"]),
        ("FuzzyOPFClassifier", {"competition": "tree"}, ["knn graph", "estimate density", "compete"]),
        ("OPFSemiSupervisedClassifier", {"unlabeled": 7}, ["balancing factors", "grow forest geodesic"]),
    ],
)
def test_a_fit_shows_its_stages_and_predict_its_samples(monkeypatch, name, params, stages):
    (X, y), estimator = blobs(), getattr(pathforest, name)(**params)
    shown = watched(monkeypatch, lambda: estimator.fit(X, y.astype(int)))
    seen = set(re.findall(rf"{name}: ([a-z ]+): ", shown))
    assert seen >= set(stages)
    assert len(seen) <= int(re.search(r"/(\d) stages", shown)[1]) == estimator._n_stages
    shown = watched(monkeypatch, lambda: estimator.predict(X))
    assert f"{name}: predict: 100%" in shown
    assert "300/300 [" in shown


@pytest.mark.parametrize("transforms", [None, [None, StandardScaler()]])
def test_a_search_reports_every_cell_and_then_its_refit(monkeypatch, transforms):
    reported, update = {}, Bar.update

    def note(bar, n=1):
        if bar is not SILENCE:
            reported.setdefault((bar._description, bar._total), []).append(n)
        update(bar, n)

    monkeypatch.setattr(Bar, "update", note)
    model = FuzzyOPFClassifierCV(k_max=(2, 5, 9), sigmas=(0.2, 0.4, 0.6, 0.8), cv=2, transforms=transforms)
    shown = watched(monkeypatch, lambda: model.fit(*blobs(60, 2)))
    (cells, n_cells), (refit, n_models) = reported
    assert (cells, refit) == ("pathforest search", "pathforest refit")
    assert n_cells == 2 * len(model.cv_results_["params"]) == pytest.approx(sum(reported[cells, n_cells]))
    assert n_models == len(model.averaged_) == sum(reported[refit, n_models])
    assert min(reported[cells, n_cells]) < 1  # it moves before a cell has its score
    assert f"{cells}: " in shown
    assert f"{refit}: " in shown


# Notebooks


class Widget:
    """What is asked of tqdm's bar in a notebook."""

    made: ClassVar = []

    def __init__(self, total, file, **options):
        self.total, self.file, self.start_t, self.closed_with = total, file, 0, "open"
        self.made.append(self)

    def set_description_str(self, text, refresh):
        self.text = text

    def refresh(self):
        assert self.closed_with == "open"

    def close(self):
        self.closed_with = self.total


class Auto(types.ModuleType):
    """tqdm.auto, which warns of widgets that are missing."""

    def __getattr__(self, name):
        warnings.warn("IProgress not found", stacklevel=1)
        return Widget


@pytest.mark.parametrize("work", [search, fails])
def test_a_notebook_shows_a_bar_on_the_output_and_removes_it(monkeypatch, work):
    monkeypatch.setattr(Widget, "made", [])
    monkeypatch.setitem(sys.modules, "tqdm.auto", Auto("tqdm.auto"))
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", types.ModuleType("ipykernel.zmqshell"))
    assert watched(monkeypatch, work, io.StringIO()) == ""  # no text beside it
    (bar,) = Widget.made
    assert (bar.file, bar.text) == (sys.stdout, "searching")
    assert bar.closed_with is None  # an unfinished bar would stay, in red
    monkeypatch.setenv(SWITCH, "0")
    search()
    assert len(Widget.made) == 1
