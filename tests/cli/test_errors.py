"""Mistakes: one line that says what is wrong and where, an exit code, and no file touched."""

import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, fail, flowers, run, succeed

import pathforest
from pathforest import OPFClassifier, _tables
from pathforest._cli import main
from pathforest._cli.entrypoint import COMMANDS
from pathforest.datasets import write


def contents(folder):
    """Return what the files of a folder contain, by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


MISTAKES = [
    ("train iris.csv -o m.pf", "iris.csv: there is no column 'label', only 'name', 'length'"),
    ("train iris.csv -o m.pf -l knd", "there is no column 'knd' (did you mean 'kind'?)"),
    ("train iris.csv -o m.pf -l 6", "there is no column 6"),
    ("train iris.csv -o m.pf -l kind --no-encode", "line 2, column 'name': 'flower 0' is not a number (--ig"),
    ("train iris.csv -o m.pf -l kind --ignore namex", "no column 'namex' (did you mean 'name'?)"),
    ("train iris.csv -o m.pf -l kind --features kind", "no column is left for features"),
    ("train none.csv -o m.pf", "none.csv: no such file"),
    ("train iris.csv -l kind -o no/m.pf", "does not exist; make it first"),
    ("train iris.csv -l kind -o .", "is a folder"),
    ("train iris.xls -o m.pf", "iris.xls: the ending is not that of a data format; known are .csv"),
    ("train iris.csv --from pdf -o m.pf", "pdf: the ending is not that of a data format"),
    ("train bare.csv -l 3 -o m.pf", "bare.csv: line 1 looks like a sample: 3 of its 4 cells are numbers"),
    ("train one.csv -e semi --unlabeled short.csv -o m.pf", "short.csv: there is no column 'x', only"),
    ("train long.csv -e opf -o m.pf", "line 3, column 'label': 'bbb"),
    ("predict iris.csv iris.csv", "iris.csv cannot be loaded: it is no"),
    ("predict iris.pf short.csv", "short.csv: there is no column 'petal length', one of 2 that"),
    ("predict iris.pf bad.csv", "bad.csv: line 3, column 'width': 'x' is not a number"),
    ("predict iris.pf iris.csv --column kind -o o.csv", "there is a column 'kind' already"),
    ("predict iris.pf iris.csv --only --proba --column 'p(setosa)'", "there is a column 'p(setosa)' already"),
    ("predict iris.pf iris.csv --to xml", "xml: the ending is not that of an output format"),
    ("predict iris.pf iris.csv -o o.npz", "o.npz: the ending is not that of an output format"),
    ("predict knn.pf iris.csv --proba -o o.csv", "knn.pf: OPFKNNClassifier has no predict"),
    ("predict unnamed.pf iris.csv -l kind", "there are 5 columns besides labels, and"),
    ("evaluate iris.pf iris.csv -l label", "there is no column 'label'"),
    ("evaluate iris.pf iris.csv -l name", "line 2, column 'name': 'flower 0' is not a class"),
    ("evaluate iris.pf none-left.csv -l kind", "none-left.csv: there is no sample"),
    ("predict iris.pf iris.csv --explain 150", "iris.csv: there is no sample 150; they count"),
    ("predict iris.pf iris.csv --explain -1", "--explain -1: name samples by position"),
    ("predict iris.pf iris.csv --explain 9-3", "--explain 9-3: name samples by position"),
    ("predict iris.pf iris.csv --explain 0 --proba", "--explain 0: not with --proba"),
    ("predict iris.pf iris.csv --explain 0 -o o.csv", "--explain 0: not with --out"),
    ("predict knn.pf iris.csv --explain 0", "OPFKNNClassifier has no explain"),
    ("convert iris.csv --parts a=1,b=1000 -o p", "150 samples leave none for 'a'"),
    ("convert iris.csv --parts 151 -o p", "150 samples leave none for 'fold0'"),
    ("convert long.csv --parts 2 -o p", "line 3, column 'label': 'bbb"),
    ("convert iris.csv --parts 2 --normalize -o p", "--parts 2: not with --normalize"),
    ("convert iris.csv short.csv --parts 2 -o p", "--parts 2: not with a second file"),
    ("convert plain.csv short.csv --ignore 'petal width' -o x.csv", "short.csv: there is no column 'petal w"),
    ("convert bad.csv short.csv -o x.csv", "bad.csv: line 3, column 'width': 'x' is not a number"),
    ("convert short.csv plain.csv -o x.csv", "plain.csv has the features 'length', 'wid"),
    ("convert short.csv -o x.xlsx", "x.xlsx: the ending is not that of a data format"),
    ("cluster short.csv --column width", "there is a column 'width' already"),
    ("cluster short.csv --set k_max=0", "k_max=0"),
    ("info none.csv", "none.csv: no such file"),
]


@pytest.fixture(scope="module")
def unsound(tmp_path_factory):
    """Make a folder of tables with something wrong in them, and models."""
    folder = tmp_path_factory.mktemp("unsound")
    flowers().to_csv(folder / "iris.csv", index=False)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.to_csv(folder / "plain.csv", index=False)
    frame[["length", "width"]].to_csv(folder / "short.csv", index=False)
    header = ",".join(FEATURES)
    for name, text in {
        "bad.csv": f"{header}\n1,2,3,4\n1,x,3,4\n",
        "none-left.csv": f"{header},kind\n",
        "one.csv": "label,x\n1,2\n",
        "bare.csv": "1.5,2.5,-3,a\n1,2,3,b\n",
        "long.csv": f"label,x\na,1\n{'b' * 5000},2\n",
    }.items():
        (folder / name).write_text(text)
    OPFClassifier().fit(frame, KINDS).save(folder / "iris.pf")
    pathforest.OPFKNNClassifier().fit(frame, KINDS).save(folder / "knn.pf")
    OPFClassifier().fit(X, KINDS).save(folder / "unnamed.pf")
    return folder


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_a_mistake_gets_one_line_that_says_what_and_where(unsound, monkeypatch, line, message):
    monkeypatch.chdir(unsound)
    before = contents(unsound)
    assert message in fail(line, code=2 if message.startswith("--") else 1)
    assert contents(unsound) == before


@pytest.mark.parametrize("line", ["train iris.csv", "predict", "convert iris.csv -o p --parts 1", "nix"])
def test_a_mistake_on_the_command_line_has_an_exit_code_of_its_own(folder, line):
    assert run(line).exit_code == 2


# Outputs that would replace something


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Make a folder with a file of each kind that commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("iris.csv", "more.csv"):
        flowers().to_csv(folder / name, index=False)
    (folder / "symbolic.csv").symlink_to("iris.csv")
    os.link(folder / "iris.csv", folder / "hard.csv")
    OPFClassifier().fit(pd.DataFrame(X, columns=FEATURES), KINDS).save(folder / "iris.pf")
    write(folder / "data.dat", X.astype(np.float32), codes + 1)
    succeed("convert", folder / "data.dat", "--distances", "log_sqeuclidean", "-o", folder / "distances.dat")
    return folder


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (f"train {IRIS} -e opf -o iris.csv", "iris.csv"),
        (f"train {IRIS} -e opf -o symbolic.csv", "iris.csv"),
        (f"train {IRIS} -e opf -o hard.csv", "iris.csv"),
        (f"train {IRIS} -e opf --prune more.csv -o more.csv", "more.csv"),
        (f"train {IRIS} -e opf --learn more.csv -o more.csv", "more.csv"),
        (f"train {IRIS} -e semi --unlabeled more.csv -o more.csv", "more.csv"),
        ("train data.dat -e opf --distances distances.dat -o distances.dat", "distances.dat"),
        (f"train {IRIS} -o m.pf --table symbolic.csv", "iris.csv"),
        (f"train {IRIS} -o cells.csv --table cells.csv", "cells.csv"),
        ("predict iris.pf iris.csv -o hard.csv", "iris.csv"),
        ("predict iris.pf iris.csv -o iris.pf --to csv", "iris.pf"),
        (f"cluster {IRIS} -o iris.csv", "iris.csv"),
        (f"cluster {IRIS} -o c.csv --model iris.csv", "iris.csv"),
        (f"convert {IRIS} -o iris.csv", "iris.csv"),
        (f"convert more.csv {IRIS} -o ./iris.csv", "iris.csv"),
        ("convert iris.csv -l kind --parts iris=80,test=20 -o .", "iris.csv"),
        ("convert iris.csv -l kind --parts hard=80,test=20 -o .", "iris.csv"),
    ],
)
def test_an_output_does_not_replace_an_input(inputs, monkeypatch, line, kept):
    monkeypatch.chdir(inputs)
    before = contents(inputs)
    assert f"would replace {kept}; name another file" in fail(line)
    assert contents(inputs) == before


@pytest.mark.parametrize(
    "line",
    ["predict iris.pf iris.csv --to csv", "predict iris.pf iris.csv --to parquet", f"train {IRIS} -e opf"],
)
def test_out_writes_into_pipes(model, folder, line):
    succeed(f"{line} --out file")
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as threads:
        received = threads.submit(Path("pipe").read_bytes)
        done = run(f"{line} --out pipe")
        if done.exit_code:
            os.close(os.open("pipe", os.O_WRONLY))  # lets the reader end
    assert received.result() == Path("file").read_bytes(), done.stderr
    assert Path("pipe").is_fifo()


def test_out_writes_to_the_standard_output(model):
    command = f"{sys.executable} -m pathforest predict iris.pf iris.csv --to csv --out /dev/stdout"
    found = subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout
    assert found.startswith(succeed("predict iris.pf iris.csv --to csv --out -"))


# Messages


def test_binary_input_gets_a_hint_to_name_the_format(model, folder):
    pd.DataFrame(X, columns=FEATURES).to_parquet("new.parquet")
    said = fail("predict iris.pf -", stdin=(folder / "new.parquet").read_bytes())
    assert "standard input is not UTF-8 text; for other formats pass --from, such as --from parquet" in said


@pytest.mark.filterwarnings("default")
def test_warnings_are_lines_without_a_place_in_the_code(folder):
    grid = np.random.default_rng(2).integers(0, 12, size=(80, 2)).astype(float)
    write("grid.csv", grid, (grid[:, 0] > 6).astype(int))
    done = run("train grid.csv -e fuzzy --set sigma=0.2 -o m.pf")
    assert done.exit_code == 0
    assert done.stderr.startswith("pathforest: warning: ")
    assert len(done.stderr.splitlines()) == 1


def test_messages_have_no_control_characters_and_an_end(folder):
    said = fail("info", "\x1b[31m.csv")
    assert "pathforest: \\x1b[31m.csv: no such file" in said  # a pipe alone would drop the character
    assert len(fail("train iris.csv -o m.pf --set", "x" * 9000, code=2)) < 2100


# Help


def test_every_command_has_help_with_examples():
    for command in COMMANDS:
        text = succeed(f"{command.__name__} --help")
        assert "Examples:" in text
        assert f"pathforest {command.__name__}" in text


def test_help_says_what_the_defaults_are():
    text = " ".join(succeed("predict --help").replace("│", " ").split())
    for default in ("label", "the standard output", "all cores"):
        assert f"[default: ({default})]" in text


def test_completion_knows_the_commands(folder):
    asked = {"_PATHFOREST_COMPLETE": "complete_bash", "COMP_CWORD": "1", "COMP_WORDS": "pathforest t"}
    code = "from pathforest._cli import main; import sys; sys.argv[0] = 'pathforest'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked, check=False
    )
    assert done.stdout.split() == ["train"]


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
        _tables.check_sink(None, None)
