"""Published sets as arrays."""

import numpy as np
import pytest
from data_files import FOLDER, published

from pathforest import datasets
from pathforest.datasets.published import DATASETS

NAMES = list(DATASETS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small stand-in for every set."""
    monkeypatch.setenv("PATHFOREST_DATA", str(tmp_path))
    for name in NAMES:
        datasets.write(tmp_path / f"{name}.csv.gz", np.eye(3)[[0, 1, 2, 0]], [3, 1, 1, 2])
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_samples_and_labels_alone(folder, name):
    bunch, (X, y) = datasets.load(name), datasets.load(name, return_X_y=True)
    np.testing.assert_array_equal(X, np.eye(3)[[0, 1, 2, 0]])
    np.testing.assert_array_equal(y, [3, 1, 1, 2])
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)
    assert bunch.filename == str(folder / f"{name}.csv.gz")


def test_classes_are_named_in_the_order_of_their_labels(folder):
    assert datasets.load("cone_torus").target_names.tolist() == ["cone", "torus", "normal"]
    assert datasets.load("data1").target_names.tolist() == ["1", "2", "3"]


def test_features_are_named_by_the_source_or_the_file(folder):
    assert datasets.load("breast_tissue").feature_names[:2] == ["I0", "PA500"]
    assert datasets.load("boat").feature_names == ["x0", "x1", "x2"]


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no set 'iris'"):
        datasets.load("iris")


@pytest.mark.parametrize("name", NAMES)
def test_published_sets_load(monkeypatch, name):
    published(name)
    monkeypatch.setenv("PATHFOREST_DATA", str(FOLDER))
    bunch = datasets.load(name)
    assert bunch.data.shape == DATASETS[name].shape
    assert len(bunch.feature_names) == bunch.data.shape[1]
    assert len(bunch.target_names) == len(set(bunch.target.tolist()))
    assert set(DATASETS[name].classes) <= set(bunch.target.tolist())
    assert DATASETS[name].title in bunch.DESCR
