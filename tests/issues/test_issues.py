"""The object: what it lists, what it hands on, and how it shows itself."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from pathforest import find_issues
from pathforest._issues.issues import COLUMNS
from pathforest.noise import flip_labels

X, Y = load_iris(return_X_y=True)
X.flags.writeable = Y.flags.writeable = False  # samples and labels are left alone
NAMES = np.array(["setosa", "<b>versicolor", "virginica\x1b[31m"])
NOISY = NAMES[flip_labels(Y, 0.1)]


@pytest.fixture(scope="module")
def issues():
    """Issues of iris with a tenth of the labels wrong."""
    return find_issues(X, NOISY)


@pytest.mark.parametrize(
    "which", [None, [3, 1], np.array([1, 3], dtype=np.uint8), np.isin(np.arange(150), [1, 3]), []]
)
def test_flagged_or_other_samples_are_dropped_and_changed(issues, which):
    rows = np.flatnonzero(which) if np.size(which) == 150 else which
    rows = np.sort(issues.suspects if which is None else rows).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd"))
    kept, labels = issues.drop(frame, which)
    pd.testing.assert_frame_equal(kept, frame.drop(rows))  # the type is kept
    np.testing.assert_array_equal(issues.drop(X, which)[0], kept.to_numpy())
    np.testing.assert_array_equal(labels, np.delete(NOISY, rows))
    expected = NOISY.copy()
    expected[rows] = issues.suggested[rows]
    np.testing.assert_array_equal(issues.relabel(which), expected)


@pytest.mark.parametrize("which", [[150], [-1], [0.5], ["a"], [[1]], [True, False]])
def test_samples_that_do_not_exist_or_were_not_checked_are_refused(issues, which):
    with pytest.raises(ValueError, match=r"which=.*(indices of samples|from 0 to 149)"):
        issues.relabel(which)
    with pytest.raises(ValueError, match="X has 149 samples and the issues are those of 150"):
        issues.drop(X[1:])


def test_the_frame_has_a_row_per_sample_and_needs_pandas(issues, monkeypatch):
    frame = issues.to_frame()
    assert tuple(frame.columns) == COLUMNS
    for name in COLUMNS:
        np.testing.assert_array_equal(frame[name], getattr(issues, name))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        issues.to_frame()


def test_suspects_and_mixed_classes_are_listed_and_counted(issues):
    assert sorted(issues.suspects) == np.flatnonzero(issues.is_label_issue).tolist()
    assert (np.diff(issues.score[issues.suspects]) >= 0).all()
    assert len(issues.suspects) > 5
    assert issues.confusion.sum() == 150
    counts = [count for *_, count in issues.mixed_classes]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == (issues.given != issues.suggested).sum()
    for given, suggested, count in issues.mixed_classes:
        assert ((issues.given == given) & (issues.suggested == suggested)).sum() == count
    text = str(issues)
    assert f"{len(issues.suspects)}; estimated share {issues.noise_share:.1%}" in text
    assert "150 in 3 classes" in text
    assert "\x1b" not in text  # labels cannot act on a terminal
    assert repr(issues).startswith(f"<Issues: {len(issues.suspects)} of 150")


def test_html_shows_labels_as_text_and_no_table_without_suspects(issues):
    page = issues._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;versicolor" in page
    assert page.count("<tr>") >= 1 + min(10, len(issues.suspects))
    clean = find_issues([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1], n_conquerors=1)
    assert (clean.suspects.size, clean.mixed_classes) == (0, [])
    assert clean._repr_html_().count("<table>") == 1
    assert "classes that mix" not in str(clean)


def test_collections_of_dask_are_refused():
    array = pytest.importorskip("dask.array", reason="needs Dask")
    with pytest.raises(TypeError, match=r"not a Dask Array; pass X.compute\(\)"):
        find_issues(array.from_array(X), Y)
