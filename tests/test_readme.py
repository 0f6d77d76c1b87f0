"""The Python examples of the README run."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(
    r"```python\n(.*?)```", README.read_text(encoding="utf-8") if README.exists() else "", re.DOTALL
)


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
@pytest.mark.parametrize("example", EXAMPLES)
def test_readme_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
