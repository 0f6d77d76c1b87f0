"""Data files for the tests: published ones, tables that each format can hold, and files that are damaged."""

import gzip
import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pathforest.datasets import Table

FOLDER = Path(os.environ.get("PATHFOREST_DATA") or "data").resolve()  # of the published sets
WITH_STRINGS = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npz", ".parquet"]
NAMELESS = [".dat", ".txt", ".libsvm", ".svm", ".svmlight"]
ENDINGS = WITH_STRINGS + NAMELESS
X = np.array([[0.1, -2.5], [1e-300, 3.0], [-0.0, 7.0]])
X32 = X.astype(np.float32)


def published(name):
    """Path of a published set, or a reason to skip."""
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs {path.name} in a folder named by PATHFOREST_DATA")
    return path


def bits(values):
    """Bytes that differ for -0.0 and 0.0, and are the same for all NaN."""
    return np.where(np.isnan(values), np.nan, values).astype(values.dtype).tobytes()


@st.composite
def tables(draw, ending):
    """Tables that files of this kind can hold."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    width = 32 if ending == ".dat" else draw(st.sampled_from([32, 64]))
    values = draw(arrays(f"f{width // 8}", shape, elements=st.floats(width=width)))
    if ending in WITH_STRINGS:
        text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
        texts = st.tuples(st.sampled_from(["x", "=x", "'@x", "''-x", "+x"]), text).map("".join)
        labels = draw(st.sampled_from([st.integers(-(2**63), 2**63 - 1), texts]))
        names = draw(st.lists(texts, min_size=shape[1], max_size=shape[1], unique=True))
    else:
        smallest, largest = (-(2**53), 2**53) if ending not in (".dat", ".txt") else (1, 2**31 - 1)
        labels, names = st.integers(smallest, largest), None
    y = np.array(draw(st.lists(labels, min_size=shape[0], max_size=shape[0])))
    return Table(values, y, names or [f"x{j}" for j in range(shape[1])])


def libopf(*header, rows=b""):
    return struct.pack("<3i", *header) + rows


def npz(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return out.getvalue()


def npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def saved(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


HUGE = 2**31 - 1
DAMAGED = [
    (".dat", b"\1\0\0", "3 bytes, and the header alone needs 12"),
    (".dat", libopf(HUGE, 2, HUGE), f"{HUGE} samples of {HUGE} features.*the file has 12"),
    (".dat", libopf(2, 1, 1, rows=bytes(12)), "36 bytes; the file has 24"),
    (".dat", libopf(1, 1, 1, rows=bytes(13)), "24 bytes; the file has 25"),
    (".dat", libopf(1, 1, 0, rows=bytes(8)), "0 features"),
    (".dat", libopf(1, 3, 1, rows=struct.pack("<2if", 0, 4, 1)), "sample 0 has label 4.*0 to 3"),
    (".txt", b"1 2\n", "line 1 has 2 numbers, not 3"),
    (".txt", b"width,kind\n1,a\n", "if this is CSV, read it with --from csv"),
    (".txt", b"1 1 x\n0 1 5\n", "line 1: 'x' is not an integer"),
    (".txt", b"2 1 1\n0 1 5\n", "announces 2 samples; 1 lines follow"),
    (".txt", b"1 1 1\n0 1 1_0\n", "line 2: '1_0' is not a number"),
    (".txt", b"\xff\n", "not UTF-8"),
    (".svm", b"# nothing\n", "no sample"),
    (".svm", b"1 1:2\nx 1:2\n", "could not convert string to float: b'x'"),
    (".svm", b"0.5 1:2\n", "the label '0.5' is not a class"),
    (".svm", b"1 1:2 2\n", "a line is not 'label index:value"),
    (".svm", b"1 2:1 2:1\n", "with ascending indices"),
    (".svm", b"1 99999999999:1\n", "value too large"),
    (".csv", b"\n", "line 1 is empty"),
    (".csv", b"label,f0\n", "no sample"),
    (".csv", b"class,f0\n1,2\n", "no column 'label', only 'class', 'f0'"),
    (".csv", b"label,f0,f0\n1,2,3\n", "'f0' occurs more than once"),
    (".csv", b"label,f0,f1\n1,2,3\n1,2\n", "line 3 has 2 cells and the header 3"),
    (".csv", b"label,f0,f1\n1,2,3\n1,2,x\n", "line 3, column 'f1': 'x' is not a number"),
    (".csv", b"label,f0,f1\n1,,3\n", "line 2, column 'f0': the cell is empty"),
    (".csv", b"label,f0\n\xff,2\n", "not UTF-8"),
    (".csv", b"label,f0\na,1\n" + b"b" * 5000 + b",2\n", "line 3.*5000 characters, too many for a label"),
    (".csv.gz", gzip.compress(b"label,f0\n1,2\n", mtime=0)[:-9], "gzip packing"),
    (".npz", b"nothing", "archive is damaged"),
    (".npz", saved(X=np.eye(2)), "there are no labels; pass label=None"),
    (".npz", saved(X=np.array([[None]]), y=[1]), "the archive is damaged: Object arrays cannot be loaded"),
    (
        ".npz",
        npz(X=npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**40}, 2)}}"), y=b""),
        "the archive is damaged: Unable to allocate",
    ),
    (".parquet", b"nothing", "file is damaged"),
]
