"""Look-alikes of published sets: repeatable, in proportion, and about as hard as the originals."""

from collections import Counter

import numpy as np
import pytest
from checks import same
from data_files import published
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from pathforest.datasets import make_boat, make_cone_torus, make_four_class, read

GENERATORS = {"boat": make_boat, "cone_torus": make_cone_torus, "four_class": make_four_class}
COUNTS = {
    "boat": {1: 33, 2: 33, 3: 34},
    "cone_torus": {1: 92, 2: 99, 3: 209},
    "four_class": {-1: 555, 1: 307},
}


def score(X, y):
    """Share of samples whose nearest neighbour is of their class."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(KNeighborsClassifier(1), X, y, cv=folds).mean()


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds_decide_the_samples_and_generators_go_on(name):
    rng = np.random.RandomState(0)
    found = [GENERATORS[name](random_state=seed) for seed in (3, 3, 4, rng, rng)]
    same(found[0], found[1])
    assert len({X.tobytes() for X, _ in found}) == 4


@pytest.mark.parametrize("name", GENERATORS)
def test_classes_are_as_large_as_published(name):
    X, y = GENERATORS[name](random_state=0)
    assert Counter(y.tolist()) == COUNTS[name]
    for n_samples in (1, 2, 7, 1000):
        X, y = GENERATORS[name](n_samples)
        assert (X.shape, y.shape) == ((n_samples, 2), (n_samples,))


def test_boat_without_noise_lies_on_its_ellipse():
    X, y = make_boat(random_state=0, noise=0)
    np.testing.assert_allclose(np.sum((X[y == 3] / [5, 2]) ** 2, axis=1), 1)
    assert (np.hypot(*(X[y == 1] - [-1.5, 0]).T) <= 1).all()
    assert (np.abs(X[y == 2] - [1.9, 0]) <= 1).all()


def test_cone_torus_parts_are_where_they_should_be():
    X, y = make_cone_torus(4000, random_state=0)
    assert (np.hypot(*(X[y == 1] - [0.37, 0.21]).T) <= 0.18).all()
    ring = np.hypot(*(X[y == 2] - [0.46, 0.19]).T)
    assert (np.abs(ring - 0.32) <= 0.045).all()
    assert (X[y == 2, 1] >= 0.19).all()
    np.testing.assert_allclose(X[y == 3].std(axis=0), 0.17, rtol=0.1)


@pytest.mark.parametrize("name", GENERATORS)
def test_look_alikes_are_as_hard_as_the_published_set_and_lie_where_it_lies(name):
    table = read(published(name))
    found = np.mean([score(*GENERATORS[name](random_state=seed)) for seed in range(5)])
    assert abs(found - score(table.X, table.y)) < 0.04
    X, y = GENERATORS[name](5000, random_state=0)
    spread = table.X.std(axis=0)
    for label in COUNTS[name]:
        near, like = table.X[table.y == label], X[y == label]
        # A third of a deviation: the 34 samples on the ellipse of the boat are not spread evenly.
        assert (np.abs(near.mean(axis=0) - like.mean(axis=0)) < spread / 3).all()
        assert (np.abs(near.std(axis=0) - like.std(axis=0)) < spread / 3).all()


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 0}, "n_samples=0 draws nothing"),
        ({"noise": -1}, "noise=-1 is not a width"),
        ({"noise": float("nan")}, "noise=nan is not a width"),
    ],
)
def test_parameters_without_meaning_are_refused(name, wrong, message):
    with pytest.raises(ValueError, match=message):
        GENERATORS[name](**wrong)
