"""The commands on files of LibOPF: models, distances and positions."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from commands import X, fail, succeed
from libopf_files import model_bytes, train
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import pairwise_distances

from pathforest import OPFClassifier, OPFClustering
from pathforest._cli import models
from pathforest._tables import stream as streams
from pathforest.datasets import write
from pathforest.libopf import read_distances, read_model, read_positions

BY_DISTANCES = "--distances distances.dat"


def test_distances_take_the_place_of_features(libopf):
    training, testing = libopf
    assert "75 distances" in succeed(f"train training.dat -e opf {BY_DISTANCES} -o m.pf")
    assert "75 distances" in succeed("info m.pf")
    succeed(f"predict m.pf testing.dat {BY_DISTANCES} -o out.csv")
    expected = OPFClassifier(metric="log_sqeuclidean").fit(training.X, training.y).predict(testing.X)
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected.tolist()
    scores = json.loads(succeed(f"evaluate m.pf testing.dat {BY_DISTANCES} --json"))
    assert scores["accuracy"] == accuracy_score(testing.y, expected)
    found = json.loads(succeed(f"predict m.pf testing.dat {BY_DISTANCES} --explain 0-4 --json"))
    assert [facts["prediction"] for facts in found] == expected[:5].tolist()


def test_clusters_can_be_found_from_distances(libopf):
    succeed(f"cluster data.dat {BY_DISTANCES} -o c.csv --model c.pf")
    expected = OPFClustering(metric="precomputed").fit(read_distances("distances.dat"))
    assert pd.read_csv("c.csv")["cluster"].tolist() == expected.labels_.tolist()


def test_distances_written_are_those_of_the_metric(libopf):
    succeed("convert data.dat --distances manhattan -o l1.dat")
    np.testing.assert_allclose(read_distances("l1.dat"), pairwise_distances(X, metric="manhattan"), rtol=1e-5)
    succeed("convert testing.dat training.dat --distances manhattan -o again.dat")
    np.testing.assert_array_equal(read_distances("again.dat"), read_distances("l1.dat"))


def test_distances_are_looked_up_in_small_batches(libopf, monkeypatch):
    succeed(f"train training.dat -e opf {BY_DISTANCES} -o m.pf")
    expected = succeed(f"predict m.pf testing.dat {BY_DISTANCES}")
    widest = []
    original = models.positions_of

    def watched(stream, batch, *rest):
        widest.append(len(batch.places))
        return original(stream, batch, *rest)

    monkeypatch.setattr(models, "positions_of", watched)
    monkeypatch.setattr(streams, "CELLS", 750)
    assert succeed(f"predict m.pf testing.dat {BY_DISTANCES}") == expected
    assert max(widest) == 10


def test_positions_survive_conversion(libopf):
    succeed("convert testing.dat --out testing.txt")
    succeed("convert testing.txt --out again.dat")
    assert Path("again.dat").read_bytes() == Path("testing.dat").read_bytes()


def test_models_of_libopf_are_used_and_kept(libopf):
    training, testing = libopf
    Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y)))
    found = succeed("predict classifier.opf testing.dat --only").split()[1:]
    assert found == [str(label) for label in read_model("classifier.opf").predict(testing.X)]
    succeed("convert classifier.opf --out kept.pf")
    assert succeed("predict kept.pf testing.dat --only").split()[1:] == found
    assert "OPFClassifier" in succeed("info classifier.opf")


def test_models_of_libopf_that_were_trained_by_distances(libopf):
    training, _ = libopf
    positions = read_positions("training.dat")
    Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y), position=positions))
    found = succeed(f"predict classifier.opf testing.dat {BY_DISTANCES} --only")
    assert found == succeed("predict classifier.opf testing.dat --only")


def test_mistakes_about_distances_are_reported(libopf):
    write("beyond.dat", X[:2].astype(np.float32), [1, 2], positions=[3, 150])
    options = f"-e opf {BY_DISTANCES} -o m.pf"
    said = fail(f"train beyond.dat {options}")
    assert "sample 1: position 150 is not in distances.dat, which has 150" in said
    assert "iris.csv: there is no column 'position'" in fail(f"train iris.csv -l kind {options}")
    assert "not with --distances" in fail(f"train training.dat {options} --learn testing.dat", code=2)
    said = fail(f"train training.dat {options} --set metric=l1", code=2)
    assert "does not take distances with these parameters" in said
    succeed(f"train training.dat {options}")
    assert "trained with distances; pass them with --distances" in fail("predict m.pf testing.dat")
    succeed("train training.dat -e opf -o plain.pf")
    said = fail(f"predict plain.pf testing.dat {BY_DISTANCES}")
    assert "the model was not trained with distances" in said
    write("few.dat", X[:20].astype(np.float32), [1] * 20)
    succeed("convert few.dat --distances l1 -o few_distances.dat")
    said = fail("predict m.pf testing.dat --distances few_distances.dat")
    assert "of a training sample is not in few_distances.dat, which has 20" in said
    assert "are not those from 0 to 74" in fail("convert testing.dat --distances l1 -o x.dat")


def test_files_without_labels_cannot_be_trained_with(folder):
    write("bare.dat", X.astype(np.float32))
    assert "the file has no labels" in fail("train bare.dat -e opf -o m.pf")
