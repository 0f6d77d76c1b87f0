"""The commands on users' files: what they answer, and what they say when something is wrong."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from libopf_files import model_bytes, train
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss
from sklearn.metrics.pairwise import pairwise_distances
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, OPFClustering
from pathforest.cli import queries
from pathforest.cli.entrypoint import COMMANDS, app
from pathforest.datasets import read, write
from pathforest.datasets.formats import stream as streams
from pathforest.learning import learn
from pathforest.libopf import read_distances, read_model, read_positions
from pathforest.metrics import opf_accuracy
from pathforest.pruning import prune

FEATURES = ["length", "width", "petal length", "petal width"]
X, codes = load_iris(return_X_y=True)
KINDS = np.array(["setosa", "versicolor", "virginica"])[codes]


def run(*args, stdin=None):
    """Give a command; return its exit code, output and errors."""
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


def succeed(*args, stdin=None):
    """Give a command that must succeed, and return what it printed."""
    done = run(*args, stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def fail(*args, stdin=None, code=1):
    """Give a command that must fail, and return the one line it says."""
    done = run(*args, stdin=stdin)
    assert done.exit_code == code, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pathforest: ")
    return done.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Start in a folder with a table of flowers."""
    monkeypatch.chdir(tmp_path)
    flowers().to_csv("iris.csv", index=False)
    return tmp_path


def flowers():
    """Return the iris set with a text column that is no feature."""
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.insert(0, "name", [f"flower {i}" for i in range(len(X))])
    frame.insert(3, "kind", KINDS)
    return frame


@pytest.fixture
def model(folder):
    """Train a plain classifier from the table."""
    succeed("train", "iris.csv", "--label", "kind", "--ignore", "name", "-e", "opf", "--out", "iris.pf")
    return OPFClassifier().fit(X, KINDS)


def test_every_command_has_help_with_examples():
    for command in COMMANDS:
        text = succeed(command.__name__, "--help")
        assert "Examples:" in text
        assert f"pathforest {command.__name__}" in text


def test_train_fits_the_cross_validated_classifier_unless_told_otherwise(folder):
    said = succeed("train", "iris.csv", "--label", "kind", "--ignore", "name", "--out", "iris.pf")
    expected = FuzzyOPFClassifierCV().fit(X, KINDS)
    found = pathforest.load("iris.pf")
    assert type(found) is FuzzyOPFClassifierCV
    assert found.best_params_ == expected.best_params_
    np.testing.assert_array_equal(found.feature_names_in_, FEATURES)
    assert f"cross-validated score {expected.best_score_:.4f}" in said
    frame = pd.DataFrame(X, columns=FEATURES)
    np.testing.assert_array_equal(found.predict_proba(frame), expected.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "class_name"),
    [("opf", "OPFClassifier"), ("fuzzy", "FuzzyOPFClassifier"), ("knn", "OPFKNNClassifier")],
)
def test_train_fits_the_estimator_asked_for(folder, name, class_name):
    succeed("train", "iris.csv", "-l", "kind", "--ignore", "name", "-e", name, "-o", "m.pf")
    expected = getattr(pathforest, class_name)().fit(X, KINDS)
    found = pathforest.load("m.pf")
    assert type(found).__name__ == class_name
    np.testing.assert_array_equal(found.cost_, expected.cost_)


def test_parameters_are_set_by_name(folder):
    options = ["--set", "sigma=0.3", "--set", "competition=tree", "--set", "n_neighbors=None"]
    succeed("train", "iris.csv", "-l", "kind", "--ignore", "name", "-e", "fuzzy", *options, "-o", "m.pf")
    expected = FuzzyOPFClassifier(sigma=0.3, competition="tree").fit(X, KINDS)
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)


def test_features_are_chosen_by_name(folder):
    succeed("train", "iris.csv", "-l", "kind", "--features", "width,length", "-e", "opf", "-o", "m.pf")
    np.testing.assert_array_equal(
        pathforest.load("m.pf").cost_, OPFClassifier().fit(X[:, [1, 0]], KINDS).cost_
    )


@pytest.mark.parametrize("label", ["kind", "3", "-3"])
def test_the_label_is_told_by_name_or_position(folder, label):
    told = succeed(
        "train", "iris.csv", f"--label={label}", "--ignore", "name", "-e", "opf", "-o", "m", "--json"
    )
    assert json.loads(told)["label"] == "kind"
    assert json.loads(told)["classes"] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".npz", ".csv.gz", ".dat", ".txt", ".libsvm"])
def test_training_and_prediction_take_every_format(folder, ending):
    nameless = ending in (".dat", ".txt", ".libsvm")
    values = X.astype(np.float32) if ending == ".dat" else X
    labels = codes + 1 if nameless else KINDS
    write(f"data{ending}", values, labels, feature_names=None if nameless else FEATURES)
    succeed("train", f"data{ending}", "-e", "opf", "-o", "m.pf")
    succeed("predict", "m.pf", f"data{ending}", "-o", "out.csv")
    found = pd.read_csv("out.csv")["prediction"]
    assert found.tolist() == OPFClassifier().fit(values, labels).predict(values).tolist()


def test_samples_with_empty_labels_are_unlabelled_for_semi(folder):
    frame = flowers()
    frame.loc[np.arange(len(frame)) % 10 > 0, "kind"] = ""
    frame.to_csv("few.csv", index=False)
    succeed("train", "few.csv", "-l", "kind", "--ignore", "name", "-e", "semi", "-o", "m.pf")
    expected = pathforest.OPFSemiSupervisedClassifier(unlabeled="").fit(X, frame["kind"].to_numpy())
    np.testing.assert_array_equal(pathforest.load("m.pf").transduction_, expected.transduction_)


def test_the_prediction_is_the_last_column_and_the_others_stay(model, folder):
    succeed("predict", "iris.pf", "iris.csv", "--out", "out.csv")
    found = pd.read_csv("out.csv")
    pd.testing.assert_frame_equal(found.iloc[:, :-1], flowers())
    assert found.columns[-1] == "prediction"
    assert found["prediction"].tolist() == model.predict(X).tolist()


def test_cells_of_other_columns_are_copied_character_by_character(model, folder):
    rows = ["petal width,id,width,petal length,length,note", '0.20,007,3.50,1.4,5.1,"a, ""b"""']
    (folder / "new.csv").write_text("\n".join(rows) + "\n")
    found = succeed("predict", "iris.pf", "new.csv").splitlines()
    assert found == [rows[0] + ",prediction", rows[1] + ",setosa"]


def test_a_wrong_label_column_does_not_matter_to_predictions(model, folder):
    frame = flowers()
    frame["kind"] = "nonsense"
    frame.to_csv("new.csv", index=False)
    succeed("predict", "iris.pf", "new.csv", "-o", "out.csv")
    assert pd.read_csv("out.csv")["prediction"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("cells", [1, 30, 2**18])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.json", "out.jsonl", "out.parquet", "out.csv.gz"])
def test_predictions_do_not_depend_on_batches_or_formats(model, folder, monkeypatch, cells, name):
    monkeypatch.setattr(streams, "CELLS", cells)
    succeed("predict", "iris.pf", "iris.csv", "--proba", "--only", "--out", name)
    readers = {"json": pd.read_json, "parquet": pd.read_parquet, "tsv": lambda p: pd.read_csv(p, sep="\t")}
    readers["jsonl"] = lambda path: pd.read_json(path, lines=True)
    found = readers.get(name.split(".")[1], pd.read_csv)(name)
    assert found.columns.tolist() == ["p(setosa)", "p(versicolor)", "p(virginica)", "prediction"]
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found.iloc[:, :3], model.predict_proba(X), rtol=1e-9)  # JSON's reader rounds


def test_typed_output_has_features_as_numbers_and_the_rest_as_it_came(model, folder):
    found = json.loads(succeed("predict", "iris.pf", "iris.csv", "--to", "json"))
    assert found[0]["petal length"] == 1.4
    assert found[0]["name"] == "flower 0"


def test_json_without_a_file_prints_rows_and_with_one_a_summary(model, folder):
    assert len(json.loads(succeed("predict", "iris.pf", "iris.csv", "--json"))) == len(X)
    found = json.loads(succeed("predict", "iris.pf", "iris.csv", "--out", "o.csv", "--json"))
    assert found == {"predictions": "o.csv", "n_samples": len(X)}


def test_the_standard_input_is_a_file_too(model, folder):
    found = succeed("predict", "iris.pf", "-", "--only", stdin=(folder / "iris.csv").read_bytes())
    assert found.split() == ["prediction", *model.predict(X)]
    said = succeed("train", "-", "-l", "kind", "--ignore", "name", "-e", "opf", "-o", "m.pf",
                   stdin=(folder / "iris.csv").read_bytes())  # fmt: skip
    assert said.startswith("m.pf: OPFClassifier, 150 samples, 4 features, 3 classes")


def test_a_model_without_names_takes_columns_in_order(folder):
    OPFClassifier().fit(X, KINDS).save("m.pf")
    flowers().drop(columns="name").to_csv("new.csv", index=False)
    found = succeed("predict", "m.pf", "new.csv", "--label", "kind", "--only").split()[1:]
    assert found == OPFClassifier().fit(X, KINDS).predict(X).tolist()


def test_a_table_without_rows_gives_one_without_rows(model, folder):
    (folder / "none.csv").write_text(",".join(FEATURES) + "\n")
    assert succeed("predict", "iris.pf", "none.csv") == ",".join(FEATURES) + ",prediction\n"


def test_evaluate_gives_the_scores_of_scikit_learn(model, folder):
    test = flowers().iloc[::7].assign(kind=np.roll(KINDS, 3)[::7])
    test.to_csv("test.csv", index=False)
    found = json.loads(succeed("evaluate", "iris.pf", "test.csv", "--label", "kind", "--json"))
    true, predicted = test["kind"], model.predict(X[::7])
    assert found["accuracy"] == accuracy_score(true, predicted)
    assert found["opf_accuracy"] == opf_accuracy(true, predicted)
    assert found["f1_weighted"] == pytest.approx(f1_score(true, predicted, average="weighted"))
    assert found["log_loss"] == pytest.approx(log_loss(true, model.predict_proba(X[::7])))
    assert found["confusion"] == confusion_matrix(true, predicted).tolist()
    assert "versicolor" in succeed("evaluate", "iris.pf", "test.csv", "--label", "kind")


def test_evaluate_reads_integer_labels_whatever_they_look_like(folder):
    (folder / "a.csv").write_text("label,x\n1,0\n2,5\n")
    (folder / "b.csv").write_text("label,x\n01,0\n +2,5\n")
    succeed("train", "a.csv", "-e", "opf", "-o", "m.pf")
    assert json.loads(succeed("evaluate", "m.pf", "b.csv", "--json"))["accuracy"] == 1


def test_classes_that_are_not_in_the_file_have_no_recall(model, folder):
    flowers().iloc[:5].to_csv("test.csv", index=False)
    found = json.loads(succeed("evaluate", "iris.pf", "test.csv", "-l", "kind", "--json"))
    assert found["samples"] == [5, 0, 0]
    assert found["recall"] == [1.0, None, None]


def test_explain_tells_the_path(model, folder):
    found = json.loads(succeed("explain", "iris.pf", "iris.csv", "--rows", "70,3", "--json"))
    assert [facts["sample"] for facts in found] == [70, 3]
    expected = model.explain(X[[70]])[0]
    assert found[0]["path"] == expected.path
    assert found[0]["path_labels"] == KINDS[expected.path].tolist()
    assert found[0]["class_costs"]["setosa"] == model.class_costs(X[[70]])[0, 0]
    assert succeed("explain", "iris.pf", "iris.csv").count("sample ") == 5


def test_tune_shows_cells_best_first_and_writes_them_all(folder):
    said = succeed(
        "tune", "iris.csv", "-l", "kind", "--ignore", "name", "--set", "sigmas=[0.5,1]", "-o", "c.csv"
    )
    expected = FuzzyOPFClassifierCV(sigmas=[0.5, 1]).fit(X, KINDS)
    found = pd.read_csv("c.csv")
    assert found["rank_test_score"].tolist() == list(range(1, len(expected.cv_results_["params"]) + 1))
    assert found["mean_test_score"][0] == pytest.approx(expected.best_score_, abs=1e-6)
    assert found["param_n_conquerors"][0] == expected.best_params_["n_conquerors"]
    assert "the best 10 above" in said


def test_tune_saves_the_model_if_asked(folder):
    succeed("tune", "iris.csv", "-l", "kind", "--ignore", "name", "--save", "m.pf")
    assert pathforest.load("m.pf").best_params_ == FuzzyOPFClassifierCV().fit(X, KINDS).best_params_


def test_cluster_adds_the_cluster_as_the_last_column(folder):
    said = succeed("cluster", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "c.csv", "--save", "c.pf")
    expected = OPFClustering().fit(X)
    found = pd.read_csv("c.csv")
    assert found.columns.tolist() == [*flowers().columns, "cluster"]
    assert found["cluster"].tolist() == expected.labels_.tolist()
    assert said.startswith("3 clusters of 150 samples")
    succeed("predict", "c.pf", "iris.csv", "-o", "p.csv")
    assert pd.read_csv("p.csv")["prediction"].tolist() == expected.predict(X).tolist()


def test_split_parts_are_disjoint_complete_and_stratified(folder):
    succeed("split", "iris.csv", "--label", "kind", "--parts", "train=60,test=40", "--out", "parts")
    train, test = pd.read_csv("parts/train.csv"), pd.read_csv("parts/test.csv")
    assert train["kind"].value_counts().tolist() == [30, 30, 30]
    assert test["kind"].value_counts().tolist() == [20, 20, 20]
    together = pd.concat([train, test]).sort_values("length", kind="stable")
    assert sorted(together["name"]) == sorted(flowers()["name"])
    assert train["name"].tolist() == [name for name in flowers()["name"] if name in set(train["name"])]


def test_split_follows_the_seed(folder):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        succeed("split", "iris.csv", "--label", "kind", "--seed", seed, "--out", out)
    a, b, c = ((folder / out / "train.csv").read_bytes() for out in "abc")
    assert a == b
    assert a != c


def test_folds_cover_the_file_once(folder):
    succeed("split", "iris.csv", "-l", "kind", "--folds", "4", "-o", "folds")
    folds = [pd.read_csv(f"folds/fold{i}.csv") for i in range(4)]
    assert sorted(pd.concat(folds)["name"]) == sorted(flowers()["name"])
    assert all(len(fold) in (36, 39) for fold in folds)


@pytest.mark.parametrize("ending", [".dat", ".txt", ".libsvm", ".npz", ".parquet", ".csv.gz", ".tsv"])
def test_split_keeps_the_format(folder, ending):
    write(f"data{ending}", X.astype(np.float32), codes + 1)
    succeed("split", f"data{ending}", "--parts", "a=1,b=1", "--out", "parts")
    parts = [read(f"parts/{name}{ending}") for name in "ab"]
    found = np.concatenate([part.X for part in parts]).astype(np.float32)
    assert sorted(found.tolist()) == sorted(X.astype(np.float32).tolist())
    assert np.concatenate([part.y for part in parts]).sum() == (codes + 1).sum()


def test_split_keeps_the_positions_of_libopf(folder):
    write("data.dat", X.astype(np.float32), codes + 1, positions=np.arange(len(X)) + 1000)
    succeed("split", "data.dat", "--parts", "a=1,b=1", "--out", "parts")
    positions = [_positions(f"parts/{name}.dat") for name in "ab"]
    assert sorted(np.concatenate(positions)) == list(range(1000, 1000 + len(X)))
    np.testing.assert_array_equal(read("parts/a.dat").X, X.astype(np.float32)[positions[0] - 1000])


def _positions(path):
    record = np.dtype([("position", "<i4"), ("label", "<i4"), ("features", "<f4", (4,))])
    return np.fromfile(path, record, offset=12)["position"]


def test_convert_changes_the_format_and_nothing_else(folder):
    succeed("convert", "iris.csv", "-l", "kind", "--ignore", "name", "--out", "iris.parquet")
    found = read("iris.parquet", label="kind")
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == KINDS.tolist()
    assert found.feature_names == FEATURES


def test_convert_puts_files_one_below_the_other(folder):
    write("a.dat", X[:80].astype(np.float32), codes[:80] + 1)
    write("b.csv", X[80:].astype(np.float32), codes[80:] + 1)
    succeed("convert", "a.dat", "b.csv", "-o", "both.npz")
    np.testing.assert_array_equal(read("both.npz").X.astype(np.float32), X.astype(np.float32))
    assert read("both.npz").y.tolist() == (codes + 1).tolist()


def test_convert_normalizes(folder):
    succeed("convert", "iris.csv", "-l", "kind", "--ignore", "name", "--normalize", "-o", "z.csv")
    np.testing.assert_allclose(read("z.csv", label="kind").X, (X - X.mean(0)) / X.std(0), atol=1e-12)


def test_info_tells_of_tables_and_models(model, folder):
    table = json.loads(succeed("info", "iris.csv", "--label", "kind", "--json"))
    assert table["classes"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert table["ranges"]["length"] == [X[:, 0].min(), X[:, 0].max()]
    assert table["ranges"]["name"] is None
    found = json.loads(succeed("info", "iris.pf", "--json"))
    assert (found["estimator"], found["features"], found["n_samples"]) == ("OPFClassifier", FEATURES, 150)
    assert "setosa (50)" in succeed("info", "iris.csv", "--label", "kind")
    assert "parameters: the defaults" in succeed("info", "iris.pf")
    assert "150 samples" in succeed("info", "-", stdin=(folder / "iris.csv").read_bytes())


@pytest.fixture
def libopf(folder):
    """Make two data files of LibOPF and the distances of the whole set."""
    write("data.dat", X.astype(np.float32), codes + 1)
    succeed("convert", "data.dat", "--distances", "log_sqeuclidean", "-o", "distances.dat")
    succeed("split", "data.dat", "--parts", "training=50,testing=50", "-o", ".")
    return read("training.dat"), read("testing.dat")


def test_distances_take_the_place_of_features(libopf):
    training, testing = libopf
    succeed("train", "training.dat", "-e", "opf", "--distances", "distances.dat", "-o", "m.pf")
    succeed("predict", "m.pf", "testing.dat", "--distances", "distances.dat", "-o", "out.csv")
    expected = OPFClassifier(metric="log_sqeuclidean").fit(training.X, training.y).predict(testing.X)
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected.tolist()
    scores = json.loads(succeed("evaluate", "m.pf", "testing.dat", "--distances", "distances.dat", "--json"))
    assert scores["accuracy"] == accuracy_score(testing.y, expected)
    told = json.loads(succeed("explain", "m.pf", "testing.dat", "--distances", "distances.dat", "--json"))
    assert [facts["prediction"] for facts in told] == expected[:5].tolist()


def test_clusters_can_be_found_from_distances(libopf):
    succeed("cluster", "data.dat", "--distances", "distances.dat", "-o", "c.csv", "--save", "c.pf")
    D = read_distances("distances.dat")
    assert (
        pd.read_csv("c.csv")["cluster"].tolist()
        == OPFClustering(metric="precomputed").fit(D).labels_.tolist()
    )


def test_distances_written_are_those_of_the_metric(libopf):
    succeed("convert", "data.dat", "--distances", "manhattan", "-o", "l1.dat")
    np.testing.assert_allclose(read_distances("l1.dat"), pairwise_distances(X, metric="manhattan"), rtol=1e-5)
    succeed("convert", "testing.dat", "training.dat", "--distances", "manhattan", "-o", "l1 again.dat")
    np.testing.assert_array_equal(read_distances("l1 again.dat"), read_distances("l1.dat"))


def test_positions_survive_conversion(libopf):
    succeed("convert", "testing.dat", "--out", "testing.txt")
    succeed("convert", "testing.txt", "--out", "again.dat")
    assert (Path("again.dat").read_bytes()) == Path("testing.dat").read_bytes()


def test_a_model_learns_from_an_evaluation_file(libopf):
    training, testing = libopf
    succeed("train", "training.dat", "-e", "opf", "--learn", "testing.dat", "-o", "m.pf")
    expected = learn(OPFClassifier(), training.X, training.y, testing.X, testing.y).model
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)


def test_a_model_is_pruned_by_an_evaluation_file(libopf):
    training, testing = libopf
    said = succeed(
        "train", "training.dat", "-e", "opf", "--prune", "testing.dat", "--max-loss", "0.05", "-o", "m.pf"
    )
    model = OPFClassifier().fit(training.X, training.y)
    expected = prune(model, testing.X, testing.y, max_loss=0.05).model
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    assert f"{len(expected.cost_)} samples in the model" in said


def test_unlabelled_samples_come_from_a_file_of_their_own(libopf):
    training, testing = libopf
    succeed("train", "training.dat", "-e", "semi", "--unlabeled", "testing.dat", "-o", "m.pf")
    y = np.concatenate([training.y, np.full(len(testing.y), -1)])
    expected = pathforest.OPFSemiSupervisedClassifier().fit(np.concatenate([training.X, testing.X]), y)
    found = pathforest.load("m.pf").transduction_
    assert found.astype(int).tolist() == expected.transduction_.tolist()


@pytest.mark.parametrize("name", ["pruner", "outliers"])
def test_the_other_estimators_are_trained_and_predict(folder, name):
    succeed("train", "iris.csv", "-l", "kind", "--ignore", "name", "-e", name, "-o", "m.pf")
    found = succeed("predict", "m.pf", "iris.csv", "--only").split()[1:]
    model = pathforest.load("m.pf")
    assert found == [str(label) for label in model.predict(pd.DataFrame(X, columns=FEATURES))]


def test_models_of_libopf_are_used_and_kept(libopf):
    training, testing = libopf
    Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y)))
    found = succeed("predict", "classifier.opf", "testing.dat", "--only").split()[1:]
    expected = read_model("classifier.opf").predict(testing.X)
    assert found == [str(label) for label in expected]
    succeed("convert", "classifier.opf", "--out", "kept.pf")
    assert succeed("predict", "kept.pf", "testing.dat", "--only").split()[1:] == found
    assert "OPFClassifier" in succeed("info", "classifier.opf")


def test_models_of_libopf_that_were_trained_by_distances(libopf):
    training, _ = libopf
    positions = read_positions("training.dat")
    Path("classifier.opf").write_bytes(model_bytes(train(training.X, training.y), position=positions))
    options = ("--distances", "distances.dat", "--only")
    found = succeed("predict", "classifier.opf", "testing.dat", *options)
    assert found == succeed("predict", "classifier.opf", "testing.dat", "--only")


def test_mistakes_about_distances_are_told(libopf, folder):
    write("beyond.dat", X[:2].astype(np.float32), [1, 2], positions=[3, 150])
    options = ("-e", "opf", "--distances", "distances.dat", "-o", "m.pf")
    assert "sample 1: position 150 is not in distances.dat, which has 150" in fail(
        "train", "beyond.dat", *options
    )
    assert "iris.csv: there is no column 'position'" in fail("train", "iris.csv", "-l", "kind", *options)
    learned = ("train", "training.dat", *options, "--learn", "testing.dat")
    assert "not with --distances" in fail(*learned, code=2)
    other = ("train", "training.dat", *options, "--set", "metric=l1")
    assert "takes none with these parameters" in fail(*other, code=2)
    succeed("train", "training.dat", *options)
    assert "trained with distances; pass them with --distances" in fail("predict", "m.pf", "testing.dat")
    succeed("train", "training.dat", "-e", "opf", "-o", "plain.pf")
    said = fail("predict", "plain.pf", "testing.dat", "--distances", "distances.dat")
    assert "the model was not trained with distances" in said
    assert "are not those from 0 to 74" in fail("convert", "testing.dat", "--distances", "l1", "-o", "x.dat")


def test_values_beyond_float32_are_not_written_to_dat(folder):
    (folder / "large.csv").write_text("label,x\n1,1e300\n")
    assert "1e+300 is beyond float32" in fail("convert", "large.csv", "-o", "large.dat")
    assert not (folder / "large.dat").exists()


TRAIN = ("train", "iris.csv", "-o", "m.pf")
MISTAKES = [
    ((*TRAIN,), "iris.csv: there is no column 'label', only 'name', 'length'"),
    ((*TRAIN, "-l", "kid"), "there is no column 'kid'"),
    ((*TRAIN, "-l", "6"), "there is no column 6"),
    ((*TRAIN, "-l", "kind"), "iris.csv: line 2, column 'name': 'flower 0' is no number (--ignore"),
    ((*TRAIN, "-l", "kind", "--ignore", "title"), "there is no column 'title'"),
    ((*TRAIN, "-l", "kind", "--features", "kind"), "no column is left for features"),
    ((*TRAIN, "-l", "kind", "-e", "svm"), "--estimator svm is unknown; choose one of fuzzy-cv, opf"),
    ((*TRAIN, "-l", "kind", "--set", "sigma=1"), "--set sigma=1: FuzzyOPFClassifierCV has no such parameter"),
    (
        (*TRAIN, "-l", "kind", "--set", "cv"),
        "--set cv: write cv=VALUE",
    ),
    (("train", "none.csv", "-o", "m.pf"), "none.csv: no such file"),
    (("train", "iris.csv", "-l", "kind", "-o", "no/m.pf"), "does not exist; make it first"),
    (("train", "iris.csv", "-l", "kind", "-o", "."), "is a folder"),
    (("train", "iris.xls", "-o", "m.pf"), "iris.xls: the ending tells no format; known are .csv"),
    (("train", "iris.csv", "--from", "pdf", "-o", "m.pf"), "pdf: the ending tells no format"),
    (("predict", "iris.csv", "iris.csv"), "iris.csv cannot be loaded: it is no pathforest model"),
    (
        ("predict", "iris.pf", "short.csv"),
        "short.csv: there is no column 'petal length', one of 2 that",
    ),
    (("predict", "iris.pf", "bad.csv"), "bad.csv: line 3, column 'width': 'x' is no number"),
    (
        ("predict", "iris.pf", "iris.csv", "--column", "kind", "-o", "o.csv"),
        "there is a column 'kind' already",
    ),
    (("predict", "iris.pf", "iris.csv", "--to", "xml"), "xml: the ending tells no format of output"),
    (
        ("predict", "knn.pf", "iris.csv", "--proba", "-o", "o.csv"),
        "knn.pf: OPFKNNClassifier has no predict",
    ),
    (
        ("predict", "unnamed.pf", "iris.csv", "-l", "kind"),
        "there are 5 columns besides labels, and",
    ),
    (("evaluate", "iris.pf", "iris.csv"), "there is no column 'label'"),
    (
        ("evaluate", "iris.pf", "iris.csv", "-l", "name"),
        "line 2, column 'name': 'flower 0' is no class",
    ),
    (("evaluate", "iris.pf", "none-left.csv", "-l", "kind"), "none-left.csv: there is no sample"),
    (
        ("explain", "iris.pf", "iris.csv", "--rows", "150"),
        "iris.csv: there is no sample 150; they count",
    ),
    (("explain", "iris.pf", "iris.csv", "--rows", "-1"), "--rows -1: name samples by position"),
    (("explain", "iris.pf", "iris.csv", "--rows", "9-3"), "--rows 9-3: name samples by position"),
    (("explain", "knn.pf", "iris.csv"), "OPFKNNClassifier has no explain"),
    (("split", "iris.csv", "--parts", "a=0", "-o", "p"), "--parts a=0: 'a=0' is no NAME=SHARE of"),
    (("split", "iris.csv", "--parts", "../a=1", "-o", "p"), "--parts ../a=1: '../a=1' is no NAME=SHARE of"),
    (("split", "iris.csv", "--parts", "a=1,b=1000", "-o", "p"), "150 samples leave none for 'a'"),
    (
        ("convert", "plain.csv", "short.csv", "--ignore", "petal width", "-o", "x.csv"),
        "short.csv: there is no column 'petal width'",
    ),
    (("convert", "bad.csv", "short.csv", "-o", "x.csv"), "bad.csv: line 3, column 'width': 'x' is no number"),
    (
        ("convert", "short.csv", "plain.csv", "-o", "x.csv"),
        "plain.csv has the features 'length', 'wid",
    ),
    (("convert", "short.csv", "-o", "x.xlsx"), "x.xlsx: the ending tells no format"),
    (("cluster", "short.csv", "--column", "width"), "there is a column 'width' already"),
    (("cluster", "short.csv", "--set", "k_max=0"), "k_max=0"),
    (("info", "none.csv"), "none.csv: no such file"),
    ((*TRAIN, "--learn", "iris.csv"), "--learn iris.csv: only --estimator opf takes it"),
    ((*TRAIN, "--prune", "iris.csv"), "--prune iris.csv: only --estimator opf takes it"),
    ((*TRAIN, "--unlabeled", "iris.csv"), "--unlabeled iris.csv: only --estimator semi takes it"),
    (
        ("train", "one.csv", "-e", "semi", "--unlabeled", "short.csv", "-o", "m.pf"),
        "short.csv: there is no column 'x', only",
    ),
]


@pytest.mark.parametrize(("args", "message"), MISTAKES, ids=lambda value: " ".join(value)[:60])
def test_a_mistake_gets_one_line_that_says_what_and_where(model, folder, args, message):
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.to_csv("plain.csv", index=False)
    frame[["length", "width"]].to_csv("short.csv", index=False)
    (folder / "bad.csv").write_text(",".join(FEATURES) + "\n1,2,3,4\n1,x,3,4\n")
    (folder / "none-left.csv").write_text(",".join(FEATURES) + ",kind\n")
    (folder / "one.csv").write_text("label,x\n1,2\n")
    pathforest.OPFKNNClassifier().fit(frame, KINDS).save("knn.pf")
    OPFClassifier().fit(X, KINDS).save("unnamed.pf")
    before = sorted(folder.iterdir())
    is_usage = message.startswith("--")
    assert message in fail(*args, code=2 if is_usage else 1)
    assert sorted(folder.iterdir()) == before


def test_a_failure_in_a_late_batch_leaves_no_file(model, folder, monkeypatch):
    monkeypatch.setattr(streams, "CELLS", 4)
    (folder / "bad.csv").write_text(",".join(FEATURES) + "\n1,2,3,4\n" * 5 + "1,x,3,4\n")
    fail("predict", "iris.pf", "bad.csv", "-o", "out.csv")
    assert not (folder / "out.csv").exists()


def test_a_mistake_on_the_command_line_has_an_exit_code_of_its_own(folder):
    for args in (
        ("train", "iris.csv"),
        ("predict",),
        ("split", "iris.csv", "-o", "p", "--folds", "1"),
        ("nix",),
    ):
        assert run(*args).exit_code == 2


@pytest.mark.filterwarnings("default")
def test_warnings_are_lines_without_a_place_in_the_code(folder):
    grid = np.random.default_rng(2).integers(0, 12, size=(80, 2)).astype(float)
    write("grid.csv", grid, (grid[:, 0] > 6).astype(int))
    done = run("train", "grid.csv", "-e", "fuzzy", "--set", "sigma=0.2", "-o", "m.pf")
    assert done.exit_code == 0
    assert done.stderr.startswith("pathforest: warning: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(model, folder):
    pd.concat([flowers()] * 300).to_csv("long.csv", index=False)
    command = f"{sys.executable} -m pathforest predict iris.pf long.csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("name,length")
    assert done.stderr == ""


@pytest.mark.slow
def test_prediction_takes_the_same_memory_for_files_of_any_length(model, folder):
    resource = pytest.importorskip("resource")  # not on Windows
    frame = pd.DataFrame(X, columns=FEATURES)
    code = (
        "import resource, sys; from pathforest.cli.entrypoint import app;"
        "from pathforest.datasets.formats import stream;"
        "stream.CELLS = 2**14; app(sys.argv[1:], standalone_mode=False);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    peaks = []
    for repeats in (200, 1600):
        pd.concat([frame] * repeats).to_csv("new.csv", index=False)
        command = [sys.executable, "-c", code, "predict", "iris.pf", "new.csv", "--only", "-o", "out.csv"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        peaks.append(float(done.stdout.split()[-1]))
    assert resource
    assert peaks[1] < peaks[0] + 25, "MB for 30,000 and for 240,000 samples"


@pytest.mark.slow
def test_completion_knows_the_commands(folder):
    asked = {"_PATHFOREST_COMPLETE": "complete_bash", "COMP_CWORD": "1", "COMP_WORDS": "pathforest t"}
    code = "from pathforest.cli import main; import sys; sys.argv[0] = 'pathforest'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked, check=False
    )
    assert done.stdout.split() == ["train", "tune"]


def test_input_is_read_as_bytes(folder):
    text = "label,größe\nä,1\nö,2\n".encode()
    succeed("train", "-", "-e", "opf", "-o", "m.pf", stdin=text)
    assert "ä" in io.StringIO(succeed("predict", "m.pf", "-", stdin=text)).read()


def test_values_of_the_wrong_kind_are_told_in_one_line(folder):
    wrong = ("train", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "m.pf", "-e", "fuzzy", "--set")
    assert "sigma" in fail(*wrong, "sigma=abc")


def test_a_list_of_values_needs_no_brackets(folder):
    said = succeed(
        "tune",
        "iris.csv",
        "-l",
        "kind",
        "--ignore",
        "name",
        "--set",
        "sigmas=0.5,1",
        "--set",
        "cv=3",
        "--json",
    )
    assert {cell["param_sigma"] for cell in json.loads(said)["cells"]} == {0.5, 1}


@pytest.mark.parametrize("name", ["o.dat", "o.txt", "o.svm"])
def test_formats_without_names_are_written_without_them(folder, name):
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=codes + 1)
    frame.to_csv("num.csv", index=False)
    done = run("convert", "num.csv", "--label", "y", "--out", name)
    assert done.exit_code == 0
    assert done.stderr == f"pathforest: {name}: this format keeps no names of features\n"
    np.testing.assert_allclose(read(name).X, X, rtol=1e-6)
    said = fail("convert", "iris.csv", "-l", "kind", "--ignore", "name", "--out", "t.svm")
    assert "t.svm: the label 'setosa' is text, and this format holds integers; write .csv" in said


def test_info_counts_what_is_missing(folder):
    (folder / "gaps.csv").write_text("label,a,b,c,d\n1,5,x,,1\n2,,,,2\n1,7,z,,nan\n")
    found = json.loads(succeed("info", "gaps.csv", "--json"))
    assert found["ranges"] == {"a": [5, 7], "b": None, "c": None, "d": [1, 2]}
    assert found["missing"] == {"a": 1, "b": 1, "c": 3, "d": 1}
    lines = [line.split() for line in succeed("info", "gaps.csv").splitlines()[:5]]
    assert lines[0] == ["column", "smallest", "largest", "missing"]
    assert lines[1:3] == [["a", "5", "7", "1"], ["b", "text", "1"]]
    pd.read_csv("gaps.csv")[["a", "d"]].to_parquet("gaps.parquet")
    assert json.loads(succeed("info", "gaps.parquet", "--json"))["ranges"] == {"a": [5, 7], "d": [1, 2]}
    assert "missing" not in succeed("info", "iris.csv")


def test_columns_are_chosen_by_repeated_options_quotes_and_positions(folder):
    frame = flowers().rename(columns={"length": "length, cm"})
    frame.to_csv("quoted.csv", index=False)

    def features(*options):
        train = ("train", "quoted.csv", "-l", "kind", "-e", "opf", "-o", "m.pf", "--json")
        return json.loads(succeed(*train, *options))["features"]

    rest = ["petal length", "petal width"]
    assert features("--ignore", "name", "--ignore", 'width,"length, cm"') == rest
    assert features("--ignore", "0,2", "--ignore", "1") == rest
    assert features("--features", "-1", "--features", "4") == rest[::-1]


def test_a_header_that_looks_like_a_sample_is_refused(folder):
    (folder / "bare.csv").write_text("1.5,2.5,-3,a\n1,2,3,b\n")
    said = fail("train", "bare.csv", "-l", "3", "-o", "m.pf")
    assert "bare.csv: line 1 looks like a sample: 3 of its 4 cells are numbers" in said
    (folder / "counted.csv").write_text("0,1,2,label\n1,2,3,b\n2,3,4,c\n")
    succeed("train", "counted.csv", "-e", "opf", "-o", "m.pf")


def test_truth_values_are_numbers(folder):
    frame = pd.DataFrame({"label": codes, "x": X[:, 0], "long": X[:, 2] > 3})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    expected = OPFClassifier().fit(np.column_stack([X[:, 0], X[:, 2] > 3]), codes)
    for name in ("t.csv", "t.parquet"):
        succeed("train", name, "-e", "opf", "-o", "m.pf")
        np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    assert read("t.csv").X[:, 1].sum() == (X[:, 2] > 3).sum()


def test_names_are_suggested(folder):
    assert "no column 'knd' (did you mean 'kind'?)" in fail(*TRAIN, "-l", "knd")
    assert "no column 'namex' (did you mean 'name'?)" in fail(*TRAIN, "-l", "kind", "--ignore", "namex")
    said = fail(*TRAIN, "-l", "kind", "--set", "sigma=1", code=2)
    assert "no such parameter (did you mean sigmas?)" in said


def test_what_is_read_from_the_standard_input_is_called_so(folder):
    assert "standard input: 2 samples, 2 columns" in succeed("info", "-", stdin=b"a,b\n1,2\n3,4\n")


def test_binary_input_is_told_what_to_say(model, folder):
    pd.DataFrame(X, columns=FEATURES).to_parquet("new.parquet")
    said = fail("predict", "iris.pf", "-", stdin=(folder / "new.parquet").read_bytes())
    assert "standard input is no UTF-8 text; for other formats say --from, such as --from parquet" in said


def test_only_classifiers_are_evaluated(folder):
    succeed("cluster", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "c.csv", "--save", "c.pf")
    said = fail("evaluate", "c.pf", "iris.csv", "-l", "kind")
    assert "evaluate needs a classifier; c.pf is an OPFClustering" in said


def test_rows_are_told_by_ranges_too(model, folder):
    found = json.loads(succeed("explain", "iris.pf", "iris.csv", "--rows", "70,3-5", "--json"))
    assert [facts["sample"] for facts in found] == [70, 3, 4, 5]


def test_help_says_what_the_defaults_are():
    text = " ".join(succeed("predict", "--help").replace("│", " ").split())
    assert "[default: (label)]" in text
    assert "[default: (the standard output)]" in text
    assert "[default: (all cores)]" in text


def test_info_tells_what_training_has_found(folder):
    def told(name, *options):
        succeed("train", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "m.pf", "-e", name, *options)
        return succeed("info", "m.pf"), pathforest.load("m.pf")

    said, model = told("fuzzy-cv", "--set", "cv=3")
    assert f"chosen: k_max={model.best_params_['k_max']}, " in said
    assert f"cross-validated score {model.best_score_:.4f}" in said
    said, model = told("knn")
    assert f"k = {model.best_k_}" in said
    said, model = told("pruner")
    assert f"{len(model.sample_indices_)} samples kept" in said
    assert "150 training samples" in told("outliers")[0]
    succeed("cluster", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "c.csv", "--save", "c.pf")
    assert f"k = {pathforest.load('c.pf').best_k_}" in succeed("info", "c.pf")


def test_learning_and_pruning_tell_the_accuracy_before_and_after(libopf):
    training, testing = libopf
    before = OPFClassifier().fit(training.X, training.y)
    options = ("train", "training.dat", "-e", "opf", "-o", "m.pf")
    pruned = ("--prune", "testing.dat", "--max-loss", "0.05")
    found = json.loads(succeed(*options, *pruned, "--json"))["evaluation"]
    expected = prune(before, testing.X, testing.y, max_loss=0.05).model
    assert found == [
        {
            "file": "testing.dat",
            "before": before.score(testing.X, testing.y),
            "after": expected.score(testing.X, testing.y),
            "n_before": len(before.cost_),
            "n_after": len(expected.cost_),
        }
    ]
    assert "75 samples before, " in succeed(*options, *pruned)
    learned = learn(OPFClassifier(), training.X, training.y, testing.X, testing.y)
    found = json.loads(succeed(*options, "--learn", "testing.dat", "--json"))["evaluation"][0]
    rows = np.concatenate([training.X, testing.X])[learned.val_rows]
    labels = np.concatenate([training.y, testing.y])[learned.val_rows]
    assert found["after"] == learned.model.score(rows, labels)


def test_split_says_when_there_are_no_labels(folder):
    done = run("split", "iris.csv", "-o", "parts")
    assert done.stderr == "pathforest: not stratified: no labels; --label names their column\n"
    assert run("split", "iris.csv", "-l", "kind", "-o", "parts").stderr == ""


def test_one_cluster_is_told_in_the_singular(folder):
    said = succeed("cluster", "iris.csv", "--ignore", "name,kind", "--set", "n_clusters=1", "-o", "c.csv")
    assert said.startswith("1 cluster of 150 samples")


def test_models_of_distances_have_distances(libopf):
    said = succeed("train", "training.dat", "-e", "opf", "--distances", "distances.dat", "-o", "m.pf")
    assert "75 distances" in said
    assert "75 distances" in succeed("info", "m.pf")


def test_many_classes_get_a_confusion_matrix_of_their_own(folder):
    frame = pd.DataFrame({"x": np.arange(16.0), "label": [f"c{i // 2}" for i in range(16)]})
    frame.to_csv("many.csv", index=False)
    succeed("train", "many.csv", "-e", "opf", "-o", "m.pf")
    lines = succeed("evaluate", "m.pf", "many.csv").splitlines()
    assert lines[0].split() == ["class", "samples", "recall", "precision"]
    assert [f"c{i}" for i in range(8)] == lines[10].split()[-8:]
    assert lines[11].split() == ["c0", "2", *"0000000"]


def test_scores_of_a_search_are_shown_with_four_decimals(folder):
    said = succeed("tune", "iris.csv", "-l", "kind", "--ignore", "name", "--set", "cv=3")
    assert re.fullmatch(r"0\.\d{4}|1\.0000", said.splitlines()[1].split()[1])


def test_features_of_different_scales_are_told(folder):
    frame = flowers().assign(width=X[:, 1] * 1000)
    frame.to_csv("wide.csv", index=False)
    options = ("wide.csv", "-l", "kind", "--ignore", "name")
    done = run("train", *options, "-o", "m.pf", "--set", "cv=3")
    told = "features differ in scale ('petal width' spans 2.4, 'width' 2400); "
    assert done.stderr == f"pathforest: warning: {told}--scale evens them out\n"
    assert told + "convert --normalize" in run("cluster", *options, "-o", "c.csv").stderr
    assert told + "convert --normalize" in run("train", *options, "-o", "m.pf", "-e", "opf").stderr
    assert run("train", "iris.csv", *options[1:], "-o", "m.pf", "-e", "opf").stderr == ""
    for command in (("train", "-o", "m.pf"), ("tune", "--save", "m.pf")):
        done = run(command[0], *options, *command[1:], "--set", "cv=3", "--scale")
        assert (done.exit_code, done.stderr) == (0, "")
        wide = frame[FEATURES].to_numpy()
        expected = FuzzyOPFClassifierCV(cv=3, transforms=[StandardScaler()]).fit(wide, KINDS)
        found = succeed("predict", "m.pf", "wide.csv", "--only").split()[1:]
        assert found == expected.predict(wide).tolist()


def test_scale_is_refused_where_it_has_no_place(folder):
    options = ("train", "iris.csv", "-l", "kind", "--ignore", "name", "-o", "m.pf", "--scale")
    assert "--scale: OPFClassifier has no transforms" in fail(*options, "-e", "opf", code=2)
    assert "--scale: not with --set transforms" in fail(*options, "--set", "transforms=linear", code=2)


def test_out_replaces_files_and_nothing_else(model, folder):
    os.mkfifo("pipe")
    before = os.stat("pipe").st_ino
    assert "device or a pipe" in fail("predict", "iris.pf", "iris.csv", "--to", "csv", "--out", "pipe")
    assert "device or a pipe" in fail("train", "iris.csv", "-l", "kind", "--out", "pipe")
    assert os.stat("pipe").st_ino == before


def test_split_does_not_replace_its_input(folder):
    before = (folder / "iris.csv").read_bytes()
    said = fail("split", "iris.csv", "-l", "kind", "--parts", "iris=80,test=20", "-o", ".")
    assert "the part 'iris' would replace it" in said
    assert (folder / "iris.csv").read_bytes() == before


def test_a_label_as_long_as_a_text_is_told(folder):
    (folder / "long.csv").write_text("label,x\na,1\n" + "b" * 5000 + ",2\n")
    for args in (("split", "long.csv", "-o", "p"), ("train", "long.csv", "-e", "opf", "-o", "m.pf")):
        assert "line 3, column 'label': 'bbb" in fail(*args)
    with pytest.raises(ValueError, match="5000 characters, too many for a label"):
        read("long.csv")


def test_distances_are_looked_up_in_small_batches(libopf, monkeypatch):
    succeed("train", "training.dat", "-e", "opf", "--distances", "distances.dat", "-o", "m.pf")
    expected = succeed("predict", "m.pf", "testing.dat", "--distances", "distances.dat")
    widest = []
    original = queries.distances_to
    monkeypatch.setattr(queries, "distances_to", lambda D, r, c: widest.append(len(r)) or original(D, r, c))
    monkeypatch.setattr(streams, "CELLS", 750)
    assert succeed("predict", "m.pf", "testing.dat", "--distances", "distances.dat") == expected
    assert max(widest) == 10


@pytest.mark.parametrize("value", ["k_max=30.5", "metric={}", "metric_params=3", "k_max=" + "[" * 100_000])
def test_values_of_a_wrong_kind_get_one_line(folder, value):
    done = run(
        "train", "iris.csv", "-l", "kind", "--ignore", "name", "-e", "fuzzy", "--set", value, "-o", "m.pf"
    )
    assert done.exit_code in (1, 2)
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_could_not_predict_is_not_trained(folder):
    done = run("train", "iris.csv", "-l", "kind", "--ignore", "name", "--set", "refit=false", "-o", "m.pf")
    assert done.exit_code == 2
    assert "could not predict" in done.stderr


def test_names_are_shown_as_they_are(folder):
    (folder / "odd.csv").write_text("label,len [cm],[/x]\n[red],1,2\n[red],2,1\nb,5,6\n")
    said = succeed("info", "odd.csv")
    assert "len [cm]" in said
    assert "[/x]" in said
    succeed("train", "odd.csv", "-e", "opf", "-o", "m.pf")
    assert "[red]" in succeed("evaluate", "m.pf", "odd.csv")


def test_json_holds_nothing_that_json_cannot(folder):
    def strict(text):
        return json.loads(text, parse_constant=lambda name: pytest.fail(name))

    (folder / "odd.csv").write_text("label,x,y\na,nan,1\nb,inf,2\n")
    assert strict(succeed("info", "odd.csv", "--json"))["n_samples"] == 2
    frame = pd.DataFrame(X, columns=FEATURES).assign(more=[[1.0, float("nan")]] * len(X), label=KINDS)
    frame.to_parquet("odd.parquet")
    succeed("train", "odd.parquet", "--ignore", "more", "-e", "opf", "-o", "m.pf")
    assert strict(succeed("predict", "m.pf", "odd.parquet", "--json"))[0]["more"] == [1.0, None]


def test_evaluation_files_are_read_by_name(libopf, folder):
    training, testing = libopf
    for name, table in (("train.csv", training), ("test.csv", testing)):
        write(name, table.X, table.y, feature_names=["a", "b", "c", "d"])
    turned = pd.read_csv("test.csv")[["d", "c", "label", "b", "a"]].assign(more=1.0)
    turned.to_csv("turned.csv", index=False)
    models = []
    for name in ("test.csv", "turned.csv"):
        succeed("train", "train.csv", "-e", "opf", "--prune", name, "-o", "m.pf")
        models.append(pathforest.load("m.pf").cost_)
    np.testing.assert_array_equal(*models)


def test_unlabelled_files_need_no_label_column(libopf, folder):
    training, testing = libopf
    write("train.csv", training.X, training.y)
    write("more.csv", testing.X)
    succeed("train", "train.csv", "-e", "semi", "--unlabeled", "more.csv", "-o", "m.pf")
    assert len(pathforest.load("m.pf").transduction_) == len(training.X) + len(testing.X)


def test_libopf_files_without_labels_cannot_be_trained_with(folder):
    write("bare.dat", X.astype(np.float32))
    assert "the file has no labels" in fail("train", "bare.dat", "-e", "opf", "-o", "m.pf")


@pytest.mark.slow
def test_info_reads_a_pipe_from_its_start(folder):
    os.mkfifo("pipe")
    command = f"cat iris.csv > pipe & {sys.executable} -m pathforest info pipe --from csv --label kind"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "150 samples" in done.stdout, done.stderr


@pytest.mark.parametrize("parts", ["a=1,a=2", "a=1e999999999,b=1"])
def test_parts_have_names_and_shares_of_their_own(folder, parts):
    assert "is no NAME=SHARE of its own" in run("split", "iris.csv", "--parts", parts, "-o", "p").stderr


def test_new_columns_have_names_of_their_own(model, folder):
    said = fail("predict", "iris.pf", "iris.csv", "--only", "--proba", "--column", "p(setosa)", "-o", "o.csv")
    assert "there is a column 'p(setosa)' already" in said


def test_a_dash_is_the_standard_output(model, folder):
    assert succeed("predict", "iris.pf", "iris.csv", "--only", "--out", "-").startswith("prediction\n")
    assert not (folder / "-").exists()


def test_features_called_like_positions_are_features(folder):
    (folder / "t.csv").write_text("label,position x\na,1\nb,2\n")
    succeed("train", "t.csv", "-e", "opf", "-o", "m.pf")
    (folder / "u.csv").write_text("y\n1\n")
    assert "there is no column 'position x'" in fail("predict", "m.pf", "u.csv")
