"""Mixed tables: text, gaps, decimal commas and other separators, from training to new files."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import IRIS, KINDS, X, fail, flowers, run, succeed
from pipelines import PIPELINES, passengers
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, TablePreprocessor

TABLE, LABELS = passengers(60)


@pytest.fixture
def ship(tmp_path, monkeypatch):
    """Start in a folder with a table as spreadsheets write it in many countries."""
    monkeypatch.chdir(tmp_path)
    table = TABLE.assign(fate=LABELS)
    table.to_csv("ship.csv", sep=";", decimal=",", index=False)
    table.to_parquet("ship.parquet")
    new = TABLE[:4].assign(port=["X", None, "S", "C"], fare=[None, 3.25, 1.5, 8.0])
    new.to_csv("new.csv", sep=";", decimal=",", index=False)
    return tmp_path


@pytest.fixture
def expected():
    return make_pipeline(TablePreprocessor(), OPFClassifier()).fit(TABLE, LABELS)


@pytest.mark.parametrize("name", ["ship.csv", "ship.parquet"])
def test_a_mixed_table_is_trained_as_in_python(ship, expected, name):
    said = succeed(f"train {name} -l fate -e opf -o m.pf")
    found = pathforest.load("m.pf")
    np.testing.assert_array_equal(found[-1].cost_, expected[-1].cost_)
    assert found[0].describe() == expected[0].describe()
    for line in expected[0].describe().splitlines():
        assert f"  {line}\n" in said
        assert f"  {line}\n" in succeed("info m.pf")


def test_new_files_are_treated_as_the_training_table_was(ship, expected):
    succeed("train ship.csv -l fate -e opf -o m.pf")
    new = pd.read_csv("new.csv", sep=";", decimal=",")
    found = (
        pd.read_csv("out.csv", sep=";", decimal=",") if succeed("predict m.pf new.csv -o out.csv") else None
    )
    assert found["prediction"].tolist() == expected.predict(new).tolist()
    assert found["fare"].tolist()[1:] == [3.25, 1.5, 8.0]
    explained = json.loads(succeed("predict m.pf new.csv --explain 0-3 --json"))
    assert [sample["prediction"] for sample in explained] == expected.predict(new).tolist()


def test_batches_do_not_change_what_a_cell_is(ship):
    rows = ["x;kind;label", *(f"{i};{'true' if i % 3 else 'maybe'};{'ab'[i % 2]}" for i in range(12))]
    (ship / "t.csv").write_text("\n".join(rows))
    (ship / "one.csv").write_text("x;kind\n4;true\n")
    succeed("train t.csv -e opf -o m.pf")
    assert succeed("predict m.pf one.csv --only") == "prediction\na\n"
    assert pathforest.load("m.pf")[0].transform({"x": [4], "kind": [True]})[0, 1] == 1


def test_numbers_in_typed_outputs_are_numbers(ship):
    succeed("train ship.csv -l fate -e opf -o m.pf")
    found = json.loads(succeed("predict m.pf new.csv --to json"))
    assert [row["fare"] for row in found] == [None, 3.25, 1.5, 8.0]
    assert found[0]["port"] == "X"


def test_a_column_that_the_model_leaves_out_need_not_be_there(ship):
    table = TABLE.assign(name=[f"guest {i}" for i in range(60)], fate=LABELS)
    table.to_csv("named.csv", index=False)
    assert "name: left out, no text occurs twice" in succeed("train named.csv -l fate -e opf -o m.pf")
    assert succeed("predict m.pf new.csv --only").count("\n") == 5
    table.drop(columns="age").to_csv("less.csv", index=False)
    assert "there is no column 'age'" in fail("predict m.pf less.csv")


def test_a_word_in_a_column_of_numbers_is_named(ship):
    succeed("train ship.csv -l fate -e opf -o m.pf")
    (ship / "wrong.csv").write_text("age;fare;port;male\n30;1;S;True\nold;1;S;True\n")
    assert "wrong.csv: line 3, column 'age': 'old' is not a number" in fail("predict m.pf wrong.csv")


def test_a_table_of_numbers_is_used_as_it_is(ship):
    TABLE[["fare"]].assign(label=LABELS).to_csv("numbers.csv", index=False)
    succeed("train numbers.csv -e opf -o m.pf")
    assert type(pathforest.load("m.pf")) is OPFClassifier


def test_the_other_commands_take_mixed_tables(ship):
    assert "cross-validated" in succeed("train ship.csv -l fate --set cv=2 --set k_max=3 -o t.pf")
    assert isinstance(pathforest.load("t.pf")[0], TablePreprocessor)
    assert "60 samples" in succeed("evaluate t.pf ship.csv")
    succeed("cluster ship.csv -l fate -o c.csv --model c.pf")
    clusters = OPFClustering().fit(TablePreprocessor().fit_transform(TABLE)).labels_
    assert pd.read_csv("c.csv", sep=";")["cluster"].tolist() == clusters.tolist()
    succeed("predict c.pf new.csv -o n.csv")
    succeed("audit ship.csv -l fate -o review.html")
    assert "port=S" in (ship / "review.html").read_text()


def test_further_files_are_read_as_the_training_table_is(ship):
    TABLE.assign(fate=LABELS)[:20].assign(port="1").to_csv("few.csv", index=False)
    done = json.loads(succeed("train ship.csv -l fate -e opf --learn few.csv -o m.pf --json"))
    assert done["evaluation"][0]["n_before"] == 60
    succeed("train ship.csv -l fate -e semi --unlabeled few.csv -o m.pf")
    assert pathforest.load("m.pf")[0].n_samples_seen_ == 80


@pytest.mark.parametrize("name", ["ship.csv", "ship.parquet"])
def test_gower_takes_the_table_as_it_is(ship, name):
    succeed(f"train {name} -l fate -e opf --set metric=gower -o m.pf")
    expected = OPFClassifier(metric="gower").fit(TABLE, LABELS)
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    new = pd.read_csv("new.csv", sep=";", decimal=",")
    assert succeed("predict m.pf new.csv --only").split()[1:] == list(map(str, expected.predict(new)))
    (explained,) = json.loads(succeed("predict m.pf ship.parquet --explain 0 --json"))
    assert len(explained["features"]) == TABLE.shape[1]
    assert "60 samples" in succeed("evaluate m.pf ship.parquet")
    assert "ranges of numbers itself" in fail(
        "train ship.csv -l fate -e opf --set metric=gower --scale -o m.pf", code=2
    )


# Searches


def pairs(n=120):
    """A table in which texts come twice, each time with the same label, and with noise beside them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"code": [f"c{i // 2:03}" for i in range(n)], "x": rng.normal(size=n)})
    table["label"] = rng.choice(["a", "b"], n // 2).repeat(2)
    return table.sample(frac=1, random_state=0, ignore_index=True)


@pytest.mark.parametrize("table", [pairs(), TABLE.assign(label=LABELS)], ids=["pairs", "passengers"])
def test_a_search_learns_what_to_do_with_columns_inside_its_folds(folder, table):
    table.to_csv("table.csv", index=False)
    succeed("train table.csv --set transforms=linear --set k_max=5 --set cv=3 --table cells.csv -o m.pf")
    cells, X = pd.read_csv("cells.csv"), table.drop(columns="label")
    steps = {"as given": [], "standardised": [StandardScaler()]}
    for cell in cells[cells["param_transform"].isin(steps)].to_dict("records"):
        params = {k[6:]: v for k, v in cell.items() if k.startswith("param_") and k != "param_transform"}
        classifier = FuzzyOPFClassifier(**params)
        model = make_pipeline(TablePreprocessor(scale=False), *steps[cell["param_transform"]], classifier)
        scores = cross_val_score(model, X, table["label"], cv=3)
        assert cell["mean_test_score"] == pytest.approx(scores.mean(), abs=1e-6)
    found = pathforest.load("m.pf")
    expected = TablePreprocessor(scale=False).fit_transform(X)
    np.testing.assert_array_equal(found[0].transform(X), expected)
    for model in found[-1].estimators_:
        again = clone(model).fit(expected, table["label"])
        np.testing.assert_array_equal(again.predict_proba(expected), model.predict_proba(expected))
    assert succeed("predict m.pf table.csv --only").split()[1:] == found.predict(X).tolist()


@pytest.mark.filterwarnings("default")
def test_what_a_column_is_does_not_depend_on_the_fold(folder):
    table = pd.DataFrame({"age": range(20, 40), "day": ["2024-05-31", "2024-06-01"] * 10}).astype(str)
    table.loc[3] = "unknown"
    table.assign(label=["a", "b"] * 10).to_csv("odd.csv", index=False)
    done = run("train odd.csv --set transforms=None --set k_max=2 --set cv=4 -o m.pf")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("warning: column 'age' is taken as a category") == 1
    assert done.stderr.count("warning:") == 1


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ("", False),
        ("--set transforms=linear", False),
        ("--set transforms=None", True),
        ("--set metric=manhattan", True),
        ("--scale", True),
    ],
)
def test_numbers_are_scaled_unless_the_search_tries_to(ship, options, scale):
    succeed(f"train ship.csv -l fate --set k_max=3 --set cv=2 -o m.pf {options}")
    assert pathforest.load("m.pf")[0].scale is scale


# Switches


def test_columns_are_treated_as_asked(ship):
    TABLE.assign(deck=np.arange(60) % 3, fate=LABELS).to_csv("deck.csv", index=False)
    options = "--columns deck=category,fare=drop --columns male=drop"
    done = json.loads(succeed(f"train deck.csv -l fate -e opf -o m.pf {options} --json"))
    rules = {rule["column"]: rule["kind"] for rule in done["columns"]}
    assert rules == {"age": "number", "port": "category", "deck": "category"}
    assert "there is no column 'dekc'" in fail("train deck.csv -l fate -o m.pf --columns dekc=drop")


def test_nothing_is_encoded_if_asked(ship):
    said = fail("train ship.csv -l fate -o m.pf --no-encode")
    assert "column 'age': the cell is empty" in said
    assert "or encode it: omit --no-encode" in said
    assert "omit" not in fail("convert ship.csv -l fate -o x.parquet")


@pytest.mark.parametrize("command", ["train -o m.pf", "cluster -o c.csv", "audit -o a.html"])
def test_columns_are_not_treated_and_not_encoded(ship, command):
    said = fail(f"{command} ship.csv -l fate --no-encode --columns age=drop", code=2)
    assert "--no-encode: not with --columns age=drop" in said


def test_truth_values_may_be_written_as_one_and_zero(ship):
    succeed("train ship.csv -l fate -e opf -o m.pf")
    TABLE.to_csv("words.csv", index=False)
    TABLE.assign(male=TABLE["male"].astype(int)).to_csv("digits.csv", index=False)
    assert succeed("predict m.pf digits.csv --only") == succeed("predict m.pf words.csv --only")


@pytest.mark.parametrize("estimator", ["opf", "fuzzy", "knn", "semi", "pruner", "outliers"])
def test_every_estimator_can_be_scaled(folder, estimator):
    done = run(f"train {IRIS} -e {estimator} --scale -o m.pf")
    assert (done.exit_code, done.stderr) == (0, "")
    found = pathforest.load("m.pf")
    scaled = found[0].transform(pd.DataFrame(X, columns=found.feature_names_in_))
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(X), atol=1e-12)
    succeed("predict m.pf iris.csv -o p.csv")


def test_a_label_is_remembered(folder):
    for options in ("", "--scale"):
        succeed(f"train {IRIS} -e opf -o m.pf {options}")
        assert json.loads(succeed("evaluate m.pf iris.csv --json"))["accuracy"] > 0.9
        assert "label: kind\n" in succeed("info m.pf")
    flowers().rename(columns={"kind": "Kind"}).to_csv("renamed.csv", index=False)
    said = fail("evaluate m.pf renamed.csv")
    assert "no column 'kind' (did you mean 'Kind'?)" in said
    assert "the model was trained with this label; name the column of labels with --label" in said
    flowers().assign(other=KINDS[::-1]).to_csv("two.csv", index=False)
    assert json.loads(succeed("evaluate m.pf two.csv -l other --json"))["accuracy"] < 0.5


# Separators and decimal marks


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")])
def test_separator_and_decimal_mark_are_found(ship, expected, sep, decimal):
    TABLE.assign(fate=LABELS).to_csv("other.csv", sep=sep, decimal=decimal, index=False)
    succeed("train other.csv -l fate -e opf -o m.pf")
    np.testing.assert_array_equal(pathforest.load("m.pf")[-1].cost_, expected[-1].cost_)


def test_separator_and_decimal_mark_are_given(ship):
    (ship / "odd.csv").write_text("x:label\n1,500:a\n2,500:b\n")
    succeed("train odd.csv --sep : --decimal , -e opf -o m.pf")
    assert pathforest.load("m.pf")._fit_X.tolist() == [[1.5], [2.5]]
    assert "sep is for CSV and TSV files" in fail("train ship.parquet -l fate -o m.pf --sep ;")


def test_commas_that_may_be_of_thousands_are_asked_for(ship):
    (ship / "odd.csv").write_text("x;label\n1,500;a\n2,500;b\n")
    assert "'1,500' is not a number; if this is a decimal comma, pass --decimal ," in fail(
        "train odd.csv -e opf -o m.pf"
    )


@pytest.mark.parametrize(("sep", "decimal"), [(";", ","), ("|", ".")])
def test_parts_keep_separator_and_decimal_mark(ship, sep, decimal):
    TABLE.assign(fate=LABELS).to_csv("whole.csv", sep=sep, decimal=decimal, index=False)
    succeed("convert whole.csv -l fate --parts a=50,b=50 -o .")
    lines = [*(ship / "a.csv").read_text().splitlines(), *(ship / "b.csv").read_text().splitlines()[1:]]
    assert sorted(lines) == sorted((ship / "whole.csv").read_text().splitlines())


# Warnings


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("row", np.arange(150) * 2 + 7),
        ("PassengerId", np.random.default_rng(0).permutation(150)),
        ("Unnamed: 0", range(150)),
    ],
)
def test_a_column_that_numbers_the_rows_is_named(folder, name, values):
    flowers().assign(**{name: values}).to_csv("numbered.csv", index=False)
    for command in ("train numbered.csv -o m.pf -e opf", "cluster numbered.csv -o c.csv"):
        said = run(f"{command} -l kind --ignore name").stderr
        assert f"warning: '{name}' looks like the number of the row" in said
        assert "--ignore" in said
    assert "number of the row" not in run(f"train {IRIS} -o m.pf -e opf").stderr


def test_columns_that_number_the_rows_are_left_out_as_advised(folder):
    flowers().assign(row_id=range(150)).to_csv("numbered.csv")  # the index has no name
    said = run("train numbered.csv -l kind -e opf -o m.pf --ignore name").stderr
    advised = re.search(r"--ignore (\S+)", said).group(1)
    assert advised == ",row_id"
    assert run(f"train numbered.csv -l kind -e opf -o m.pf --ignore name --ignore {advised}").stderr == ""
    said = run("train numbered.csv -l kind -e opf -o m.pf --ignore '' --ignore name").stderr
    assert "warning: 'row_id' looks like" in said


@pytest.mark.filterwarnings("default")
def test_a_typo_in_a_column_of_numbers_is_reported(ship):
    rows = "".join(f"{i % 4},5;{'ab'[i % 2]}\n" for i in range(9))
    (ship / "typo.csv").write_text(f"age;label\n{rows}old;a\n")
    said = run("train typo.csv -e opf -o m.pf").stderr
    assert "warning: column 'age' is taken as a category: 9 of 10 values are numbers, 'old' is not" in said
    assert "line 11, column 'age': 'old' is not a number" in fail(
        "train typo.csv -e opf -o m.pf --columns age=number"
    )


def test_a_label_with_one_class_is_reported(folder):
    (folder / "one.csv").write_text("x,label\n1,a\n2,a\n")
    said = run("train one.csv -e opf -o m.pf").stderr
    assert "the label 'label' has one class, 'a', so every prediction will be this class" in said
    assert ", 1 class, " in succeed("train one.csv -e opf -o m.pf")


def test_dates_are_refused_with_a_remedy(folder):
    (folder / "dates.csv").write_text("day,x,label\n2024-05-31,1,a\n2024-06-01,2,b\n")
    said = fail("train dates.csv -o m.pf")
    assert "column 'day' holds dates, such as 2024-05-31; turn them into numbers" in said
    assert said.endswith("or leave the column out with --ignore\n")
    pd.DataFrame({"day": pd.to_datetime(["2024-05-31"] * 2), "x": [1, 2], "label": [1, 2]}).to_parquet(
        "d.parquet"
    )
    assert "column 'day': it holds dates" in fail("train d.parquet -o m.pf")


# Pipelines that were saved in Python


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
def test_pipelines_of_other_transformers_predict_from_files(ship, name):
    model, (samples, labels) = PIPELINES[name]
    model = clone(model).fit(samples, labels)
    pathforest.save(model, "m.pf")
    table = pd.DataFrame(samples, columns=TABLE.columns[: samples.shape[1]])
    table.dropna().to_csv("table.csv", index=False)
    found = succeed("predict m.pf table.csv --only").split()[1:]
    asked = table.dropna() if hasattr(samples, "iloc") else table.dropna().to_numpy()
    assert found == [str(label) for label in model.predict(asked)]
    assert type(model[-1]).__name__ in succeed("info m.pf")


def test_flags_have_no_type_in_the_help():
    assert "bool" not in succeed("reproduce --help").lower()
    assert "bool" not in succeed("train --help").lower()


def test_explanations_of_mixed_tables_show_booleans(folder):
    rows = ["22,true,S,yes", "38,false,C,no", "26,true,,yes", "35,false,S,no"]
    (folder / "t.csv").write_text("\n".join(["age,alone,port,kind", *rows]) + "\n")
    succeed("train t.csv --label kind -e opf --set metric=gower --out t.pf")
    assert "True" in succeed("predict t.pf t.csv --explain 0")
