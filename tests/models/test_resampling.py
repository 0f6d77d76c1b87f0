"""The samplers keep and draw what their definitions say, in the contract of imbalanced-learn."""

import numpy as np
import pytest
import reference
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from reference.models import cluster_model, plain_model
from strategies import make_samples, problems, seeds

pytest.importorskip("imblearn")

from imblearn.utils.estimator_checks import parametrize_with_checks

from pathforest import O2PFSampler, OPFUnderSampler
from pathforest._utils.splits import deal_folds
from pathforest.resampling import draw_around, in_proportion

SAMPLERS = [OPFUnderSampler(), O2PFSampler()]
each = pytest.mark.parametrize("sampler", SAMPLERS)


# A list of what imbalanced-learn passes as a generator, which pytest no longer likes; without the check of
# sparse columns, which it makes whatever the tag says: sparse samples are refused throughout this package.
names, pairs = parametrize_with_checks(SAMPLERS).args
CHECKS = [(estimator, check) for estimator, check in pairs if "pandas_sparse" not in check.func.__name__]


@pytest.mark.parametrize(names, CHECKS)
def test_imbalanced_learn_check(estimator, check):
    check(estimator)


def unbalanced(seed=0, sizes=(120, 30, 12)):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), 2)) + y[:, None], y


X, Y = unbalanced()
DATES = np.array(["2026-01-01", "2026-01-01", "NaT"] * 54, dtype="M8[D]")
REFUSED = [
    (X, ["a", "a", np.nan] * 54, {}, ValueError, "54 missing"),
    (X, DATES, {}, ValueError, "54 missing"),
    (X, [0, 0, "b"] * 54, {}, TypeError, "mixes text with other labels"),
    (X, Y, {"metric": "precomputed"}, ValueError, "needs their features"),
    (scipy.sparse.csr_array(X), Y, {}, TypeError, "toarray"),
]


@each
@pytest.mark.parametrize(("samples", "labels", "params", "error", "message"), REFUSED)
def test_what_samplers_do_not_take_is_refused(sampler, samples, labels, params, error, message):
    with pytest.raises(error, match=message):
        type(sampler)(**params).fit_resample(samples, labels)


# OPFUnderSampler


def points_by_definition(X, y, fold):
    points = np.zeros(len(y), dtype=int)
    for part in set(fold.tolist()):
        train, val = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        if not len(train):
            continue
        model = plain_model(reference.distance_matrix(X[train], X[train]), y[train])
        D = reference.distance_matrix(X[val], X[train])
        for t, q in zip(val, reference.conquer(D, model.cost, model.order)[1][:, 0], strict=True):
            points[train[q]] += 1 if y[train[q]] == y[t] else -1
    return points


@given(problems(largest=40, most_features=4), st.integers(2, 6), seeds)
def test_points_are_right_minus_wrong_conquests(problem, n_splits, seed):
    fold = np.random.default_rng(seed).integers(0, n_splits, len(problem.X))
    got = OPFUnderSampler()._count_conquests(problem.X, problem.codes, fold)
    np.testing.assert_array_equal(got, points_by_definition(problem.X, problem.codes, fold))


@pytest.mark.parametrize("seed", range(5))
def test_no_sample_with_fewer_points_is_kept_instead_of_one_with_more(seed):
    X, y = unbalanced(seed)
    sampler = OPFUnderSampler(random_state=seed)
    X_left, y_left = sampler.fit_resample(X, y)
    np.testing.assert_array_equal(X_left, X[sampler.sample_indices_])
    np.testing.assert_array_equal(y_left, y[sampler.sample_indices_])
    kept = np.isin(np.arange(len(y)), sampler.sample_indices_)
    assert np.bincount(y[kept]).tolist() == [12, 12, 12]
    for label in (0, 1):
        points, left = sampler.points_[y == label], kept[y == label]
        assert points[left].min() >= points[~left].max()
    assert sampler.points_.min() < 0 < sampler.points_.max()


@given(problems(largest=60), st.integers(2, 9), seeds)
def test_folds_share_out_samples_and_classes_evenly(problem, n_splits, seed):
    fold = deal_folds(problem.codes, n_splits, np.random.RandomState(seed))
    for members in [fold] + [fold[problem.codes == c] for c in np.unique(problem.codes)]:
        counts = np.bincount(members, minlength=n_splits)
        assert counts.max() - counts.min() <= 1
    one_class = np.zeros(30, dtype=int)
    assert len({tuple(deal_folds(one_class, 3, np.random.RandomState(seed))) for seed in range(3)}) == 3


# O2PFSampler


@pytest.mark.parametrize("recipe", ["gaussian", "collinear", "duplicates", "constant columns"])
def test_draws_have_the_mean_and_covariance_of_the_samples(recipe):
    samples, _ = make_samples(recipe, 1, 12, 3)
    drawn = draw_around(samples, 200_000, np.random.RandomState(0))
    scale = samples.std(axis=0).max() + 1e-12
    np.testing.assert_allclose(drawn.mean(axis=0), samples.mean(axis=0), atol=0.02 * scale)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(samples.T), atol=0.03 * scale**2)


@given(problems(smallest=4, largest=40, most_features=4), seeds)
def test_given_samples_come_first_and_classes_are_balanced(problem, seed):
    codes = problem.codes
    if codes.max() == 0:
        return
    X, y = O2PFSampler(random_state=seed).fit_resample(problem.X, codes)
    np.testing.assert_array_equal(X[: len(codes)], problem.X)
    np.testing.assert_array_equal(y[: len(codes)], codes)
    assert (np.bincount(y) == np.bincount(codes).max()).all()
    assert X.dtype == problem.X.dtype


@pytest.mark.parametrize("seed", range(4))
def test_new_samples_are_drawn_around_the_reference_clusters(seed):
    X, y = unbalanced(seed, sizes=(60, 25))
    own = X[y == 1]
    labels = cluster_model(reference.distance_matrix(own, own), False, 5).labels
    rng = np.random.RandomState(seed)
    shares = in_proportion(35, np.bincount(labels)).tolist()
    assert in_proportion(4, np.array([1, 1, 3])).tolist() == [1, 1, 2]  # what is left to the largest parts
    expected = [draw_around(own[labels == c], n, rng) for c, n in enumerate(shares)]
    sampler = O2PFSampler(k_max=5, random_state=seed)
    got, _ = sampler.fit_resample(X, y)
    assert len(expected) == sampler.n_clusters_[1] > 1
    np.testing.assert_array_equal(got[85:], np.concatenate(expected))


# Both


@each
def test_the_same_seed_gives_the_same_samples_on_any_number_of_threads(sampler):
    ways = {"n_jobs": 1}, {"n_jobs": 2}, {"random_state": 1}
    first, again, other = (type(sampler)(**way).fit_resample(X, Y)[0].tolist() for way in ways)
    assert first == again != other
