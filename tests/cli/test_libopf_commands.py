"""The commands on files of LibOPF: models, distances and positions."""

from pathlib import Path

import numpy as np
from commands import CELLS, X, facts, predictions, succeed
from libopf_files import model_bytes
from libopf_files import train as train_by_libopf
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import pairwise_distances

from pathforest import OPFClassifier
from pathforest.libopf import read_distances, read_model, read_positions

BY_DISTANCES = "--distances distances.dat"


def test_distances_take_the_place_of_features(libopf, monkeypatch):
    training, testing = libopf
    assert "75 distances" in succeed(f"train training.dat -e opf {BY_DISTANCES} -o m.pf")
    assert "75 distances" in succeed("info m.pf")
    expected = OPFClassifier(metric="log_sqeuclidean").fit(training.X, training.y).predict(testing.X)
    assert predictions(f"m.pf testing.dat {BY_DISTANCES}") == list(map(str, expected))
    scores = facts(f"evaluate m.pf testing.dat {BY_DISTANCES}")
    assert scores["accuracy"] == accuracy_score(testing.y, expected)
    found = facts(f"predict m.pf testing.dat {BY_DISTANCES} --explain 0-4")
    assert [sample["prediction"] for sample in found] == expected[:5].tolist()
    monkeypatch.setattr(CELLS, 20)
    assert predictions(f"m.pf testing.dat {BY_DISTANCES}") == list(map(str, expected))


def test_distances_and_positions_survive_conversion(libopf):
    succeed("convert data.dat --metric manhattan -o l1.dat")
    np.testing.assert_allclose(read_distances("l1.dat"), pairwise_distances(X, metric="manhattan"), rtol=1e-5)
    succeed("convert testing.dat training.dat --metric manhattan -o again.dat")
    np.testing.assert_array_equal(read_distances("again.dat"), read_distances("l1.dat"))
    succeed("convert testing.dat --out testing.txt")
    succeed("convert testing.txt --out again.dat")
    assert Path("again.dat").read_bytes() == Path("testing.dat").read_bytes()


def test_models_of_libopf_are_used_and_kept(libopf):
    training, testing = libopf
    learned, positions = train_by_libopf(training.X, training.y), read_positions("training.dat")
    Path("classifier.opf").write_bytes(model_bytes(learned, position=positions))
    found = predictions("classifier.opf testing.dat")
    assert found == [str(label) for label in read_model("classifier.opf").predict(testing.X)]
    assert predictions(f"classifier.opf testing.dat {BY_DISTANCES}") == found
    succeed("convert classifier.opf --out kept.pf")
    assert predictions("kept.pf testing.dat") == found
    assert "OPFClassifier" in succeed("info classifier.opf")
