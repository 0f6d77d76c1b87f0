"""Commands as users type them or pages show them, and the table of flowers that they are given."""

import doctest
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import pathforest
from pathforest._cli.entrypoint import app

FEATURES = ["length", "width", "petal length", "petal width"]
X, codes = load_iris(return_X_y=True)
KINDS = np.array(["setosa", "versicolor", "virginica"])[codes]
IRIS = "iris.csv -l kind --ignore name"  # the table, and how to take it
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
CELLS = "pathforest._tables.batches.CELLS"  # of a batch


def flowers():
    """Return the iris set with a text column that is not a feature."""
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.insert(0, "name", [f"flower {i}" for i in range(len(X))])
    frame.insert(3, "kind", KINDS)
    return frame


def run(line, *more, stdin=None):
    """Give a command; return its exit code, output and errors."""
    return CliRunner().invoke(app, [*shlex.split(line), *map(str, more)], input=stdin)


def succeed(line, *more, stdin=None):
    """Give a command that must succeed, and return what it printed."""
    done = run(line, *more, stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def facts(line, **more):
    """Give a command that must succeed, and return what it says to programs."""
    return json.loads(succeed(f"{line} --json", **more))


def train(line):
    """Train a model and return it."""
    succeed(f"train {line} -o m.pf")
    return pathforest.load("m.pf")


def predictions(line):
    """Return what `predict` says of a table, as text."""
    return succeed(f"predict {line} --only").split()[1:]


def fail(line, *more, stdin=None, code=1):
    """Give a command that must fail, and return the one line it prints."""
    done = run(line, *more, stdin=stdin)
    assert done.exit_code == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pathforest: ")
    return done.stderr


# Examples on pages


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
        assert command[0] == "pathforest", line
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
