"""The comparison of outlier detectors: every detector scores in the same direction."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.studies.outliers import DRAWN, detectors, judge


@pytest.mark.parametrize("name", list(detectors(0)))
def test_a_stray_sample_is_the_most_abnormal_for_every_detector(name):
    X = np.concatenate([np.random.default_rng(0).normal(size=(100, 2)), [[40.0, 40.0]]])
    verdict = judge(detectors(0)[name], X)
    assert verdict.abnormality.argmax() == 100
    assert verdict.is_outlier[100]


@pytest.mark.parametrize("name", list(DRAWN))
def test_outliers_are_the_few_labelled_1(name):
    y = DRAWN[name](np.random.default_rng(0)).y
    assert 0 < y.mean() < 0.1
