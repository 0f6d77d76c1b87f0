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
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pathforest.cli.entrypoint import app

DOCS = Path(__file__).parents[1] / "docs"
SHELL = ("start.md", "using/command_line.md", "using/label_noise.md")  # others name data that tests lack
ELSEWHERE = ("coming_from_", "gallery/", "api/")  # pages with tests of their own, and generated ones
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(r"^```(pycon|sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = "pathforest "


def page_names():
    names = (path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md")))
    return [name for name in names if not name.startswith(ELSEWHERE) and examples(name)]


def examples(name):
    """The blocks of a page that can be run: kind, content and line."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = [(found[1], found[2], text.count("\n", 0, found.start(2))) for found in BLOCK.finditer(text)]
    return [block for block in blocks if block[0] == "pycon" or (name in SHELL and COMMAND in block[1])]


@pytest.mark.parametrize("name", page_names())
def test_examples_of_a_page_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, content, line in examples(name):
        if kind == "pycon":
            run_python(content, names, name, line)
        elif kind == "sh":
            for command in re.findall(rf"^{COMMAND}.*$", joined(content), re.MULTILINE):
                code, out = run_shell(command)
                assert code == 0, f"{command}: {out}"
        else:
            run_session(joined(content))


def run_python(content, names, page, line):
    session = doctest.DocTestParser().get_doctest(content, names, page, str(DOCS / page), line)
    session.globs = names  # not the parser's copy: what a block defines, the next one finds
    failed, tried = doctest.DocTestRunner(optionflags=FLAGS).run(session, clear_globs=False)
    assert (failed, tried > 0) == (0, True)


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


def run_shell(line):
    """Run commands that may be joined by pipes; return the exit code and what was printed."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    words.whitespace_split = True
    words = list(words)
    passed, printed, code = None, "", 0
    while words and code == 0:
        end = words.index("|") if "|" in words else len(words)
        command, words = words[:end], words[end + 1 :]
        source, target = take(command, "<"), take(command, ">")
        assert command[0] == COMMAND.strip(), line
        given = passed if source is None else Path(source).read_bytes()
        done = CliRunner().invoke(app, command[1:], input=given)
        code, passed = done.exit_code, done.stdout_bytes
        printed += done.stderr if words or target else done.output
        if target is not None:
            Path(target).write_bytes(passed)
    return code, printed


def take(words, sign):
    """Take a redirection out of a command."""
    if sign not in words:
        return None
    where = words.index(sign)
    _, name = words[where : where + 2]
    del words[where : where + 2]
    return name


def joined(text):
    return text.replace("\\\n", " ")
