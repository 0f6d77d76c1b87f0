"""The examples of the README run, and print what it says they print."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pathforest.cli.entrypoint import app

README = Path(__file__).parents[1] / "README.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
def test_readme_examples_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    session = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    failed, tried = doctest.DocTestRunner(optionflags=FLAGS).run(session, clear_globs=False)
    assert (failed, tried > 0) == (0, True)
    for command in re.findall(r"^pathforest .*$", text, re.MULTILINE):
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}: {done.stderr}"
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, session.globs)
