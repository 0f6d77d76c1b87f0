"""The command, as its users type it."""

import os
import shlex
import subprocess
import sys

import pandas as pd
import pytest
import typer

from pathforest import __version__
from pathforest.cli.entrypoint import app
from pathforest.experiments.types import Settings
from pathforest.reporting.provenance import repeat_command

QUICK = (
    "reproduce",
    "--datasets",
    "boat_like,iris",
    "--runs",
    "2",
    "--classifiers",
    "opf,fuzzy_opf,naive_bayes",
)


def call(*args, cwd=None, **env):
    """Run the command in a process of its own, as a shell would."""
    return subprocess.run(
        [sys.executable, "-m", "pathforest", *args],
        capture_output=True, text=True, cwd=cwd, env=os.environ | {"COLUMNS": "200"} | env, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    return folder, call(*QUICK, "--out", "out", cwd=folder)


def test_the_version_is_printed():
    assert call("--version").stdout == f"pathforest {__version__}\n"


def test_help_lists_the_commands():
    assert "reproduce" in call("--help").stdout


def test_reproduce_writes_tables_and_report(finished):
    folder, done = finished
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / "out").iterdir()} == {
        "landscapes.parquet", "report.html", "results.parquet", "runs", "tables.md", "ties.parquet",
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
    assert call(*QUICK, "--out", "out", cwd=folder).returncode == 0
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "out" / "results.parquet"), before)


def test_the_command_in_the_report_gives_the_same_settings():
    settings = Settings(("boat_like", "iris"), ("opf", "knn1"), runs=3, seed=7, preset="clean")
    words = shlex.split(repeat_command(settings))
    given = typer.main.get_command(app).commands["reproduce"].make_context("reproduce", words[2:]).params
    assert (given["datasets"], given["classifiers"]) == ("boat_like,iris", "opf,knn1")
    assert (given["runs"], given["seed"], given["preset"]) == (3, 7, "clean")


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("reproduce", "--datasets", "boats"), 1, "dataset 'boats' is unknown"),
        (("reproduce", "--preset", "dirty"), 1, "preset 'dirty' is unknown"),
        (("reproduce", "--classifiers", "svm"), 1, "svm"),
        (("reproduce", "--runs", "0"), 2, "runs"),
        (("reproduce", "--jobs", "0"), 2, "jobs"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_a_mistake_gets_a_message_and_an_exit_code(tmp_path, args, code, text):
    done = call(*args, cwd=tmp_path)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_dataset_that_is_nowhere_names_the_folder_to_put_it_in(tmp_path):
    nowhere = dict.fromkeys(("PATHFOREST_DATA", "PATHFOREST_CACHE"), str(tmp_path / "empty"))
    offline = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    done = call("reproduce", "--datasets", "boat", cwd=tmp_path, **nowhere, **offline)
    assert done.returncode == 1
    assert "PATHFOREST_DATA" in done.stderr
    assert "boat" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not any(tmp_path.iterdir())
