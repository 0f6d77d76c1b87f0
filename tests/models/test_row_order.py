"""Where no two distances are equal, the order of the training rows plays no part in any answer.

Of `find_issues`: `tests/issues/test_fast.py`.
"""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import distance_matrix
from sklearn.preprocessing import StandardScaler
from strategies import seeds

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFOutlierDetector,
    OPFSemiSupervisedClassifier,
)

NEAR = 1e-12  # relative error of means whose terms are added in another order


class Case(NamedTuple):
    """Samples of two classes or more and no equal distances, and another order for them."""

    X: np.ndarray
    y: np.ndarray
    Q: np.ndarray
    order: np.ndarray

    def back(self, values):
        """Answers for the samples in the other order, in the first one."""
        return np.asarray(values)[np.argsort(self.order)]


@st.composite
def cases(draw, smallest=4, largest=40):
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(st.integers(smallest, largest)), draw(st.integers(1, 4))
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(20, d))
    D = distance_matrix(X, X)[np.triu_indices(n, 1)]
    assert len(np.unique(D)) == len(D)
    # Classes that follow the data, or do not; each has two samples or more.
    y = np.argsort(np.argsort(X[:, 0])) * 2 // n if draw(st.booleans()) else rng.permutation(n) % 2
    if n >= 12 and draw(st.booleans()):
        y = y + 2 * (rng.permutation(n) < 3)
    return Case(X, y, Q, rng.permutation(n))


def both(model, case, y=None):
    """The model of the samples as they are, and that of the other order."""
    return (
        type(model)(**model.get_params()).fit(case.X, y),
        type(model)(**model.get_params()).fit(case.X[case.order], None if y is None else y[case.order]),
    )


def check_forest(case, y, model):
    """Compare everything that does not number samples."""
    a, b = both(model, case, y)
    for name in ("cost_", "density_", "membership_"):
        if hasattr(a, name):
            np.testing.assert_allclose(case.back(getattr(b, name)), getattr(a, name), rtol=NEAR, err_msg=name)
    np.testing.assert_array_equal(case.back(b.label_), a.label_)
    np.testing.assert_array_equal(np.sort(case.order[b.prototypes_]), a.prototypes_)
    np.testing.assert_array_equal(b.predict(case.Q), a.predict(case.Q))
    np.testing.assert_allclose(b.class_costs(case.Q), a.class_costs(case.Q), rtol=NEAR)
    np.testing.assert_allclose(b.predict_proba(case.Q), a.predict_proba(case.Q), rtol=1e-9)


# In the complete competition samples with one cost and one arc leave the queue by index. Without equal
# distances that takes memberships that tie, as those of one neighbour do, or `membership_side="source"`: then
# costs depend on the order of rows.
@pytest.mark.parametrize(
    "model",
    [
        OPFClassifier(),
        OPFClassifier(n_conquerors=3),
        FuzzyOPFClassifier(),
        FuzzyOPFClassifier(sigma=0.2, n_neighbors=2, n_conquerors=2),
        FuzzyOPFClassifier(sigma=1.2),
        FuzzyOPFClassifier(sigma=0.2, competition="tree"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::pathforest.fuzzy.TrainingErrorWarning")
@given(case=cases())
def test_a_classifier_does_not_depend_on_the_order_of_rows(model, case):
    check_forest(case, case.y, model)


@pytest.mark.parametrize("r", [1, 3])
@pytest.mark.parametrize("method", ["balanced", "geodesic", "mst", "opfsemi"])
@given(case=cases(), data=st.data())
def test_labels_spread_whatever_the_order_of_rows(method, r, case, data):
    few = np.where(case.order % data.draw(st.integers(2, 4)) == 0, case.y, -1)
    few[np.unique(case.y, return_index=True)[1]] = np.unique(case.y)
    check_forest(case, few, OPFSemiSupervisedClassifier(method=method, n_neighbors=4, n_conquerors=r))


def renumbered(labels, others):
    """Labels of clusters by the numbers that others have for the same clusters."""
    pairs = np.unique(np.column_stack([labels, others]), axis=0)
    assert len(pairs) == len(np.unique(labels)) == len(np.unique(others))
    return pairs[np.searchsorted(pairs[:, 0], labels), 1]


@pytest.mark.parametrize(
    "model",
    [
        OPFClustering(),
        OPFClustering(selection="cut"),
        OPFClustering(n_neighbors=1),
        OPFClustering(n_neighbors=2),
        OPFClustering(n_neighbors=2, n_clusters=2),
        OPFClustering(n_neighbors=3, measure="height"),
        OPFClustering(n_neighbors=2, measure="area", threshold=4),
        OPFClustering(n_neighbors=3, noise=0.2),
    ],
    ids=repr,
)
@given(case=cases())
def test_clusters_do_not_depend_on_the_order_of_rows(model, case):
    if model.n_clusters is not None:
        maxima = OPFClustering(n_neighbors=model.n_neighbors).fit(case.X).cluster_tree_
        model = OPFClustering(**model.get_params() | {"n_clusters": 1 + len(maxima) // 2})
    a, b = both(model, case)
    expected = np.concatenate([a.labels_, a.predict(case.Q)])
    got = np.concatenate([case.back(b.labels_), b.predict(case.Q)])
    np.testing.assert_array_equal(renumbered(got, expected), expected)
    np.testing.assert_array_equal(got == -1, expected == -1)


def test_clusters_of_wine_do_not_depend_on_the_order_of_rows():
    from sklearn.datasets import load_wine

    X = StandardScaler().fit_transform(load_wine().data)
    expected = OPFClustering().fit_predict(X)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        got = Case(X, None, X, order).back(OPFClustering().fit_predict(X[order]))
        np.testing.assert_array_equal(renumbered(got, expected), expected)


@given(case=cases(), contamination=st.sampled_from(["auto", 0.1]))
def test_outliers_do_not_depend_on_the_order_of_rows(case, contamination):
    a, b = both(OPFOutlierDetector(contamination=contamination), case)
    assert b.offset_ == a.offset_
    np.testing.assert_array_equal(case.back(b.density_), a.density_)
    np.testing.assert_array_equal(b.score_samples(case.Q), a.score_samples(case.Q))
    np.testing.assert_array_equal(b.predict(case.Q), a.predict(case.Q))


@given(case=cases(smallest=20))
def test_a_search_with_given_folds_does_not_depend_on_the_order_of_rows(case):
    fold = np.arange(len(case.X)) // 2 % 2  # of the samples in their first order
    searches = []
    for rows in (np.arange(len(case.X)), case.order):
        cv = [(np.flatnonzero(fold[rows] != f), np.flatnonzero(fold[rows] == f)) for f in (0, 1)]
        search = FuzzyOPFClassifierCV(
            k_max=(3, 8), sigmas=(0.2, 1.0), n_conquerors=(1, 3), transforms=[None, StandardScaler()], cv=cv
        )
        searches.append(search.fit(case.X[rows], case.y[rows]))
    a, b = searches
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_allclose(b.cv_results_[name], a.cv_results_[name], rtol=NEAR, err_msg=name)
    assert b.best_params_ == a.best_params_
    np.testing.assert_allclose(b.predict_proba(case.Q), a.predict_proba(case.Q), rtol=1e-6)
    np.testing.assert_array_equal(b.predict(case.Q), a.predict(case.Q))
