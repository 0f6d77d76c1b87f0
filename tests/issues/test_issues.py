"""The object: what it lists, hands on and shows; methods that ask models which have not seen a label."""

import numpy as np
import pandas as pd
import pytest
from reference import issues as reference_issues
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV, find_issues
from pathforest._issues import unseen
from pathforest._issues.unseen import out_of_fold
from pathforest._utils.splits import deal_folds
from pathforest.noise import flip_labels

X, Y = load_iris(return_X_y=True)
X.flags.writeable = Y.flags.writeable = False  # samples and labels are left alone
NAMES = np.array(["setosa", "<b>versicolor", "virginica\x1b[31m"])
WRONG = flip_labels(Y, 0.1)
NOISY = NAMES[WRONG]


@pytest.fixture(scope="module")
def issues():
    """Issues of iris with a tenth of the labels wrong."""
    return find_issues(X, NOISY, method="fast")


@pytest.mark.parametrize(
    "which", [None, [3, 1], np.array([1, 3], dtype=np.uint8), np.isin(np.arange(150), [1, 3]), []]
)
def test_flagged_or_other_samples_are_dropped_and_changed(issues, which):
    rows = np.flatnonzero(which) if np.size(which) == 150 else which
    rows = np.sort(issues.suspects if which is None else rows).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd"))
    kept, labels = issues.drop(frame, which)
    pd.testing.assert_frame_equal(kept, frame.drop(rows))  # the type is kept
    np.testing.assert_array_equal(issues.drop(X, which)[0], kept.to_numpy())
    np.testing.assert_array_equal(labels, np.delete(NOISY, rows))
    expected = NOISY.copy()
    expected[rows] = issues.suggested[rows]
    np.testing.assert_array_equal(issues.relabel(which), expected)


@pytest.mark.parametrize("which", [[150], [-1], [0.5], ["a"], [[1]], [True, False]])
def test_samples_that_do_not_exist_or_were_not_checked_are_refused(issues, which):
    with pytest.raises(ValueError, match=r"which=.*(indices of samples|from 0 to 149)"):
        issues.relabel(which)
    with pytest.raises(ValueError, match="X has 149 samples and the issues are those of 150"):
        issues.drop(X[1:])


def test_suspects_and_mixed_classes_are_listed_and_counted(issues):
    assert sorted(issues.suspects) == np.flatnonzero(issues.is_label_issue).tolist()
    assert (np.diff(issues.score[issues.suspects]) >= 0).all()
    assert len(issues.suspects) > 5
    assert issues.confusion.sum() == 150
    counts = [count for *_, count in issues.mixed_classes]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == (issues.given != issues.suggested).sum()
    for given, suggested, count in issues.mixed_classes:
        assert ((issues.given == given) & (issues.suggested == suggested)).sum() == count
    assert "\x1b" not in str(issues)  # labels cannot act on a terminal


def test_html_shows_labels_as_text(issues):
    page = issues._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;versicolor" in page


# The thorough method


@pytest.fixture(scope="module")
def small():
    """A search and a forest that are quick, for the thorough method."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unseen, "N_TREES", 40)
        patch.setattr(unseen, "out_of_fold", out_of_fold)
        patch.setitem(FuzzyOPFClassifierCV.__init__.__kwdefaults__, "transforms", None)
        yield


def test_scores_are_probabilities_and_all_else_is_that_of_the_fast_method_for_the_rival(small):
    issues = find_issues(X, WRONG, method="thorough")
    wrong = WRONG != Y
    assert ((issues.score >= 0) & (issues.score <= 1)).all()
    assert np.median(issues.score[wrong]) < 0.2 < 0.8 < np.median(issues.score[~wrong])
    assert wrong[issues.suspects].mean() > 0.7
    fast = find_issues(X, WRONG, method="fast")
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
    near = issues.rival_cost / (issues.cost + issues.rival_cost)
    both = (issues.score / (issues.score + best) + near) / 2
    np.testing.assert_array_equal(issues.is_label_issue, (best > issues.score) & (both < 0.35))
    _, estimate = reference_issues.flags(both, both < 0.5, issues.rival, labels)
    assert issues.noise_share == pytest.approx(estimate, rel=1e-12)


def test_of_equal_probabilities_the_given_label_wins_then_the_class_with_the_nearer_member(monkeypatch):
    monkeypatch.setattr(unseen, "out_of_fold", lambda *_: np.full((len(Y), 3), 1 / 3))
    issues = find_issues(X, WRONG, method="thorough")
    np.testing.assert_array_equal(issues.suggested, WRONG)
    for i, D in enumerate(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))):
        others = np.flatnonzero(WRONG[i] != WRONG)
        assert issues.rival[i] == WRONG[others[D[others].argmin()]]


@pytest.mark.parametrize("method", ["learned", "thorough", "auto"])
def test_neither_names_nor_the_order_of_distinct_samples_nor_threads_decide_anything(small, method):
    rng = np.random.default_rng(0)
    samples, rows = X + rng.normal(size=X.shape) / 100, rng.permutation(len(X))
    issues = find_issues(samples, WRONG, method=method)
    names = np.array(["c", "a", "b"])
    others = find_issues(samples[rows], names[WRONG][rows], method=method, n_jobs=2)
    np.testing.assert_array_equal(others.score, issues.score[rows])
    np.testing.assert_array_equal(others.suggested, names[issues.suggested][rows])
    np.testing.assert_array_equal(others.is_label_issue, issues.is_label_issue[rows])


# Learned features, and the choice of a method


def test_learned_is_the_mean_of_standardised_distances_and_trees_that_did_not_draw_a_sample(small):
    issues = find_issues(X, WRONG, method="learned")
    units = [2.0**-40, 1, 2**10, 2.0**400]
    np.testing.assert_array_equal(find_issues(X * units, WRONG, method="learned").score, issues.score)
    Z = StandardScaler().fit_transform(X)
    order = np.lexsort(Z.T[::-1])
    seen = list(dict.fromkeys(WRONG[order]))  # classes by their first samples
    forest = RandomForestClassifier(
        40, min_samples_leaf=5, oob_score=True, random_state=np.random.RandomState(0).randint(2**31)
    )
    shares = np.empty((150, 3))
    found = forest.fit(Z[order], [seen.index(label) for label in WRONG[order]]).oob_decision_function_
    shares[order[:, None], seen] = found
    own = shares[np.arange(150), WRONG]
    rival = np.where(np.eye(3, dtype=bool)[WRONG], -1, shares).max(axis=1)
    np.testing.assert_allclose(shares[np.arange(150), issues.rival], rival, rtol=1e-9)
    D = pairwise_distances(Z)
    for i in range(150):
        for costs, label in ((issues.cost, WRONG[i]), (issues.rival_cost, issues.rival[i])):
            members = np.flatnonzero((label == WRONG) & (np.arange(150) != i))
            assert costs[i] == pytest.approx(np.sort(D[i, members])[:13].mean())
    near = issues.rival_cost / (issues.cost + issues.rival_cost)
    np.testing.assert_allclose(issues.score, (near + own / (own + rival)) / 2, rtol=1e-9)
    np.testing.assert_array_equal(issues.is_label_issue, issues.score < 0.35)
    np.testing.assert_array_equal(issues.suggested, np.where(issues.score < 0.5, issues.rival, WRONG))


@pytest.mark.parametrize(
    ("n", "d", "n_classes", "expected"),
    [
        (600, 50, 10, "thorough, standardised"),
        (601, 50, 10, "learned"),
        (9, 2, 2, "fast, standardised"),
        (600, 2, 1, "fast, standardised"),
    ],
)
def test_auto_chooses_by_size_and_gives_features_one_scale(n, d, n_classes, expected, monkeypatch):
    def ask(X, codes, *_):
        np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0] * d, [1] * d], atol=1e-9)
        return np.eye(n_classes)[codes]

    monkeypatch.setattr(unseen, "out_of_bag", ask)
    monkeypatch.setattr(unseen, "out_of_fold", ask)
    samples = np.random.default_rng(0).normal(size=(n, d)) * np.logspace(0, 9, d)
    issues = find_issues(samples, np.arange(n) % n_classes)
    assert issues.method == expected
    assert expected in str(issues)
    found = find_issues(StandardScaler().fit_transform(samples), np.arange(n) % n_classes, method="fast")
    np.testing.assert_allclose(issues.nearest_distance, found.nearest_distance)
    for kind, options in ((samples, {"metric": "manhattan"}), (csr_array(samples), {})):
        fast = find_issues(kind, np.arange(n) % n_classes, method="fast", **options)
        auto = find_issues(kind, np.arange(n) % n_classes, **options)
        np.testing.assert_array_equal(auto.score, fast.score)
        assert auto.method == fast.method == "fast"
