"""`pathforest train`: which model comes of which table and options, the same as in Python."""

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, facts, fail, flowers, predictions, run, succeed, train
from pipelines import passengers
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

import pathforest
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier, TablePreprocessor
from pathforest.datasets import write
from pathforest.learning import learn
from pathforest.pruning import prune

TABLE, LABELS = passengers(60)
SEMI, KNN = pathforest.OPFSemiSupervisedClassifier, pathforest.OPFKNNClassifier
FRAME = pd.DataFrame(X, columns=FEATURES)
FEW = np.where(np.arange(150) % 10 > 0, "", KINDS)  # most of the labels are missing
TRUTHS = pd.DataFrame({"x": X[:, 0], "long": X[:, 2] > 3})
HALF, REST = FRAME[::2].assign(label=KINDS[::2]), FRAME[1::2][FEATURES[::-1]]  # found by name
HALF_KNOWN = [*KINDS[::2], *[""] * 75]
ENCODED = make_pipeline(TablePreprocessor(), OPFClassifier())
DAY = pd.Timestamp("2024-05-31") + pd.to_timedelta(np.arange(20) ** 2 % 11, unit="D")
DATES = pd.DataFrame({"age": range(40, 20, -1), "day": DAY.where(np.arange(20) != 3)})


def scaled(model):
    return make_pipeline(TablePreprocessor(), model)


SHIP = [("-e opf", ENCODED), ("-e opf --set metric=gower", OPFClassifier(metric="gower"))]
KIND = "-l kind --ignore name"
TRAINED = [  # a table, options, and the same in Python: a model, samples and labels
    ("iris.csv", f"{KIND} -e opf --no-scale", OPFClassifier(), FRAME, KINDS),
    ("iris.csv", "-l kind -e opf --features 2,length", ENCODED, FRAME[["width", "length"]], KINDS),
    ("iris.csv", f"{KIND} -e knn --scale", make_pipeline(TablePreprocessor(), KNN()), FRAME, KINDS),
    ("iris.csv", f"{KIND} -e pruner", scaled(pathforest.OPFPruner()), FRAME, KINDS),
    ("iris.csv", f"{KIND} -e outliers", scaled(pathforest.OPFOutlierDetector()), FRAME, None),
    ("iris.csv", f"{KIND} -e fuzzy --set sigma=0.3", scaled(FuzzyOPFClassifier(sigma=0.3)), FRAME, KINDS),
    ("iris.csv", f"{KIND} -e semi", scaled(SEMI(unlabeled="")), FRAME, KINDS),
    (flowers().assign(kind=FEW), f"{KIND} -e semi", scaled(SEMI(unlabeled="")), FRAME, FEW),
    (
        HALF,
        "-e semi --unlabeled rest.csv",
        scaled(SEMI(unlabeled="")),
        pd.concat([FRAME[::2], REST]),
        HALF_KNOWN,
    ),
    (TRUTHS.assign(label=codes), "-e opf --no-scale", OPFClassifier(), TRUTHS * 1.0, codes),
    (FRAME.assign(label=KINDS), "--sep : --decimal , -e opf", ENCODED, FRAME, KINDS),
    *(
        row
        for ending in ("csv", "parquet")
        for row in (
            *((f"ship.{ending}", f"-l fate {options}", model, TABLE, LABELS) for options, model in SHIP),
            (f"dates.{ending}", "-e opf", ENCODED, DATES, DATES["age"] % 2),
        )
    ),
]


@pytest.mark.parametrize(("file", "options", "expected", "samples", "labels"), TRAINED)
def test_a_trained_model_is_that_of_python(folder, file, options, expected, samples, labels):
    REST.to_csv("rest.csv", index=False)
    dates = DATES.assign(label=DATES["age"] % 2)
    dates.to_csv("dates.csv", index=False)
    dates.to_parquet("dates.parquet")
    how = "--sep : --decimal ," * ("--sep" in options)
    if not isinstance(file, str):
        file.to_csv("t.csv", index=False, **({"sep": ":", "decimal": ","} if how else {}))
        file = "t.csv"
    done = run(f"train {file} {options} -o m.pf")
    assert (done.exit_code, done.stderr) == (0, "")
    found, expected = pathforest.load("m.pf"), clone(expected).fit(samples, labels)
    steps = [getattr(model, "steps", [(None, model)]) for model in (found, expected)]
    assert [type(model) for _, model in steps[0]] == [type(model) for _, model in steps[1]]
    found = steps[0][-1][1]
    for name in ("cost_", "transduction_", "scores_", "sample_indices_"):
        if hasattr(steps[1][-1][1], name):
            np.testing.assert_array_equal(getattr(found, name), getattr(steps[1][-1][1], name))
    answers = predictions(f"m.pf {file} {how}")
    assert answers == list(map(str, expected.predict(samples[: len(answers)])))
    assert len(answers) in (20, 60, 75, 150)


def test_the_cross_validated_classifier_is_the_default(folder):
    found = train(f"{IRIS} --set sigmas=0.5,1 --set cv=2 --table c.csv")
    expected, cells = FuzzyOPFClassifierCV(sigmas=[0.5, 1], cv=2).fit(X, KINDS), pd.read_csv("c.csv")
    assert type(found) is FuzzyOPFClassifierCV
    assert found.best_params_ == expected.best_params_
    np.testing.assert_array_equal(found.feature_names_in_, FEATURES)
    # The linear algebra of representations may round otherwise on another number of threads.
    np.testing.assert_allclose(found.predict_proba(FRAME), expected.predict_proba(X), rtol=1e-6)
    # The table has all cells, the best first.
    assert cells["rank_test_score"].tolist() == list(range(1, len(expected.cv_results_["params"]) + 1))
    assert cells["mean_test_score"][0] == pytest.approx(expected.best_score_, abs=1e-6)
    assert cells["param_n_conquerors"][0] == expected.best_params_["n_conquerors"]
    assert set(cells["param_sigma"]) == {0.5, 1}


def test_columns_are_chosen_by_names_quotes_and_positions(folder):
    flowers().rename(columns={"length": "length, cm"}).to_csv("quoted.csv", index=False)
    rest = ["petal length", "petal width"]
    for options, features in (
        ("--ignore name --ignore 'width,\"length, cm\"'", rest),
        ("--ignore 0,2 --ignore 1", rest),
        ("--features -1 --features 4", rest[::-1]),
    ):
        assert facts(f"train quoted.csv -l kind -e opf -o m.pf {options}")["features"] == features
    for label in ("3", "-3"):
        assert facts(f"train iris.csv --label={label} --ignore name -e opf -o m")["label"] == "kind"
    (folder / "counted.csv").write_text("0,1,2,label\n1,2,3,b\n2,3,4,c\n")
    train("counted.csv -e opf")  # columns named by their positions are a header


@pytest.mark.parametrize("gap", ["", ",5\n"])
def test_only_an_empty_cell_is_unlabelled_for_semi(folder, gap):
    (folder / "two.csv").write_text(f"label,x\n1,0\n01,1\n-1,9\n-2,20\n{gap}")
    (folder / "more.csv").write_text("x\n5.5\n")
    for more in ("", "--unlabeled more.csv"):
        assert facts(f"train two.csv -e semi --no-scale -o m.pf {more}")["classes"] == [-2, -1, 1]
        assert pathforest.load("m.pf").transduction_[:4].tolist() == [1, 1, -1, -2]
    assert facts("train two.csv -e semi --set unlabeled=-1 -o m.pf")["classes"] == [-2, 1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("labels", [KINDS, codes])
def test_rows_without_a_label_are_left_out_and_counted(folder, labels, ending):
    table, rows = FRAME.assign(label=pd.Series(labels).where(np.arange(150) % 3 > 0)), np.arange(150) % 3 > 0
    if ending == "parquet":
        table.to_parquet("gaps.parquet")
    else:  # pandas makes floats of integers with gaps
        table.convert_dtypes().to_csv("gaps.csv", index=False)
    done = run(f"train gaps.{ending} -e opf --no-scale -o m.pf")
    assert done.stderr == "pathforest: 50 of 150 rows left out: no label in column 'label'\n"
    model, expected = pathforest.load("m.pf"), OPFClassifier().fit(X[rows], labels[rows])
    np.testing.assert_array_equal(model.cost_, expected.cost_)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert facts(f"train gaps.{ending} -e opf -o m.pf")["n_left_out"] == 50
    found = facts(f"evaluate m.pf gaps.{ending}")
    assert (found["n_samples"], found["n_left_out"], found["accuracy"]) == (100, 50, 1)
    table.assign(label=None).to_csv("none.csv", index=False)
    for command in ("train none.csv -o m.pf", "evaluate m.pf none.csv"):
        assert "none.csv: column 'label' is empty; name the column of labels with --label" in fail(command)


@pytest.mark.parametrize("ending", ["dat", "csv"])
def test_a_model_learns_and_is_pruned_by_an_evaluation_file(libopf, ending):
    training, testing = libopf
    names = ["a", "b", "c", "d"]
    write("training.csv", training.X, training.y, feature_names=names)
    turned = pd.DataFrame(testing.X.astype(float), columns=names).assign(label=testing.y, more="x")
    turned[["d", "c", "label", "more", "b", "a"]].to_csv("testing.csv", index=False)  # it is read by name
    model, line = (
        OPFClassifier().fit(training.X, training.y),
        f"train training.{ending} -e opf --no-scale -o m.pf",
    )
    learned = learn(OPFClassifier(), training.X, training.y, testing.X, testing.y)
    seen = [np.concatenate(both)[learned.val_rows] for both in zip(training[:2], testing[:2], strict=True)]
    pruned = prune(model, testing.X, testing.y, max_loss=0.05).model
    for option, expected, (values, labels) in (
        ("--learn", learned.model, seen),
        ("--max-loss 0.05 --prune", pruned, testing[:2]),
    ):
        (found,) = facts(f"{line} {option} testing.{ending}")["evaluation"]
        np.testing.assert_array_equal(pathforest.load("m.pf").cost_, expected.cost_)
        assert found["after"] == expected.score(values, labels)
    assert (found["file"], found["before"]) == (f"testing.{ending}", model.score(testing.X, testing.y))
    assert (found["n_before"], found["n_after"]) == (len(model.cost_), len(expected.cost_))
    said = succeed(f"{line} {option} testing.{ending}")
    assert f"75 samples before, {found['after']:.4f} with {len(expected.cost_)}" in said


# Mixed tables


def test_columns_are_treated_as_asked_and_numbers_are_used_as_they_are(folder):
    TABLE[["fare"]].assign(label=LABELS).to_csv("numbers.csv", index=False)
    assert type(train("numbers.csv -e opf --no-scale")) is OPFClassifier
    names = [f"guest {i}" for i in range(60)]
    TABLE.assign(deck=np.arange(60) % 3, name=names, fate=LABELS).to_csv("deck.csv", index=False)
    options = "--columns deck=category,fare=drop --columns male=drop"
    done = facts(f"train deck.csv -l fate -e opf -o m.pf {options}")
    rules = {rule["column"]: rule["kind"] for rule in done["columns"]}
    assert rules == {"age": "number", "port": "category", "deck": "category", "name": "left out"}
    TABLE.assign(deck=1).to_csv("nameless.csv", index=False)  # what the model leaves out need not be there
    assert len(predictions("m.pf nameless.csv")) == 60


def test_parts_of_a_table_have_the_dates_of_the_whole(folder):
    DATES.assign(label=DATES["age"] % 2).to_csv("dates.csv", index=False)
    assert train("dates.csv -e opf --learn dates.csv")[0].kinds_.tolist() == ["number", "date"]
    assert train("dates.csv --set cv=2 --set k_max=2").table_.kinds_.tolist() == ["number", "date"]
    for options in ("-e opf", "--set cv=2 --set k_max=2"):
        model = train(f"dates.csv {options} --columns day=category")
        table = model[0] if hasattr(model, "steps") else model.table_
        assert table.kinds_.tolist() == ["number", "category"]  # as asked, whatever its texts look like
    succeed("audit dates.csv --out page.html")


# Searches

FEW_CELLS = "--set cv=2 --set k_max=3"


SCALED = [("", False), ("--set transforms=None", True), ("--set metric=manhattan", True), ("--scale", True)]


@pytest.mark.parametrize(("options", "scale"), SCALED)
def test_numbers_are_scaled_unless_the_search_tries_to(folder, options, scale):
    assert train(f"ship.csv -l fate {FEW_CELLS} {options}").table_.scale is scale
    preset = train(f"{IRIS} {FEW_CELLS} {options}").transforms_["preset"]
    assert (preset == "sequence") == (options == "--scale")


@pytest.mark.parametrize("line", [IRIS, "ship.csv -l fate", "training.dat --distances distances.dat"])
def test_the_balanced_accuracy_is_that_of_the_best_cell_in_the_folds(folder, line):
    found = facts(f"train {line} {FEW_CELLS} --set scoring=balanced_accuracy -o m.pf")
    assert found["balanced_accuracy"] == pytest.approx(found["best_score"], abs=1e-12)
    assert f"cross-validated balanced_accuracy {found['best_score']:.4f}" in succeed("info m.pf")


def test_the_search_is_balanced_as_in_python(folder):
    rows = [*range(50, 100), 106, 119, 133, 134]  # the weights change answers
    flowers().iloc[rows].to_csv("rare.csv", index=False)
    settings, scores = f"{FEW_CELLS} --set transforms=None --set label_noise=0", []
    found = facts(f"train rare.csv {KIND} --balance {settings} -o m.pf")
    best, samples, labels = pathforest.load("m.pf").best_estimator_, X[rows], KINDS[rows]
    for train_rows, test in StratifiedKFold(2).split(samples, labels):
        given = clone(best).fit(samples[train_rows], labels[train_rows]).predict_proba(samples[test])
        predicted = np.where(given[:, 0] / 50 >= given[:, 1] / 4, "versicolor", "virginica")
        scores.append(balanced_accuracy_score(labels[test], predicted))
    assert found["balanced_accuracy"] == pytest.approx(np.mean(scores))
    assert (found["scoring"], found["largest_class"]) == ("accuracy", 50 / 54)


# Warnings


ADVISED = [(FEW_CELLS, 4, "--balance"), ("-e opf", 4, "--balance, with --estimator fuzzy-cv,")]
CONTENT = [(f"{FEW_CELLS} --balance", 4, None), ("-e opf", 5, None)]


@pytest.mark.parametrize(("options", "rare", "way"), ADVISED + CONTENT)
def test_a_rare_class_gets_advice_unless_it_has_weight(folder, options, rare, way):
    flowers().iloc[50 : 100 + rare].to_csv("rare.csv", index=False)
    numbers = "'versicolor' has 50 samples and 'virginica' only 4"
    expected = f"pathforest: advice: {numbers}; {way} gives rare ones more weight\n" if way else ""
    assert run(f"train rare.csv {KIND} {options} -o m.pf").stderr == expected


NUMBERED = {
    "row": np.arange(150) * 2 + 7,
    "PassengerId": np.random.default_rng(0).permutation(150),
    "": range(150),  # an index without a name
    "a,id": range(150),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_a_column_that_numbers_the_rows_is_named_with_the_way_out(folder, name):
    flowers().assign(**{name: NUMBERED[name]}).to_csv("numbered.csv", index=False)
    for command in ("train numbered.csv -o m.pf -e opf", "cluster numbered.csv -o c.csv"):
        said = run(f"{command} -l kind --ignore name").stderr
        assert f"warning: {name!r} looks like the number of the row" in said
        advised = said.rpartition("leave it out with ")[2]
        assert "number of the row" not in run(f"{command} -l kind --ignore name {advised}").stderr


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("text", "options", "warning"),
    [
        (
            "age;label\n" + "1,5;a\n2,5;b\n" * 5 + "old;a\n",
            "-e opf",
            "column 'age' is taken as a category: 10 of 11 values are numbers, 'old' is not",
        ),
        (  # whatever a fold has of it
            "age,day,label\n" + "20,2024-05-31,a\n21,2024-06-01,b\n" * 9 + "unknown,unknown,b\n",
            "--set transforms=None --set k_max=2 --set cv=4",
            "column 'age' is taken as a category: 18 of 19 values are numbers, 'unknown' is not",
        ),
        (
            "price;label\n" + "€ 1.234,50;a\n€ 2.000,00;b\n" * 5,
            "--set k_max=2 --set cv=2",
            "column 'price' is taken as a category: '€ 1.234,50' is not a plain number; write it without",
        ),
        ("x,y,label\n1,40,a\n2,1,b\n", "-e opf --no-scale", "features differ in scale: the range of 'y'"),
        ("x,label\n1,a\n2,?\n", "-e opf", "the label '?' counts as a class; empty these cells if they are"),
        ("x,label\n1,a\n2,a\n", "-e opf", "the label 'label' has one class, 'a', so every prediction will"),
    ],
)
def test_what_is_probably_not_meant_is_reported_once(folder, text, options, warning):
    (folder / "strange.csv").write_text(text)
    done = run(f"train strange.csv {options} -o m.pf")
    assert done.stderr.count("warning:") == done.stderr.count(f"pathforest: warning: {warning}") == 1
