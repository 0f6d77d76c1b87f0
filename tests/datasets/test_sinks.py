"""Tables written row by row, read back by others."""

import gzip
import json
import sys

import numpy as np
import pandas as pd
import pytest

from pathforest.datasets.formats.sinks import check_sink, open_sink
from pathforest.datasets.formats.stream import ArrayColumn, TextColumn

BATCHES = [
    [TextColumn(["a", 'b "x", y']), ArrayColumn(np.float32([0.1, -0.0])), ArrayColumn(np.array([1, 2]))],
    [TextColumn(["é"]), ArrayColumn(np.float32([3])), ArrayColumn(np.array([-3]))],
]
NAMES = ["name", "value", "count"]


def write_all(path, batches=BATCHES):
    with open_sink(str(path), None, NAMES) as sink:
        for batch in batches:
            sink.write(batch)
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
def test_others_read_what_was_written(tmp_path, ending):
    found = READERS[ending](write_all(tmp_path / f"table{ending}"))
    assert found.columns.tolist() == NAMES
    assert found["name"].tolist() == ["a", 'b "x", y', "é"]
    assert found["value"].astype(np.float32).tolist() == np.float32([0.1, 0, 3]).tolist()
    assert found["count"].tolist() == [1, 2, -3]


@pytest.mark.parametrize("ending", READERS)
def test_no_rows_leave_a_sound_file(tmp_path, ending):
    assert len(READERS[ending](write_all(tmp_path / f"table{ending}", []))) == 0


def test_json_is_an_array_of_objects_with_short_numbers(tmp_path):
    text = write_all(tmp_path / "table.json").read_text()
    assert json.loads(text)[0] == {"name": "a", "value": 0.1, "count": 1}


def test_json_has_null_for_what_is_not_finite(tmp_path):
    with open_sink(str(tmp_path / "table.jsonl"), None, ["x"]) as sink:
        sink.write([ArrayColumn(np.array([np.inf, np.nan, 1.0]))])
    assert [json.loads(line)["x"] for line in (tmp_path / "table.jsonl").read_text().splitlines()] == [
        None,
        None,
        1.0,
    ]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".json", ".parquet"])
def test_a_failure_leaves_the_old_file(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    path.write_text("as it was")

    def batches():
        yield BATCHES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_all(path, batches())
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(path.name, "as it was")]


def test_packed_output_has_no_time_stamp(tmp_path):
    first = write_all(tmp_path / "first.csv.gz").read_bytes()
    assert first == write_all(tmp_path / "second.csv.gz").read_bytes()
    assert gzip.decompress(first).startswith(b"name,value,count\n")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("table.xlsx", ValueError, "table.xlsx: the ending tells no format of output; known are .csv"),
        ("nowhere/table.csv", FileNotFoundError, "the folder .*nowhere does not exist; make it first"),
        ("folder.csv", IsADirectoryError, "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_any_work(tmp_path, name, error, message):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error, match=message):
        check_sink(str(tmp_path / name), None)


def test_parquet_without_pyarrow_is_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pathforest\[parquet\]"):
        check_sink(str(tmp_path / "table.parquet"), None)
