"""`pathforest reproduce`, as its users type it."""

import gzip
import os
import shlex
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import typer
from commands import fail, run

from pathforest import __version__
from pathforest._cli.entrypoint import app
from pathforest._reproduction.experiment import Settings

pytestmark = pytest.mark.slow  # experiments, and processes of their own

QUICK = "reproduce --datasets boat_like,iris --runs 2 --classifiers opf,fuzzy_opf,naive_bayes --out out"


def call(*args, cwd=None):
    """Run the command in a process of its own, as a shell would."""
    command = [sys.executable, "-m", "pathforest", *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_the_version_is_printed():
    assert call("--version").stdout == f"pathforest {__version__}\n"


def test_reproduce_writes_tables_and_report_and_continues(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    done, out = run(f"{QUICK} --jobs 1"), tmp_path / "out"
    assert (done.exit_code, done.stderr) == (0, "")  # nothing but the table in a pipe
    assert {path.name for path in out.iterdir()} == {
        "landscapes.parquet", "report.html", "results.parquet", "runs", "ties.parquet",
    }  # fmt: skip
    before = pd.read_parquet(out / "results.parquet")
    assert len(before) == 2 * 2 * 3
    assert "Fuzzy OPF" in done.stdout
    assert done.stdout.rstrip().endswith(os.path.join("out", "report.html"))
    again = call(*QUICK.split(), cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    pd.testing.assert_frame_equal(pd.read_parquet(out / "results.parquet"), before)


def test_the_command_in_the_report_gives_the_same_settings():
    settings = Settings(("boat_like", "iris"), ("opf", "knn1"), runs=3, seed=7, preset="clean")
    words = shlex.split(settings.command)
    given = typer.main.get_command(app).commands["reproduce"].make_context("reproduce", words[2:]).params
    assert (given["datasets"], given["classifiers"]) == ("boat_like,iris", "opf,knn1")
    assert (given["runs"], given["seed"], given["preset"]) == (3, 7, "clean")


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


def eventually(condition, seconds=300):
    """Whether something becomes true in a time that is ample on a busy machine."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def hear_interrupts():
    """Let a process hear Ctrl-C: those started from a shell's background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_every_process_without_a_traceback(tmp_path):
    command = f"{sys.executable} -m pathforest reproduce --datasets digits --jobs 2 --out out".split()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, preexec_fn=hear_interrupts, **pipes
    )
    assert eventually((tmp_path / "out").exists)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert said == "pathforest: stopped\n"
    assert eventually(lambda: is_gone(process.pid))
    assert not any(path.name.startswith(".") for path in tmp_path.rglob("*"))
