"""Outputs that fail on the way: the message names the file, and nothing is left behind."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, X, run

from pathforest._cli.entrypoint import app
from pathforest._utils.files import replace_file, replacing

resource = pytest.importorskip("resource")  # not on Windows
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")


@contextmanager
def files_of_at_most(n_bytes):
    """Let no file grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def table(model):
    frame = pd.DataFrame(np.tile(X, (8, 1)), columns=FEATURES).assign(label=np.arange(1200) % 3 + 1)
    frame.to_csv("table.csv", index=False)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("train table.csv -e opf -o m.pf", "m.pf"),
        ("predict iris.pf table.csv -o out.csv", "out.csv"),
        ("convert table.csv -o out.dat", "out.dat"),
        ("convert table.csv --metric manhattan -o d.dat", "d.dat"),
        ("convert table.csv --parts a=1,b=99 -o .", "b.csv"),
        ("audit table.csv -o review.html", "review.html"),
    ],
)
def test_a_file_that_cannot_grow_is_named(table, folder, line, path):
    with files_of_at_most(600):
        done = run(line)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, f"pathforest: {path}: file too large")
    assert not (folder / path).exists()
    assert not list(folder.glob(".*.tmp"))


@needs_full
@pytest.mark.parametrize(
    "line", ["predict iris.pf table.csv", "info table.csv", "evaluate labelled.pf iris.csv"]
)
def test_a_full_standard_output_is_named(table, monkeypatch, capsys, line):
    with suppress(OSError), open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as end:
            app(line.split())
    assert end.value.code == 1
    assert capsys.readouterr().err.endswith("pathforest: the standard output: no space left on device\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_leaves_nothing_behind(tmp_path, number):
    # A process may have been told to ignore the signal.
    code = f"""
import os, signal
from pathforest._utils.files import replacing
signal.signal({number:d}, signal.SIG_DFL)
with replacing("out.csv") as file:
    file.write(b"begun")
    print(len(os.listdir()), flush=True)
    signal.raise_signal({number:d})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-number, b"1\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN, lambda *args: None])
def test_handlers_of_signals_are_as_before(tmp_path, handler):
    before = signal.signal(signal.SIGTERM, handler)
    try:
        replace_file(tmp_path / "out", b"x")
        assert signal.getsignal(signal.SIGTERM) is handler
        with pytest.raises(ValueError, match="stop"), replacing(tmp_path / "out"):
            raise ValueError("stop")
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    with ThreadPoolExecutor() as threads:  # which cannot set any
        threads.submit(replace_file, tmp_path / "out", b"y").result()
    assert (tmp_path / "out").read_bytes() == b"y"
