"""Progress is shown where a person watches, on a terminal or in a notebook, and only there."""

import io
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import types
from contextlib import contextmanager

import numpy as np
import pytest

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFSemiSupervisedClassifier,
    fuzzy_cv,
)
from pathforest._search.scoring import Judge
from pathforest._utils.progress import SWITCH, Bar, Share, _find_tqdm, hidden_progress, progress

pytest.importorskip("tqdm")

LONG = """
import numpy as np, pathforest
from pathforest._utils import progress
progress.DELAY = 0
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
model = pathforest.OPFClassifier().fit(X, X[:, 0] > 0)
model.predict(rng.normal(size=(8000, 10)))
"""
# The fit would take minutes, so the core reports a moment of it. A process started in the background may have
# been told to ignore SIGINT; Python then installs no handler.
INTERRUPTED = """
import _thread, signal, numpy as np, pathforest
from pathforest._utils import progress
signal.signal(signal.SIGINT, signal.default_int_handler)
progress.DELAY = 0
watch = progress.Bar.watch
def interrupt(bar, share):
    watch(bar, share)
    _thread.interrupt_main()
progress.Bar.watch = interrupt
X = np.random.default_rng(0).normal(size=(60000, 200))
try:
    pathforest.OPFClassifier(metric="canberra").fit(X, X[:, 0] > 0)
except KeyboardInterrupt:
    print("interrupted")
print(progress._outermost)
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def no_delay(monkeypatch):
    monkeypatch.setattr("pathforest._utils.progress.DELAY", 0.0)
    monkeypatch.setattr("pathforest._utils.progress.INTERVAL", 0.0)
    monkeypatch.delenv(SWITCH, raising=False)


def watched(monkeypatch, work, stream=None):
    """Return what a stream, a terminal by default, shows of some work."""
    stream = stream or Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    work()
    return stream.getvalue()


def search(unit="models"):
    with progress(2, "searching", unit) as bar:
        bar.update()
        bar.update()


def interrupted():
    with progress(2, "searching") as bar:
        bar.update()
        raise KeyboardInterrupt


def test_a_terminal_shows_progress(monkeypatch):
    assert "searching:  50%" in watched(monkeypatch, search)


def test_a_terminal_without_a_size_shows_progress(monkeypatch):
    size = os.terminal_size((0, 0))  # as under script(1) without a terminal of its own
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: size)
    stream = Terminal()
    stream.fileno = lambda: 2
    assert "searching:  50%" in watched(monkeypatch, search, stream)


def test_fractions_are_shown_as_whole_steps(monkeypatch):
    def thirds():
        with progress(2, "searching") as bar:
            for _ in range(4):
                bar.update(1 / 3)

    assert "| 1/2 [" in watched(monkeypatch, thirds)


def test_there_is_a_space_before_the_unit(monkeypatch):
    assert re.search(r"\d models/s", watched(monkeypatch, search))


def test_stages_promise_no_time(monkeypatch):
    assert re.search(r"2/2 stages \[00:\d\d\]", watched(monkeypatch, lambda: search("stages")))


def test_a_pipe_shows_nothing(monkeypatch):
    assert watched(monkeypatch, search, io.StringIO()) == ""


@pytest.mark.parametrize(("switch", "stream", "shown"), [("0", Terminal, False), ("1", io.StringIO, True)])
def test_the_switch_decides_for_any_stream(monkeypatch, switch, stream, shown):
    monkeypatch.setenv(SWITCH, switch)
    assert ("searching" in watched(monkeypatch, search, stream())) == shown


def test_without_an_error_stream_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    search()


def test_short_work_shows_nothing_and_imports_no_tqdm(monkeypatch):
    monkeypatch.setattr("pathforest._utils.progress.DELAY", 60)
    monkeypatch.setattr("pathforest._utils.progress._find_tqdm", lambda: pytest.fail("asked for tqdm"))
    assert watched(monkeypatch, search) == ""


def test_without_tqdm_nothing_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    _find_tqdm.cache_clear()
    try:
        assert watched(monkeypatch, search) == ""
    finally:
        _find_tqdm.cache_clear()


def test_work_inside_other_work_shows_no_bar_of_its_own(monkeypatch):
    def nested():
        with progress(1, "outer") as bar:
            search()
            bar.update()

    shown = watched(monkeypatch, nested)
    assert "outer" in shown
    assert "searching" not in shown


def test_hidden_work_shows_no_bar(monkeypatch):
    def hidden():
        with hidden_progress():
            search()

    assert watched(monkeypatch, hidden) == ""
    assert "searching" in watched(monkeypatch, search)


def test_other_threads_show_no_bar(monkeypatch):
    def elsewhere():
        thread = threading.Thread(target=search)
        thread.start()
        thread.join()

    assert watched(monkeypatch, elsewhere) == ""


def test_worker_processes_show_no_bar(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "name", "LokyProcess-1")
    assert watched(monkeypatch, search) == ""


def test_a_failure_removes_the_bar(monkeypatch):
    def fails():
        with pytest.raises(KeyboardInterrupt):
            interrupted()

    shown = watched(monkeypatch, fails)
    assert "searching" in shown
    assert shown.rpartition("\r")[0].endswith(" ")  # blanked
    assert "searching" in watched(monkeypatch, search)  # nothing is left that would hide the next


def test_the_core_moves_the_bar_while_it_works(monkeypatch):
    with progress(10, "searching") as bar:
        bar.expect(5)
        bar.watch(0.4)
        bar.watch(0.2)  # of another loop
        assert bar._done + bar._expected * bar._share == 2
        bar.update(5)
        assert bar._done + bar._expected * bar._share == 5


def blobs(n=300, d=4):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, X[:, 0] > 0


@pytest.mark.parametrize(
    ("estimator", "stages"),
    [
        (OPFClassifier(), ["make engine", "spanning tree", "grow forest"]),
        (FuzzyOPFClassifier(competition="tree"), ["knn graph", "estimate density", "compete"]),
        (OPFClustering(), ["knn graph", "cluster"]),
        (OPFKNNClassifier(), ["search k", "compete within classes"]),
        (OPFOutlierDetector(), ["knn graph", "estimate density"]),
        (OPFSemiSupervisedClassifier(unlabeled=7), ["balancing factors", "grow forest geodesic"]),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_fit_shows_its_stages_and_predict_its_samples(monkeypatch, estimator, stages):
    X, y = blobs()
    shown = watched(monkeypatch, lambda: estimator.fit(X, y.astype(int)))
    name = type(estimator).__name__
    for stage in stages:
        assert f"{name}: {stage}: " in shown.replace("build engine", "make engine")
    n_stages = re.findall(r"/(\d) stages", shown)
    n_seen = len(set(re.findall(rf"{name}: ([a-z ]+): ", shown)))
    assert n_seen <= int(n_stages[0]) == estimator._n_stages
    shown = watched(monkeypatch, lambda: estimator.predict(X))
    assert f"{name}: predict: 100%" in shown
    assert "300/300 [" in shown


def test_a_verbose_fit_clears_the_bar_before_it_logs(monkeypatch, caplog):
    cleared = []
    monkeypatch.setattr(Bar, "hide", lambda self: cleared.append(len(caplog.records)))
    with caplog.at_level("INFO", logger="pathforest"):
        watched(monkeypatch, lambda: OPFClassifier(verbose=1).fit(*blobs()))
    assert cleared == list(range(4))


def test_a_search_shows_search_and_refit(monkeypatch):
    shown = watched(monkeypatch, lambda: fit(refit=True))
    assert "pathforest search: " in shown
    assert "pathforest refit: " in shown


class Widget:
    """What tqdm asks of ipywidgets."""

    def __init__(self, *args, children=(), **kwargs):
        self.children, self.value, self.layout, self.style = children, None, self, self
        self.bar_style, self.shown = "", True

    def close(self):
        self.shown = False


@pytest.fixture
def notebook(monkeypatch):
    """Pretend that a kernel runs, as far as tqdm looks: its shell is imported, and widgets can be shown."""
    displayed = []
    for name in [name for name in sys.modules if name.startswith("tqdm")]:
        monkeypatch.delitem(sys.modules, name)
    shell = types.SimpleNamespace(get_ipython=lambda: type("ZMQInteractiveShell", (), {})())
    widgets = types.SimpleNamespace(HTML=Widget, FloatProgress=Widget, HBox=Widget, __version__="8.0")
    display = types.SimpleNamespace(display=displayed.append, HTML=Widget)
    fakes = {
        "IPython": shell,
        "IPython.display": display,
        "IPython.html": types.SimpleNamespace(widgets=widgets),
        "ipykernel.zmqshell": types.ModuleType("ipykernel.zmqshell"),
        "ipywidgets": widgets,
    }
    for name, module in fakes.items():
        monkeypatch.setitem(sys.modules, name, module)
    _find_tqdm.cache_clear()
    yield displayed
    _find_tqdm.cache_clear()
    for name in [name for name in sys.modules if name.startswith("tqdm")]:
        del sys.modules[name]


def test_a_notebook_shows_a_widget_and_removes_it(monkeypatch, notebook):
    assert watched(monkeypatch, search, io.StringIO()) == ""  # no text beside it
    assert len(notebook) == 1
    left, *_ = notebook[0].children
    assert left.value.replace("\u2007", " ") == "searching: 100%"
    assert not notebook[0].shown


def test_a_notebook_removes_the_widget_of_work_that_failed(monkeypatch, notebook):
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [widget.shown for widget in notebook] == [False]


def test_a_notebook_without_widgets_shows_text_on_the_output_stream(monkeypatch, notebook, capsys):
    for name in ("ipywidgets", "IPython.html"):
        monkeypatch.setitem(sys.modules, name, None)
    assert watched(monkeypatch, search, io.StringIO()) == ""
    assert "searching: 100%" in capsys.readouterr().out


def test_the_switch_silences_a_notebook(monkeypatch, notebook):
    monkeypatch.setenv(SWITCH, "0")
    search()
    assert notebook == []


class Recorder:
    """A bar that keeps what is reported."""

    def __init__(self):
        self.total, self.updates = 0, []

    def update(self, n=1):
        self.updates.append(n)


@pytest.fixture
def bar(monkeypatch):
    recorder = Recorder()

    @contextmanager
    def show(total, name):
        if name == "search":
            recorder.total = total
        yield recorder if name == "search" else Recorder()

    monkeypatch.setattr(fuzzy_cv, "steps", show)
    return recorder


def fit(**params):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 1.5 * y[:, None]
    pair = np.arange(40), np.arange(40, 60)
    params = {"transforms": None, "refit": False, **params}
    return FuzzyOPFClassifierCV(k_max=(2, 5, 9), cv=[pair], **params).fit(X, y)


def test_parts_of_a_share_add_up_to_its_steps():
    recorder = Recorder()
    share = Share(recorder, 10)
    for _ in range(3):
        share.advance(0.3)
    assert sum(recorder.updates) == pytest.approx(9)
    share.finish()
    assert sum(recorder.updates) == pytest.approx(10)


def test_a_search_reports_every_cell(bar):
    n_cells = len(fit(transforms="linear").cv_results_["params"])
    assert bar.total == n_cells == pytest.approx(sum(bar.updates))


def test_progress_moves_before_the_first_cell_of_a_fold_has_its_score(bar, monkeypatch):
    moved = []
    scores = Judge.scores
    monkeypatch.setattr(Judge, "scores", lambda *args: moved.append(sum(bar.updates)) or scores(*args))
    fit(sigmas=(0.2, 0.4, 0.6, 0.8))
    assert bar.total / 2 < moved[0] < bar.total
    assert len(bar.updates) > 10


def run_on_terminal(code):
    """Run code on a terminal of 80 columns; return what it prints and what the terminal shows."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a new one has no columns
    shown = bytearray()

    def read():
        while True:
            try:
                shown.extend(os.read(master, 65536))
            except OSError:  # the other end is closed
                return

    reader = threading.Thread(target=read)
    reader.start()
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=slave, timeout=300)
    os.close(slave)
    reader.join()
    os.close(master)
    assert done.returncode == 0
    return done.stdout.decode(), shown.decode()


on_terminals = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.mark.slow
@on_terminals
def test_a_real_terminal_shows_progress_and_keeps_no_trace():
    printed, shown = run_on_terminal(LONG)
    assert printed == ""
    assert re.search(r"OPFClassifier: .*/4 stages", shown)  # which stages are seen depends on their times
    assert "OPFClassifier: predict" in shown
    assert "\n" not in shown
    assert shown.endswith("\r")
    assert shown.split("\r")[-2].strip() == ""


@pytest.mark.slow
@on_terminals
def test_an_interruption_ends_the_work_and_removes_the_bar():
    printed, shown = run_on_terminal(INTERRUPTED)
    assert printed.split() == ["interrupted", "None"]
    assert "OPFClassifier: " in shown
    assert shown.split("\r")[-2].strip() == ""
