"""Progress is shown on a terminal, and only there."""

import io
import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from pathforest import FuzzyOPFClassifierCV, fuzzy_cv
from pathforest._search.scoring import Judge
from pathforest._utils.progress import Share, progress

pytest.importorskip("tqdm")

LONG = """
import time
from pathforest._utils import progress
progress.DELAY = 0
with progress.progress(3, "searching") as bar:
    for _ in range(3):
        time.sleep(0.15)
        bar.update()
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def show(monkeypatch, stream, delay=0.0):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("pathforest._utils.progress.DELAY", delay)
    with progress(2, "searching") as bar:
        bar.update()
        bar.update()
    return stream.getvalue()


def test_a_terminal_shows_progress(monkeypatch):
    assert "searching" in show(monkeypatch, Terminal())


def test_fractions_are_shown_as_whole_steps(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(2, "searching") as bar:
        for _ in range(4):
            bar.update(1 / 3)
        assert " 1/2 [" in str(bar)


def test_a_pipe_shows_nothing(monkeypatch):
    assert show(monkeypatch, io.StringIO()) == ""


def test_short_searches_show_nothing(monkeypatch):
    assert "searching" not in show(monkeypatch, Terminal(), delay=60)


def test_without_tqdm_nothing_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert show(monkeypatch, Terminal()) == ""


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
    def show(total, description):
        recorder.total = total
        yield recorder

    monkeypatch.setattr(fuzzy_cv, "progress", show)
    return recorder


def fit(**params):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 1.5 * y[:, None]
    pair = np.arange(40), np.arange(40, 60)
    params = {"transforms": None, **params}
    return FuzzyOPFClassifierCV(k_max=(2, 5, 9), cv=[pair], refit=False, **params).fit(X, y)


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


def test_trials_drawn_twice_are_reported(bar):
    pytest.importorskip("optuna")
    found = fit(search="optuna", sigmas=0.5, n_conquerors=(1, 2), n_trials=40)
    assert len(found.cv_results_["params"]) < 40
    assert bar.total == 40 == pytest.approx(sum(bar.updates))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_real_terminal_shows_progress_and_keeps_no_trace():
    import fcntl
    import pty
    import select
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a new one has no columns
    done = subprocess.run([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=slave, timeout=60)
    waiting, _, _ = select.select([master], [], [], 1)
    shown = os.read(master, 65536).decode() if waiting else ""
    os.close(slave)
    os.close(master)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "searching" in shown
    assert shown.endswith("\r")
