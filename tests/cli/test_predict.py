"""`pathforest predict` and `pathforest cluster`: the columns of the input with answers beside them."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, fail, flowers, succeed

import pathforest
from pathforest import OPFClassifier, OPFClustering
from pathforest._models.base import KeptSamples
from pathforest._tables import stream as streams


def test_the_prediction_is_the_last_column_and_the_others_stay(model):
    succeed("predict iris.pf iris.csv --out out.csv")
    found = pd.read_csv("out.csv")
    pd.testing.assert_frame_equal(found.iloc[:, :-1], flowers())
    assert found.columns[-1] == "prediction"
    assert found["prediction"].tolist() == model.predict(X).tolist()


def test_cells_of_other_columns_are_copied_character_by_character(model, folder):
    rows = ["petal width,id,width,petal length,length,note", '0.20,007,3.50,1.4,5.1,"a, ""b"""']
    (folder / "new.csv").write_text("\n".join(rows) + "\n")
    found = succeed("predict iris.pf new.csv").splitlines()
    assert found == [rows[0] + ",prediction", rows[1] + ",setosa"]


def test_a_wrong_label_column_does_not_matter_to_predictions(model):
    flowers().assign(kind="nonsense").to_csv("new.csv", index=False)
    succeed("predict iris.pf new.csv -o out.csv")
    assert pd.read_csv("out.csv")["prediction"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("cells", [1, 30, 2**18])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.json", "out.jsonl", "out.parquet", "out.csv.gz"])
def test_predictions_do_not_depend_on_batches_or_formats(model, monkeypatch, cells, name):
    monkeypatch.setattr(streams, "CELLS", cells)
    succeed(f"predict iris.pf iris.csv --proba --only --out {name}")
    readers = {"json": pd.read_json, "parquet": pd.read_parquet, "tsv": lambda p: pd.read_csv(p, sep="\t")}
    readers["jsonl"] = lambda path: pd.read_json(path, lines=True)
    found = readers.get(name.split(".")[1], pd.read_csv)(name)
    assert found.columns.tolist() == ["p(setosa)", "p(versicolor)", "p(virginica)", "prediction"]
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found.iloc[:, :3], model.predict_proba(X), rtol=1e-9)  # JSON's reader rounds


SMALL = "--set k_max=3 --set cv=2 --set transforms=linear"


@pytest.mark.parametrize(
    "options",
    [
        *("-e opf", "-e opf --set n_conquerors=3", "-e fuzzy", "-e semi", "-e pruner"),
        *(SMALL, f"{SMALL} --set n_best=1"),
    ],
)
def test_labels_and_probabilities_come_from_one_search_for_neighbours(folder, options, monkeypatch):
    rounded = flowers().round(dict.fromkeys(FEATURES, 0))  # with many ties
    rounded.to_csv("iris.csv", index=False)
    queries = rounded[list(FEATURES)]
    succeed(f"train {IRIS} {options} --out m.pf")
    model, searches = pathforest.load("m.pf"), []
    labels, probabilities = model.predict(queries), model.predict_proba(queries)

    ask = KeptSamples.blocks  # every answer begins with it

    def watched(samples, queries, width):
        searches.append(len(queries))
        return ask(samples, queries, width)

    monkeypatch.setattr(KeptSamples, "blocks", watched)
    model.predict_proba(queries)
    needed, searches[:] = list(searches), []
    found = pd.read_csv(io.StringIO(succeed("predict m.pf iris.csv --proba --only")))
    assert searches == needed
    assert found["prediction"].tolist() == labels.tolist()
    np.testing.assert_array_equal(found.iloc[:, :-1], probabilities)
    searches.clear()
    facts = json.loads(succeed("evaluate m.pf iris.csv -l kind --json"))
    assert searches == needed
    assert facts["accuracy"] == np.mean(labels == KINDS)


def test_typed_output_has_features_as_numbers_and_the_rest_as_it_came(model):
    found = json.loads(succeed("predict iris.pf iris.csv --to json"))
    assert found[0]["petal length"] == 1.4
    assert found[0]["name"] == "flower 0"


def test_json_without_a_file_prints_rows_and_with_one_a_summary(model):
    assert len(json.loads(succeed("predict iris.pf iris.csv --json"))) == len(X)
    found = json.loads(succeed("predict iris.pf iris.csv --out o.csv --json"))
    assert found == {"predictions": "o.csv", "n_samples": len(X)}


def test_json_holds_nothing_that_json_cannot(folder):
    frame = pd.DataFrame(X, columns=FEATURES).assign(more=[[1.0, float("nan")]] * len(X), label=KINDS)
    frame.to_parquet("odd.parquet")
    succeed("train odd.parquet --ignore more -e opf -o m.pf")
    found = json.loads(succeed("predict m.pf odd.parquet --json"), parse_constant=pytest.fail)
    assert found[0]["more"] == [1.0, None]


def test_the_standard_input_is_a_file_too(model, folder):
    table = (folder / "iris.csv").read_bytes()
    assert succeed("predict iris.pf - --only", stdin=table).split() == ["prediction", *model.predict(X)]
    said = succeed("train - -l kind --ignore name -e opf -o m.pf", stdin=table)
    assert said.startswith("m.pf: OPFClassifier, 150 samples, 4 features, 3 classes")


def test_a_dash_is_the_standard_output(model, folder):
    assert succeed("predict iris.pf iris.csv --only --out -").startswith("prediction\n")
    assert not (folder / "-").exists()


def test_input_is_read_as_bytes(folder):
    text = "label,größe\nä,1\nö,2\n".encode()
    succeed("train - -e opf -o m.pf", stdin=text)
    assert "ä" in io.StringIO(succeed("predict m.pf -", stdin=text)).read()


def test_a_model_without_names_takes_columns_in_order(folder):
    OPFClassifier().fit(X, KINDS).save("m.pf")
    flowers().drop(columns="name").to_csv("new.csv", index=False)
    found = succeed("predict m.pf new.csv --label kind --only").split()[1:]
    assert found == OPFClassifier().fit(X, KINDS).predict(X).tolist()


def test_a_table_without_rows_gives_one_without_rows(model, folder):
    (folder / "none.csv").write_text(",".join(FEATURES) + "\n")
    assert succeed("predict iris.pf none.csv") == ",".join(FEATURES) + ",prediction\n"


def test_features_called_like_positions_are_features(folder):
    (folder / "t.csv").write_text("label,position x\na,1\nb,2\n")
    succeed("train t.csv -e opf -o m.pf")
    (folder / "u.csv").write_text("y\n1\n")
    assert "there is no column 'position x'" in fail("predict m.pf u.csv")


def test_a_failure_in_a_late_batch_leaves_no_file(model, folder, monkeypatch):
    monkeypatch.setattr(streams, "CELLS", 4)
    (folder / "bad.csv").write_text(",".join(FEATURES) + "\n1,2,3,4\n" * 5 + "1,x,3,4\n")
    fail("predict iris.pf bad.csv -o out.csv")
    assert not (folder / "out.csv").exists()


def test_a_reader_that_stops_early_is_not_an_error(model):
    pd.concat([flowers()] * 300).to_csv("long.csv", index=False)
    command = f"{sys.executable} -m pathforest predict iris.pf long.csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("name,length")
    assert done.stderr == ""


def test_prediction_takes_the_same_memory_for_files_of_any_length(model):
    pytest.importorskip("resource")  # not on Windows
    frame = pd.DataFrame(X, columns=FEATURES)
    for repeats in (200, 1600):
        pd.concat([frame] * repeats).to_csv(f"{repeats}.csv", index=False)
    code = """
import resource
from pathforest._cli.entrypoint import app
from pathforest._tables import stream
stream.CELLS = 2**14
for repeats in (200, 1600):
    app(f"predict iris.pf {repeats}.csv --only -o out.csv".split(), standalone_mode=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    short, long = (float(line) for line in done.stdout.splitlines() if line.replace(".", "").isdigit())
    assert long < short + 25, "MB for 30,000 and for 240,000 samples"


# Clusters


def test_cluster_adds_the_cluster_as_the_last_column(folder):
    said = succeed(f"cluster {IRIS} -o c.csv --model c.pf")
    expected = OPFClustering().fit(X)
    found = pd.read_csv("c.csv")
    assert found.columns.tolist() == [*flowers().columns, "cluster"]
    assert found["cluster"].tolist() == expected.labels_.tolist()
    assert said.startswith("2 clusters of 150 samples")
    succeed("predict c.pf iris.csv -o p.csv")
    assert pd.read_csv("p.csv")["prediction"].tolist() == expected.predict(X).tolist()
    assert f"k = {pathforest.load('c.pf').best_k_}" in succeed("info c.pf")
    assert "evaluate needs a classifier; c.pf is an OPFClustering" in fail("evaluate c.pf iris.csv -l kind")


def test_noise_is_counted_apart(folder):
    said = succeed(f"cluster {IRIS} --set noise=0.1 -o c.csv")
    left_out = int((pd.read_csv("c.csv")["cluster"] == -1).sum())
    assert left_out > 0
    assert f", {left_out} left out as noise; k = 15" in said


def test_one_cluster_is_reported_in_the_singular(folder):
    said = succeed("cluster iris.csv --ignore name,kind --set n_clusters=1 -o c.csv")
    assert said.startswith("1 cluster of 150 samples")
