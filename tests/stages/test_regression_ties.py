"""The integer grid of data/tied_grid.csv, where equal distances cost textbook OPF most of a class."""

from pathlib import Path

import numpy as np
import pytest
import reference

from pathforest import FuzzyOPFClassifier, OPFClassifier


@pytest.fixture(scope="module")
def grid():
    rows = np.loadtxt(Path(__file__).parents[1] / "data" / "tied_grid.csv", delimiter=",", skiprows=1)
    return rows[:, :2], rows[:, 2].astype(int)


def test_textbook_opf_loses_most_of_a_class(grid):
    X, y = grid
    found = reference.textbook_opf(reference.distance_matrix(X, X), y)
    assert min(np.mean(found[y == c] == c) for c in range(3)) < 0.2


def test_opf_keeps_every_training_label(grid):
    X, y = grid
    np.testing.assert_array_equal(OPFClassifier().fit(X, y).label_, y)


@pytest.mark.parametrize("sigma", [0.2, 0.8, 1.0])
def test_fuzzy_opf_along_the_tree_keeps_every_training_label(grid, sigma):
    X, y = grid
    np.testing.assert_array_equal(FuzzyOPFClassifier(sigma=sigma, competition="tree").fit(X, y).label_, y)
