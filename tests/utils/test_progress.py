"""Progress is shown where a person watches, on a terminal or in a notebook, and only there."""

import io
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import pathforest
from pathforest import FuzzyOPFClassifierCV, OPFClassifier
from pathforest._utils.progress import SILENCE, SWITCH, Bar, Share, hidden_progress, progress

pytest.importorskip("tqdm")
MODULE = "pathforest._utils.progress"

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


def interrupted():
    with progress(2, "searching") as bar:
        bar.update()
        raise KeyboardInterrupt


def fails():
    with pytest.raises(KeyboardInterrupt):
        interrupted()


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
    ],
)
def test_a_terminal_shows_progress(monkeypatch, work, shown):
    assert re.search(shown, watched(monkeypatch, work), re.DOTALL)
    assert "searching" in watched(monkeypatch, search)  # nothing is left that would hide the next


@pytest.mark.parametrize(
    ("switch", "stream", "shown"),
    [(None, io.StringIO, False), ("0", Terminal, False), ("1", io.StringIO, True)],
)
def test_a_stream_without_a_person_shows_nothing_unless_the_switch_says_so(
    monkeypatch, switch, stream, shown
):
    if switch:
        monkeypatch.setenv(SWITCH, switch)
    assert ("searching" in watched(monkeypatch, search, stream())) == shown


def test_a_terminal_without_a_size_shows_progress(monkeypatch):
    # As under script(1) without a terminal of its own.
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    stream = Terminal()
    stream.fileno = lambda: 2
    assert "searching:  50%" in watched(monkeypatch, search, stream)


@pytest.mark.parametrize("work", [hidden, elsewhere])
def test_hidden_work_and_other_threads_show_no_bar(monkeypatch, work):
    assert watched(monkeypatch, work) == ""


def test_worker_processes_missing_streams_and_missing_tqdm_show_no_bar(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(multiprocessing.current_process(), "name", "LokyProcess-1")
        assert watched(patch, search) == ""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)  # as under pythonw
        search()
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert watched(monkeypatch, search) == ""


def test_short_work_shows_nothing_and_imports_no_tqdm(monkeypatch):
    monkeypatch.setattr(f"{MODULE}.DELAY", 60)
    monkeypatch.setattr(f"{MODULE}._find_tqdm", lambda: pytest.fail("asked for tqdm"))
    assert watched(monkeypatch, search) == ""


def test_the_core_moves_the_bar_while_it_works():
    with progress(10, "searching") as bar:
        bar.expect(5)
        bar.watch(0.4)
        bar.watch(0.2)  # of another loop
        assert bar._done + bar._expected * bar._share == 2
        bar.update(5)
        assert bar._done + bar._expected * bar._share == 5


def test_parts_of_a_share_add_up_to_its_steps():
    with progress(20, "searching") as bar:
        share = Share(bar, 10)
        for _ in range(3):
            share.advance(0.3)
        assert bar._done == pytest.approx(9)
        share.finish()
        assert bar._done == pytest.approx(10)


def blobs(n=300, d=4):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, X[:, 0] > 0


@pytest.mark.parametrize(
    ("name", "params", "stages"),
    [
        ("OPFClassifier", {}, ["build engine", "spanning tree", "grow forest"]),
        ("FuzzyOPFClassifier", {"competition": "tree"}, ["knn graph", "estimate density", "compete"]),
        ("OPFClustering", {}, ["knn graph", "cluster"]),
        ("OPFKNNClassifier", {}, ["search k", "compete within classes"]),
        ("OPFOutlierDetector", {}, ["knn graph", "estimate density"]),
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


def test_a_verbose_fit_clears_the_bar_before_it_logs(monkeypatch, caplog):
    cleared = []
    monkeypatch.setattr(Bar, "hide", lambda self: cleared.append(len(caplog.records)))
    with caplog.at_level("INFO", logger="pathforest"):
        watched(monkeypatch, lambda: OPFClassifier(verbose=1).fit(*blobs()))
    assert cleared == list(range(4))


@pytest.mark.parametrize("transforms", [None, "linear"])
def test_a_search_reports_every_cell_and_then_its_refit(monkeypatch, transforms):
    reported, update = {}, Bar.update

    def note(bar, n=1):
        if bar is not SILENCE:
            reported.setdefault((bar._description, bar._total), []).append(n)
        update(bar, n)

    monkeypatch.setattr(Bar, "update", note)
    X, y = blobs(60, 2)
    model = FuzzyOPFClassifierCV(k_max=(2, 5, 9), sigmas=(0.2, 0.4, 0.6, 0.8), cv=2, transforms=transforms)
    shown = watched(monkeypatch, lambda: model.fit(X, y))
    (cells, n_cells), (refit, n_models) = reported
    assert (cells, refit) == ("pathforest search", "pathforest refit")
    assert n_cells == 2 * len(model.cv_results_["params"]) == pytest.approx(sum(reported[cells, n_cells]))
    assert n_models == len(model.averaged_) == sum(reported[refit, n_models])
    assert min(reported[cells, n_cells]) < 1  # it moves before a cell has its score
    assert f"{cells}: " in shown
    assert f"{refit}: " in shown


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
    widgets = types.SimpleNamespace(HTML=Widget, FloatProgress=Widget, HBox=Widget, __version__="8.0")
    fakes = {
        "IPython": types.SimpleNamespace(get_ipython=lambda: type("ZMQInteractiveShell", (), {})()),
        "IPython.display": types.SimpleNamespace(display=displayed.append, HTML=Widget),
        "IPython.html": types.SimpleNamespace(widgets=widgets),
        "ipykernel.zmqshell": types.ModuleType("ipykernel.zmqshell"),
        "ipywidgets": widgets,
    }
    for name, module in fakes.items():
        monkeypatch.setitem(sys.modules, name, module)
    yield displayed
    for name in [name for name in sys.modules if name.startswith("tqdm")]:
        del sys.modules[name]


@pytest.mark.parametrize(("work", "percent"), [(search, "100"), (fails, "50")])
def test_a_notebook_shows_a_widget_and_removes_it(monkeypatch, notebook, work, percent):
    assert watched(monkeypatch, work, io.StringIO()) == ""  # no text beside it
    (widget,) = notebook
    assert widget.children[0].value.replace("\u2007", " ").strip() == f"searching: {percent:>3}%"
    assert not widget.shown


def test_a_notebook_without_widgets_shows_text_on_the_output_stream(monkeypatch, notebook, capsys):
    for name in ("ipywidgets", "IPython.html"):
        monkeypatch.setitem(sys.modules, name, None)
    assert watched(monkeypatch, search, io.StringIO()) == ""
    assert "searching: 100%" in capsys.readouterr().out


def test_the_switch_silences_a_notebook(monkeypatch, notebook):
    monkeypatch.setenv(SWITCH, "0")
    search()
    assert notebook == []


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
    return done.stdout.decode().split(), shown.decode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("code", "printed", "seen"),
    [
        # Which stages are seen depends on their times.
        (LONG, [], r"OPFClassifier: .*/4 stages.*OPFClassifier: predict"),
        (INTERRUPTED, ["interrupted", "None"], "OPFClassifier: "),
    ],
    ids=["complete", "interruption"],
)
def test_a_real_terminal_shows_progress_and_keeps_no_trace(code, printed, seen):
    said, shown = run_on_terminal(code)
    assert said == printed
    assert re.search(seen, shown, re.DOTALL)
    assert "\n" not in shown
    assert shown.endswith("\r")
    assert shown.split("\r")[-2].strip() == ""
