"""Data files: what is written is read back bit for bit, and a damaged file is told, never guessed at."""

import os
import struct
import sys

import numpy as np
import pytest
from data_files import DAMAGED, ENDINGS, NAMELESS, X32, X, bits, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pathforest.datasets import read, read_libopf, write, write_libopf
from pathforest.datasets.formats.batched import open_stream
from pathforest.datasets.formats.stream import gather, labels_of, samples_of


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, ending, data):
    table = data.draw(tables(ending))
    path = tmp_path_factory.mktemp("files") / f"table{ending}"
    write(path, table.X, table.y, feature_names=table.feature_names)
    found = read(path)
    assert bits(found.X) == bits(table.X)
    assert found.X.dtype == table.X.dtype
    assert found.y.tolist() == table.y.tolist()
    assert found.feature_names == table.feature_names


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".dat"])
def test_typed_formats_keep_float32(tmp_path, ending):
    write(tmp_path / f"table{ending}", X32, [1, 2, 3])
    assert read(tmp_path / f"table{ending}").X.dtype == np.float32


@pytest.mark.parametrize("ending", [".csv", ".txt", ".libsvm"])
def test_text_restores_float32_with_few_digits(tmp_path, ending):
    write(tmp_path / f"table{ending}", X32, [1, 2, 3])
    found = read(tmp_path / f"table{ending}").X
    assert found[0, 0] == 0.1
    assert bits(found.astype(np.float32)) == bits(X32)


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
def test_the_label_column_is_told_by_name_or_position(tmp_path, ending, label):
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


def test_libopf_bytes_are_as_libopf_has_them(tmp_path):
    write(tmp_path / "table.dat", [[0.5, 2], [3, -4]], [2, 1])
    expected = struct.pack("<3i 2i2f 2i2f", 2, 2, 2, 0, 2, 0.5, 2, 1, 1, 3, -4)
    assert (tmp_path / "table.dat").read_bytes() == expected


def test_libopf_text_is_as_libopf_has_it(tmp_path):
    write(tmp_path / "table.txt", [[0.5, 2], [3, -4]], [2, 1])
    assert (tmp_path / "table.txt").read_text() == "2 2 2\n0 2 0.5 2\n1 1 3 -4\n"


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


# What cannot be written

REFUSED = [
    (".dat", [[0.1]], [1], r"X\[0, 0\].*0.1.*float32"),
    (".dat", [[1e300]], [1], r"X\[0, 0\].*1e\+300.*float32"),
    (".dat", [[1]], [0], "label 0 is outside 1"),
    (".dat", [[1]], [2**31], "label 2147483648 is outside 1"),
    (".dat", [[1]], ["a"], "label 'a' is a string"),
    (".txt", [[1]], [-1], "label -1 is outside 1"),
    (".libsvm", [[1]], ["a"], "label 'a' is a string"),
    (".libsvm", [[1]], [2**53 + 1], "label 9007199254740993 is beyond"),
    (".libsvm", [[1]], None, "need labels"),
    (".csv", [[1]], ["1"], "'1' would be read back as integers"),
    (".csv", [[1]], ["a\nb"], r"'a\\nb' has a line break"),
    (".csv", [[1]], [" "], "label ' ' is only space"),
    (".csv", [[1]], [""], "label '' is no text"),
    (".npz", [[1]], ["\ud800"], r"'\\ud800' has characters"),
    (".npz", [[1]], [0.5], "label 0.5 is neither"),
    (".npz", [[1]], [True], "label True is neither"),
    (".npz", [[1]], np.array([2**63], dtype=np.uint64), "label 9223372036854775808 is beyond"),
    (".npz", [[1]], [[1]], r"y of shape \(1, 1\)"),
    (".npz", [[1]], [1, 2], "2 labels for 1 samples"),
    (".npz", [[2**53 + 1]], [1], r"X\[0, 0\].*9007199254740993.*float64"),
    (".npz", [["a"]], [1], "holds no real numbers"),
    (".npz", [1], [1], r"shape \(1,\) is no table"),
    (".npz", np.zeros((0, 2)), [], r"shape \(0, 2\) is no table"),
]


@pytest.mark.parametrize(("ending", "values", "labels", "message"), REFUSED)
def test_what_a_format_cannot_hold_is_refused_before_writing(tmp_path, ending, values, labels, message):
    path = tmp_path / f"table{ending}"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=message):
        write(path, values, labels)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(path.name, "as it was")]


@pytest.mark.parametrize(
    ("ending", "names", "label", "message"),
    [
        (".csv", ["a", "a"], "label", "'a' occurs more than once"),
        (".csv", ["a", "label"], "label", "'label' occurs more than once"),
        (".csv", ["1", "2"], "3", "only numbers"),
        (".csv", ["a", "b\r"], "label", "line break"),
        (".csv", ["a", "b"], "\ufefflabel", "byte order mark"),
        (".csv", ["a", "b"], 0, "label=0 is no name"),
        (".csv", ["a"], "label", "1 feature_names for 2 features"),
        (".npz", ["a", ""], "label", "feature name '' is no text"),
        (".parquet", ["a", "a"], "label", "more than once"),
        (".parquet", ["a", "label"], "label", "'label'"),
        (".parquet", ["a", "b"], None, "label column None is no text"),
        (".dat", ["a", "b"], "label", "keep no feature names"),
        (".svm", ["a", "b"], "label", "keep no feature names"),
    ],
)
def test_column_names_that_would_be_lost_are_refused(tmp_path, ending, names, label, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / f"table{ending}", [[1, 2]], [1], feature_names=names, label=label)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write(path, [[1]], [1])
    before = path.read_bytes()

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, [[2]], [2])
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_bytes() == before


# What cannot be read


@pytest.mark.parametrize(("ending", "content", "message"), DAMAGED)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path, ending, content, message):
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_file_is_told(tmp_path, ending):
    (tmp_path / f"table{ending}").touch()
    with pytest.raises(ValueError, match=rf"table{ending}: the file is empty"):
        read(tmp_path / f"table{ending}")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [1, 2], "f0": [1.0, None]}, "row 1, column 'f0'"),
        ({"label": [1, None], "f0": [1.0, 2.0]}, "row 1, column 'label'"),
        ({"label": [1, 2], "f0": ["a", "b"]}, "column 'f0': it holds string"),
        ({"label": [1.5, 2], "f0": [1, 2]}, "column 'label': it holds double"),
        ({"label": [1, 2]}, "no feature"),
        ({"f0": [1, 2]}, "no column 'label', only 'f0'"),
        ({"label": [], "f0": []}, "0 rows"),
    ],
)
def test_parquet_tables_that_do_not_fit_are_told(tmp_path, columns, message):
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.table(columns), tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "table.parquet")


def test_parquet_categories_are_labels(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    kinds = pyarrow.array(["b", "a", "b"]).dictionary_encode()
    pq.write_table(pyarrow.table({"label": kinds, "f0": [1, 2, 3]}), tmp_path / "table.parquet")
    assert read(tmp_path / "table.parquet").y.tolist() == ["b", "a", "b"]


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pathforest\[parquet\]"):
        write(tmp_path / "table.parquet", [[1]], [1])


@pytest.mark.parametrize("label", [2, -3])
def test_a_label_position_outside_is_told(tmp_path, label):
    (tmp_path / "table.csv").write_text("label,f0\n1,2\n")
    with pytest.raises(ValueError, match=f"label={label} is outside the 2 columns"):
        read(tmp_path / "table.csv", label=label)


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.gz"])
def test_an_unknown_ending_lists_the_known_ones(tmp_path, name):
    with pytest.raises(ValueError, match=r"\.csv.*\.parquet"):
        read(tmp_path / name)


def test_a_missing_file_is_an_error_of_the_file_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "table.csv")


def read_whole(path):
    return bits(read(path).X)


def read_in_batches(path):
    with open_stream(str(path)) as stream:
        rows = gather(stream)
    if "label" in stream.names:
        labels_of(stream, rows, "label")
    features = [name for name in stream.names if name not in ("label", *stream.beside)]
    return bits(samples_of(stream, rows, features, finite=False))


def outcome(reader, path):
    """Return what is read; or None where the file is refused, in words that name it."""
    try:
        return reader(path)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    return None


@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional header parsing")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".dat", ".txt", ".libsvm", ".npz", ".parquet"])
def test_damage_of_any_kind_is_read_or_told(tmp_path, ending):
    resource = pytest.importorskip("resource")  # not on Windows
    path, sound = tmp_path / f"table{ending}", tmp_path / f"sound{ending}"
    write(sound, np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32), [1, 2] * 4)
    content = sound.read_bytes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(max_examples=400)
    @given(st.integers(0, len(content)), st.lists(st.integers(0, 8 * len(content) - 1), max_size=4))
    def damage(kept, flipped):
        broken = bytearray(content)
        for bit in flipped:
            broken[bit // 8] ^= 1 << bit % 8
        # Cut off a third of the cases: a flip behind the cut would never be seen.
        path.write_bytes(broken[:kept] if kept % 3 == 0 else broken)
        whole, in_batches = outcome(read_whole, path), outcome(read_in_batches, path)
        if isinstance(whole, bytes) and isinstance(in_batches, bytes):
            assert whole == in_batches

    damage()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 300, f"reading {len(content)} bytes took {grown:.0f} MB"


def test_parquet_integers_that_no_float_holds_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"label": [1, 2], "size": [3, 2**53 + 1]}), path)
    with pytest.raises(ValueError, match=r"column 'size'.*has no exact float64 value"):
        read(path)


def test_parquet_labels_beyond_64_bits_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    labels = pyarrow.array([1, 2**64 - 1], type=pyarrow.uint64())
    pyarrow.parquet.write_table(pyarrow.table({"label": labels, "size": [1.0, 2.0]}), path)
    with pytest.raises(ValueError, match="beyond the integers of 64 bits"):
        read(path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "a.csv",
            "kind;w\nx;1\n",
            "'kind;w'; its parts are separated by semicolons, .* by commas",
        ),
        ("a.tsv", "kind,w\nx,1\n", "'kind,w'; its parts are separated by commas, .* by tabs"),
    ],
)
def test_another_separator_is_named(name, text, told, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=told):
        read(tmp_path / name)
    with pytest.raises(ValueError, match="names a single column"):
        write(tmp_path / name, [[1.0]], feature_names=[text.partition("\n")[0]])


def test_another_encoding_is_told(tmp_path):
    (tmp_path / "a.csv").write_bytes("label,größe\nä,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.csv: byte 0xf6 is no UTF-8 text; save the file as UTF-8"):
        read(tmp_path / "a.csv")
