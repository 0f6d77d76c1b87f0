"""The folders that the commands work in: one of tables and models is made once, and copied for each test."""

import shutil

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, flowers, succeed
from pipelines import passengers

from pathforest import OPFClassifier
from pathforest.datasets import read, write


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """Make a folder of flowers, mixed tables, files of LibOPF and models."""
    folder = tmp_path_factory.mktemp("world")
    table, labels = passengers(60)
    table = table.assign(fate=labels)
    new = table[:4].drop(columns="fate").assign(port=["X", None, "S", "C"], fare=[None, 3.25, 1.5, 8.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        flowers().to_csv("iris.csv", index=False)
        table.to_parquet("ship.parquet")
        # As spreadsheets write it in many countries.
        table.to_csv("ship.csv", sep=";", decimal=",", index=False)
        new.to_csv("new.csv", sep=";", decimal=",", index=False)
        write("data.dat", X.astype(np.float32), codes + 1)
        OPFClassifier().fit(pd.DataFrame(X, columns=FEATURES), KINDS).save("iris.pf")
        for line in (
            "convert data.dat --metric log_sqeuclidean -o distances.dat",
            "convert data.dat --parts training=50,testing=50 -o .",
            f"train {IRIS} -e opf -o labelled.pf",
            "train ship.csv -l fate -e opf -o ship.pf",
            "train training.dat -e opf --distances distances.dat -o by_distances.pf",
        ):
            succeed(line)
    return folder


@pytest.fixture
def folder(world, tmp_path, monkeypatch):
    """Start in a folder of these files."""
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(folder):
    """Return the plain classifier that is in a file."""
    return OPFClassifier().fit(X, KINDS)


@pytest.fixture
def libopf(folder):
    """Return two data files of LibOPF."""
    return read("training.dat"), read("testing.dat")
