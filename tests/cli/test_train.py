"""`pathforest train`: which model comes of which table and options, the same as in Python."""

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, facts, flowers, predictions, run, succeed, train
from pipelines import passengers
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, TablePreprocessor
from pathforest.datasets import read, write
from pathforest.learning import learn
from pathforest.pruning import prune

TABLE, LABELS = passengers(60)
SEMI = pathforest.OPFSemiSupervisedClassifier


def test_the_cross_validated_classifier_is_the_default(folder):
    said = succeed(f"train {IRIS} --set sigmas=0.5,1 --set cv=2 --table c.csv -o m.pf")
    expected = FuzzyOPFClassifierCV(sigmas=[0.5, 1], cv=2).fit(X, KINDS)
    found, cells = pathforest.load("m.pf"), pd.read_csv("c.csv")
    assert type(found) is FuzzyOPFClassifierCV
    assert found.best_params_ == expected.best_params_
    np.testing.assert_array_equal(found.feature_names_in_, FEATURES)
    assert f"cross-validated score {expected.best_score_:.4f}" in said
    # The linear algebra of representations may round otherwise on another number of threads.
    probabilities = found.predict_proba(pd.DataFrame(X, columns=FEATURES))
    np.testing.assert_allclose(probabilities, expected.predict_proba(X), rtol=1e-6)
    # The table has all cells, the best first.
    assert cells["rank_test_score"].tolist() == list(range(1, len(expected.cv_results_["params"]) + 1))
    assert cells["mean_test_score"][0] == pytest.approx(expected.best_score_, abs=1e-6)
    assert cells["param_n_conquerors"][0] == expected.best_params_["n_conquerors"]
    assert set(cells["param_sigma"]) == {0.5, 1}
    assert f"c.csv: {len(cells)} cells\n" in said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-e opf", OPFClassifier()),
        ("-e fuzzy", FuzzyOPFClassifier()),
        ("-e knn", pathforest.OPFKNNClassifier()),
        ("-e semi", SEMI(unlabeled="")),
        ("-e pruner", pathforest.OPFPruner()),
        ("-e outliers", pathforest.OPFOutlierDetector()),
        (
            "-e fuzzy --set sigma=0.3 --set competition=tree --set n_neighbors=None",
            FuzzyOPFClassifier(sigma=0.3, competition="tree"),
        ),
    ],
)
@pytest.mark.parametrize("scale", ["", "--scale"])
def test_every_estimator_is_trained_and_predicts_as_in_python(folder, options, expected, scale):
    done = run(f"train {IRIS} {options} {scale} -o m.pf")
    assert (done.exit_code, done.stderr) == (0, "")
    found = pathforest.load("m.pf")
    assert bool(scale) == hasattr(found, "steps")
    Z = found[:-1].transform(pd.DataFrame(X, columns=FEATURES)) if scale else X
    if scale:
        np.testing.assert_allclose(Z, StandardScaler().fit_transform(X), atol=1e-12)
    expected = clone(expected).fit(Z, KINDS)
    assert type(found[-1] if scale else found) is type(expected)
    if hasattr(expected, "cost_"):
        np.testing.assert_array_equal((found[-1] if scale else found).cost_, expected.cost_)
    assert predictions("m.pf iris.csv") == list(map(str, expected.predict(Z)))


def test_columns_are_chosen_by_names_quotes_and_positions(folder):
    expected = OPFClassifier().fit(X[:, [1, 0]], KINDS)
    found = train("iris.csv -l kind --features width,length -e opf")
    np.testing.assert_array_equal(found.cost_, expected.cost_)
    flowers().rename(columns={"length": "length, cm"}).to_csv("quoted.csv", index=False)
    rest = ["petal length", "petal width"]
    for options, features in (
        ("--ignore name --ignore 'width,\"length, cm\"'", rest),
        ("--ignore 0,2 --ignore 1", rest),
        ("--features -1 --features 4", rest[::-1]),
    ):
        assert facts(f"train quoted.csv -l kind -e opf -o m.pf {options}")["features"] == features
    for label in ("kind", "3", "-3"):
        found = facts(f"train iris.csv --label={label} --ignore name -e opf -o m")
        assert (found["label"], found["classes"]) == ("kind", ["setosa", "versicolor", "virginica"])
    (folder / "counted.csv").write_text("0,1,2,label\n1,2,3,b\n2,3,4,c\n")
    train("counted.csv -e opf")  # columns named by their positions are a header


def test_truth_values_are_numbers(folder):
    frame = pd.DataFrame({"label": codes, "x": X[:, 0], "long": X[:, 2] > 3})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    expected = OPFClassifier().fit(np.column_stack([X[:, 0], X[:, 2] > 3]), codes)
    for name in ("t.csv", "t.parquet"):
        np.testing.assert_array_equal(train(f"{name} -e opf").cost_, expected.cost_)
    assert read("t.csv").X[:, 1].sum() == (X[:, 2] > 3).sum()


# Samples without labels


def test_samples_with_empty_labels_are_unlabelled_for_semi(folder):
    frame = flowers()
    frame.loc[np.arange(len(frame)) % 10 > 0, "kind"] = ""
    frame.to_csv("few.csv", index=False)
    expected = SEMI(unlabeled="").fit(X, frame["kind"].to_numpy())
    found = train("few.csv -l kind --ignore name -e semi")
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


@pytest.mark.parametrize("gap", ["", ",5\n"])
def test_only_an_empty_cell_is_unlabelled_for_semi(folder, gap):
    (folder / "two.csv").write_text(f"label,x\n1,0\n01,1\n-1,9\n-2,20\n{gap}")
    (folder / "more.csv").write_text("x\n5.5\n")
    for more in ("", "--unlabeled more.csv"):
        assert facts(f"train two.csv -e semi -o m.pf {more}")["classes"] == [-2, -1, 1]
        assert pathforest.load("m.pf").transduction_[:4].tolist() == [1, 1, -1, -2]
    assert facts("train two.csv -e semi --set unlabeled=-1 -o m.pf")["classes"] == [-2, 1]


def test_unlabelled_samples_come_from_a_file_of_their_own(libopf):
    training, testing = libopf
    y = np.concatenate([training.y, np.full(len(testing.y), -1)])
    expected = SEMI().fit(np.concatenate([training.X, testing.X]), y).transduction_.tolist()
    write("train.csv", training.X, training.y)
    write("more.csv", testing.X)  # without a label column
    for line in ("training.dat --unlabeled testing.dat", "train.csv --unlabeled more.csv"):
        assert train(f"{line} -e semi").transduction_.astype(int).tolist() == expected


# Learning and pruning


def test_a_model_learns_and_is_pruned_by_an_evaluation_file(libopf):
    training, testing = libopf
    model = OPFClassifier().fit(training.X, training.y)
    (found,) = facts("train training.dat -e opf --learn testing.dat -o m.pf")["evaluation"]
    expected = learn(OPFClassifier(), training.X, training.y, testing.X, testing.y)
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.model.cost_)
    rows = np.concatenate([training.X, testing.X])[expected.val_rows]
    labels = np.concatenate([training.y, testing.y])[expected.val_rows]
    assert found["after"] == expected.model.score(rows, labels)
    line = "train training.dat -e opf --prune testing.dat --max-loss 0.05 -o m.pf"
    (found,) = facts(line)["evaluation"]
    expected = prune(model, testing.X, testing.y, max_loss=0.05).model
    np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
    assert found == {
        "file": "testing.dat",
        "before": model.score(testing.X, testing.y),
        "after": expected.score(testing.X, testing.y),
        "n_before": len(model.cost_),
        "n_after": len(expected.cost_),
    }
    assert f"75 samples before, {found['after']:.4f} with" in succeed(line)
    assert f"{len(expected.cost_)} samples in the model" in succeed(line)


def test_further_files_are_read_by_name_as_the_training_table_is(libopf, ship):
    training, testing = libopf
    for name, table in (("train.csv", training), ("test.csv", testing)):
        write(name, table.X, table.y, feature_names=["a", "b", "c", "d"])
    turned = pd.read_csv("test.csv")[["d", "c", "label", "b", "a"]].assign(more=1.0)
    turned.to_csv("turned.csv", index=False)
    found = [train(f"train.csv -e opf --prune {name}.csv").cost_ for name in ("test", "turned")]
    np.testing.assert_array_equal(*found)
    TABLE.assign(fate=LABELS)[:20].assign(port="1").to_csv("few.csv", index=False)
    assert facts("train ship.csv -l fate -e opf --learn few.csv -o m.pf")["evaluation"][0]["n_before"] == 60
    assert train("ship.csv -l fate -e semi --unlabeled few.csv")[0].n_samples_seen_ == 80


# Mixed tables


@pytest.mark.parametrize("name", ["ship.csv", "ship.parquet"])
def test_a_mixed_table_is_trained_as_in_python(ship, name):
    expected = make_pipeline(TablePreprocessor(), OPFClassifier()).fit(TABLE, LABELS)
    said = succeed(f"train {name} -l fate -e opf -o m.pf")
    found = pathforest.load("m.pf")
    np.testing.assert_array_equal(found[-1].cost_, expected[-1].cost_)
    assert found[0].describe() == expected[0].describe()
    for line in expected[0].describe().splitlines():
        assert f"  {line}\n" in said
        assert f"  {line}\n" in succeed("info m.pf")
    assert predictions("m.pf new.csv") == expected.predict(ship).tolist()
    explained = facts("predict m.pf new.csv --explain 0-3")
    assert [sample["prediction"] for sample in explained] == expected.predict(ship).tolist()
    expected = OPFClassifier(metric="gower").fit(TABLE, LABELS)  # takes the table as it is
    found = train(f"{name} -l fate -e opf --set metric=gower")
    np.testing.assert_array_equal(found.cost_, expected.cost_)
    assert predictions("m.pf new.csv") == expected.predict(ship).tolist()
    (explained,) = facts("predict m.pf ship.parquet --explain 0")
    assert len(explained["features"]) == TABLE.shape[1]
    assert "True" in succeed("predict m.pf ship.csv --explain 0-9")
    assert "60 samples" in succeed("evaluate m.pf ship.parquet")


def test_a_table_of_numbers_is_used_as_it_is(ship):
    TABLE[["fare"]].assign(label=LABELS).to_csv("numbers.csv", index=False)
    assert type(train("numbers.csv -e opf")) is OPFClassifier


def test_columns_are_treated_as_asked(ship):
    TABLE.assign(deck=np.arange(60) % 3, fate=LABELS).to_csv("deck.csv", index=False)
    options = "--columns deck=category,fare=drop --columns male=drop"
    done = facts(f"train deck.csv -l fate -e opf -o m.pf {options}")
    rules = {rule["column"]: rule["kind"] for rule in done["columns"]}
    assert rules == {"age": "number", "port": "category", "deck": "category"}


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")])
def test_separator_and_decimal_mark_are_found_or_given(ship, sep, decimal):
    expected = make_pipeline(TablePreprocessor(), OPFClassifier()).fit(TABLE, LABELS)
    TABLE.assign(fate=LABELS).to_csv("other.csv", sep=sep, decimal=decimal, index=False)
    np.testing.assert_array_equal(train("other.csv -l fate -e opf")[-1].cost_, expected[-1].cost_)
    pd.DataFrame({"x": [1.5, 2.5], "label": ["a", "b"]}).to_csv("odd.csv", sep=":", decimal=",", index=False)
    assert train("odd.csv --sep : --decimal , -e opf")._fit_X.tolist() == [[1.5], [2.5]]


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
    found = train("table.csv --set transforms=linear --set k_max=5 --set cv=3 --table cells.csv")
    cells, X = pd.read_csv("cells.csv"), table.drop(columns="label")
    steps = {"as given": [], "standardised": [StandardScaler()]}
    for cell in cells[cells["param_transform"].isin(steps)].to_dict("records"):
        params = {k[6:]: v for k, v in cell.items() if k.startswith("param_") and k != "param_transform"}
        classifier = FuzzyOPFClassifier(**params)
        model = make_pipeline(TablePreprocessor(scale=False), *steps[cell["param_transform"]], classifier)
        scores = cross_val_score(model, X, table["label"], cv=3)
        assert cell["mean_test_score"] == pytest.approx(scores.mean(), abs=1e-6)
    expected = TablePreprocessor(scale=False).fit_transform(X)
    np.testing.assert_array_equal(found[0].transform(X), expected)
    for model in found[-1].estimators_:
        again = clone(model).fit(expected, table["label"])
        np.testing.assert_array_equal(again.predict_proba(expected), model.predict_proba(expected))
    assert predictions("m.pf table.csv") == found.predict(X).tolist()


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
    assert train(f"ship.csv -l fate --set k_max=3 --set cv=2 {options}")[0].scale is scale


# Warnings


def test_features_of_different_scales_are_reported(folder):
    frame = flowers().assign(width=X[:, 1] * 1000)
    frame.to_csv("wide.csv", index=False)
    wide = "wide.csv -l kind --ignore name"
    warning = "features differ in scale ('petal width' spans 2.4, 'width' 2400); --scale evens them out\n"
    said = run(f"train {wide} -o m.pf --set cv=3 --set transforms=None").stderr
    assert said == f"pathforest: warning: {warning}"
    assert run(f"train {wide} -o m.pf --set cv=3").stderr == ""  # the default tries standardised features
    for command in ("cluster -o c.csv", "train -o m.pf -e opf", "audit"):
        assert warning in run(f"{command} {wide}").stderr
        assert warning not in run(f"{command} {wide} --scale").stderr
        assert warning not in run(f"{command} {IRIS}").stderr
    values = frame[FEATURES].to_numpy()
    expected = FuzzyOPFClassifierCV(cv=3, transforms=[StandardScaler()]).fit(values, KINDS).predict(values)
    assert run(f"train {wide} -o m.pf --set cv=3 --scale").stderr == ""
    assert predictions("m.pf wide.csv") == expected.tolist()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("row", np.arange(150) * 2 + 7),
        ("PassengerId", np.random.default_rng(0).permutation(150)),
        ("Unnamed: 0", range(150)),
        ("", range(150)),  # an index without a name
        ("a,id", range(150)),
    ],
)
def test_a_column_that_numbers_the_rows_is_named_with_the_way_out(folder, name, values):
    flowers().assign(**{name: values}).to_csv("numbered.csv", index=False)
    for command in ("train numbered.csv -o m.pf -e opf", "cluster numbered.csv -o c.csv"):
        said = run(f"{command} -l kind --ignore name").stderr
        assert f"warning: {name!r} looks like the number of the row" in said
        advised = said.rpartition("leave it out with ")[2]
        assert "number of the row" not in run(f"{command} -l kind --ignore name {advised}").stderr
    assert "number of the row" not in run(f"train {IRIS} -o m.pf -e opf").stderr


@pytest.mark.filterwarnings("default")
def test_a_typo_and_a_single_class_are_reported(folder):
    rows = "".join(f"{i % 4},5;{'ab'[i % 2]}\n" for i in range(9))
    (folder / "typo.csv").write_text(f"age;label\n{rows}old;a\n")
    said = run("train typo.csv -e opf -o m.pf").stderr
    assert "warning: column 'age' is taken as a category: 9 of 10 values are numbers, 'old' is not" in said
    (folder / "one.csv").write_text("x,label\n1,a\n2,a\n")
    done = run("train one.csv -e opf -o m.pf")
    assert "the label 'label' has one class, 'a', so every prediction will be this class" in done.stderr
    assert ", 1 class, " in done.stdout
