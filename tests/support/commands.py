"""Commands as users type them, and the table of flowers that they are given."""

import json
import shlex

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
