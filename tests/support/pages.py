"""Examples on pages: Python sessions as doctests, and commands of ours as a shell would run them."""

import doctest
import shlex
from pathlib import Path

from typer.testing import CliRunner

from pathforest._cli.entrypoint import app

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COMMAND = "pathforest "


def run_python(content, names, path, line=0, flags=FLAGS):
    """Run a session, which must print what it shows, in these names; return how many examples it has."""
    session = doctest.DocTestParser().get_doctest(content, names, Path(path).name, str(path), line)
    session.globs = names  # not the parser's copy: what a block defines, the next one finds
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(session, clear_globs=False)
    assert (failed, tried > 0) == (0, True)
    return tried


def run_shell(line):
    """Run commands that may be joined by pipes; return the exit code and what was printed."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    words.whitespace_split = True
    words = list(words)
    passed, printed, code = None, "", 0
    while words and code == 0:
        end = words.index("|") if "|" in words else len(words)
        command, words = words[:end], words[end + 1 :]
        source, target = _take(command, "<"), _take(command, ">")
        assert command[0] == COMMAND.strip(), line
        given = passed if source is None else Path(source).read_bytes()
        done = CliRunner().invoke(app, command[1:], input=given)
        code, passed = done.exit_code, done.stdout_bytes
        printed += done.stderr if words or target else done.output
        if target is not None:
            Path(target).write_bytes(passed)
    return code, printed


def _take(words, sign):
    """Take a redirection out of a command."""
    if sign not in words:
        return None
    where = words.index(sign)
    _, name = words[where : where + 2]
    del words[where : where + 2]
    return name
