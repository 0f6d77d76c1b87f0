"""The study of wrong labels plants as many as it says, and of the kind it says."""

import numpy as np
import pytest

from benchmarks.studies.issues import KINDS, TRAINED, plant, prepare, units

CODES = np.arange(600) % 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_labels_is_wrong(kind):
    noisy = plant(CODES, kind, 0.1, np.random.default_rng(0))
    assert (noisy != CODES).sum() == 60
    assert set(noisy) == {0, 1, 2}


def test_class_dependent_noise_has_one_target_for_each_class():
    noisy = plant(CODES, "class-dependent", 0.2, np.random.default_rng(0))
    changed = noisy != CODES
    targets = [set(noisy[changed & (code == CODES)]) for code in range(3)]
    assert [len(target) for target in targets] == [1, 1, 1]
    assert set.union(*targets) == {0, 1, 2}


def test_tiny_classes_and_constant_features_are_left_out():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    y = np.array(["a"] * 16 + ["b"] * 4)
    samples, codes = prepare(X, y, np.random.default_rng(0))
    assert samples.shape == (16, 1)
    assert set(codes) == {0}


def test_a_short_run_covers_every_dataset():
    listed = list(units(["p", "q"], 2))
    assert len(listed) == len(set(listed)) == 2 * 2 * (6 + len(TRAINED))
    assert [repeat for *_, repeat in listed] == sorted(repeat for *_, repeat in listed)
