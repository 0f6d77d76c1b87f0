"""`pathforest reproduce`, as its users type it."""

import gzip
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from commands import fail, run

pytestmark = pytest.mark.slow  # experiments, and processes of their own

QUICK = "reproduce --datasets boat_like,iris --runs 1 --classifiers opf,fuzzy_opf --jobs 1 --out out"


def test_reproduce_writes_tables_and_report_and_continues(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    done, out = run(QUICK), tmp_path / "out"
    assert (done.exit_code, done.stderr) == (0, "")  # nothing but the table in a pipe
    assert {path.name for path in out.iterdir()} == {
        "landscapes.parquet", "report.html", "results.parquet", "runs",
    }  # fmt: skip
    before = pd.read_parquet(out / "results.parquet")
    assert len(before) == 2 * 2
    assert "Fuzzy OPF" in done.stdout
    assert done.stdout.rstrip().endswith(os.path.join("out", "report.html"))
    again = run(QUICK)
    assert (again.exit_code, again.stderr) == (0, "")
    pd.testing.assert_frame_equal(pd.read_parquet(out / "results.parquet"), before)


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Start in an empty folder; return a function that replaces the published set `boat` by rows."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATHFOREST_DATA", str(tmp_path))
    monkeypatch.setenv("PATHFOREST_CACHE", str(tmp_path / "empty"))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    return lambda rows: (tmp_path / "boat.csv.gz").write_bytes(
        gzip.compress("\n".join(["label,f0", *rows, ""]).encode())
    )


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (None, "PATHFOREST_DATA"),  # it is nowhere: the folder to put it in
        (["1,0"], "1 samples in 1 classes"),
        (["1,0", "1,1", "2,2"], "3 samples in 2 classes"),
        ([f"1,{i}" for i in range(30)], "30 samples in 1 classes"),
        ([*(f"{1 + i % 2},{i}" for i in range(30)), "1,nan"], "feature 0 of sample 30 is nan"),
    ],
)
def test_samples_that_cannot_be_used_are_named_before_any_work(put, rows, text):
    if rows is not None:
        put(rows)
    said = fail("reproduce --datasets boat")
    assert "boat" in said
    assert text in said
    assert not os.listdir()


def test_a_local_set_that_is_not_the_published_one_is_reported(put):
    put([f"{1 + i % 2},{i}" for i in range(30)])
    done = run("reproduce --datasets boat --classifiers opf --runs 1 --jobs 1 --out out")
    assert done.exit_code == 0
    assert done.stderr == "pathforest: boat is not the published set, so the paper's numbers do not apply\n"


def hear_interrupts():
    """Let a process hear Ctrl-C: those started from a shell's background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.ci
def test_ctrl_c_stops_every_process_without_a_traceback(tmp_path):
    command = f"{sys.executable} -m pathforest reproduce --datasets digits --jobs 2 --out out".split()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, preexec_fn=hear_interrupts, **pipes
    )
    while not (tmp_path / "out").exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()  # ends when no process has the pipes any more
    assert (process.returncode, said) == (130, "pathforest: stopped\n")
    assert not any(path.name.startswith(".") for path in tmp_path.rglob("*"))
