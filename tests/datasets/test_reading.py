"""Data files read: what was written comes back bit for bit, in batches of any size; damage is named."""

import gzip
import io
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from data_files import DAMAGED, ENDINGS, NAMELESS, X32, X, bits, npy, npz, saved, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import resident_memory
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pathforest._tables import batches
from pathforest._tables.read import open_stream
from pathforest.datasets import read, write

PACKED = [".dat.gz", ".npz.gz", ".parquet.gz", ".svm.gz", ".txt.gz"]
BATCHES = [1, 7, 2**18]  # cells


@pytest.fixture(params=BATCHES, ids="{} cells".format)
def cells(request, monkeypatch):
    """Read every file in small batches."""
    monkeypatch.setattr(batches, "CELLS", request.param)
    return request.param


@pytest.mark.parametrize("ending", [*ENDINGS, *PACKED])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data(), cells=st.sampled_from(BATCHES))
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, ending, data, cells):
    table = data.draw(tables(ending.removesuffix(".gz") if ending in PACKED else ending))
    path = tmp_path_factory.mktemp("files") / f"table{ending}"
    write(path, table.X, table.y, feature_names=table.feature_names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CELLS", cells)
        found = read(path)
    assert found.X.dtype == (table.X.dtype if ending.startswith((".npz", ".parquet", ".dat")) else np.float64)
    assert bits(found.X) == bits(table.X.astype(found.X.dtype))
    assert found.y.tolist() == table.y.tolist()
    assert found.feature_names == table.feature_names


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".npz", ".parquet", *NAMELESS])
def test_tables_without_labels_and_labels_that_are_not_asked_for(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    if ending in NAMELESS:
        write(path, X32, [1, 2, 3])
        assert read(path, label=None).y is None
    if ending not in (".libsvm", ".svm", ".svmlight"):
        write(path, X32)
        assert read(path, label=None).y is None
        assert read(path, label=None).X.shape == X.shape
        with pytest.raises(ValueError, match="label"):
            read(path)


@pytest.mark.parametrize("label", ["kind", 1, -2])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_label_column_is_given_by_name_or_position(tmp_path, ending, label):
    path = tmp_path / f"table{ending}"
    frame = pd.DataFrame({"left": [1, 3], "kind": pd.Categorical(["b", "a"]), "right": [2, 4]})
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="," if ending == ".csv" else "\t", index=False)
    found = read(path, label=label)
    assert (found.y.tolist(), found.feature_names) == (["b", "a"], ["left", "right"])
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm_files_go_to_scikit_learn_and_back(tmp_path, zero_based):
    path, grid = str(tmp_path / "table.svm"), np.random.default_rng(0).integers(0, 3, (20, 5)).astype(float)
    grid[0] = 1  # no column is missing at either end
    dump_svmlight_file(grid, np.arange(20), path, zero_based=zero_based, comment="a grid")
    np.testing.assert_array_equal(read(path).X, grid)
    write(path, X, [-1, 1, 1])
    values, y = load_svmlight_file(path)
    np.testing.assert_array_equal(values.toarray(), X)
    np.testing.assert_array_equal(y, [-1, 1, 1])


PLAIN = [  # text of a CSV file whose labels are in the column `kind`, the labels, the samples, and options
    ("kind,w\n+1,2\n-1,3\n", [1, -1], [[2], [3]]),
    ("kind,w\n 7 ,2\n8,3\n", [7, 8], [[2], [3]]),
    ("kind,w\n1.0,2\n2.0,3\n", ["1.0", "2.0"], [[2], [3]]),
    (f"kind,w\n{2**63},2\n1,3\n", [str(2**63), "1"], [[2], [3]]),
    ('\ufeffkind,"w,0"\r\n\r\n"a ""b""",1\r\n\r\n', ['a "b"'], [[1]]),
    ("kind,w\n1,nan\n", [1], [[np.nan]]),
    ("kind;w\nx;1,5\ny;2\n", ["x", "y"], [[1.5], [2]]),
    ('kind|w\n"x, or | so"|1\n', ["x, or | so"], [[1]]),
    ("kind,w\nx;1,1\n", ["x;1"], [[1]]),  # commas separate, whatever cells contain
    ("kind:w\nx:1,500\n", ["x"], [[1.5]], {"sep": ":", "decimal": ","}),
]


@pytest.mark.parametrize(("text", "labels", "values", "options"), [(*row, {})[:4] for row in PLAIN])
def test_labels_separators_and_decimal_marks_are_found_or_given(tmp_path, text, labels, values, options):
    (tmp_path / "a.csv").write_bytes(text.encode())
    found = read(tmp_path / "a.csv", label="kind", **options)
    assert found.y.tolist() == labels
    np.testing.assert_array_equal(found.X, values)


def test_libsvm_features_that_are_never_given_are_zero(tmp_path, cells):
    (tmp_path / "table.svm").write_text("1 1:5\n2 2:6\n")
    with open_stream(str(tmp_path / "table.svm"), n_features=4) as stream:
        rows = stream.gather()
    assert stream.features == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(rows.samples(stream.features), [[5, 0, 0, 0], [0, 6, 0, 0]])


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
    write(tmp_path / "table.dat", [[1], [2]])
    with open_stream(str(tmp_path / "table.dat")) as stream:
        assert (stream.label, stream.beside) == (None, ("position", "label"))


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


# Errors that a stream reports late


def test_what_cannot_be_used_is_named_in_any_batch(tmp_path, cells):
    for value in ("nan", "inf", "-1e999"):
        (tmp_path / "table.csv").write_text(f"a,b\n1,2\n\n3,{value}\n")
        with open_stream(str(tmp_path / "table.csv")) as stream:
            rows = stream.gather()
        with pytest.raises(ValueError, match=r"table.csv: line 4, column 'b': -?(nan|inf) is not finite"):
            rows.samples(["a", "b"])
    write(tmp_path / "table.dat", np.zeros((12, 2)), [1] * 12)
    data = bytearray((tmp_path / "table.dat").read_bytes())
    data[12 + 9 * 16 + 4] = 7
    (tmp_path / "table.dat").write_bytes(data)
    with pytest.raises(ValueError, match="sample 9 has label 7; the header allows 0 to 1"):
        read(tmp_path / "table.dat")
    np.savez(tmp_path / "table.npz", X=np.array([[1], [2], [2**53 + 1]]), y=np.arange(3))
    with pytest.raises(ValueError, match=r"X\[2, 0\].*9007199254740993.*float64"):
        read(tmp_path / "table.npz")


def test_a_file_cut_off_late_is_reported_when_the_cut_is_reached(tmp_path, cells):
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)), mtime=0)
    (tmp_path / "table.csv.gz").write_bytes(packed[:-20])
    with open_stream(str(tmp_path / "table.csv.gz")) as stream:
        if cells == 1:
            next(stream.batches)
        with pytest.raises(ValueError, match=r"table.csv.gz: the gzip packing is damaged or cut off"):
            list(stream.batches)


# Damaged and hostile files: each is read or refused in words that name it, and none fills the memory


def parquet(**columns):
    return pd.DataFrame(columns).convert_dtypes().to_parquet()


def forged(name, header):
    """An NPZ file of three arrays, one of them with this header."""
    shapes = {"X": ("<f8", (1, 1)), "y": ("<i8", (1,)), "feature_names": ("<U2", (1,))}
    headers = {k: str({"descr": d, "fortran_order": False, "shape": s}) for k, (d, s) in shapes.items()}
    return npz(**{key: npy(text) + bytes(8) for key, text in (headers | {name: header}).items()})


DATES = pd.to_datetime(pd.Series(["2020-01-01", "2021-05-05"]))
HOSTILE = "\x1b[31m" + "x" * 5000
WRONG_CELLS = [
    "label,{}\n1,x\n", "label,a\n1,{}\n", "label,a\n{},1\n", "{},a\n1,2\n", "a,{0},{0}\n1,2,3\n",
    "a;{}\n1,2\n",
]  # fmt: skip
SHAPED = "{'descr': %s, 'fortran_order': %s, 'shape': %s}"
FORGED = [
    *("{", "(" * 500, "{'descr': '<f8'}", "{[]: 0, 'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}"),
    *(SHAPED % (kind, False, (1, 1)) for kind in ("'nonsense'", "[('a', '<f8')]", "7")),
    SHAPED % ("'<f8'", "'yes'", (1, 1)),
    *(SHAPED % ("'<f8'", False, shape) for shape in ("(1.5, 1)", "('a', 1)", "(-1, 1)", "8")),
]
REFUSED = [  # ending, bytes, what the message says, and options
    *DAMAGED,
    (".parquet", parquet(label=[1, 2], f0=[1.0, None]), "row 1, column 'f0'"),
    (".parquet", parquet(label=[1, None], f0=[1.0, 2.0]), "row 1, column 'label'"),
    (".parquet", parquet(label=[1, 2], f0=["a", "b"]), "column 'f0': it holds .*string"),
    (".parquet", parquet(label=[1.5, 2], f0=[1, 2]), "column 'label': label 1.5 is not an integer"),
    (".parquet", parquet(label=[1, 2]), "no feature"),
    (".parquet", parquet(label=[1, 2], f0=[3, 2**53 + 1]), "column 'f0'.*has no exact float64 value"),
    (".parquet", parquet(label=np.array([1, 2**64 - 1], "uint64"), f0=[1, 2]), "beyond the integers of 64"),
    *(
        (".parquet", parquet(label=[1, 2], day=dates), r"column 'day': it holds dates.*days since the first")
        for dates in (DATES, DATES.mask([False, True]))
    ),
    (".npz", saved(X=DATES.to_numpy()[:, None], y=[1, 2]), r"X of type datetime64.* holds dates.*days since"),
    (".csv", b"label,f0\n1,2\n", "there is no column 2, only 'label', 'f0'", {"label": 2}),
    (".csv", b"label;w\nx;1.000\n", r"'1\.000' is not a number", {"decimal": ","}),
    (".dat", b"", "sep is for CSV and TSV files", {"sep": ";"}),
    (".csv", b"label,gr\xf6\xdfe\n\xe4,1\n", "byte 0xf6 is not UTF-8 text; save the file as UTF-8"),
    (".csv", b"label,b\n1,2\n" + b"3" * 7000, "line 3 has more than 6000 characters"),
    *((ending, b"", r"\.csv.*\.parquet") for ending in (".doc", "", ".gz")),
    *((ending, b"", "the file is empty") for ending in ENDINGS),
    *((".npz", forged(name, text), ": ") for text in FORGED for name in ("X", "y", "feature_names")),
    *((".csv", text.format(HOSTILE).encode(), ": ") for text in WRONG_CELLS),
]


@pytest.mark.parametrize("cells", [1, 2**18])
@pytest.mark.parametrize(("ending", "content", "message", "options"), [(*row, {})[:4] for row in REFUSED])
def test_a_refusal_names_the_file_and_what_is_wrong_in_few_words_without_control_characters(
    tmp_path, monkeypatch, cells, ending, content, message, options
):
    monkeypatch.setattr(batches, "CELLS", cells)
    monkeypatch.setattr(batches, "LONGEST", 6000)
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read(path, **options)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert "\x1b" not in said
    assert len(said) < 500 + len(str(path))


# Damage at random


def read_in_batches(path):
    """Read a file in small batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CELLS", 7)
        return bits(read(path).X)


def outcome(reader, path):
    """Return what is read, or None if the file is refused in words that name it."""
    try:
        return reader(path)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    return None


@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional header parsing")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".dat", ".txt", ".libsvm", ".npz", ".parquet"])
def test_damage_of_any_kind_is_read_or_refused(tmp_path, ending):
    path, sound = tmp_path / f"table{ending}", tmp_path / f"sound{ending}"
    write(sound, np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32), [1, 2] * 4)
    content = sound.read_bytes()

    @settings(max_examples=150)
    @given(st.integers(0, len(content)), st.lists(st.integers(0, 8 * len(content) - 1), max_size=4))
    def damage(kept, flipped):
        broken = bytearray(content)
        for bit in flipped:
            broken[bit // 8] ^= 1 << bit % 8
        # Cut off a third of the cases: a flip behind the cut would never be seen.
        path.write_bytes(broken[:kept] if kept % 3 == 0 else broken)
        assert outcome(lambda path: bits(read(path).X), path) == outcome(read_in_batches, path)

    with resident_memory(megabytes=300):
        damage()
