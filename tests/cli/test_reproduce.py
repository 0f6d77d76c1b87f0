"""`pathforest reproduce`, as its users type it."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from commands import run

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
    monkeypatch.setattr("pathforest._reproduction.data.is_published", lambda name, _: name != "iris")
    again = run(QUICK)
    assert (again.exit_code, "iris is not the published set" in again.stderr) == (0, True)
    pd.testing.assert_frame_equal(pd.read_parquet(out / "results.parquet"), before)


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
