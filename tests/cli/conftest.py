"""Folders that the commands work in."""

import numpy as np
import pytest
from commands import IRIS, KINDS, X, codes, flowers, succeed

from pathforest import OPFClassifier
from pathforest.datasets import read, write


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Start in a folder with a table of flowers."""
    monkeypatch.chdir(tmp_path)
    flowers().to_csv("iris.csv", index=False)
    return tmp_path


@pytest.fixture
def model(folder):
    """Train a plain classifier from the table."""
    succeed(f"train {IRIS} -e opf --out iris.pf")
    return OPFClassifier().fit(X, KINDS)


@pytest.fixture
def libopf(folder):
    """Make two data files of LibOPF and the distances of the whole set."""
    write("data.dat", X.astype(np.float32), codes + 1)
    succeed("convert data.dat --distances log_sqeuclidean -o distances.dat")
    succeed("convert data.dat --parts training=50,testing=50 -o .")
    return read("training.dat"), read("testing.dat")
