"""The thorough method: labels judged by models that have not seen them."""

import numpy as np
import pytest
from reference import issues as reference_issues
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from pathforest import find_issues
from pathforest._issues import unseen
from pathforest._utils.splits import deal_folds
from pathforest.noise import flip_labels

X, Y = load_iris(return_X_y=True)
NOISY = flip_labels(Y, 0.1)


@pytest.fixture(scope="module")
def small():
    """A search and a forest that are quick, for all tests of this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unseen, "TRANSFORMS", None)
        patch.setattr(unseen, "N_TREES", 40)
        yield


def test_scores_are_probabilities_and_all_else_is_that_of_the_fast_method_for_the_rival(small):
    issues = find_issues(X, NOISY, method="thorough")
    wrong = NOISY != Y
    assert ((issues.score >= 0) & (issues.score <= 1)).all()
    assert np.median(issues.score[wrong]) < 0.2 < 0.8 < np.median(issues.score[~wrong])
    assert wrong[issues.suspects].mean() > 0.7
    fast = find_issues(X, NOISY)
    for name in ("outlier_score", "duplicate_group", "cost", "conquerors", "nearest", "island"):
        np.testing.assert_array_equal(getattr(issues, name), getattr(fast, name), err_msg=name)
    assert (issues.rival != issues.given).all()
    np.testing.assert_array_equal(issues.given[issues.rival_conquerors], issues.rival[:, None].repeat(13, 1))
    costs = [reference_issues.mean(row.tolist()) for row in issues.rival_distances]
    np.testing.assert_array_equal(issues.rival_cost, costs)


class Known(BaseEstimator):
    """A model with known probabilities: the shares of the classes, the first one counted twice."""

    def __init__(self, **options):
        self.options = options

    def fit(self, X, y):
        assert set(self.options["cv"][0][0]) < set(range(len(y)))  # folds of the samples it got
        self.classes_, counts = np.unique(y, return_counts=True)
        counts[0] *= 2
        self.shares = counts / counts.sum()
        self.seen = {tuple(row) for row in X}
        return self

    def predict_proba(self, X):
        assert not self.seen & {tuple(row) for row in X}
        return np.tile(self.shares, (len(X), 1))


def test_probabilities_are_the_mean_of_a_search_and_a_forest_on_other_folds(small, monkeypatch):
    monkeypatch.setattr(unseen, "FuzzyOPFClassifierCV", Known)
    samples = np.random.default_rng(0).normal(size=(60, 2))
    samples = samples[np.argsort(samples[:, 0])]  # folds are dealt in this order
    labels = np.arange(60) % 3
    issues = find_issues(samples, labels, method="thorough", random_state=3)
    random = np.random.RandomState(3)
    seed, fold = random.randint(2**31), deal_folds(labels, 5, random)
    mean = np.empty((60, 3))
    for i in range(5):
        train = fold != i
        model = Known(cv=[([0], [1])]).fit(samples[train], labels[train])
        forest = RandomForestClassifier(40, random_state=seed).fit(samples[train], labels[train])
        mean[~train] = (model.predict_proba(samples[~train]) + forest.predict_proba(samples[~train])) / 2
    np.testing.assert_allclose(issues.score, mean[np.arange(60), labels], rtol=1e-15)
    others = np.where(np.eye(3, dtype=bool)[labels], -1, mean)
    best = others.max(axis=1)
    np.testing.assert_array_equal(others[np.arange(60), issues.rival], best)
    np.testing.assert_array_equal(issues.suggested, np.where(best > issues.score, issues.rival, labels))
    share = issues.score / (issues.score + best)
    expected, _ = reference_issues.flags(share, best > issues.score, issues.rival, labels)
    np.testing.assert_array_equal(issues.is_label_issue, expected)


def test_of_equal_probabilities_the_given_label_wins_then_the_class_with_the_nearer_member(monkeypatch):
    monkeypatch.setattr(unseen, "_out_of_fold", lambda *_: np.full((len(Y), 3), 1 / 3))
    issues = find_issues(X, NOISY, method="thorough")
    np.testing.assert_array_equal(issues.suggested, NOISY)
    for i, D in enumerate(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))):
        others = np.flatnonzero(NOISY[i] != NOISY)
        assert issues.rival[i] == NOISY[others[D[others].argmin()]]


def test_neither_names_nor_the_order_of_distinct_samples_nor_threads_decide_anything(small):
    rng = np.random.default_rng(0)
    samples, rows = X + rng.normal(size=X.shape) / 100, rng.permutation(len(X))
    issues = find_issues(samples, NOISY, method="thorough")
    names = np.array(["c", "a", "b"])
    others = find_issues(samples[rows], names[NOISY][rows], method="thorough", n_jobs=2)
    np.testing.assert_array_equal(others.score, issues.score[rows])
    np.testing.assert_array_equal(others.suggested, names[issues.suggested][rows])
    np.testing.assert_array_equal(others.is_label_issue, issues.is_label_issue[rows])


@pytest.mark.parametrize("labels", [np.zeros(12), np.arange(12), np.arange(12) > 10])
def test_one_class_fits_and_nothing_speaks_for_a_single_sample(labels, small):
    issues = find_issues(X[:12], labels, method="thorough")
    alone = np.array([np.sum(labels == label) == 1 for label in labels])
    assert (issues.score[alone] == 0).all()  # no label has a part in its own probability
    assert (issues.score[~alone] > 0).all()
    assert not issues.is_label_issue[alone].any()
    assert len(issues.classes) > 1 or (issues.score == 1).all()
