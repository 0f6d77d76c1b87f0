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
from commands import fail, run, succeed

from pathforest import __version__
from pathforest._cli.entrypoint import app
from pathforest._reproduction.experiment import Settings

pytestmark = pytest.mark.slow  # experiments, and processes of their own

QUICK = "reproduce --datasets boat_like,iris --runs 2 --classifiers opf,fuzzy_opf,naive_bayes --out out"


def call(*args, cwd=None):
    """Run the command in a process of its own, as a shell would."""
    command = [sys.executable, "-m", "pathforest", *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        return folder, run(f"{QUICK} --jobs 1")


def test_the_version_is_printed():
    assert call("--version").stdout == f"pathforest {__version__}\n"


def test_help_lists_the_commands():
    assert "reproduce" in succeed("--help")


def test_reproduce_writes_tables_and_report(finished):
    folder, done = finished
    assert done.exit_code == 0, done.stderr
    assert {path.name for path in (folder / "out").iterdir()} == {
        "landscapes.parquet", "report.html", "results.parquet", "runs", "ties.parquet",
    }  # fmt: skip
    assert len(pd.read_parquet(folder / "out" / "results.parquet")) == 2 * 2 * 3


def test_reproduce_ends_with_table_one_and_the_path_of_the_report(finished):
    _, done = finished
    assert "Fuzzy OPF" in done.stdout
    assert done.stdout.rstrip().endswith(os.path.join("out", "report.html"))


def test_nothing_but_the_table_is_shown_in_a_pipe(finished):
    _, done = finished
    assert done.stderr == ""


def test_the_same_command_again_changes_no_number(finished):
    folder, _ = finished
    before = pd.read_parquet(folder / "out" / "results.parquet")
    again = call(*QUICK.split(), cwd=folder)
    assert (again.returncode, again.stderr) == (0, "")
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "out" / "results.parquet"), before)


def test_the_command_in_the_report_gives_the_same_settings():
    settings = Settings(("boat_like", "iris"), ("opf", "knn1"), runs=3, seed=7, preset="clean")
    words = shlex.split(settings.command)
    given = typer.main.get_command(app).commands["reproduce"].make_context("reproduce", words[2:]).params
    assert (given["datasets"], given["classifiers"]) == ("boat_like,iris", "opf,knn1")
    assert (given["runs"], given["seed"], given["preset"]) == (3, 7, "clean")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Start in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("reproduce --datasets boats", 1, "dataset 'boats' is unknown"),
        ("reproduce --preset dirty", 1, "preset 'dirty' is unknown"),
        ("reproduce --classifiers svm", 1, "svm"),
        ("reproduce --datasets ,", 1, "no dataset is named"),
        ("reproduce --classifiers ''", 1, "none: not known"),
        ("reproduce --runs 0", 2, "runs"),
        ("reproduce --runs 1000000", 2, "runs"),
        ("reproduce --jobs 0", 2, "jobs"),
        ("nonsense", 2, "nonsense"),
    ],
)
def test_a_mistake_gets_a_message_and_an_exit_code(work, line, code, text):
    done = run(line)
    assert done.exit_code == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not any(work.iterdir())


def test_a_dataset_that_is_nowhere_names_the_folder_to_put_it_in(work, monkeypatch):
    for name in ("PATHFOREST_DATA", "PATHFOREST_CACHE"):
        monkeypatch.setenv(name, str(work / "empty"))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    said = fail("reproduce --datasets boat")
    assert "PATHFOREST_DATA" in said
    assert "boat" in said
    assert not any(work.iterdir())


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Return a function that puts rows in the place of the published set `boat`."""
    monkeypatch.setenv("PATHFOREST_DATA", str(tmp_path))
    return lambda rows: (tmp_path / "boat.csv.gz").write_bytes(
        gzip.compress("\n".join(["label,f0", *rows, ""]).encode())
    )


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["1,0"], "1 samples in 1 classes"),
        (["1,0", "1,1", "2,2"], "3 samples in 2 classes"),
        ([f"1,{i}" for i in range(30)], "30 samples in 1 classes"),
        ([*(f"{1 + i % 2},{i}" for i in range(30)), "1,nan"], "feature 0 of sample 30 is nan"),
    ],
)
def test_samples_that_cannot_be_used_are_named_before_any_work(work, put, rows, text):
    put(rows)
    said = fail("reproduce --datasets boat")
    assert "dataset 'boat'" in said
    assert text in said
    assert not any(work.iterdir())


def test_a_local_set_that_is_not_the_published_one_is_reported(work, put):
    put([f"{1 + i % 2},{i}" for i in range(30)])
    done = run("reproduce --datasets boat --classifiers opf --runs 1 --jobs 1 --out out")
    assert done.exit_code == 0
    assert done.stderr == "pathforest: boat is not the published set, so the paper's numbers do not apply\n"


def test_a_file_in_place_of_the_folder_is_named_before_any_work(work):
    (work / "out").write_text("mine")
    assert "--out out" in fail(QUICK, code=1)
    assert (work / "out").read_text() == "mine"


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
