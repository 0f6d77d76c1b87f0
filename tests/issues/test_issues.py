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
NAMES = np.array(["setosa", "<b>versicolor", "virginica\x1b[31m"])
NOISY = NAMES[flip_labels(Y, 0.1)]


@pytest.fixture(scope="module")
def issues():
    """Issues of iris with a tenth of the labels wrong."""
    return find_issues(X, NOISY)


def test_suspects_are_the_flagged_samples_by_score(issues):
    assert sorted(issues.suspects) == np.flatnonzero(issues.is_label_issue).tolist()
    assert (np.diff(issues.score[issues.suspects]) >= 0).all()
    assert len(issues.suspects) > 5


def test_drop_keeps_the_type_of_the_samples(issues):
    frame = pd.DataFrame(X, columns=list("abcd"))
    kept, labels = issues.drop(frame)
    assert isinstance(kept, pd.DataFrame)
    assert kept.index.tolist() == np.flatnonzero(~issues.is_label_issue).tolist()
    np.testing.assert_array_equal(labels, NOISY[~issues.is_label_issue])
    np.testing.assert_array_equal(issues.drop(X)[0], kept.to_numpy())


@pytest.mark.parametrize(
    "which", [[3, 1], np.array([1, 3], dtype=np.uint8), np.isin(np.arange(150), [1, 3]), []]
)
def test_other_samples_can_be_dropped_and_changed(issues, which):
    rows = np.sort(np.flatnonzero(which) if len(which) == 150 else which).astype(int)
    kept, labels = issues.drop(X, which)
    np.testing.assert_array_equal(kept, np.delete(X, rows, axis=0))
    np.testing.assert_array_equal(labels, np.delete(NOISY, rows))
    expected = NOISY.copy()
    expected[rows] = issues.suggested[rows]
    np.testing.assert_array_equal(issues.relabel(which), expected)


@pytest.mark.parametrize("which", [[150], [-1], [0.5], ["a"], [[1]], [True, False]])
def test_samples_that_do_not_exist_are_refused(issues, which):
    with pytest.raises(ValueError, match=r"which=.*(indices of samples|from 0 to 149)"):
        issues.relabel(which)


def test_other_samples_than_those_checked_are_refused(issues):
    with pytest.raises(ValueError, match="X has 149 samples and the issues are those of 150"):
        issues.drop(X[1:])


def test_the_frame_has_a_row_per_sample(issues):
    frame = issues.to_frame()
    assert tuple(frame.columns) == COLUMNS
    for name in COLUMNS:
        np.testing.assert_array_equal(frame[name], getattr(issues, name))


def test_a_missing_pandas_is_named(issues, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        issues.to_frame()


def test_mixed_classes_are_the_confusion_s_largest(issues):
    assert issues.confusion.sum() == 150
    listed = issues.mixed_classes
    assert [count for *_, count in listed] == sorted((count for *_, count in listed), reverse=True)
    assert sum(count for *_, count in listed) == (issues.given != issues.suggested).sum()
    for given, suggested, count in listed:
        assert ((issues.given == given) & (issues.suggested == suggested)).sum() == count


def test_the_summary_counts(issues):
    text = str(issues)
    assert f"{len(issues.suspects)}; estimated share {issues.noise_share:.1%}" in text
    assert "150 in 3 classes" in text
    assert "\x1b" not in text  # labels cannot act on a terminal
    assert repr(issues).startswith(f"<Issues: {len(issues.suspects)} of 150")


def test_html_shows_labels_as_text(issues):
    page = issues._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;versicolor" in page
    assert page.count("<tr>") >= 1 + min(10, len(issues.suspects))


def test_a_set_without_suspects_shows_no_table_of_them():
    issues = find_issues([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1], n_conquerors=1)
    assert issues.suspects.size == 0
    assert issues._repr_html_().count("<table>") == 1
    assert issues.mixed_classes == []
    assert "classes that mix" not in str(issues)


# Arguments


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "slow"}, ValueError, "method='slow' is unknown; use one of 'fast', 'thorough'"),
        ({"n_conquerors": 0}, ValueError, "n_conquerors=0 must be at least 1"),
        ({"n_conquerors": 2.5}, TypeError, "n_conquerors=2.5 must be an integer"),
        ({"metric": "nearness"}, ValueError, "metric='nearness' is unknown"),
        (
            {"metric": "cosine", "algorithm": "kd_tree"},
            ValueError,
            "algorithm='kd_tree' does not know metric='cosine'",
        ),
        ({"device": "tpu"}, ValueError, "device='tpu' is unknown"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 leaves no thread"),
        ({"random_state": "x"}, ValueError, "random_state='x' cannot seed"),
    ],
)
def test_parameters_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        find_issues(X, Y, **options)


def test_labels_must_be_there():
    with pytest.raises(ValueError, match="find_issues requires y to be passed"):
        find_issues(X, None)
    with pytest.raises(ValueError, match="missing"):
        find_issues(X, [0, 0, None, 1, 1, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        find_issues(X, Y[1:])


def test_collections_of_dask_are_refused():
    array = pytest.importorskip("dask.array", reason="needs Dask")
    with pytest.raises(TypeError, match=r"not a Dask Array; pass X.compute\(\)"):
        find_issues(array.from_array(X), Y)


def test_samples_and_labels_are_left_alone():
    samples, labels = X.copy(), np.array(Y)
    samples.flags.writeable = labels.flags.writeable = False
    find_issues(samples, labels)
