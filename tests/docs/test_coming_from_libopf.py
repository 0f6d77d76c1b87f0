"""The page for users of LibOPF: its commands and examples run, on files that LibOPF could have made."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from libopf_files import model_bytes, train
from typer.testing import CliRunner

from pathforest._cli.entrypoint import app
from pathforest.datasets import make_cone_torus, read, write

PAGE = (Path(__file__).parents[2] / "docs" / "coming_from_libopf.md").read_text()
PROGRAMS = """
opf_split opf_train opf_classify opf_accuracy opf_accuracy4label opf_cluster opf_learn opf_pruning opf_semi
opfknn_train opfknn_classify opf_knn_classify opf_distance opf_fold opf_merge opf_normalize opf_info opf_check
opf2txt txt2opf opf2svm svm2opf statistics
"""


def commands():
    """Return the commands of the page in their order: those of the script, then those of the table."""
    script = re.findall(r"^pathforest .*$", PAGE, flags=re.MULTILINE)
    return script + re.findall(r"`(pathforest [a-z]+ [^`]*)`", PAGE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Start with a data file, as the page does."""
    monkeypatch.chdir(tmp_path)
    X, y = make_cone_torus(random_state=0)
    X, y = X[::2], y[::2]
    write("data.dat", X.astype(np.float32), y)
    write("labeled.dat", X[:50].astype(np.float32), y[:50])
    write("unlabeled.dat", X[50:].astype(np.float32))
    return tmp_path


def run_all(folder):
    """Give every command of the page."""
    for command in commands():
        if "classifier.opf" in command and not (folder / "classifier.opf").exists():
            training = read("training.dat")
            Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y)))
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}: {done.stderr}"


def test_every_program_is_on_the_page():
    found = {line.split()[0] for line in re.findall(r"^\| `([^`]+)` \|", PAGE, flags=re.MULTILINE)}
    assert found == set(PROGRAMS.split())


def test_every_command_and_example_of_the_page_runs(folder):
    assert len(commands()) > 30
    run_all(folder)
    failed, tried = doctest.testfile(
        str(Path(__file__).parents[2] / "docs" / "coming_from_libopf.md"), module_relative=False
    )
    assert tried > 8
    assert failed == 0
