"""Identities that must hold whatever the data: they need no reference to be checked.

The order of rows in `find_issues`: `tests/issues/test_fast.py`.
"""

import pickle
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import reference
from checks import answers, same
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import make_codes, make_samples, problems, seeds
from zoo import every, make, names

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFSemiSupervisedClassifier

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
fewer = settings(max_examples=settings().max_examples // 3)  # each takes long, or names share their code
PLAIN = ["prototypes_", "cost_", "predecessor_", "root_", "order_", "label_", "classes_"]


@pytest.mark.parametrize("competition", ["complete", "tree"])
@pytest.mark.parametrize("side", ["target", "source"])
@given(problem=problems())
def test_sigma_one_is_plain_opf_in_every_fitted_array(competition, side, problem):
    plain = OPFClassifier().fit(problem.X, problem.codes)
    fuzzy = FuzzyOPFClassifier(sigma=1, competition=competition, membership_side=side)
    fuzzy.fit(problem.X, problem.codes)
    for name in PLAIN:
        np.testing.assert_array_equal(getattr(fuzzy, name), getattr(plain, name), err_msg=name)


SCALED = [
    *product(
        ["plain", "fuzzy", "every dome", "outliers"],
        ["euclidean", "sqeuclidean", "manhattan", "chebyshev"],
        [-40, 5],
    ),
    # Just before distances overflow; where squares would underflow, without squares and without a unit.
    *product(["plain"], ["manhattan", "chebyshev"], [1000]),
    ("plain", "euclidean", 500),
    ("plain", "manhattan", -660),
    ("clusters", "canberra", -660),
]


@pytest.mark.parametrize(("name", "metric", "exponent"), SCALED)
@pytest.mark.parametrize("recipe", ["grid", "gaussian", "duplicates"])
def test_scaling_by_a_power_of_two_changes_no_label_and_no_score(recipe, name, metric, exponent):
    X, Q = make_samples(recipe, 5, 60, 3)
    y, model = make_codes("regions", 5, X), make(name, metric=metric)
    expected, got = (answers(model.fit(X * s, y), Q * s) for s in (1, 2.0**exponent))
    for method in {"predict", "score_samples"} & {*got}:
        same(got[method], expected[method])


@pytest.mark.parametrize("name", [*names("grows"), "nearest"])
@fewer
@given(problem=problems(largest=40), seed=st.integers(0, 99))
def test_an_answer_depends_on_nothing_but_its_query(name, problem, seed):
    model = make(name).fit(problem.X, problem.codes)
    expected = answers(model, problem.Q)
    order = np.random.default_rng(seed).permutation(len(problem.Q))
    same(answers(model, problem.Q[order]), {method: values[order] for method, values in expected.items()})
    one_by_one = [answers(pickle.loads(pickle.dumps(model)), q[None]) for q in problem.Q]
    same({method: np.concatenate([one[method] for one in one_by_one]) for method in expected}, expected)


def farthest_feature(a, b):
    """The Chebyshev distance, as a user might write it."""
    return np.abs(a - b).max()


# The outlier detector takes queries for training samples if their distance may be rounded from 0.
@pytest.mark.parametrize("name", sorted({*names("grows"), "nearest"} - {"fuzzy callable", "outliers"}))
@fewer
@given(problem=problems(largest=40))
def test_distances_may_come_as_a_matrix_or_from_a_function(name, problem):
    X, codes, Q, _ = problem
    expected = answers(make(name, metric="chebyshev", algorithm="auto").fit(X, codes), Q)
    D, DQ = (reference.distance_matrix(A, X, "chebyshev") for A in (X, Q))
    matrix, function = (
        make(name, metric=metric, algorithm="auto") for metric in ("precomputed", farthest_feature)
    )
    same(answers(matrix.fit(D, codes), DQ), expected)
    same(answers(function.fit(X, codes), Q), expected)


@every("metric", "one")
@pytest.mark.parametrize("metric", ["chebyshev", "precomputed", farthest_feature])
def test_predictions_do_not_depend_on_the_size_of_blocks(name, metric, monkeypatch):
    X, Q = make_samples("gaussian", 3, 40, 3)
    y, Q = make_codes("regions", 3, X), np.concatenate([Q, X])
    if metric == "precomputed":
        X, Q = (reference.distance_matrix(A, X, "chebyshev") for A in (X, Q))
    model = make(name, metric=metric).fit(X, y)
    expected = model.predict(Q)
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * 40 * 3)  # three rows of the matrix
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_WORK", 400)
    np.testing.assert_array_equal(model.predict(Q), expected)


# Where no two distances are equal, the order of the training rows plays no part in any answer.

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

    def fit(self, model, y=None):
        """The model of the samples as they are, and that of the other order."""
        orders = np.arange(len(self.X)), self.order
        return [clone(model).fit(self.X[rows], None if y is None else y[rows]) for rows in orders]


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(st.integers(4, 40)), draw(st.integers(1, 4))
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(20, d))
    D = reference.distance_matrix(X, X)[np.triu_indices(n, 1)]
    assert len(np.unique(D)) == len(D)
    # Classes that follow the data, or do not; each has two samples or more.
    y = np.argsort(np.argsort(X[:, 0])) * 2 // n if draw(st.booleans()) else rng.permutation(n) % 2
    if n >= 12 and draw(st.booleans()):
        y = y + 2 * (rng.permutation(n) < 3)
    return Case(X, y, Q, rng.permutation(n))


# In the complete competition samples with one cost and one arc leave the queue by index. Without equal
# distances that takes memberships that tie, as those of one neighbour do, or `membership_side="source"`: then
# costs depend on the order of rows.
CLASSIFIERS = [
    *(OPFClassifier(n_conquerors=r) for r in (1, 3)),
    FuzzyOPFClassifier(),
    FuzzyOPFClassifier(sigma=0.2, n_neighbors=2, n_conquerors=2),
    FuzzyOPFClassifier(sigma=1.2),
    FuzzyOPFClassifier(sigma=0.2, competition="tree"),
    *(
        OPFSemiSupervisedClassifier(method=method, n_neighbors=4, n_conquerors=r)
        for method, r in product(["balanced", "geodesic", "mst", "opfsemi"], [1, 3])
    ),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@fewer
@given(case=cases(), data=st.data())
def test_a_classifier_does_not_depend_on_the_order_of_rows(model, case, data):
    y = case.y
    if hasattr(model, "unlabeled"):
        y = np.where(case.order % data.draw(st.integers(2, 4)) == 0, y, -1)
        y[np.unique(case.y, return_index=True)[1]] = np.unique(case.y)
    a, b = case.fit(model, y)
    for name in {"cost_", "density_", "membership_"} & {*vars(a)}:
        np.testing.assert_allclose(case.back(getattr(b, name)), getattr(a, name), rtol=NEAR, err_msg=name)
    np.testing.assert_array_equal(case.back(b.label_), a.label_)
    np.testing.assert_array_equal(np.sort(case.order[b.prototypes_]), a.prototypes_)
    np.testing.assert_array_equal(b.predict(case.Q), a.predict(case.Q))
    np.testing.assert_allclose(b.class_costs(case.Q), a.class_costs(case.Q), rtol=NEAR)
    np.testing.assert_allclose(b.predict_proba(case.Q), a.predict_proba(case.Q), rtol=1e-9)


def renumbered(labels, others):
    """Labels of clusters by the numbers that others have for the same clusters."""
    pairs = np.unique(np.column_stack([labels, others]), axis=0)
    assert len(pairs) == len(np.unique(labels)) == len(np.unique(others))
    return pairs[np.searchsorted(pairs[:, 0], labels), 1]


CLUSTERINGS = [
    {},
    {"selection": "cut"},
    {"n_neighbors": 1},
    {"n_neighbors": 2},
    {"n_neighbors": 2, "n_clusters": 2},
    {"n_neighbors": 3, "measure": "height"},
    {"n_neighbors": 2, "measure": "area", "threshold": 4},
    {"n_neighbors": 3, "noise": 0.2},
]


@pytest.mark.parametrize("params", CLUSTERINGS, ids=repr)
@fewer
@given(case=cases())
def test_clusters_do_not_depend_on_the_order_of_rows(params, case):
    model = OPFClustering(**params)
    if model.n_clusters is not None:
        maxima = OPFClustering(n_neighbors=model.n_neighbors).fit(case.X).cluster_tree_
        model.n_clusters = 1 + len(maxima) // 2
    a, b = case.fit(model)
    expected = np.concatenate([a.labels_, a.predict(case.Q)])
    got = np.concatenate([case.back(b.labels_), b.predict(case.Q)])
    np.testing.assert_array_equal(renumbered(got, expected), expected)
    np.testing.assert_array_equal(got == -1, expected == -1)
