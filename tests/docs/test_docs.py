"""The pages of the site tell the truth: their Python examples and shell lines run, and print what they say.

Blocks run in the order of the page, all of a page in one empty folder, its Python in one namespace:

- ``pycon`` blocks, of every page, are doctests.
- ``sh`` blocks of the pages in SHELL: each line that starts with ``pathforest`` ends with exit code 0.
- ``console`` blocks of these pages: each line ``$ pathforest ...`` prints what follows it, on either stream,
  and ends with exit code 0, unless the next line is ``$ echo $?``, which prints another.

Of the shell there are ``|`` between commands of ours, ``<``, ``>`` and a backslash at the end of a line.
"""

import doctest
import re
from pathlib import Path

import pytest
from pages import COMMAND, FLAGS, run_python, run_shell

DOCS = Path(__file__).parents[2] / "docs"
# The others name data that tests lack.
SHELL = (
    "start.md",
    "using/command_line.md",
    "using/label_noise.md",
    "using/mixed_tables.md",
    "using/review_labels.md",
)
ELSEWHERE = ("coming_from_", "gallery/", "api/")  # pages with tests of their own, and generated ones
BLOCK = re.compile(r"^```(pycon|sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def page_names():
    names = (path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md")))
    return [name for name in names if not name.startswith(ELSEWHERE) and examples(name)]


def examples(name):
    """The blocks of a page that can be run: kind, content and line."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = [(found[1], found[2], text.count("\n", 0, found.start(2))) for found in BLOCK.finditer(text)]
    return [block for block in blocks if block[0] == "pycon" or (name in SHELL and COMMAND in block[1])]


@pytest.mark.slow
@pytest.mark.parametrize("name", page_names())
def test_examples_of_a_page_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, content, line in examples(name):
        if kind == "pycon":
            run_python(content, names, DOCS / name, line)
        elif kind == "sh":
            for command in re.findall(rf"^{COMMAND}.*$", joined(content), re.MULTILINE):
                code, out = run_shell(command)
                assert code == 0, f"{command}: {out}"
        else:
            run_session(joined(content))


def run_session(content):
    code = 0
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
        if command == "echo $?":
            assert int(expected) == code
            code = 0
            continue
        assert code == 0, f"the command before {command} ended with {code}"
        code, out = run_shell(command)
        is_same = doctest.OutputChecker().check_output(expected, out, FLAGS)
        assert is_same, f"{command}\nexpected:\n{expected}\nfound:\n{out}"
    assert code == 0, f"the last command ended with {code}"


def joined(text):
    return text.replace("\\\n", " ")
