"""Outputs that fail on the way: the message names the file, and nothing is left behind."""

import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, X, fail, run, succeed

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
        ("predict iris.pf table.csv -o out.parquet", "out.parquet"),
        ("predict iris.pf table.csv -o out.json", "out.json"),
        ("convert table.csv -o out.npz", "out.npz"),
        ("convert table.csv -o out.dat", "out.dat"),
        ("convert table.csv -o out.svm.gz", "out.svm.gz"),
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
@pytest.mark.parametrize("line", ["predict iris.pf table.csv --to csv", "train table.csv -e opf"])
def test_a_full_device_is_named(table, line):
    assert fail(f"{line} -o /dev/full") == "pathforest: /dev/full: no space left on device\n"


@needs_full
@pytest.mark.slow
@pytest.mark.parametrize("line", ["predict iris.pf table.csv", "info table.csv", "evaluate iris.pf iris.csv"])
def test_a_full_standard_output_is_named(table, line):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "pathforest", *line.split()]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "pathforest: the standard output: no space left on device\n")


def test_a_temporary_folder_without_room_is_named(table, folder, monkeypatch):
    succeed("convert table.csv -o table.npz.gz")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with files_of_at_most(600):
        said = fail("info - --from npz.gz", stdin=Path("table.npz.gz").read_bytes())
    assert said == f"pathforest: {folder}: file too large\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_command_leaves_nothing_behind(model, folder, number):
    before = sorted(folder.iterdir())
    asked = subprocess.Popen(
        [sys.executable, "-m", "pathforest", "predict", "iris.pf", "-", "-o", "out.csv"],
        stdin=subprocess.PIPE,
    )
    asked.stdin.write((",".join(FEATURES) + "\n" + "1,2,3,4\n" * 200).encode())
    asked.stdin.flush()
    while not list(folder.glob(".*.tmp")):
        assert asked.poll() is None
        time.sleep(0.05)
    asked.send_signal(number)
    assert asked.wait(60) == -number
    asked.stdin.close()
    assert sorted(folder.iterdir()) == before


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
    thread = threading.Thread(target=replace_file, args=(tmp_path / "other", b"x"))  # where none can be set
    thread.start()
    thread.join()
    assert (tmp_path / "other").read_bytes() == b"x"
