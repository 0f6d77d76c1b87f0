"""Data read in batches: the same as read whole, for any size of batch."""

import gzip
import io
import sys
import threading

import numpy as np
import pytest
from data_files import DAMAGED, ENDINGS, bits, tables
from hypothesis import given
from hypothesis import strategies as st

from pathforest.datasets import read, write
from pathforest.datasets.formats import parquet
from pathforest.datasets.formats import stream as streams
from pathforest.datasets.formats.batched import open_stream
from pathforest.datasets.formats.stream import gather, labels_of, samples_of
from pathforest.datasets.formats.table import labels_of_text


@pytest.fixture(autouse=True, params=[1, 7, 2**18], ids="{} cells".format)
def cells(request, monkeypatch):
    """Read every file in batches of so many cells."""
    monkeypatch.setattr(streams, "CELLS", request.param)
    return request.param


def read_all(path, **options):
    """Read a file in batches into a table."""
    with open_stream(str(path), **options) as stream:
        rows = gather(stream)
    label = stream.label or "label"
    features = [name for name in stream.names if name not in (label, *stream.beside)]
    labels = labels_of(stream, rows, label) if label in stream.names else None
    return samples_of(stream, rows, features, finite=False), labels, features


@pytest.mark.parametrize("ending", [*ENDINGS, ".dat.gz", ".npz.gz", ".parquet.gz", ".svm.gz", ".txt.gz"])
@given(data=st.data())
def test_batches_hold_what_the_file_holds(tmp_path_factory, ending, data):
    table = data.draw(tables(ending.removesuffix(".gz")))
    path = tmp_path_factory.mktemp("files") / f"table{ending}"
    write(path, table.X, table.y, feature_names=table.feature_names)
    X, y, features = read_all(path)
    assert bits(X) == bits(read(path).X)
    assert X.dtype == table.X.dtype
    assert (labels_of_text(y) if isinstance(y, list) else y).tolist() == table.y.tolist()
    assert features == table.feature_names


# A stream may come without labels; whoever needs them says so.
ABOUT_LABELS = ("no array 'y'", "no column 'label'", "no feature")


@pytest.mark.parametrize(
    ("ending", "content", "message"),
    [case for case in DAMAGED if not any(text in case[2] for text in ABOUT_LABELS)],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path, ending, content, message):
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_all(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("ending", ["csv", "dat", "libsvm", "npz", "parquet", "csv.gz", "dat.gz"])
def test_the_standard_input_is_read_through_a_pipe(tmp_path, monkeypatch, ending):
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    write(tmp_path / f"table.{ending}", X, [1, 2, 1, 2])

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    class Stdin:
        buffer = Pipe((tmp_path / f"table.{ending}").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    found, y, _ = read_all("-", ending=ending)
    np.testing.assert_array_equal(found, X)
    assert [int(label) for label in y] == [1, 2, 1, 2]


def test_libsvm_features_that_are_never_given_are_zero(tmp_path):
    (tmp_path / "table.svm").write_text("1 1:5\n2 2:6\n")
    X, _, features = read_all(tmp_path / "table.svm", n_features=4)
    np.testing.assert_array_equal(X, [[5, 0, 0, 0], [0, 6, 0, 0]])
    assert features == ["f0", "f1", "f2", "f3"]


def test_libsvm_indices_from_zero_are_known_by_the_last_line(tmp_path):
    (tmp_path / "table.svm").write_text("1 1:5\n2 0:6\n")
    np.testing.assert_array_equal(read_all(tmp_path / "table.svm")[0], [[0, 5], [6, 0]])


def test_positions_of_libopf_files_are_kept_beside_the_features(tmp_path):
    write(tmp_path / "table.dat", [[1], [2]], [1, 2], positions=[7, 3])
    with open_stream(str(tmp_path / "table.dat")) as stream:
        rows = gather(stream)
    assert stream.beside == ("position",)
    assert rows.columns[0].values() == [7, 3]


def test_libopf_files_without_labels_have_no_label_column(tmp_path):
    write(tmp_path / "table.dat", [[1], [2]])
    with open_stream(str(tmp_path / "table.dat")) as stream:
        assert stream.label is None
        assert "label" in stream.beside


def test_columns_of_fortran_order_are_read_by_rows(tmp_path):
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.savez_compressed(tmp_path / "table.npz", X=X, y=np.arange(4))
    np.testing.assert_array_equal(read_all(tmp_path / "table.npz")[0], X)


@pytest.mark.parametrize("value", ["nan", "inf", "-1e999"])
def test_what_is_not_finite_is_told_with_its_place(tmp_path, value):
    (tmp_path / "table.csv").write_text(f"a,b\n1,2\n\n3,{value}\n")
    with open_stream(str(tmp_path / "table.csv")) as stream:
        rows = gather(stream)
    with pytest.raises(ValueError, match=r"table.csv: line 4, column 'b': -?(nan|inf) is not finite"):
        samples_of(stream, rows, ["a", "b"])


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pathforest.datasets.formats.table.LONGEST", 1000)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n" + "3" * 5000)
    with pytest.raises(ValueError, match="line 3 has more than 1000 characters"):
        read_all(tmp_path / "table.csv")


def test_what_is_cut_off_late_is_told_when_it_is_reached(tmp_path, cells):
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)), mtime=0)
    (tmp_path / "table.csv.gz").write_bytes(packed[:-20])
    with open_stream(str(tmp_path / "table.csv.gz")) as stream:
        if cells == 1:
            next(stream.batches)
        with pytest.raises(ValueError, match=r"table.csv.gz: the gzip packing is damaged or cut off"):
            list(stream.batches)


@pytest.mark.parametrize("ending", [".dat", ".libsvm", ".parquet", ".npz", ".csv"])
def test_rows_can_be_picked(tmp_path, ending):
    write(tmp_path / f"table{ending}", [[1.5], [2.5], [3.5]], [1, 2, 3])
    with open_stream(str(tmp_path / f"table{ending}")) as stream:
        rows = gather(stream)
    picked = [column.take(np.array([2, 0])) for column in rows.columns]
    assert picked[-1].text() == ["3.5", "1.5"]
    assert picked[-1].numbers().tolist() == [3.5, 1.5]


def test_parquet_is_read_by_the_thread_that_asks(tmp_path):
    # A thread of pyarrow that lets go of a Python file while the interpreter ends aborts the process.
    class Watched(io.BytesIO):
        def read(self, *args):
            threads.add(threading.get_ident())
            return super().read(*args)

    threads = set()
    write(tmp_path / "a.parquet", np.arange(600.0).reshape(200, 3))
    gather(parquet.stream(Watched((tmp_path / "a.parquet").read_bytes())))
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".dat", ".txt", ".libsvm", ".npz", ".parquet"])
def test_places_go_on_from_batch_to_batch(tmp_path, ending):
    write(tmp_path / f"table{ending}", np.arange(24.0).reshape(12, 2), [1, 2] * 6)
    with open_stream(str(tmp_path / f"table{ending}")) as stream:
        places = [place for batch in stream.batches for place in batch.places]
    first = {".csv": 2, ".tsv": 2, ".txt": 2, ".libsvm": 1}.get(ending, 0)
    assert places == list(range(first, first + 12))


def test_a_wrong_label_is_named_in_any_batch(tmp_path):
    write(tmp_path / "table.dat", np.zeros((12, 2)), [1] * 12)
    data = bytearray((tmp_path / "table.dat").read_bytes())
    data[12 + 9 * 16 + 4] = 7
    (tmp_path / "table.dat").write_bytes(data)
    with pytest.raises(ValueError, match="sample 9 has label 7; the header allows 0 to 1"):
        read_all(tmp_path / "table.dat")


def test_batches_are_no_larger_than_they_may_be(tmp_path, cells):
    write(tmp_path / "table.csv", np.zeros((40, 3)), [1] * 40)
    with open_stream(str(tmp_path / "table.csv")) as stream:
        assert all(len(batch.places) <= max(1, cells // 4) for batch in stream.batches)
