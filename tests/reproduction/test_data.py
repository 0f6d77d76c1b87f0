import numpy as np
import pytest

from pathforest._reproduction.data import PRESETS, split_rows
from pathforest._reproduction.experiment import Samples

RNG = np.random.default_rng(0)
SAMPLES = Samples(RNG.normal(3, 5, (90, 2)), np.repeat([1, 2, 3], [33, 23, 34]))

# Class sizes of the paper's sets, and the test sizes that its averages betray.
PAPER_SIZES = [
    ((33, 33, 34), 21), ((92, 99, 209), 81), ((555, 307), 173), ((632, 791), 286), ((152, 131), 58),
    ((49, 102, 107, 28, 54), 70), ((21, 15, 18, 16, 14, 22), 24), ((20,) * 70, 280),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "expected"), PAPER_SIZES)
def test_each_class_is_split_in_integer_arithmetic_into_parts_of_the_paper_s_sizes(sizes, expected):
    y = np.repeat(np.arange(len(sizes)), sizes)
    train, evaluation, test = split_rows(y, np.random.default_rng(1))
    for label, n in enumerate(sizes):
        m = 4 * n // 5
        shares = [(y[rows] == label).sum() for rows in (train, evaluation, test)]
        assert shares == [3 * m // 4, m - 3 * m // 4, n - m]
    assert sorted(np.concatenate([train, evaluation, test])) == list(range(len(y)))
    assert len(test) == expected
    assert set(test) != set(split_rows(y, np.random.default_rng(2))[2])


def test_the_paper_scales_by_all_samples_and_searches_on_an_evaluation_part():
    parts = PRESETS["paper"](SAMPLES, np.random.default_rng(0))
    seen = np.concatenate([parts.search.X, parts.test.X])
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(seen.std(axis=0), 1)
    [(train, evaluation)] = parts.folds
    np.testing.assert_array_equal(parts.search.X[train], parts.train.X)
    assert len(train) + len(evaluation) == len(parts.search.y)


def test_the_clean_preset_scales_by_what_is_not_test_and_searches_in_folds_of_it():
    paper, parts = (PRESETS[name](SAMPLES, np.random.default_rng(0)) for name in ("paper", "clean"))
    np.testing.assert_allclose(parts.train.X.mean(axis=0), 0, atol=1e-12)
    assert abs(np.concatenate([parts.train.X, parts.test.X]).mean(axis=0)).max() > 1e-6
    assert sorted(np.concatenate([rows for _, rows in parts.folds])) == list(range(len(parts.train.y)))
    np.testing.assert_array_equal(paper.test.y, parts.test.y)  # the same samples
    assert np.corrcoef(paper.test.X[:, 0], parts.test.X[:, 0])[0, 1] == pytest.approx(1)
