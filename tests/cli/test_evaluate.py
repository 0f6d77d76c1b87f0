"""`pathforest evaluate`, `explain` and `info`: what they say of models and tables."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, flowers, succeed
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest._tables import stream as streams
from pathforest.metrics import opf_accuracy


def test_evaluate_gives_the_scores_of_scikit_learn(model):
    test = flowers().iloc[::7].assign(kind=np.roll(KINDS, 3)[::7])
    test.to_csv("test.csv", index=False)
    found = json.loads(succeed("evaluate iris.pf test.csv --label kind --json"))
    true, predicted = test["kind"], model.predict(X[::7])
    assert found["accuracy"] == accuracy_score(true, predicted)
    assert found["opf_accuracy"] == opf_accuracy(true, predicted)
    assert found["f1_weighted"] == pytest.approx(f1_score(true, predicted, average="weighted"))
    assert found["log_loss"] == pytest.approx(log_loss(true, model.predict_proba(X[::7])))
    assert found["confusion"] == confusion_matrix(true, predicted).tolist()
    assert "versicolor" in succeed("evaluate iris.pf test.csv --label kind")


def test_evaluate_reads_integer_labels_however_they_are_written(folder):
    (folder / "a.csv").write_text("label,x\n1,0\n2,5\n")
    (folder / "b.csv").write_text("label,x\n01,0\n +2,5\n")
    succeed("train a.csv -e opf -o m.pf")
    assert json.loads(succeed("evaluate m.pf b.csv --json"))["accuracy"] == 1


def series(library, frame):
    return pytest.importorskip("polars").from_pandas(frame) if library == "polars" else frame


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_models_saved_from_python_know_their_label(folder, library, wrap):
    """The label of a model is the name of the Series that it was fitted to."""
    frame = series(library, flowers())
    model = wrap(pathforest.OPFClassifier()).fit(frame[list(FEATURES)], frame["kind"])
    pathforest.save(model, "python.pf")
    found = json.loads(succeed("evaluate python.pf iris.csv --json"))
    assert found["accuracy"] == model.score(frame[list(FEATURES)], frame["kind"])


def test_classes_that_are_not_in_the_file_have_no_recall(model):
    flowers().iloc[:5].to_csv("test.csv", index=False)
    found = json.loads(succeed("evaluate iris.pf test.csv -l kind --json"))
    assert found["samples"] == [5, 0, 0]
    assert found["recall"] == [1.0, None, None]


def test_many_classes_get_a_confusion_matrix_of_their_own(folder):
    frame = pd.DataFrame({"x": np.arange(16.0), "label": [f"c{i // 2}" for i in range(16)]})
    frame.to_csv("many.csv", index=False)
    succeed("train many.csv -e opf -o m.pf")
    lines = succeed("evaluate m.pf many.csv").splitlines()
    assert lines[0].split() == ["class", "samples", "recall", "precision"]
    assert [f"c{i}" for i in range(8)] == lines[10].split()[-8:]
    assert lines[11].split() == ["c0", "2", *"0000000"]


def test_explain_gives_the_path(model):
    found = json.loads(succeed("predict iris.pf iris.csv --explain 70,3-5 --json"))
    assert [facts["sample"] for facts in found] == [70, 3, 4, 5]
    expected = model.explain(X[[70]])[0]
    assert found[0]["path"] == expected.path
    assert found[0]["path_labels"] == KINDS[expected.path].tolist()
    assert found[0]["class_costs"]["setosa"] == model.class_costs(X[[70]])[0, 0]
    shown = succeed("predict iris.pf iris.csv --explain 0-4").splitlines()
    assert [line.split(":")[0] for line in shown if line.startswith("sample")] == [
        f"sample {i}" for i in range(5)
    ]


def test_explain_has_one_cost_and_the_features(folder):
    succeed("train iris.csv -l kind --ignore name -e opf --set n_conquerors=3 -o three.pf")
    (found,) = json.loads(succeed("predict three.pf iris.csv --explain 70 --json"))
    assert (
        found["cost"] == found["class_costs"][found["prediction"]] == pytest.approx(np.mean(found["offers"]))
    )
    assert found["rival"]["cost"] == sorted(found["class_costs"].values())[1]
    assert {feature["name"]: feature["value"] for feature in found["features"]} == dict(
        zip(FEATURES, X[70].tolist(), strict=True)
    )
    lines = succeed("predict three.pf iris.csv --explain 70").splitlines()
    assert {line.strip().split("  ")[0] for line in lines[-4:]} == set(FEATURES)


# info


def test_info_describes_tables_and_models(model, folder):
    table = json.loads(succeed("info iris.csv --label kind --json"))
    assert table["classes"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert table["ranges"]["length"] == [X[:, 0].min(), X[:, 0].max()]
    assert table["ranges"]["name"] is None
    found = json.loads(succeed("info iris.pf --json"))
    assert (found["estimator"], found["features"], found["n_samples"]) == ("OPFClassifier", FEATURES, 150)
    assert "setosa (50)" in succeed("info iris.csv --label kind")
    assert "parameters: the defaults" in succeed("info iris.pf")
    said = succeed("info -", stdin=(folder / "iris.csv").read_bytes())
    assert "standard input: 150 samples, 6 columns" in said


def test_info_counts_what_is_missing(folder):
    (folder / "gaps.csv").write_text("label,a,b,c,d\n1,5,x,,1\n2,,,,2\n1,7,z,,nan\n")
    found = json.loads(succeed("info gaps.csv --json"))
    assert found["ranges"] == {"a": [5, 7], "b": None, "c": None, "d": [1, 2]}
    assert found["missing"] == {"a": 1, "b": 1, "c": 3, "d": 1}
    lines = [line.split() for line in succeed("info gaps.csv").splitlines()[:5]]
    assert lines[0] == ["column", "smallest", "largest", "missing"]
    assert lines[1:3] == [["a", "5", "7", "1"], ["b", "text", "1"]]
    pd.read_csv("gaps.csv")[["a", "d"]].to_parquet("gaps.parquet")
    assert json.loads(succeed("info gaps.parquet --json"))["ranges"] == {"a": [5, 7], "d": [1, 2]}
    assert "missing" not in succeed("info iris.csv")


def test_info_counts_the_classes_that_train_finds(folder):
    (folder / "t.csv").write_text("label,x\n01,1\n1,2\n10,3\n2,4\n")
    pd.DataFrame({"label": ["01", "1", "10", "2"], "x": [1, 2, 3, 4]}).to_parquet("t.parquet")
    for name, counts in (("t.csv", [2, 1, 1]), ("t.parquet", [1, 1, 1, 1])):
        trained = json.loads(succeed(f"train {name} -e opf -o m.pf --json"))["classes"]
        found = json.loads(succeed(f"info {name} --json"))["classes"]
        assert list(found.items()) == list(zip(map(str, trained), counts, strict=True))


@pytest.mark.parametrize("labels", [["a", None, "a"], [1, None, 1]])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_info_counts_labels_that_are_missing(folder, ending, labels, monkeypatch):
    monkeypatch.setattr(streams, "CELLS", 2)
    frame = pd.DataFrame({"label": labels, "x": [1, 2, 3]})
    frame = frame.astype({"label": "Int64"}) if labels[0] == 1 else frame
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    found = json.loads(succeed(f"info t.{ending} --json"))
    assert found["classes"] == {str(labels[0]): 2}
    assert found["missing"] == {"label": 1}
    assert "1 samples without a label" in succeed(f"info t.{ending}")


def test_info_in_json_holds_nothing_that_json_cannot(folder):
    (folder / "odd.csv").write_text("label,x,y\na,nan,1\nb,inf,2\n")
    assert json.loads(succeed("info odd.csv --json"), parse_constant=pytest.fail)["n_samples"] == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-e fuzzy-cv --set cv=2 --set sigmas=1", "chosen: transform={0.best_params_[transform]}, "),
        ("-e fuzzy-cv --set cv=2 --set sigmas=1", "cross-validated score {0.best_score_:.4f}"),
        ("-e knn", "k = {0.best_k_}"),
        ("-e pruner", "{0.sample_indices_.size} samples kept"),
        ("-e outliers", "150 training samples"),
    ],
)
def test_info_says_what_training_has_found(folder, options, expected):
    succeed(f"train {IRIS} -o m.pf {options}")
    assert expected.format(pathforest.load("m.pf")) in succeed("info m.pf")


def test_info_reads_a_pipe_from_its_start(folder):
    os.mkfifo("pipe")
    with subprocess.Popen("cat iris.csv > pipe", shell=True):
        assert "150 samples" in succeed("info pipe --from csv --label kind")


# Names on the terminal


def test_names_are_shown_as_they_are(folder):
    (folder / "odd.csv").write_text("label,len [cm],[/x]\n[red],1,2\n[red],2,1\nb,5,6\n")
    said = succeed("info odd.csv")
    assert "len [cm]" in said
    assert "[/x]" in said
    succeed("train odd.csv -e opf -o m.pf")
    assert "[red]" in succeed("evaluate m.pf odd.csv")


def test_control_characters_and_long_names_do_not_reach_the_terminal(folder):
    odd = "\x1b[31m" + "x" * 400
    (folder / "odd.csv").write_text(f"label,{odd}\n{odd},1\nb,2\n")
    succeed("train odd.csv -e opf -o m.pf")
    for command in ("info odd.csv", "info m.pf", "evaluate m.pf odd.csv", "predict m.pf odd.csv --explain 0"):
        said = succeed(command)
        assert "\\x1b[31mxxx" in said
        assert "\x1b" not in said
        assert "x" * 100 not in said
