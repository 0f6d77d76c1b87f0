"""Data files read: what was written comes back bit for bit, in batches of any size."""

import gc
import gzip
import io
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from data_files import ENDINGS, NAMELESS, X32, X, bits, tables
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pathforest._tables import batches
from pathforest._tables.read import open_stream
from pathforest.datasets import read, read_libopf, write, write_libopf

PACKED = [".dat.gz", ".npz.gz", ".parquet.gz", ".svm.gz", ".txt.gz"]
BATCHES = [1, 7, 2**18]  # cells


@pytest.fixture(params=BATCHES, ids="{} cells".format)
def cells(request, monkeypatch):
    """Read every file in small batches."""
    monkeypatch.setattr(batches, "CELLS", request.param)
    return request.param


@pytest.mark.parametrize("ending", [*ENDINGS, *PACKED])
@given(data=st.data(), cells=st.sampled_from(BATCHES))
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, ending, data, cells):
    table = data.draw(tables(ending.removesuffix(".gz") if ending in PACKED else ending))
    path = tmp_path_factory.mktemp("files") / f"table{ending}"
    write(path, table.X, table.y, feature_names=table.feature_names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CELLS", cells)
        found = read(path)
    assert bits(found.X) == bits(table.X)
    assert found.X.dtype == table.X.dtype
    assert found.y.tolist() == table.y.tolist()
    assert found.feature_names == table.feature_names


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".dat"])
def test_typed_formats_keep_float32(tmp_path, ending):
    write(tmp_path / f"table{ending}", X32, [1, 2, 3])
    assert read(tmp_path / f"table{ending}").X.dtype == np.float32


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".libsvm"])
@given(values=arrays(np.float32, (3, 2), elements=st.floats(width=32)))
def test_text_holds_the_exact_value_of_float32(tmp_path_factory, ending, values):
    path = tmp_path_factory.mktemp("files") / f"table{ending}"
    write(path, values, [1, 2, 3])
    assert bits(read(path).X) == bits(values.astype(np.float64))


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".npz", ".parquet", ".dat", ".txt"])
def test_tables_without_labels(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write(path, X32)
    assert read(path, label=None).y is None
    assert read(path, label=None).X.shape == X.shape
    with pytest.raises(ValueError, match="label"):
        read(path)


@pytest.mark.parametrize("ending", NAMELESS)
def test_no_labels_are_read_if_none_are_asked_for(tmp_path, ending):
    write(tmp_path / f"table{ending}", X32, [1, 2, 3])
    assert read(tmp_path / f"table{ending}", label=None).y is None


@pytest.mark.parametrize("label", ["kind", 1, -2])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_label_column_is_given_by_name_or_position(tmp_path, ending, label):
    path = tmp_path / f"table{ending}"
    write(path, [[1, 2], [3, 4]], ["a", "b"], feature_names=["left", "right"], label="kind")
    if ending == ".parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pq.read_table(path).select(["left", "kind", "right"]), path)
    else:
        between = "," if ending == ".csv" else "\t"
        lines = [line.split(between) for line in path.read_text().splitlines()]
        path.write_text("".join(between.join([b, a, c]) + "\n" for a, b, c in lines))
    found = read(path, label=label)
    assert (found.y.tolist(), found.feature_names) == (["a", "b"], ["left", "right"])
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 4]])


def test_libopf_files_need_no_ending(tmp_path):
    write_libopf(tmp_path / "training", X32, [1, 2, 2])
    assert read_libopf(tmp_path / "training").y.tolist() == [1, 2, 2]


def test_scikit_learn_reads_our_libsvm_files(tmp_path):
    write(tmp_path / "table.svm", X, [-1, 1, 1])
    values, y = load_svmlight_file(str(tmp_path / "table.svm"))
    np.testing.assert_array_equal(values.toarray(), X)
    np.testing.assert_array_equal(y, [-1, 1, 1])


@pytest.mark.parametrize("zero_based", [True, False])
def test_we_read_the_libsvm_files_of_scikit_learn(tmp_path, zero_based):
    grid = np.random.default_rng(0).integers(0, 3, (20, 5)).astype(float)
    grid[0] = 1  # no column is missing at either end
    dump_svmlight_file(
        grid, np.arange(20), str(tmp_path / "table.svm"), zero_based=zero_based, comment="a grid"
    )
    np.testing.assert_array_equal(read(tmp_path / "table.svm").X, grid)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("+1,2\n-1", [1, -1]),
        (" 7 ,2\n8", [7, 8]),
        ("1.0,2\n2.0", ["1.0", "2.0"]),
        (f"{2**63},2\n1", [str(2**63), "1"]),
    ],
)
def test_labels_of_text_are_integers_if_all_are(tmp_path, text, labels):
    (tmp_path / "table.csv").write_text("label,f0\n" + text + ",3\n")
    assert read(tmp_path / "table.csv").y.tolist() == labels


def test_quotes_blank_lines_and_byte_order_marks_are_understood(tmp_path):
    text = '\ufefflabel,"f,0"\r\n\r\n"a ""b""",1\r\n\r\n'
    (tmp_path / "table.csv").write_bytes(text.encode())
    found = read(tmp_path / "table.csv")
    assert (found.y.tolist(), found.feature_names, found.X.tolist()) == (['a "b"'], ["f,0"], [[1.0]])


def test_missing_values_spelled_out_are_read(tmp_path):
    (tmp_path / "table.csv").write_text("label,f0\n1,nan\n")
    assert np.isnan(read(tmp_path / "table.csv").X[0, 0])


def test_parquet_categories_are_labels(tmp_path):
    frame = pd.DataFrame({"label": pd.Categorical(["b", "a", "b"]), "f0": [1, 2, 3]})
    frame.to_parquet(tmp_path / "table.parquet")
    assert read(tmp_path / "table.parquet").y.tolist() == ["b", "a", "b"]


def test_columns_of_fortran_order_are_read_by_rows(tmp_path, cells):
    values = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.savez_compressed(tmp_path / "table.npz", X=values, y=np.arange(4))
    np.testing.assert_array_equal(read(tmp_path / "table.npz").X, values)


def test_libsvm_features_that_are_never_given_are_zero(tmp_path, cells):
    (tmp_path / "table.svm").write_text("1 1:5\n2 2:6\n")
    with open_stream(str(tmp_path / "table.svm"), n_features=4) as stream:
        rows = stream.gather()
    assert stream.features == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(rows.samples(stream.features), [[5, 0, 0, 0], [0, 6, 0, 0]])


def test_libsvm_indices_from_zero_are_known_by_the_last_line(tmp_path, cells):
    (tmp_path / "table.svm").write_text("1 1:5\n2 0:6\n")
    np.testing.assert_array_equal(read(tmp_path / "table.svm").X, [[0, 5], [6, 0]])


# Streams


@pytest.mark.parametrize("ending", ["csv", "dat", "libsvm", "npz", "parquet", "csv.gz", "dat.gz"])
def test_the_standard_input_is_read_through_a_pipe(tmp_path, monkeypatch, cells, ending):
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    write(tmp_path / f"table.{ending}", values, [1, 2, 1, 2])

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    class Stdin:
        buffer = Pipe((tmp_path / f"table.{ending}").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    with open_stream("-", ending=ending) as stream:
        rows = stream.gather()
    features = [name for name in stream.features if name != "label"]
    np.testing.assert_array_equal(rows.samples(features), values)
    assert [int(label) for label in rows.labels("label")] == [1, 2, 1, 2]


def test_positions_of_libopf_files_are_kept_beside_the_features(tmp_path, cells):
    write(tmp_path / "table.dat", [[1], [2]], [1, 2], positions=[7, 3])
    with open_stream(str(tmp_path / "table.dat")) as stream:
        rows = stream.gather()
    assert stream.beside == ("position",)
    assert rows.columns["position"].tolist() == [7, 3]


def test_libopf_files_without_labels_have_no_label_column(tmp_path):
    write(tmp_path / "table.dat", [[1], [2]])
    with open_stream(str(tmp_path / "table.dat")) as stream:
        assert stream.label is None
        assert "label" in stream.beside


@pytest.mark.parametrize("ending", [".dat", ".libsvm", ".parquet", ".npz", ".csv"])
def test_rows_can_be_picked(tmp_path, cells, ending):
    write(tmp_path / f"table{ending}", [[1.5], [2.5], [3.5]], [1, 2, 3])
    with open_stream(str(tmp_path / f"table{ending}")) as stream:
        rows = stream.gather()
    picked = rows.take(np.array([2, 0]))
    assert picked.places == [rows.places[2], rows.places[0]]
    assert picked.texts("x0") == ["3.5", "1.5"]
    assert picked.samples(["x0"]).tolist() == [[3.5], [1.5]]


def test_parquet_is_read_by_the_thread_that_asks(tmp_path):
    # A thread of pyarrow that lets go of a Python file while the interpreter ends aborts the process.
    class Watched(io.BytesIO):
        def read(self, *args):
            threads.add(threading.get_ident())
            return super().read(*args)

    threads = set()
    write(tmp_path / "a.parquet", np.arange(600.0).reshape(200, 3))
    with open_stream(Watched((tmp_path / "a.parquet").read_bytes()), ending="parquet") as stream:
        stream.gather()
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".dat", ".txt", ".libsvm", ".npz", ".parquet"])
def test_places_go_on_from_batch_to_batch(tmp_path, cells, ending):
    write(tmp_path / f"table{ending}", np.arange(24.0).reshape(12, 2), [1, 2] * 6)
    with open_stream(str(tmp_path / f"table{ending}")) as stream:
        found = list(stream.batches)
    first = {".csv": 2, ".tsv": 2, ".txt": 2}.get(ending, 0)
    assert [place for batch in found for place in batch.places] == list(range(first, first + 12))
    assert all(len(batch.places) <= max(1, cells // 2) for batch in found)


def test_garbage_is_collected_while_a_table_is_read(monkeypatch):
    class Pipe(io.BytesIO):
        def read1(self, *args):
            enabled.add(gc.isenabled())
            return super().read1(*args)

    class Stdin:
        buffer = Pipe(b"a,b\n" + b"1.5,2.5\n" * 20_000)

    enabled = set()
    monkeypatch.setattr(sys, "stdin", Stdin)
    with open_stream("-") as stream:
        assert len(stream.gather().places) == 20_000
    assert enabled == {True}


# Errors that a stream reports late


@pytest.mark.parametrize("value", ["nan", "inf", "-1e999"])
def test_what_is_not_finite_is_reported_with_its_place(tmp_path, cells, value):
    (tmp_path / "table.csv").write_text(f"a,b\n1,2\n\n3,{value}\n")
    with open_stream(str(tmp_path / "table.csv")) as stream:
        rows = stream.gather()
    with pytest.raises(ValueError, match=r"table.csv: line 4, column 'b': -?(nan|inf) is not finite"):
        rows.samples(["a", "b"])


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pathforest._tables.batches.LONGEST", 1000)
    (tmp_path / "table.csv").write_text("label,b\n1,2\n" + "3" * 5000)
    with pytest.raises(ValueError, match="line 3 has more than 1000 characters"):
        read(tmp_path / "table.csv")


def test_a_file_cut_off_late_is_reported_when_the_cut_is_reached(tmp_path, cells):
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)), mtime=0)
    (tmp_path / "table.csv.gz").write_bytes(packed[:-20])
    with open_stream(str(tmp_path / "table.csv.gz")) as stream:
        if cells == 1:
            next(stream.batches)
        with pytest.raises(ValueError, match=r"table.csv.gz: the gzip packing is damaged or cut off"):
            list(stream.batches)


def test_a_wrong_label_is_named_in_any_batch(tmp_path, cells):
    write(tmp_path / "table.dat", np.zeros((12, 2)), [1] * 12)
    data = bytearray((tmp_path / "table.dat").read_bytes())
    data[12 + 9 * 16 + 4] = 7
    (tmp_path / "table.dat").write_bytes(data)
    with pytest.raises(ValueError, match="sample 9 has label 7; the header allows 0 to 1"):
        read(tmp_path / "table.dat")


def test_a_value_that_would_be_rounded_is_named_in_any_batch(tmp_path, cells):
    values = np.array([[1], [2], [2**53 + 1]])
    np.savez(tmp_path / "table.npz", X=values, y=np.arange(3))
    with pytest.raises(ValueError, match=r"X\[2, 0\].*9007199254740993.*float64"):
        read(tmp_path / "table.npz")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind;w\nx;1\ny;2\n", [[1], [2]]),
        ("kind;w\nx;1,5\ny;2\n", [[1.5], [2]]),
        ("kind\tw\nx\t1.5\n", [[1.5]]),
        ('kind|w\n"x, or | so"|1\n', [[1]]),
        ("kind,w\nx;1,1\n", [[1]]),  # commas separate, whatever cells contain
    ],
)
def test_separators_and_decimal_marks_are_found_where_they_are_plain(tmp_path, text, expected):
    (tmp_path / "a.csv").write_text(text)
    assert read(tmp_path / "a.csv", label="kind").X.tolist() == expected


def test_separators_and_decimal_marks_can_be_given(tmp_path):
    (tmp_path / "a.csv").write_text("kind:w\nx:1,500\n")
    assert read(tmp_path / "a.csv", label="kind", sep=":", decimal=",").X.tolist() == [[1.5]]
    (tmp_path / "a.csv").write_text("kind;w\nx;1.000,5\n")
    with pytest.raises(ValueError, match=r"'1\.000,5' is not a number"):
        read(tmp_path / "a.csv", label="kind", decimal=",")
    with pytest.raises(ValueError, match="sep is for CSV and TSV files"):
        read(tmp_path / "a.dat", sep=";")
