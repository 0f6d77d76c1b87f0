"""Mistakes: one line that says what is wrong and where, an exit code, and no file touched."""

import io
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import CELLS, FEATURES, IRIS, KINDS, X, codes, fail, flowers, run, succeed
from pipelines import passengers

from pathforest import OPFClassifier
from pathforest._cli import main
from pathforest._tables.write import check_sink
from pathforest.datasets import write


def contents(folder):
    """Return what the files of a folder contain, by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


TRAIN = f"train {IRIS} -o m.pf"
AUDIT = "audit iris.csv -l kind --ignore name"
APPLY = "audit iris.csv -l kind --apply iris.csv"
SHIP = "train ship.csv -l fate -o m.pf"
DISTANCES = "train training.dat -e opf --distances distances.dat -o m.pf"

# What shows on the command line alone.
MISTYPED = [
    ("predict iris.pf iris.csv --explain -1", "--explain -1: name samples by position"),
    ("predict iris.pf iris.csv --explain 9-3", "--explain 9-3: name samples by position"),
    ("predict iris.pf iris.csv --explain 0 --proba", "--explain 0: not with --proba"),
    ("predict iris.pf iris.csv --explain 0 -o o.csv", "--explain 0: not with --out"),
    ("label iris.csv -l kind -o page.csv", "--out page.csv: without --apply it is an HTML page"),
    ("label iris.csv -l kind --apply d.csv -o p.html", "--out p.html: with --apply it is a table"),
    ("label iris.csv -l kind --map x -o p.html", "--map x: name two columns of numbers, such as x,y"),
    ("convert iris.csv --parts 2 --normalize -o p", "--parts 2: not with --normalize"),
    ("convert iris.csv --parts a=0 -o p", "'a=0' is not a NAME=SHARE of its own"),
    ("convert iris.csv --parts a=1,a=2 -o p", "'a=2' is not a NAME=SHARE of its own"),
    (f"{TRAIN} --scale -e opf --set metric=precomputed", "--scale: distances cannot be standardised"),
    (f"{TRAIN} --columns kind", "--columns kind: write NAME=KIND with one of number, category, date, drop"),
    (f"{TRAIN} --sep , --decimal ,", "--sep and --decimal are both a comma; they have to differ"),
    (f"{TRAIN} --scale --set transforms=None", "--scale: not with --set transforms"),
    (f"{TRAIN} --set refit=false", "could not predict"),
    (f"{TRAIN} -e svm", "--estimator svm is unknown; choose one of fuzzy-cv, opf"),
    (f"{TRAIN} --set cv", "--set cv: write cv=VALUE"),
    (f"{TRAIN} --learn iris.csv", "--learn iris.csv: only --estimator opf takes it"),
    (f"{TRAIN} --balance -e knn", "--balance: only --estimator fuzzy-cv takes it; leave out --estimator knn"),
    (f"{TRAIN} --balance --set class_weight=balanced", "--balance: not with --set class_weight"),
    (f"{DISTANCES} --learn testing.dat", "--learn testing.dat: not with --distances"),
    (f"{DISTANCES} --set metric=l1", "does not take distances with these parameters"),
    (f"{SHIP} -e opf --set metric=gower --scale", "--scale: metric=gower divides by the ranges of numbers"),
    (f"{SHIP} -e opf --set metric=gower --learn ship.csv", "leave out --set metric, and text is encoded"),
    (f"{SHIP} --no-encode --columns age=drop", "--no-encode: not with --columns age=drop"),
    ("audit ship.csv -l fate --set metric=gower --set method=thorough", "it needs numbers; leave out metric"),
    (f"{AUDIT} --images .", "--images: name the column of the files with --image-column"),
    (f"{AUDIT} --out cleaned.csv", "without --apply it is an HTML page; end its name with .html"),
    (APPLY, "--apply: name the cleaned table with --out"),
    (f"{APPLY} -o c.npz", "the format of DATA, .csv; convert changes"),
]
MISTAKES = [
    ("train iris.csv -o m.pf", "iris.csv: there is no column 'label', only 'name', 'length'"),
    ("train iris.csv -o m.pf -l kind --no-encode", "line 2, column 'name': 'flower 0' is not a number (--ig"),
    ("train iris.csv -o m.pf -l kind --features kind", "no column is left for features"),
    ("train bare.csv -l 3 -o m.pf", "bare.csv: line 1 looks like a sample: 3 of its 4 cells are numbers"),
    ("train one.csv -e semi --unlabeled short.csv -o m.pf", "short.csv: there is no column 'x', only"),
    ("predict iris.csv iris.csv", "iris.csv cannot be loaded: it is no"),
    ("predict iris.pf short.csv", "short.csv: there is no column 'petal length', 'petal width', which"),
    ("predict iris.pf bad.csv -o o.csv", "bad.csv: line 7, column 'width': 'x' is not a number"),
    ("predict iris.pf iris.csv --only --proba --column 'p(setosa)'", "there is a column 'p(setosa)' already"),
    ("predict clusters.pf iris.csv --proba -o o.csv", "clusters.pf: OPFClustering has no predict_proba"),
    ("predict unnamed.pf iris.csv -l kind", "there are 5 columns besides labels, and"),
    ("predict position.pf bad.csv", "there is no column 'position x'"),
    ("evaluate iris.pf iris.csv -l name", "line 2, column 'name': 'flower 0' is not a class"),
    ("evaluate iris.pf none-left.csv -l kind", "none-left.csv: there is no sample"),
    ("evaluate clusters.pf iris.csv -l kind", "evaluate needs a classifier; clusters.pf is an OPFClustering"),
    ("evaluate labelled.pf renamed.csv", "the model was trained with this label; name the column of labels"),
    ("predict iris.pf iris.csv --explain 150", "iris.csv: there is no sample 150; they count"),
    ("convert iris.csv --parts a=1,b=1000 -o p", "150 samples leave none for 'a'"),
    ("convert short.csv plain.csv -o x.csv", "plain.csv has the features 'length', 'wid"),
    ("cluster short.csv --column width", "there is a column 'width' already"),
    # Mixed tables
    (f"{SHIP} --no-encode", "column 'age': the cell is empty"),
    ("predict ship.pf less.csv", "there is no column 'age'"),
    ("predict ship.pf wrong.csv", "wrong.csv: line 3, column 'age': 'old' is not a number"),
    ("train comma.csv -o m.pf", "'1,500' is not a number; if this is a decimal comma, pass --decimal ,"),
    # label
    ("label iris.csv -l kind --ignore name --map length,name -o p.html", "'flower 0' is not a number"),
    (
        "label iris.csv -l kind --apply iris.csv -o c.csv",
        "there is no column 'row'; decisions have the columns",
    ),
    # LibOPF's files
    (DISTANCES.replace("training", "beyond"), "sample 1: position 150 is not in distances.dat, which has"),
    ("train iris.csv -l kind -e opf --distances distances.dat -o m.pf", "there is no column 'position'"),
    ("predict by_distances.pf testing.dat", "trained with distances; pass them with --distances"),
    ("predict plain.pf testing.dat --distances distances.dat", "the model was not trained with distances"),
    ("predict by_distances.pf testing.dat --distances few.dat", "of a training sample is not in few.dat"),
    ("convert testing.dat --metric l1 -o x.dat", "are not those from 0 to 74"),
    # audit
    (f"{AUDIT} --image-column kind", "this is the column of the labels; name another"),
    (f"{APPLY} -o c.csv", "iris.csv: there is no column 'row'; decisions have the columns row, given, "),
    # Values that estimators refuse, whatever the type of the error
    (f"train {IRIS} -e opf --set metric=5 -o m.pf", "metric=5 must be the name of a metric"),
    (f"{TRAIN} -e fuzzy --set k_max={'[' * 10_000}", "k_max='[[[[[[["),
    (f"cluster {IRIS} --set 'metric_params=[1]' -o c2.csv", "metric_params=[1] must be None or a dict"),
    # reproduce
    ("reproduce --quick --out iris.csv", "--out iris.csv"),
]


REPLACED = [  # and the input that the output would replace
    (f"train {IRIS} -e opf -o hard.csv", "iris.csv"),
    (f"train {IRIS} -e opf --prune more.csv -o more.csv", "more.csv"),
    ("train data.dat -e opf --distances distances.dat -o distances.dat", "distances.dat"),
    (f"train {IRIS} -o m.pf --table symbolic.csv", "iris.csv"),
    ("predict iris.pf iris.csv -o hard.csv", "iris.csv"),
    ("predict iris.pf iris.csv -o iris.pf --to csv", "iris.pf"),
    (f"cluster {IRIS} -o iris.csv", "iris.csv"),
    (f"cluster {IRIS} -o c2.csv --model iris.csv", "iris.csv"),
    (f"convert more.csv {IRIS} -o ./iris.csv", "iris.csv"),
    ("convert iris.csv -l kind --parts iris=80,test=20 -o .", "iris.csv"),
    (f"{AUDIT} --suspects iris.csv", "iris.csv"),
    (f"{APPLY} -o hard.csv", "iris.csv"),
    ("label iris.csv -l kind --apply more.csv -o more.csv", "more.csv"),
]

# Tables with something wrong in them.
HEADER = ",".join(FEATURES)
WRONG = {
    "bad.csv": HEADER + "\n1,2,3,4" * 5 + "\n1,x,3,4\n",
    "none-left.csv": f"{HEADER},kind\n",
    "one.csv": "label,x\n1,2\n",
    "bare.csv": "1.5,2.5,-3,a\n1,2,3,b\n",
    "position.csv": "label,position x\na,1\nb,2\n",
    "wrong.csv": "age;fare;port;male\n30;1;S;True\nold;1;S;True\n",
    "comma.csv": "x;label\n1,500;a\n2,500;b\n",
}


@pytest.fixture(scope="module")
def unsound(world, tmp_path_factory):
    """Make a folder with these tables too, links, and models that do not fit."""
    folder = tmp_path_factory.mktemp("unsound")
    shutil.copytree(world, folder, dirs_exist_ok=True)
    frame = pd.DataFrame(X, columns=FEATURES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in WRONG.items():
            Path(name).write_text(text)
        Path("symbolic.csv").symlink_to("iris.csv")
        os.link("iris.csv", "hard.csv")
        flowers().to_csv("more.csv", index=False)
        flowers().rename(columns={"kind": "Kind"}).to_csv("renamed.csv", index=False)
        frame.to_csv("plain.csv", index=False)
        frame[["length", "width"]].to_csv("short.csv", index=False)
        passengers(60)[0].drop(columns="age").to_csv("less.csv", index=False)
        write("beyond.dat", X[:2].astype(np.float32), [1, 2], positions=[3, 150])
        write("twenty.dat", X[:20].astype(np.float32), [1] * 20)
        OPFClassifier().fit(X, KINDS).save("unnamed.pf")
        succeed("convert twenty.dat --metric l1 -o few.dat")
        succeed("cluster plain.csv -o c.csv --model clusters.pf")
        succeed("train position.csv -e opf -o position.pf")
        succeed("train training.dat -e opf -o plain.pf")
    return folder


ROWS = [
    *((line, message, 2) for line, message in MISTYPED),
    *((line, message, 1) for line, message in MISTAKES),
    *((line, f"would replace {kept}; name another file", 1) for line, kept in REPLACED),
]


@pytest.mark.parametrize(("line", "message", "code"), ROWS)
def test_a_mistake_gets_one_line_that_says_what_and_where(unsound, monkeypatch, line, message, code):
    monkeypatch.chdir(unsound)
    monkeypatch.setattr(CELLS, 20)  # so that the last line of bad.csv is in a batch of its own
    before = contents(unsound)
    said = fail(line, code=code)
    assert message in said
    assert "this is a bug" not in said
    assert len(said) < 2100
    assert contents(unsound) == before


# Outputs


@pytest.mark.parametrize(
    "line",
    ["predict iris.pf iris.csv --to csv", "predict iris.pf iris.csv --to parquet", f"train {IRIS} -e opf"],
)
@pytest.mark.parametrize("is_named", [True, False], ids=["a named pipe", "such as /dev/stdout"])
def test_out_writes_into_pipes(folder, line, is_named):
    succeed(f"{line} --out file")
    if is_named:
        os.mkfifo("pipe")
        reader, writer = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK), os.open("pipe", os.O_WRONLY)
        os.set_blocking(reader, True)
    else:
        reader, writer = os.pipe()
    with ThreadPoolExecutor() as threads, open(reader, "rb") as received:
        found = threads.submit(received.read)
        done = run(f"{line} --out {'pipe' if is_named else f'/dev/fd/{writer}'}")
        os.close(writer)
    assert found.result() == Path("file").read_bytes(), done.stderr
    assert not is_named or Path("pipe").is_fifo()


# Messages


def test_notes_and_hints_are_lines_too(model, folder):
    pd.DataFrame(X, columns=FEATURES).to_parquet("new.parquet")
    said = fail("predict iris.pf -", stdin=(folder / "new.parquet").read_bytes())
    assert "standard input is not UTF-8 text; for other formats pass --from, such as --from parquet" in said
    said = run("convert iris.csv --parts 2 -o parts").stderr
    assert said == "pathforest: not stratified: no labels; --label names their column\n"
    pd.DataFrame(X, columns=FEATURES).assign(y=codes + 1).to_csv("num.csv", index=False)
    for name in ("o.dat", "o.txt", "o.svm"):
        said = run(f"convert num.csv --label y --out {name}").stderr
        assert said == f"pathforest: {name}: this format keeps no names of features\n"
    said = fail("info", "\x1b[31m.csv")
    assert "pathforest: \\x1b[31m.csv: no such file" in said  # a pipe alone would drop the character
    assert "omit" not in fail("convert iris.csv -l kind -o x.parquet")


# Help


def test_characters_that_the_output_cannot_encode_are_escaped(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("kind,a\n中é,1\n中é,2\n", encoding="utf-8")
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["pathforest", "info", str(path), "-l", "kind"])
    with pytest.raises(SystemExit) as end:
        main()
    out.flush()
    assert end.value.code == 0
    assert r"\u4e2dé (2)" in out.buffer.getvalue().decode("cp1252")


def test_data_for_a_closed_output_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ValueError, match="closed; name a file with --out"):
        check_sink(None, None)
