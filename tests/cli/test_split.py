"""`pathforest convert`: files cut into parts, joined, and put into other formats."""

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, IRIS, KINDS, X, codes, fail, flowers, run, succeed

from pathforest.datasets import read, write
from pathforest.libopf import read_positions


def test_split_parts_are_disjoint_complete_and_stratified(folder):
    done = run("convert iris.csv --label kind --parts train=60,test=40 --out parts")
    assert (done.exit_code, done.stderr) == (0, "")
    train, test = pd.read_csv("parts/train.csv"), pd.read_csv("parts/test.csv")
    assert train["kind"].value_counts().tolist() == [30, 30, 30]
    assert test["kind"].value_counts().tolist() == [20, 20, 20]
    assert sorted(pd.concat([train, test])["name"]) == sorted(flowers()["name"])
    assert train["name"].tolist() == [name for name in flowers()["name"] if name in set(train["name"])]


def test_split_follows_the_seed(folder):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        succeed(f"convert iris.csv --label kind --parts train=60,test=40 --seed {seed} --out {out}")
    a, b, c = ((folder / out / "train.csv").read_bytes() for out in "abc")
    assert a == b
    assert a != c


def test_folds_cover_the_file_once(folder):
    succeed("convert iris.csv -l kind --parts 4 -o folds")
    folds = [pd.read_csv(f"folds/fold{i}.csv") for i in range(4)]
    assert sorted(pd.concat(folds)["name"]) == sorted(flowers()["name"])
    assert all(len(fold) in (36, 39) for fold in folds)


@pytest.mark.parametrize("ending", [".dat", ".txt", ".libsvm", ".npz", ".parquet", ".csv.gz", ".tsv"])
def test_split_keeps_the_format(folder, ending):
    write(f"data{ending}", X.astype(np.float32), codes + 1)
    succeed(f"convert data{ending} --parts a=1,b=1 --out parts")
    parts = [read(f"parts/{name}{ending}") for name in "ab"]
    found = np.concatenate([part.X for part in parts]).astype(np.float32)
    assert sorted(found.tolist()) == sorted(X.astype(np.float32).tolist())
    assert np.concatenate([part.y for part in parts]).sum() == (codes + 1).sum()


def test_split_keeps_the_positions_of_libopf(folder):
    write("data.dat", X.astype(np.float32), codes + 1, positions=np.arange(len(X)) + 1000)
    succeed("convert data.dat --parts a=1,b=1 --out parts")
    positions = [read_positions(f"parts/{name}.dat") for name in "ab"]
    assert sorted(np.concatenate(positions)) == list(range(1000, 1000 + len(X)))
    np.testing.assert_array_equal(read("parts/a.dat").X, X.astype(np.float32)[positions[0] - 1000])


def test_split_says_when_there_are_no_labels(folder):
    said = run("convert iris.csv --parts 2 -o parts").stderr
    assert said == "pathforest: not stratified: no labels; --label names their column\n"


@pytest.mark.parametrize("parts", ["a=0", "../a=1", "a=1,a=2", "a=1e999999999,b=1"])
def test_parts_have_names_and_shares_of_their_own(folder, parts):
    assert "is not a NAME=SHARE of its own" in fail(f"convert iris.csv --parts {parts} -o p", code=2)


# convert


def test_convert_changes_the_format_and_nothing_else(folder):
    succeed(f"convert {IRIS} --out iris.parquet")
    found = read("iris.parquet", label="kind")
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == KINDS.tolist()
    assert found.feature_names == FEATURES


def test_convert_puts_files_one_below_the_other(folder):
    write("a.dat", X[:80].astype(np.float32), codes[:80] + 1)
    write("b.csv", X[80:].astype(np.float32), codes[80:] + 1)
    succeed("convert a.dat b.csv -o both.npz")
    np.testing.assert_array_equal(read("both.npz").X.astype(np.float32), X.astype(np.float32))
    assert read("both.npz").y.tolist() == (codes + 1).tolist()


def test_convert_normalizes(folder):
    succeed(f"convert {IRIS} --normalize -o z.csv")
    np.testing.assert_allclose(read("z.csv", label="kind").X, (X - X.mean(0)) / X.std(0), atol=1e-12)


@pytest.mark.parametrize("name", ["o.dat", "o.txt", "o.svm"])
def test_formats_without_names_are_written_without_them(folder, name):
    pd.DataFrame(X, columns=FEATURES).assign(y=codes + 1).to_csv("num.csv", index=False)
    done = run(f"convert num.csv --label y --out {name}")
    assert done.exit_code == 0
    assert done.stderr == f"pathforest: {name}: this format keeps no names of features\n"
    np.testing.assert_allclose(read(name).X, X, rtol=1e-6)
    said = fail(f"convert {IRIS} --out t.svm")
    assert "t.svm: the label 'setosa' is text, and this format holds integers; write .csv" in said


def test_values_beyond_float32_are_not_written_to_dat(folder):
    (folder / "large.csv").write_text("label,x\n1,1e300\n")
    assert "1e+300 is beyond float32" in fail("convert large.csv -o large.dat")
    assert not (folder / "large.dat").exists()
