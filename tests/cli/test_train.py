"""`pathforest train`: which model comes of which table and options."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, fail, flowers, run, succeed
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier
from pathforest.datasets import read, write
from pathforest.learning import learn
from pathforest.pruning import prune


def test_train_fits_the_cross_validated_classifier_by_default(folder):
    said = succeed(f"train {IRIS} --out iris.pf")
    expected = FuzzyOPFClassifierCV().fit(X, KINDS)
    found = pathforest.load("iris.pf")
    assert type(found) is FuzzyOPFClassifierCV
    assert found.best_params_ == expected.best_params_
    np.testing.assert_array_equal(found.feature_names_in_, FEATURES)
    assert f"cross-validated score {expected.best_score_:.4f}" in said
    frame = pd.DataFrame(X, columns=FEATURES)
    # The linear algebra of representations may round otherwise on another number of threads.
    np.testing.assert_allclose(found.predict_proba(frame), expected.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-e opf", OPFClassifier()),
        ("-e fuzzy", FuzzyOPFClassifier()),
        ("-e knn", pathforest.OPFKNNClassifier()),
        (
            "-e fuzzy --set sigma=0.3 --set competition=tree --set n_neighbors=None",
            FuzzyOPFClassifier(sigma=0.3, competition="tree"),
        ),
    ],
)
def test_train_fits_the_estimator_asked_for(folder, options, expected):
    succeed(f"train {IRIS} -o m.pf {options}")
    found = pathforest.load("m.pf")
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found.cost_, expected.fit(X, KINDS).cost_)


@pytest.mark.parametrize("name", ["pruner", "outliers"])
def test_the_other_estimators_are_trained_and_predict(folder, name):
    succeed(f"train {IRIS} -e {name} -o m.pf")
    found = succeed("predict m.pf iris.csv --only").split()[1:]
    model = pathforest.load("m.pf")
    assert found == [str(label) for label in model.predict(pd.DataFrame(X, columns=FEATURES))]


def test_features_are_chosen_by_name(folder):
    succeed("train iris.csv -l kind --features width,length -e opf -o m.pf")
    expected = OPFClassifier().fit(X[:, [1, 0]], KINDS)
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)


def test_columns_are_chosen_by_repeated_options_quotes_and_positions(folder):
    flowers().rename(columns={"length": "length, cm"}).to_csv("quoted.csv", index=False)

    def features(options):
        return json.loads(succeed(f"train quoted.csv -l kind -e opf -o m.pf --json {options}"))["features"]

    rest = ["petal length", "petal width"]
    assert features("--ignore name --ignore 'width,\"length, cm\"'") == rest
    assert features("--ignore 0,2 --ignore 1") == rest
    assert features("--features -1 --features 4") == rest[::-1]


@pytest.mark.parametrize("label", ["kind", "3", "-3"])
def test_the_label_is_given_by_name_or_position(folder, label):
    found = json.loads(succeed(f"train iris.csv --label={label} --ignore name -e opf -o m --json"))
    assert found["label"] == "kind"
    assert found["classes"] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".npz", ".csv.gz", ".dat", ".txt", ".libsvm"])
def test_training_and_prediction_take_every_format(folder, ending):
    nameless = ending in (".dat", ".txt", ".libsvm")
    values = X.astype(np.float32) if ending == ".dat" else X
    labels = codes + 1 if nameless else KINDS
    write(f"data{ending}", values, labels, feature_names=None if nameless else FEATURES)
    succeed(f"train data{ending} -e opf -o m.pf")
    succeed(f"predict m.pf data{ending} -o out.csv")
    found = pd.read_csv("out.csv")["prediction"]
    assert found.tolist() == OPFClassifier().fit(values, labels).predict(values).tolist()


def test_truth_values_are_numbers(folder):
    frame = pd.DataFrame({"label": codes, "x": X[:, 0], "long": X[:, 2] > 3})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    expected = OPFClassifier().fit(np.column_stack([X[:, 0], X[:, 2] > 3]), codes)
    for name in ("t.csv", "t.parquet"):
        succeed(f"train {name} -e opf -o m.pf")
        np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    assert read("t.csv").X[:, 1].sum() == (X[:, 2] > 3).sum()


def test_columns_named_by_their_positions_are_a_header(folder):
    (folder / "counted.csv").write_text("0,1,2,label\n1,2,3,b\n2,3,4,c\n")
    succeed("train counted.csv -e opf -o m.pf")


# Samples without labels


def test_samples_with_empty_labels_are_unlabelled_for_semi(folder):
    frame = flowers()
    frame.loc[np.arange(len(frame)) % 10 > 0, "kind"] = ""
    frame.to_csv("few.csv", index=False)
    succeed("train few.csv -l kind --ignore name -e semi -o m.pf")
    expected = pathforest.OPFSemiSupervisedClassifier(unlabeled="").fit(X, frame["kind"].to_numpy())
    np.testing.assert_array_equal(pathforest.load("m.pf").transduction_, expected.transduction_)


@pytest.mark.parametrize("gap", ["", ",5\n"])
@pytest.mark.parametrize("more", ["", "--unlabeled more.csv"])
def test_only_an_empty_cell_is_unlabelled_for_semi(folder, gap, more):
    (folder / "two.csv").write_text(f"label,x\n1,0\n01,1\n-1,9\n-2,20\n{gap}")
    (folder / "more.csv").write_text("x\n5.5\n")
    found = json.loads(succeed(f"train two.csv -e semi -o m.pf --json {more}"))
    assert found["classes"] == [-2, -1, 1]
    assert pathforest.load("m.pf").transduction_[:4].tolist() == [1, 1, -1, -2]


@pytest.mark.parametrize("gap", ["", ",5\n"])
def test_semi_takes_another_mark_too(folder, gap):
    (folder / "two.csv").write_text(f"label,x\n1,0\n2,9\n-1,8\n{gap}")
    found = json.loads(succeed("train two.csv -e semi --set unlabeled=-1 -o m.pf --json"))
    assert found["classes"] == [1, 2]


def test_unlabelled_samples_come_from_a_file_of_their_own(libopf):
    training, testing = libopf
    succeed("train training.dat -e semi --unlabeled testing.dat -o m.pf")
    y = np.concatenate([training.y, np.full(len(testing.y), -1)])
    expected = pathforest.OPFSemiSupervisedClassifier().fit(np.concatenate([training.X, testing.X]), y)
    found = pathforest.load("m.pf").transduction_.astype(int).tolist()
    assert found == expected.transduction_.tolist()
    write("train.csv", training.X, training.y)
    write("more.csv", testing.X)  # without a label column
    succeed("train train.csv -e semi --unlabeled more.csv -o m.pf")
    assert pathforest.load("m.pf").transduction_.astype(int).tolist() == found


# Learning and pruning


def test_a_model_learns_from_an_evaluation_file(libopf):
    training, testing = libopf
    found = json.loads(succeed("train training.dat -e opf --learn testing.dat -o m.pf --json"))["evaluation"]
    expected = learn(OPFClassifier(), training.X, training.y, testing.X, testing.y)
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.model.cost_)
    rows = np.concatenate([training.X, testing.X])[expected.val_rows]
    labels = np.concatenate([training.y, testing.y])[expected.val_rows]
    assert found[0]["after"] == expected.model.score(rows, labels)


def test_a_model_is_pruned_by_an_evaluation_file(libopf):
    training, testing = libopf
    line = "train training.dat -e opf --prune testing.dat --max-loss 0.05 -o m.pf"
    found = json.loads(succeed(f"{line} --json"))["evaluation"]
    model = OPFClassifier().fit(training.X, training.y)
    expected = prune(model, testing.X, testing.y, max_loss=0.05).model
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    assert found == [
        {
            "file": "testing.dat",
            "before": model.score(testing.X, testing.y),
            "after": expected.score(testing.X, testing.y),
            "n_before": len(model.cost_),
            "n_after": len(expected.cost_),
        }
    ]
    said = succeed(line)
    assert "75 samples before, " in said
    assert f"{len(expected.cost_)} samples in the model" in said


def test_evaluation_files_are_read_by_name(libopf):
    training, testing = libopf
    for name, table in (("train.csv", training), ("test.csv", testing)):
        write(name, table.X, table.y, feature_names=["a", "b", "c", "d"])
    turned = pd.read_csv("test.csv")[["d", "c", "label", "b", "a"]].assign(more=1.0)
    turned.to_csv("turned.csv", index=False)
    costs = []
    for name in ("test.csv", "turned.csv"):
        succeed(f"train train.csv -e opf --prune {name} -o m.pf")
        costs.append(pathforest.load("m.pf").cost_)
    np.testing.assert_array_equal(*costs)


# Scales


def test_features_of_different_scales_are_reported(folder):
    frame = flowers().assign(width=X[:, 1] * 1000)
    frame.to_csv("wide.csv", index=False)
    wide = "wide.csv -l kind --ignore name"
    warning = "features differ in scale ('petal width' spans 2.4, 'width' 2400); "
    said = run(f"train {wide} -o m.pf --set cv=3 --set transforms=None").stderr
    assert said == f"pathforest: warning: {warning}--scale evens them out\n"
    assert run(f"train {wide} -o m.pf --set cv=3").stderr == ""  # the default tries standardised features
    assert warning + "--scale evens them out" in run(f"cluster {wide} -o c.csv").stderr
    assert warning + "--scale evens them out" in run(f"train {wide} -o m.pf -e opf").stderr
    assert run(f"train {IRIS} -o m.pf -e opf").stderr == ""
    values = frame[FEATURES].to_numpy()
    expected = FuzzyOPFClassifierCV(cv=3, transforms=[StandardScaler()]).fit(values, KINDS).predict(values)
    done = run(f"train {wide} -o m.pf --set cv=3 --scale")
    assert (done.exit_code, done.stderr) == (0, "")
    assert succeed("predict m.pf wide.csv --only").split()[1:] == expected.tolist()


# The table of a search


def test_the_table_has_all_cells_the_best_first(folder):
    said = succeed(f"train {IRIS} --set sigmas=0.5,1 --set cv=2 --table c.csv -o m.pf")
    expected = FuzzyOPFClassifierCV(sigmas=[0.5, 1], cv=2).fit(X, KINDS)
    found = pd.read_csv("c.csv")
    assert found["rank_test_score"].tolist() == list(range(1, len(expected.cv_results_["params"]) + 1))
    assert found["mean_test_score"][0] == pytest.approx(expected.best_score_, abs=1e-6)
    assert found["param_n_conquerors"][0] == expected.best_params_["n_conquerors"]
    assert set(found["param_sigma"]) == {0.5, 1}
    assert f"c.csv: {len(found)} cells\n" in said
    assert pathforest.load("m.pf").best_params_ == expected.best_params_


# Refused options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--scale -e opf --set metric=precomputed", "--scale: distances cannot be standardised"),
        ("--columns kind", "--columns kind: write NAME=KIND with one of number, category, drop"),
        ("--columns width=text", "--columns width=text: write NAME=KIND"),
        ("--sep ab", "--sep ab: give one character"),
        ("--decimal x", "--decimal x: give . or ,"),
        ("--scale --set transforms=linear", "--scale: not with --set transforms"),
        ("--set refit=false", "could not predict"),
        ("-e svm", "--estimator svm is unknown; choose one of fuzzy-cv, opf"),
        ("--set sigma=1", "--set sigma=1: FuzzyOPFClassifierCV has no such parameter (did you mean sigmas?)"),
        ("--set cv", "--set cv: write cv=VALUE"),
        ("--learn iris.csv", "--learn iris.csv: only --estimator opf takes it"),
        ("--prune iris.csv", "--prune iris.csv: only --estimator opf takes it"),
        ("--table c.csv -e opf", "--table c.csv: only --estimator fuzzy-cv takes it"),
        ("--unlabeled iris.csv", "--unlabeled iris.csv: only --estimator semi takes it"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, message):
    assert message in fail(f"train {IRIS} -o m.pf {options}", code=2)
    assert not (folder / "m.pf").exists()


@pytest.mark.parametrize(
    "value", ["sigma=abc", "k_max=30.5", "metric={}", "metric_params=3", "k_max=" + "[" * 100_000]
)
def test_values_of_a_wrong_kind_get_one_line(folder, value):
    done = run(f"train {IRIS} -e fuzzy -o m.pf --set", value)
    assert done.exit_code in (1, 2)
    assert len(done.stderr.splitlines()) == 1
    assert value[:5] in done.stderr
    assert len(done.stderr) < 3000
