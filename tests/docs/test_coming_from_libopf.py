"""The page for users of LibOPF: its commands and examples run, on files that LibOPF could have made."""

import re
from pathlib import Path

import numpy as np
from commands import run_python, succeed
from libopf_files import model_bytes, train

from pathforest.datasets import make_cone_torus, read, write

PAGE = Path(__file__).parents[2] / "docs" / "coming_from_libopf.md"
TEXT = PAGE.read_text(encoding="utf-8")


def commands():
    """Return the commands of the page in their order: those of the script, then those of the table."""
    script = re.findall(r"^pathforest .*$", TEXT, flags=re.MULTILINE)
    return script + re.findall(r"`(pathforest [a-z]+ [^`]*)`", TEXT)


def test_every_command_and_example_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_cone_torus(random_state=0)
    X, y = X[::2].astype(np.float32), y[::2]
    write("data.dat", X, y)
    write("labeled.dat", X[:50], y[:50])
    write("unlabeled.dat", X[50:])
    assert len(commands()) > 30
    for command in commands():
        if "classifier.opf" in command and not Path("classifier.opf").exists():
            training = read("training.dat")
            Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y)))
        succeed(command.removeprefix("pathforest "))
    assert run_python(TEXT, {}, PAGE, flags=0) > 8
