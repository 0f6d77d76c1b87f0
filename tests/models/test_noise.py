"""Wrong labels on purpose: as many as asked for, and each of them wrong."""

import numpy as np
import pytest

from pathforest.noise import flip_labels

Y = np.repeat(["ham", "eggs", "spam"], 40)


@pytest.mark.parametrize(("share", "n_wrong"), [(0, 0), (0.1, 12), (0.5, 60), (1, 120)])
def test_the_share_is_met(share, n_wrong):
    assert np.sum(flip_labels(Y, share) != Y) == n_wrong


def test_the_labels_given_stay_as_they_are():
    y = Y.copy()
    flip_labels(y, 0.5)
    np.testing.assert_array_equal(y, Y)


def test_every_other_class_is_as_likely():
    flipped = flip_labels(np.repeat(Y, 50), 1.0)[:2000]  # all eggs and spam now
    assert set(flipped) == {"eggs", "spam"}
    assert abs(np.mean(flipped == "eggs") - 0.5) < 0.05


def test_a_generator_goes_on():
    rng = np.random.RandomState(0)
    assert (flip_labels(Y, 0.3, rng) != flip_labels(Y, 0.3, rng)).any()


def test_a_single_class_stays():
    assert set(flip_labels(["a", "a"], 1.0)) == {"a"}


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half"])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(ValueError, match="from 0 to 1"):
        flip_labels(Y, share)
