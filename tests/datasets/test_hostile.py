"""Damaged and hostile files: each is read or refused in words that name it, and none fills the memory."""

import io
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from data_files import DAMAGED, ENDINGS, bits, npy, npz
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import resident_memory

from pathforest._tables import batches
from pathforest.datasets import read, write


@pytest.mark.parametrize("cells", [1, 2**18])
@pytest.mark.parametrize(("ending", "content", "message"), DAMAGED)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path, monkeypatch, cells, ending, content, message):
    monkeypatch.setattr(batches, "CELLS", cells)
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_file_is_reported(tmp_path, ending):
    (tmp_path / f"table{ending}").touch()
    with pytest.raises(ValueError, match=rf"table{ending}: the file is empty"):
        read(tmp_path / f"table{ending}")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [1, 2], "f0": [1.0, None]}, "row 1, column 'f0'"),
        ({"label": [1, None], "f0": [1.0, 2.0]}, "row 1, column 'label'"),
        ({"label": [1, 2], "f0": ["a", "b"]}, "column 'f0': it holds .*string"),
        ({"label": [1.5, 2], "f0": [1, 2]}, "column 'label': label 1.5 is not an integer"),
        ({"label": [1, 2]}, "no feature"),
        ({"f0": [1, 2]}, "no column 'label', only 'f0'"),
        ({"label": [], "f0": []}, "there is no sample"),
        ({"label": [1, 2], "f0": [3, 2**53 + 1]}, "column 'f0'.*has no exact float64 value"),
        ({"label": np.array([1, 2**64 - 1], "uint64"), "f0": [1, 2]}, "beyond the integers of 64 bits"),
    ],
)
def test_parquet_tables_that_do_not_fit_are_refused(tmp_path, columns, message):
    pd.DataFrame(columns).convert_dtypes().to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "table.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pathforest\[parquet\]"):
        write(tmp_path / "table.parquet", [[1]], [1])


@pytest.mark.parametrize("label", [2, -3])
def test_a_label_position_outside_is_refused(tmp_path, label):
    (tmp_path / "table.csv").write_text("label,f0\n1,2\n")
    with pytest.raises(ValueError, match=f"label={label} is outside the 2 columns"):
        read(tmp_path / "table.csv", label=label)


@pytest.mark.parametrize("name", ["table.doc", "table", "table.gz"])
def test_an_unknown_ending_lists_the_known_ones(tmp_path, name):
    with pytest.raises(ValueError, match=r"\.csv.*\.parquet"):
        read(tmp_path / name)


def test_a_missing_file_is_an_error_of_the_file_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "kind;w\nx,1\n", "'kind;w'; if semicolons separate columns, pass --sep ';'"),
        ("a.tsv", "kind,w\nx;1\n", "'kind,w'; if commas separate columns, pass --sep ','"),
    ],
)
def test_a_separator_that_is_not_plain_is_asked_for(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name)
    with pytest.raises(ValueError, match="names a single column"):
        write(tmp_path / name, [[1.0]], feature_names=[text.partition("\n")[0]])


def test_another_encoding_is_reported(tmp_path):
    (tmp_path / "a.csv").write_bytes("label,größe\nä,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.csv: byte 0xf6 is not UTF-8 text; save the file as UTF-8"):
        read(tmp_path / "a.csv")


# Dates


@pytest.mark.parametrize("missing", [None, "2021-05-05"])
def test_dates_are_refused_with_a_remedy(tmp_path, missing):
    dates = pd.to_datetime(pd.Series(["2020-01-01", missing]))
    pd.DataFrame({"label": [1, 2], "day": dates}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"column 'day': it holds dates.*days since the first"):
        read(tmp_path / "a.parquet")
    np.savez(tmp_path / "a.npz", X=dates.to_numpy()[:, None], y=[1, 2])
    with pytest.raises(ValueError, match=r"a\.npz: X of type datetime64.* holds dates.*days since the first"):
        read(tmp_path / "a.npz")
    with pytest.raises(ValueError, match=r"labels of type datetime64.* are dates; write them as text"):
        write(tmp_path / "b.npz", [[1], [2]], dates.to_numpy())


# NPZ files made to do harm


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "X.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}") + bytes(2**20)
        )
    size = (2**20 + 128).to_bytes(4, "little")
    (tmp_path / "a.npz").write_bytes(out.getvalue().replace(size, (128 + 16).to_bytes(4, "little")))
    with pytest.raises(ValueError, match=r"a\.npz: array 'X': Bad CRC"):
        read(tmp_path / "a.npz", label=None)


FORGED = [
    "{",
    "(" * 500,
    "{'descr': '<f8'}",
    "{'descr': 'nonsense', 'fortran_order': False, 'shape': (1, 1)}",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 1)}",
    "{'descr': 7, 'fortran_order': False, 'shape': (1, 1)}",
    "{'descr': '<f8', 'fortran_order': 'yes', 'shape': (1, 1)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5, 1)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': ('a', 1)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 1)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 8}",
    "{[]: 0, 'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}",
]


@pytest.mark.parametrize("header", FORGED)
@pytest.mark.parametrize("name", ["X", "y", "feature_names"])
def test_a_forged_header_is_refused_in_words_that_name_the_file(tmp_path, name, header):
    sound = {"X": "<f8", "y": "<i8", "feature_names": "<U2"}
    members = {
        key: npy(str({"descr": kind, "fortran_order": False, "shape": (1, 1) if key == "X" else (1,)}))
        + bytes(8)
        for key, kind in sound.items()
    }
    (tmp_path / "a.npz").write_bytes(npz(**members | {name: npy(header) + bytes(8)}))
    with pytest.raises(ValueError, match=r"a\.npz: "):
        read(tmp_path / "a.npz")


# Long and hostile text


@pytest.mark.parametrize(
    "text",
    [
        "label,{}\n1,x\n",
        "label,a\n1,{}\n",
        "label,a\n{},1\n",
        "{},a\n1,2\n",
        "a,{0},{0}\n1,2,3\n",
        "a;{}\n1,2\n",
    ],
)
def test_values_in_errors_are_cut_and_have_no_control_characters(tmp_path, text):
    (tmp_path / "a.csv").write_text(text.format("\x1b[31m" + "x" * 5000))
    with pytest.raises(ValueError, match=r"a\.csv: ") as caught:
        read(tmp_path / "a.csv")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))


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


def test_the_bound_on_memory_sees_what_is_below_an_earlier_peak():
    np.ones(200 * 2**17)
    with pytest.raises(AssertionError), resident_memory(megabytes=50):
        np.ones(100 * 2**17)


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
