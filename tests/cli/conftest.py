"""Folders that the commands work in."""

import numpy as np
import pandas as pd
import pytest
from commands import IRIS, KINDS, X, codes, flowers, succeed
from pipelines import passengers

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
    succeed("convert data.dat --metric log_sqeuclidean -o distances.dat")
    succeed("convert data.dat --parts training=50,testing=50 -o .")
    return read("training.dat"), read("testing.dat")


@pytest.fixture
def ship(tmp_path, monkeypatch):
    """Start in a folder with a mixed table as spreadsheets write it in many countries; return new rows."""
    monkeypatch.chdir(tmp_path)
    table, labels = passengers(60)
    table = table.assign(fate=labels)
    table.to_csv("ship.csv", sep=";", decimal=",", index=False)
    table.to_parquet("ship.parquet")
    new = table[:4].drop(columns="fate").assign(port=["X", None, "S", "C"], fare=[None, 3.25, 1.5, 8.0])
    new.to_csv("new.csv", sep=";", decimal=",", index=False)
    return pd.read_csv("new.csv", sep=";", decimal=",")
