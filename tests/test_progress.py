"""Progress is shown on a terminal, and only there."""

import io
import os
import subprocess
import sys

import pytest

from pathforest import _progress
from pathforest._progress import progress

pytest.importorskip("tqdm")

LONG = """
import time
from pathforest import _progress
_progress.DELAY = 0
with _progress.progress(3, "searching") as bar:
    for _ in range(3):
        time.sleep(0.15)
        bar.update()
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def show(monkeypatch, stream, delay=0.0):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "DELAY", delay)
    with progress(2, "searching") as bar:
        bar.update()
        bar.update()
    return stream.getvalue()


def test_a_terminal_shows_progress(monkeypatch):
    assert "searching" in show(monkeypatch, Terminal())


def test_a_pipe_shows_nothing(monkeypatch):
    assert show(monkeypatch, io.StringIO()) == ""


def test_short_searches_show_nothing(monkeypatch):
    assert "searching" not in show(monkeypatch, Terminal(), delay=60)


def test_without_tqdm_nothing_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert show(monkeypatch, Terminal()) == ""


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
