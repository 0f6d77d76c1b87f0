"""`pathforest predict`, `evaluate`, `cluster`, `info` and `convert`: the same answers as in Python."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import CELLS, FEATURES, IRIS, KINDS, X, codes, facts, flowers, predictions, run, succeed, train
from machines import little_memory
from pipelines import passengers
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, f1_score, log_loss
from sklearn.pipeline import make_pipeline

import pathforest
from pathforest import OPFClassifier, OPFClustering, TablePreprocessor
from pathforest._models.base import KeptSamples
from pathforest.datasets import read, write
from pathforest.libopf import read_positions
from pathforest.metrics import opf_accuracy
from pathforest.noise import flip_labels

TABLE, LABELS = passengers(60)
READERS = {
    ".csv": pd.read_csv,
    ".csv.gz": pd.read_csv,
    ".jsonl": lambda path: pd.read_json(path, lines=True),
    ".parquet": pd.read_parquet,
}


# predict


@pytest.mark.parametrize(("ending", "cells"), [*zip(READERS, (1, 30, 30, 2**18), strict=True)])
def test_predictions_stand_beside_the_table_whatever_batches_and_formats(model, monkeypatch, ending, cells):
    monkeypatch.setattr(CELLS, cells)
    table = flowers().assign(kind="nonsense")  # whatever the label says
    table.to_csv("new.csv", index=False)
    assert succeed(f"predict iris.pf new.csv --proba -o out{ending}") == f"out{ending}: 150 samples\n"
    found = READERS[ending](f"out{ending}")
    added = ["p(setosa)", "p(versicolor)", "p(virginica)", "prediction"]
    assert found.columns.tolist() == [*table.columns, *added]
    pd.testing.assert_frame_equal(found[table.columns], table, check_dtype=False)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found[added[:3]], model.predict_proba(X), rtol=1e-9)  # JSON's reader rounds


SMALL = "--set k_max=3 --set cv=2 "


@pytest.mark.parametrize("options", ["-e opf --set n_conquerors=3", "-e semi", "-e pruner", SMALL])
def test_labels_and_probabilities_come_from_one_search_for_neighbours(folder, options, monkeypatch):
    rounded = flowers().round(dict.fromkeys(FEATURES, 0))  # with many ties
    rounded.to_csv("iris.csv", index=False)
    queries, model, searches = rounded[FEATURES], train(f"{IRIS} {options}"), []
    labels, ask = model.predict(queries), KeptSamples.blocks  # every answer begins with it

    def watched(samples, queries, width):
        searches.append(len(queries))
        return ask(samples, queries, width)

    monkeypatch.setattr(KeptSamples, "blocks", watched)
    probabilities = model.predict_proba(queries)
    needed, searches[:] = list(searches), []
    found = pd.read_csv(io.StringIO(succeed("predict m.pf iris.csv --proba --only")))
    assert found["prediction"].tolist() == labels.tolist()
    np.testing.assert_array_equal(found.iloc[:, :-1], probabilities)
    assert facts("evaluate m.pf iris.csv -l kind")["accuracy"] == np.mean(labels == KINDS)
    assert searches == 2 * needed


GOWER = "--set metric=gower"
FAR, RARE = "are equally far from all known texts", "count as other rare texts do"


@pytest.mark.parametrize(("options", "rare", "treated"), [("", 0, FAR), ("", 1, RARE), (GOWER, 1, FAR)])
def test_unknown_texts_are_named_and_what_becomes_of_them(folder, options, rare, treated, monkeypatch):
    TABLE.assign(fate=LABELS, port=[*["Z"] * rare, *TABLE["port"][rare:]]).to_csv("ship.csv", index=False)
    train(f"ship.csv -l fate -e opf {options}")
    new = TABLE.assign(port=["X", "Y", "X", None, "Z" if rare else "S", *TABLE["port"][5:]])
    new.to_csv("new.csv", index=False)
    monkeypatch.setattr(CELLS, 8)  # in several batches
    said = f"pathforest: column 'port': 'X', 'Y', in 3 rows, {treated}; training had no such text\n"
    assert run("predict m.pf new.csv").stderr == said
    assert treated in run("predict m.pf new.csv --explain 0").stderr
    assert run("predict m.pf ship.csv").stderr == ""


def test_typed_output_has_numbers_and_gaps_and_the_rest_as_it_came(folder):
    found = json.loads(succeed("predict iris.pf iris.csv --to json"))
    assert (found[0]["petal length"], found[0]["name"]) == (1.4, "flower 0")
    assert facts("predict iris.pf iris.csv") == found
    assert facts("predict iris.pf iris.csv -o o.csv") == {"predictions": "o.csv", "n_samples": len(X)}
    found = facts("predict ship.pf new.csv")
    assert [row["fare"] for row in found] == [None, 3.25, 1.5, 8.0]


def test_pipes_are_files_too(model, folder):
    table = (folder / "iris.csv").read_bytes()
    assert succeed("predict iris.pf - --only", stdin=table).split() == ["prediction", *model.predict(X)]
    assert "150 samples" in succeed("train - -l kind --ignore name -e opf -o m.pf", stdin=table)
    assert succeed("predict iris.pf iris.csv --only --out -").startswith("prediction\n")
    assert not (folder / "-").exists()
    text = "label,größe\nä,1\nö,2\n".encode()
    succeed("train - -e opf -o m.pf", stdin=text)
    assert "ä" in succeed("predict m.pf -", stdin=text)
    assert "standard input: 150 samples, 6 columns" in succeed("info -", stdin=table)
    os.mkfifo("pipe")
    with subprocess.Popen("cat iris.csv > pipe", shell=True):
        assert "150 samples" in succeed("info pipe --from csv --label kind")


@pytest.mark.ci
def test_a_reader_that_stops_early_is_not_an_error(model):
    pd.concat([flowers()] * 300).to_csv("long.csv", index=False)
    command = f"{sys.executable} -m pathforest predict iris.pf long.csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout[:11], done.stderr) == ("name,length", "")


def test_prediction_takes_little_memory_for_files_of_any_length(model, monkeypatch):
    monkeypatch.setattr(CELLS, 2**12)
    pd.DataFrame(np.tile(X, (200, 1)), columns=FEATURES).to_csv("long.csv", index=False)  # 12 MiB of cells
    with little_memory():
        succeed("predict iris.pf long.csv --only -o out.csv")


def test_explanations_are_those_of_python(model):
    found = facts("predict iris.pf iris.csv --explain 70,3-5")
    assert [sample["sample"] for sample in found] == [70, 3, 4, 5]
    expected = model.explain(X[[70]])[0]
    assert found[0]["path"] == expected.path
    assert found[0]["class_costs"]["setosa"] == model.class_costs(X[[70]])[0, 0]
    assert f"sample 70: {str(expected).splitlines()[0]}\n" in succeed("predict iris.pf iris.csv --explain 70")
    succeed("train iris.csv -l kind -e knn -o nearest.pf")
    said = succeed("predict nearest.pf iris.csv --explain 70")
    assert "Predicted virginica, value" in said
    assert "class costs" not in said


# evaluate


def test_scores_are_those_of_scikit_learn(model):
    test = flowers().iloc[::7].assign(kind=np.roll(KINDS, 3)[::7])
    test.to_csv("test.csv", index=False)
    found = facts("evaluate iris.pf test.csv --label kind")
    true, predicted = test["kind"], model.predict(X[::7])
    assert found["accuracy"] == accuracy_score(true, predicted)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    assert found["largest_class"] == true.value_counts(normalize=True).max()
    assert found["opf_accuracy"] == opf_accuracy(true, predicted)
    assert found["f1_weighted"] == pytest.approx(f1_score(true, predicted, average="weighted"))
    assert found["log_loss"] == pytest.approx(log_loss(true, model.predict_proba(X[::7])))
    assert found["confusion"] == confusion_matrix(true, predicted).tolist()
    assert "versicolor" in succeed("evaluate iris.pf test.csv --label kind")
    flowers().iloc[:5].to_csv("test.csv", index=False)  # classes without samples have no recall
    found = facts("evaluate iris.pf test.csv -l kind")
    assert (found["samples"], found["recall"]) == ([5, 0, 0], [1.0, None, None])
    assert (found["balanced_accuracy"], found["largest_class"]) == (1, 1)


@pytest.mark.parametrize("options", ["-e opf", "-e knn", "-e semi", "--set cv=2 --set k_max=2"])
def test_evaluate_says_whether_a_model_was_trained_with_the_rows(folder, options, monkeypatch):
    table = TABLE.assign(fate=np.where(np.arange(60) > 4, LABELS, ""))
    table.to_csv("ship.csv", index=False)
    train(f"ship.csv -l fate {options}")
    monkeypatch.setattr(CELLS, 50)
    others = table.iloc[::-1].sample(frac=1, random_state=0)  # in whatever order
    for rows, is_known in (
        (others, True),
        (others[1:], False),
        (others.assign(age=others["age"] + 1), False),
    ):
        rows.to_csv("rows.csv", index=False)
        done = run("evaluate m.pf rows.csv")
        assert ("m.pf was trained with these rows" in done.stderr) == is_known, done.stderr
        assert facts("evaluate m.pf rows.csv")["is_training_table"] == is_known


# cluster


CLUSTERED = [  # a table, options, a model with its samples in Python, and what is said of it
    (IRIS, "--no-scale", OPFClustering(), X, "2 clusters of 150 samples"),
    (IRIS, "--no-scale --set n_clusters=1", OPFClustering(n_clusters=1), X, "1 cluster of 150 samples"),
    (IRIS, "--no-scale --set noise=0.1", OPFClustering(noise=0.1), X, ", {} left out as noise; k = 6"),
    ("ship.csv -l fate", "", make_pipeline(TablePreprocessor(), OPFClustering()), TABLE, "of 60 samples"),
]


@pytest.mark.parametrize(("table", "options", "expected", "samples", "said"), CLUSTERED)
def test_clusters_are_those_of_python(folder, table, options, expected, samples, said):
    labels = expected.fit_predict(samples)
    said = said.format(np.sum(labels == -1))
    assert said in succeed(f"cluster {table} {options} -o c.csv --model c.pf")
    found = pd.read_csv("c.csv", sep=None, engine="python")
    assert found.columns[-1] == "cluster"
    assert found["cluster"].tolist() == labels.tolist()
    assert predictions(f"c.pf {table.split()[0]}") == list(map(str, expected.predict(samples)))


# info

DESCRIBED = [  # a CSV file, and what info says of it, to programs and to people
    (
        "label,a,b,c,d\n1,5,x,,1\n2,,,,2\n1,7,z,,nan\n",
        {
            "classes": {"1": 2, "2": 1},
            "ranges": {"a": [5, 7], "b": None, "c": None, "d": [1, 2]},
            "missing": {"a": 1, "b": 1, "c": 3, "d": 1},
        },
        ["column smallest largest missing", "a 5 7 1", "b text 1", "2 classes in 'label': 1 (2), 2 (1)"],
    ),
    # Labels: as train takes them, and those that are missing
    ("label,x\n01,1\n1,2\n10,3\n2,4\n", {"classes": {"1": 2, "2": 1, "10": 1}}, ["x 1 4"]),
    ("label,x\na,1\n,2\n", {"classes": {"a": 1}, "missing": {"label": 1}}, ["1 samples without a label"]),
]


@pytest.mark.parametrize(("table", "said", "lines"), DESCRIBED)
def test_info_describes_tables(folder, monkeypatch, table, said, lines):
    monkeypatch.setattr(CELLS, 2)
    Path("t.csv").write_text(table)
    found = json.loads(succeed("info t.csv --json"), parse_constant=pytest.fail)
    assert found | said == found
    assert list(found["classes"]) == list(said.get("classes", found["classes"]))
    shown = [" ".join(line.split()) for line in succeed("info t.csv").splitlines()]
    assert set(lines) <= set(shown)
    if not found["missing"]:
        trained = facts("train t.csv -e opf -o m.pf")["classes"]
        assert list(found["classes"]) == list(map(str, trained))
        assert facts("evaluate m.pf t.csv")["n_samples"] == len(Path("t.csv").read_text().split()) - 1


# All formats


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".npz", ".csv.gz", ".dat", ".txt", ".libsvm"])
def test_the_commands_take_and_give_every_format(folder, ending):
    values, labels = X.astype(np.float32), flip_labels(codes + 1, 0.1, random_state=1)
    write(f"data{ending}", values, labels)
    train(f"data{ending} -e opf")
    expected = OPFClassifier().fit(values, labels).predict(values)
    assert predictions(f"m.pf data{ending}") == list(map(str, expected))
    succeed(f"audit data{ending} --suspects suspects.csv")
    suspects = pd.read_csv("suspects.csv", dtype=str, keep_default_na=False)
    suspects.loc[[0, 1], "decision"] = ["change", "drop"]
    suspects.to_csv("decisions.csv", index=False)
    succeed(f"audit data{ending} --apply decisions.csv --out cleaned{ending}")
    changed, dropped, cleaned = *suspects["row"].astype(int)[:2], read(f"cleaned{ending}")
    labels[changed] = pathforest.find_issues(values, labels).suggested[changed]
    assert cleaned.y.tolist() == np.delete(labels, dropped).tolist()
    np.testing.assert_array_equal(cleaned.X.astype(np.float32), np.delete(values, dropped, axis=0))


# convert


def test_parts_are_disjoint_complete_and_stratified(folder):
    for out, seed, parts in (
        ("a", 1, "p=60,q=40"),
        ("b", 1, "p=60,q=40"),
        ("c", 2, "p=60,q=40"),
        ("d", 0, 4),
    ):
        succeed(f"convert iris.csv --label kind --parts {parts} --seed {seed} --out {out}")
        found = [pd.read_csv(path) for path in (folder / out).iterdir()]
        assert sorted(pd.concat(found)["name"]) == sorted(flowers()["name"])
    assert [len(part) in (36, 39) for part in found] == [True] * 4
    p, q = pd.read_csv("a/p.csv"), pd.read_csv("a/q.csv")
    assert p["kind"].value_counts().tolist() == [30, 30, 30]
    assert q["kind"].value_counts().tolist() == [20, 20, 20]
    assert p["name"].tolist() == [name for name in flowers()["name"] if name in set(p["name"])]
    a, b, c = ((folder / out / "p.csv").read_bytes() for out in "abc")
    assert a == b != c
    flowers().assign(kind=np.where(np.arange(150) % 3, KINDS, "")).to_csv("few.csv", index=False)
    succeed("convert few.csv --label kind --parts p=60,q=40 -o few")  # no label is a class of its own
    assert pd.read_csv("few/p.csv")["kind"].value_counts(dropna=False).tolist() == [30, 20, 19, 19]
    write("data.dat", X.astype(np.float32), codes + 1, positions=np.arange(len(X)) + 1000)
    succeed("convert data.dat --parts a=1,b=1 --out parts")
    positions = [read_positions(f"parts/{name}.dat") for name in "ab"]
    assert sorted(np.concatenate(positions)) == list(range(1000, 1000 + len(X)))
    np.testing.assert_array_equal(read("parts/a.dat").X, X.astype(np.float32)[positions[0] - 1000])


def test_convert_changes_the_format_joins_and_normalizes(folder):
    succeed(f"convert {IRIS} --out iris.parquet")
    found = read("iris.parquet", label="kind")
    np.testing.assert_array_equal(found.X, X)
    assert (found.y.tolist(), found.feature_names) == (KINDS.tolist(), FEATURES)
    values = X.astype(np.float32)
    write("a.dat", values[:80], codes[:80] + 1)
    write("b.csv", values[80:], codes[80:] + 1)
    succeed("convert a.dat b.csv -o both.npz")
    np.testing.assert_array_equal(read("both.npz").X.astype(np.float32), values)
    assert read("both.npz").y.tolist() == (codes + 1).tolist()
    succeed(f"convert {IRIS} --normalize -o z.csv")
    np.testing.assert_allclose(read("z.csv", label="kind").X, (X - X.mean(0)) / X.std(0), atol=1e-12)
