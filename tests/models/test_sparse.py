"""Sparse matrices: every answer is that of the same samples in a dense array, bit for bit."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from checks import answers, fitted_attributes, same, same_arrays
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import resident_memory
from sklearn.base import clone
from strategies import DTYPES, problems, seeds
from zoo import make

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFPruner,
    find_issues,
)
from pathforest._engines.metric import SPARSE_METRICS
from pathforest.distances import make_engine
from pathforest.pruning import prune

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")]

NAMES = "plain", "fuzzy source", "fuzzy tree", "nearest", "balanced", "mst", "clusters", "noise", "outliers"
SMALL = {"k_max": 4, "sigmas": (0.2, 1.0), "n_conquerors": (1, 3), "cv": 3}
every_metric = pytest.mark.parametrize("metric", SPARSE_METRICS)
metrics = st.sampled_from(SPARSE_METRICS)


def disguised(X, rng):
    """The same samples with some zeros stored, some entries in two halves, and columns in any order."""
    rows, columns = np.nonzero((X != 0) | (rng.random(X.shape) < 0.2))
    values = X[rows, columns]
    # Halves are exact, but of the smallest numbers.
    halved = (rng.random(len(rows)) < 0.3) & (np.abs(values) > 1e-30)
    values = np.where(halved, values / 2, values).astype(X.dtype)
    rows, columns, values = (np.concatenate([a, a[halved]]) for a in (rows, columns, values))
    order = np.lexsort([rng.random(len(rows)), rows])
    indptr = np.searchsorted(rows[order], np.arange(len(X) + 1))
    matrix = sp.csr_array((values[order], columns[order], indptr), shape=X.shape)
    np.testing.assert_array_equal(matrix.toarray(), X)
    return matrix


@st.composite
def sparse_problems(draw, smallest=1):
    """Problems most of whose values are 0: ties, copies, empty rows and columns."""
    X, y, Q, _ = draw(problems(smallest, 50))
    rng, density = np.random.default_rng(draw(seeds)), draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    X, Q = (np.where(rng.random(A.shape) < density, A, A.dtype.type(0)) for A in (X, Q))
    Q[-1], y[0] = X[0], max(1, y[0])  # 0 marks unlabelled samples
    return X, y, Q, rng


def same_models(got, expected):
    """Equal fitted arrays."""
    arrays = (
        {name: value for name, value in fitted_attributes(model).items() if isinstance(value, np.ndarray)}
        for model in (got, expected)
    )
    same(*arrays)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=settings().max_examples // 2)  # names share most of their code
@given(problem=sparse_problems(), metric=metrics, n_jobs=st.integers(1, 3))
def test_every_answer_is_that_of_a_dense_array(name, metric, problem, n_jobs):
    X, y, Q, rng = problem
    params = {"metric": metric, "n_jobs": n_jobs}
    sparse, dense = make(name, **params), make(name, **params)
    if hasattr(sparse, "unlabeled"):
        sparse.unlabeled = dense.unlabeled = 0
    same_models(sparse.fit(disguised(X, rng), y), dense.fit(X, y))
    same(answers(sparse, disguised(Q, rng)), answers(dense, Q))
    same(answers(sparse, Q), answers(dense, Q))  # dense queries to a sparse model
    other = DTYPES[Q.dtype == DTYPES[0]]
    with np.errstate(over="ignore"):
        Q = Q.astype(other)
    same(answers(sparse, sp.csr_array(Q)), answers(dense, Q))


@settings(max_examples=settings().max_examples // 2)
@given(problem=sparse_problems(smallest=12), metric=metrics)
def test_a_pruned_model_and_issues_are_those_of_a_dense_array(metric, problem):
    X, y, Q, rng = problem
    pruner = OPFPruner(FuzzyOPFClassifier(metric=metric, k_max=3, n_conquerors=2), max_loss=0.2)
    sparse, dense = clone(pruner).fit(disguised(X, rng), y), clone(pruner).fit(X, y)
    same_models(sparse, dense)
    same(answers(sparse, disguised(Q, rng)), answers(dense, Q))
    both, plain = (sp.csr_array(X), X), OPFClassifier(metric=metric)
    same(*(prune(clone(plain).fit(samples, y), samples, y)[1] for samples in both))
    found = [vars(find_issues(samples, y, method="fast", metric=metric, n_conquerors=3)) for samples in both]
    arrays = ({k: v for k, v in one.items() if k != "_X" and isinstance(v, np.ndarray)} for one in found)
    same(*arrays)


@pytest.fixture(scope="module")
def words():
    """Counts of a few words in 60 texts, their labels, and new texts."""
    rng = np.random.default_rng(3)
    X = rng.poisson(0.15, size=(70, 30)).astype(float)
    y = np.where(X[:60, :15].sum(axis=1) > X[:60, 15:].sum(axis=1), "left", "right")
    return X[:60], y, X[60:]


@every_metric
@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_a_search_is_that_of_a_dense_array(metric, scoring, words):
    X, y, Q = words
    search = FuzzyOPFClassifierCV(metric=metric, scoring=scoring, **SMALL)
    sparse, dense = clone(search).fit(sp.csr_array(X), y), clone(search).set_params(transforms=None).fit(X, y)
    assert sparse.transforms_["reason"] == "a sparse matrix is for the features as given"
    assert sparse.transforms_["names"] == ["as given"]
    for column in ("mean_test_score", "mean_test_log_loss"):
        np.testing.assert_array_equal(sparse.cv_results_[column], dense.cv_results_[column])
    same_models(sparse, dense)
    same(answers(sparse, sp.csr_array(Q)), answers(dense, Q))


def long_indices(X):
    indptr, indices, data = (getattr(sp.csr_array(X), name) for name in ("indptr", "indices", "data"))
    return sp.csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=X.shape)


FORMS = [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.dok_array, sp.bsr_matrix]


@pytest.mark.parametrize("form", [*FORMS, long_indices])
@pytest.mark.parametrize("dtype", [float, bool, np.int8, np.int64, np.float32])
def test_every_form_of_sparse_matrix_and_type_of_values_is_taken(form, dtype, words):
    X, y, Q = words[0].astype(dtype), *words[1:]
    model, dense = OPFClassifier().fit(form(X), y), OPFClassifier().fit(X, y)
    same_models(model, dense)
    same(answers(model, form(Q)), answers(dense, Q))
    assert model._fit_X.dtype == dense._fit_X.dtype


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_repeated_entries_are_added_in_the_order_of_a_dense_array(form):
    rng = np.random.default_rng(2)
    values, indices = rng.normal(size=3000), rng.integers(0, 10, size=3000)
    matrix = {
        "csr": sp.csr_array((values, indices, [0, 1000, 3000]), shape=(2, 10)),
        "csc": sp.csc_array((values, indices, [0, 1000, 3000]), shape=(10, 2)),
        "coo": sp.coo_array((values, (rng.integers(0, 5, size=3000), indices)), shape=(5, 10)),
    }[form]
    np.testing.assert_array_equal(OPFClustering().fit(matrix)._fit_X.toarray(), matrix.toarray())


def test_features_that_no_sample_has_take_no_memory():
    X = sp.csr_array(([1.0, 3.0, 1.0, 2.0], [7, 4, 2**27 - 1, 0], [0, 2, 3, 4]), shape=(3, 2**27))
    with resident_memory(100):
        OPFClassifier().fit(X, [0, 1, 1]).predict(X)


def test_the_matrix_of_the_user_stays_as_it_is_and_may_change(words):
    X, y, Q = words
    with_zeros = sp.csr_array(X)
    with_zeros.data[5] = 0.0
    for matrix in (disguised(X, np.random.default_rng(0)), with_zeros):
        before = [array.copy() for array in (matrix.indptr, matrix.indices, matrix.data)]
        OPFClassifier().fit(matrix, y).predict(matrix)
        same_arrays((matrix.indptr, matrix.indices, matrix.data), before)
    for model in (OPFClassifier(), FuzzyOPFClassifierCV(n_best=1, **SMALL), OPFPruner()):
        plain = sp.csr_array(X)
        expected = model.fit(plain, y).predict_proba(Q)
        plain.data[:], plain.indices[:] = 7.0, 0
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(Q), expected)


# The engine


@every_metric
@pytest.mark.parametrize("scale", [1e-160, 1e-154, 1.0, 1e150, 1e154])
@pytest.mark.parametrize("dense_columns", [0, 3])
def test_lengths_that_underflow_or_overflow_discard_nothing(metric, scale, dense_columns):
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, size=(600, 12)) * rng.integers(0, 2, size=(600, 12)) * scale
    X[:, :dense_columns] = 1.2 * scale * (1 + 1e-9 * rng.integers(0, 9, size=(600, dense_columns)))
    if scale == 1e154:
        X[:, dense_columns:] *= 1e-9  # differences whose squares are finite
        if metric == "cosine" or not dense_columns:
            X *= 1e-2
    if scale < 1e-154:
        X[-1, -1] = 1e-150  # a range that is not refused
    sparse, scan = make_engine(sp.csr_array(X), metric), make_engine(X, metric, algorithm="brute")
    lists = sparse.knn(6, 2)
    same_arrays(lists, scan.knn(6, 2))
    same_arrays(sparse.spanning_tree(lists, 2), scan.spanning_tree(lists))


# Explanations, memberships, files


def test_explanations_name_the_features_that_samples_have(words):
    X, y, Q = words
    sparse, dense = OPFClassifier().fit(sp.csr_array(X), y), OPFClassifier().fit(X, y)
    for one, other, query in zip(sparse.explain(sp.csr_array(Q)), dense.explain(Q), Q, strict=True):
        assert one[:8] == other[:8]
        rows = np.array([query, X[one.conqueror], X[one.rival.conquerors[0]]])
        assert {feature.column for feature in one.features} == set(np.flatnonzero(rows.any(axis=0)).tolist())
        expected = {feature.column: feature for feature in other.features}
        for feature in one.features:
            assert feature[:5] == expected[feature.column][:5]
            assert feature.share == pytest.approx(expected[feature.column].share)
