"""The examples of the README run, and print what it says they print."""

import re
from pathlib import Path

import pytest
from pages import COMMAND, run_python, run_shell

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
def test_readme_examples_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = README.read_text(encoding="utf-8"), {}
    run_python(text, names, README)
    for command in re.findall(rf"^{COMMAND}.*$", text, re.MULTILINE):
        code, told = run_shell(command)
        assert code == 0, f"{command}: {told}"
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
