"""Data files written: what a format cannot hold is refused, and others read what is written."""

import csv
import struct

import numpy as np
import pandas as pd
import pytest

from pathforest._tables.batches import Dialect, Layout
from pathforest._tables.columns import objects
from pathforest._tables.write import check_sink, open_sink
from pathforest.datasets import read, write


def test_libopf_files_are_as_libopf_has_them(tmp_path):
    for ending in (".dat", ".txt"):
        write(tmp_path / f"table{ending}", [[0.5, 2], [3, -4]], [2, 1])
    expected = struct.pack("<3i 2i2f 2i2f", 2, 2, 2, 0, 2, 0.5, 2, 1, 1, 3, -4)
    assert (tmp_path / "table.dat").read_bytes() == expected
    assert (tmp_path / "table.txt").read_text() == "2 2 2\n0 2 0.5 2\n1 1 3 -4\n"


# What cannot be written

REFUSED = [
    (".dat", [[0.1]], [1], r"X\[0, 0\].*0.1.*float32"),
    (".dat", [[1]], [0], "label 0 is outside 1"),
    (".txt", [[1]], [-1], "label -1 is outside 1"),
    (".libsvm", [[1]], ["a"], "label 'a' is a string"),
    (".libsvm", [[1]], [2**53 + 1], "label 9007199254740993 is beyond"),
    (".libsvm", [[1]], None, "need labels"),
    (".csv", [[1]], ["1"], "'1' would be read back as integers"),
    (".csv", [[1]], ["a\nb"], r"'a\\nb' has a line break"),
    (".csv", [[1]], [" "], "label ' ' is only space"),
    (".npz", [[1]], ["\ud800"], r"'\\ud800' has characters"),
    (".npz", [[1]], [0.5], "label 0.5 is not an integer"),
    (".npz", [[1]], np.array([2**63], dtype=np.uint64), "label 9223372036854775808 is beyond"),
    (".npz", [[1]], [[1]], r"y of shape \(1, 1\)"),
    (".npz", [[1]], [1, 2], "2 labels for 1 samples"),
    (".npz", [[2**53 + 1]], [1], r"X\[0, 0\].*9007199254740993.*float64"),
    (".npz", [1], [1], r"shape \(1,\) is not a table"),
    (".npz", [[1], [2]], np.array(["2020-01-01", "2021-05-05"], "M8[D]"), "are dates; write them as text"),
]
REFUSED_NAMES = [  # of two features, and of the label
    (".csv", ["a", "a"], "label", "'a' occurs more than once"),
    (".csv", ["1", "2"], "3", "only numbers"),
    (".csv", ["a", "b\r"], "label", "line break"),
    (".csv", ["a", "b"], "\ufefflabel", "byte order mark"),
    (".csv", ["a", "b"], 0, "label column 0 is not text"),
    (".csv", ["a"], "label", "1 feature_names for 2 features"),
    (".npz", ["a", ""], "label", "feature name '' is not text"),
    (".parquet", ["a", "label"], "label", "'label'"),
    (".dat", ["a", "b"], "label", "keep no feature names"),
]
REFUSED += [
    (ending, [[1, 2]], [1], message, {"feature_names": names, "label": label})
    for ending, names, label, message in REFUSED_NAMES
]


@pytest.mark.parametrize(
    ("ending", "values", "labels", "message", "names"), [(*row, {})[:5] for row in REFUSED]
)
def test_what_a_format_cannot_hold_is_refused_before_writing(
    tmp_path, ending, values, labels, message, names
):
    path = tmp_path / f"table{ending}"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=message):
        write(path, values, labels, **names)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(path.name, "as it was")]


# Batches of any columns

BATCHES = [
    [objects(["a", 'b "x", y']), np.float32([0.1, -0.0]), np.array([1, 2])],
    [objects(["é"]), np.float32([3]), np.array([-3])],
]
NAMES = ["name", "value", "count"]


def write_all(path, batches=BATCHES):
    with open_sink(str(path), None, Layout(NAMES)) as sink:
        for batch in batches:
            sink(dict(zip(NAMES, batch, strict=True)))
    return path


READERS = {
    ".csv": pd.read_csv,
    ".csv.gz": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".json": pd.read_json,
    ".jsonl": lambda path: pd.read_json(path, lines=True),
    ".jsonl.gz": lambda path: pd.read_json(path, lines=True),
    ".parquet": pd.read_parquet,
}


@pytest.mark.parametrize("ending", READERS)
def test_others_read_what_was_written_and_no_time_is_in_it(tmp_path, ending):
    data = write_all(tmp_path / f"table{ending}").read_bytes()
    assert write_all(tmp_path / f"other{ending}").read_bytes() == data
    found = READERS[ending](tmp_path / f"table{ending}")
    assert found.columns.tolist() == NAMES
    assert found["name"].tolist() == ["a", 'b "x", y', "é"]
    assert found["value"].astype(np.float32).tolist() == np.float32([0.1, 0, 3]).tolist()
    assert found["count"].tolist() == [1, 2, -3]
    assert len(READERS[ending](write_all(tmp_path / f"empty{ending}", []))) == 0


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("table.xlsx", ValueError, "table.xlsx: the ending is not that of an output format; known are .csv"),
        ("nowhere/table.csv", FileNotFoundError, "the folder .*nowhere does not exist; make it first"),
        ("folder.csv", IsADirectoryError, "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_reported_before_any_work(tmp_path, name, error, message):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error, match=message):
        check_sink(str(tmp_path / name), None)


# Spreadsheets run cells that look like formulas

RISKY = ["=cmd|' /C calc'!A0", "+1 (555) 0100", "-x", "@SUM(A1)", "'=x", "\t=x", "-1,5"]
HARMLESS = ["-1.5", "+2", "-inf", "-", "it's", "'quoted'", "'=x"]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_cells_are_written_and_read_as_they_are(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write(path, np.zeros((7, 1)), RISKY, feature_names=["=1+1"], label="@label")
    found = pd.read_csv(path, sep="\t" if ending == ".tsv" else ",")
    assert found.columns.tolist() == ["@label", "=1+1"]
    assert found["@label"].tolist() == RISKY
    table = read(path, label="@label")
    assert (table.y.tolist(), table.feature_names) == (RISKY, ["=1+1"])


def cells_added(path, column, decimal=".", labels=()):
    """Write a column that a command adds, and return the cells of the file."""
    layout = Layout(["kept", "=x"], dialect=Dialect(";", decimal), added=("=x",), labels=labels)
    with open_sink(str(path), None, layout) as sink:
        sink({"kept": objects(RISKY[: len(column)]), "=x": column})
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    assert header == ["kept", "'=x"]
    assert [row[0] for row in rows] == RISKY[: len(rows)]
    return [row[1] for row in rows]


def test_text_that_is_added_is_guarded(tmp_path):
    found = cells_added(tmp_path / "table.csv", np.array(RISKY))
    assert found == [text if text == "'=x" else f"'{text}" for text in RISKY]
    assert cells_added(tmp_path / "table.csv", np.array(HARMLESS)) == HARMLESS


def test_numbers_and_labels_that_are_added_are_never_guarded(tmp_path):
    numbers = np.array([-1.5, -np.inf, 2])
    assert cells_added(tmp_path / "table.csv", numbers) == ["-1.5", "-inf", "2"]
    assert cells_added(tmp_path / "table.csv", numbers, ",") == ["-1,5", "-inf", "2"]
    assert cells_added(tmp_path / "table.csv", np.array(["-1,5", "-1.5"]), ",") == ["-1,5", "'-1.5"]
    assert cells_added(tmp_path / "table.csv", np.array(RISKY), labels=("=x",)) == RISKY
