"""Sparse matrices: every answer is that of the same samples in a dense array, bit for bit."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from checks import same_arrays
from hypothesis import given
from hypothesis import strategies as st
from model_files import forge, take_apart
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from strategies import DTYPES, seeds, sizes

import pathforest
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
    find_issues,
)
from pathforest._engines.metric import SPARSE_METRICS
from pathforest._engines.samples import LARGEST, SparseSamples
from pathforest.distances import make_engine
from pathforest.pruning import prune

pytestmark = pytest.mark.kernel

ESTIMATORS = {
    "plain": OPFClassifier(),
    "conquerors": OPFClassifier(n_conquerors=3),
    "fuzzy": FuzzyOPFClassifier(k_max=4, sigma=0.5),
    "along the tree": FuzzyOPFClassifier(k_max=4, sigma=0.5, competition="tree", n_conquerors=2),
    "knn": OPFKNNClassifier(k_max=4),
    "balanced": OPFSemiSupervisedClassifier(unlabeled=0),
    "semi": OPFSemiSupervisedClassifier(unlabeled=0, method="mst"),
    "clustering": OPFClustering(n_neighbors=3),
    "cut": OPFClustering(selection="cut", k_max=4),
    "outliers": OPFOutlierDetector(k_max=4),
}
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
    """Samples most of whose values are 0, labels and queries: ties, copies, empty rows and columns."""
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(sizes(smallest, 50)), draw(st.sampled_from([1, 2, 7, 40]))
    values = {
        "grid": rng.integers(-2, 3, size=(n + 6, d)),
        "gaussian": rng.normal(size=(n + 6, d)),
        "mixed": rng.normal(size=(n + 6, d)) * 10.0 ** rng.choice([-30, 0, 30], size=(n + 6, d)),
        "offset": rng.integers(0, 3, size=(n + 6, d)) + 2.0**20,
        "signed zeros": rng.choice([-0.0, 0.0, 1.0], size=(n + 6, d)),
    }[draw(st.sampled_from(["grid", "gaussian", "mixed", "offset", "signed zeros"]))]
    density = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    X = np.where(rng.random((n + 6, d)) < density, values, 0.0).astype(draw(st.sampled_from(DTYPES)))
    X[rng.random(n + 6) < 0.2] = X[0]
    y = rng.integers(0, 3, size=n)
    y[0] = 1  # 0 marks unlabelled samples
    return X[:n], y, X[n - 2 :], rng


def fitted_arrays(model):
    """All fitted arrays of a model, by name."""
    found = {name: value for name, value in vars(model).items() if name.endswith("_") and name[0] != "_"}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def answers(model, Q):
    """All that a model says of queries."""
    asked = ("predict", "predict_proba", "class_costs", "score_samples")
    return [getattr(model, name)(Q) for name in asked if hasattr(model, name)]


def same_models(model, dense):
    """Equal fitted arrays."""
    got, expected = fitted_arrays(model), fitted_arrays(dense)
    assert got.keys() == expected.keys()
    same_arrays(list(got.values()), [expected[name] for name in got])


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
@given(problem=sparse_problems(smallest=5), metric=metrics, n_jobs=st.integers(1, 3))
def test_every_answer_is_that_of_a_dense_array(name, metric, problem, n_jobs):
    X, y, Q, rng = problem
    template = clone(ESTIMATORS[name]).set_params(metric=metric, n_jobs=n_jobs)
    sparse = clone(template).fit(disguised(X, rng), y)
    dense = clone(template).fit(X, y)
    same_models(sparse, dense)
    same_arrays(answers(sparse, disguised(Q, rng)), answers(dense, Q))
    same_arrays(answers(sparse, Q), answers(dense, Q))  # dense queries to a sparse model
    other = DTYPES[Q.dtype == DTYPES[0]]
    with np.errstate(over="ignore"):
        Q = Q.astype(other)
    same_arrays(answers(sparse, sp.csr_array(Q)), answers(dense, Q))


@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
@given(problem=sparse_problems(smallest=12), metric=metrics)
def test_a_pruned_model_is_that_of_a_dense_array(metric, problem):
    X, y, Q, rng = problem
    pruner = OPFPruner(FuzzyOPFClassifier(metric=metric, k_max=3, n_conquerors=2), max_loss=0.2)
    sparse, dense = clone(pruner).fit(disguised(X, rng), y), clone(pruner).fit(X, y)
    same_models(sparse, dense)
    same_arrays(answers(sparse, disguised(Q, rng)), answers(dense, Q))
    plain = OPFClassifier(metric=metric)
    by_hand = [prune(clone(plain).fit(samples, y), samples, y)[1] for samples in (sp.csr_array(X), X)]
    same_arrays(*([kept] for kept in by_hand))


@given(problem=sparse_problems(smallest=2), metric=metrics)
def test_issues_are_those_of_a_dense_array(metric, problem):
    X, y, _, rng = problem
    found = [find_issues(samples, y, metric=metric, n_conquerors=3) for samples in (disguised(X, rng), X)]
    same_arrays(*([value for value in vars(one).values() if isinstance(value, np.ndarray)] for one in found))


@pytest.fixture(scope="module")
def words():
    """Counts of a few words in 60 texts, their labels, and new texts."""
    rng = np.random.default_rng(3)
    X = rng.poisson(0.15, size=(70, 30)).astype(float)
    y = np.where(X[:60, :15].sum(axis=1) > X[:60, 15:].sum(axis=1), "left", "right")
    return X[:60], y, X[60:]


SMALL = {"k_max": 4, "sigmas": (0.2, 1.0), "n_conquerors": (1, 3), "cv": 3}


@every_metric
@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_a_search_is_that_of_a_dense_array(metric, scoring, words):
    X, y, Q = words
    search = FuzzyOPFClassifierCV(metric=metric, scoring=scoring, **SMALL)
    sparse, dense = clone(search).fit(sp.csr_array(X), y), clone(search).set_params(transforms=None).fit(X, y)
    assert sparse.transforms_ == {
        "preset": None,
        "reason": "a sparse matrix is for the features as given",
        "names": ["as given"],
    }
    for column in ("mean_test_score", "mean_test_log_loss"):
        np.testing.assert_array_equal(sparse.cv_results_[column], dense.cv_results_[column])
    same_models(sparse, dense)
    same_arrays(answers(sparse, sp.csr_array(Q)), answers(dense, Q))


def test_a_search_over_texts_compares_vectorizers():
    texts, y = (
        ["red green", "red red", "blue sky", "blue sea", "green red", "sky sea"] * 3,
        [0, 0, 1, 1, 0, 1] * 3,
    )
    model = FuzzyOPFClassifierCV(transforms=[TfidfVectorizer()], metric="cosine", **SMALL).fit(texts, y)
    assert model.predict(["green", "sea sky"]).tolist() == [0, 1]


def test_a_pipeline_takes_what_a_vectorizer_makes():
    texts, y = ["red green", "red red", "blue sky", "blue sea"], ["warm", "warm", "cold", "cold"]
    model = make_pipeline(TfidfVectorizer(), OPFClassifier(metric="cosine")).fit(texts, y)
    assert model.predict(["green", "sea and sky"]).tolist() == ["warm", "cold"]


@pytest.mark.parametrize(
    "form", ["csr_matrix", "csc_matrix", "coo_array", "lil_matrix", "dok_array", "bsr_matrix"]
)
def test_every_form_of_sparse_matrix_is_taken(form, words):
    X, y, Q = words
    model = OPFClassifier(metric="cosine").fit(getattr(sp, form)(X), y)
    same_models(model, OPFClassifier(metric="cosine").fit(X, y))
    same_arrays(answers(model, getattr(sp, form)(Q)), answers(model, Q))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_types_of_values_are_those_of_arrays(dtype, words):
    X, y, _ = words
    model = OPFClassifier().fit(sp.csr_array(X.astype(dtype)), y)
    dense = OPFClassifier().fit(X.astype(dtype), y)
    same_models(model, dense)
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
    model = OPFClustering().fit(matrix)
    np.testing.assert_array_equal(model._fit_X.toarray(), matrix.toarray())


def test_features_that_no_sample_has_take_no_memory():
    pytest.importorskip("resource")
    code = """
from resource import RUSAGE_SELF, getrusage
import scipy.sparse as sp
from pathforest import OPFClassifier
X = sp.csr_array(([1.0, 3.0, 1.0, 2.0], [7, 4, 2**27 - 1, 0], [0, 2, 3, 4]), shape=(3, 2**27))
before = getrusage(RUSAGE_SELF).ru_maxrss
OPFClassifier(n_jobs=1).fit(X, [0, 1, 1]).predict(X)
print(getrusage(RUSAGE_SELF).ru_maxrss < 2 * before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_long_indices_are_taken(words):
    X, y, _ = words
    matrix = sp.csr_array(X)
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    same_models(OPFClassifier().fit(matrix, y), OPFClassifier().fit(X, y))


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


@every_metric
def test_one_sample_and_no_values(metric):
    for shape in ((1, 1), (1, 5), (9, 4)):
        empty, y = sp.csr_array(shape), np.arange(shape[0]) % 2
        sparse, dense = (OPFClassifier(metric=metric).fit(X, y) for X in (empty, empty.toarray()))
        same_models(sparse, dense)
        Q = sp.csr_array(np.ones((2, shape[1])))
        same_arrays(answers(sparse, Q), answers(dense, Q.toarray()))


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
    for samples, algorithm in ((sp.csr_array(X), "auto"), (X, "brute")):
        engine = make_engine(samples, metric, algorithm=algorithm)
        lists = engine.knn(6, 2)
        if algorithm == "auto":
            found = lists, engine.spanning_tree(lists, 2)
    same_arrays(found[0], lists)
    same_arrays(found[1], engine.spanning_tree(lists))


@pytest.mark.parametrize("scale", [1e-161, 1e-157, 1e-150])
def test_cosines_of_short_samples_have_the_rounding_of_the_definition(scale):
    rng = np.random.default_rng(7)
    X = rng.choice([-1, 1], size=(300, 1)) * rng.uniform(1, 9, size=(300, 1)) * scale
    X[::3] *= 1e155  # products with these are normal numbers
    sparse, scan = make_engine(sp.csr_array(X), "cosine"), make_engine(X, "cosine", algorithm="brute")
    same_arrays(sparse.knn(4), scan.knn(4))


@every_metric
def test_samples_whose_squares_would_underflow_are_refused(metric):
    wide = sp.csr_array(([1e-200, 2e-200, 1e-200], [5, 5, 10**9], [0, 1, 3]), shape=(2, 2 * 10**9))
    for X in (sp.csr_array([[0.0, 1e-200], [2e-200, 0.0]]), wide):
        with pytest.raises(ValueError, match="would underflow"):
            OPFClassifier(metric=metric).fit(X, [0, 1])
    OPFClassifier(metric=metric).fit(sp.csr_array([[1.0, 1e-200], [0.0, 0.0]]), [0, 1])


@every_metric
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_many_samples_have_the_lists_of_a_scan(metric, n_threads):
    X = sp.random_array((1500, 300), density=0.02, format="csr", random_state=np.random.default_rng(1))
    X = sp.csr_array(X.multiply(10).ceil())  # ties
    sparse, scan = make_engine(X, metric), make_engine(X.toarray(), metric, algorithm="brute")
    assert sparse.name == "sparse"
    same_arrays(sparse.knn(12, n_threads), scan.knn(12))
    same_arrays(sparse.spanning_tree(None, n_threads), scan.spanning_tree())
    Q = X[::7]
    same_arrays(sparse.query(SparseSamples.of(Q), 5, n_threads), scan.query(Q.toarray(), 5))
    cost, order = np.full(1500, 0.5), np.arange(1500, dtype=np.int32)
    same_arrays(
        sparse.conquer(SparseSamples.of(Q), cost, order, 3, n_threads),
        scan.conquer(Q.toarray(), cost, order, 3),
    )
    same_arrays([sparse.distances(SparseSamples.of(Q), n_threads)], [scan.distances(Q.toarray())])


def test_explanations_name_the_features_that_samples_have(words):
    X, y, Q = words
    sparse, dense = OPFClassifier().fit(sp.csr_array(X), y), OPFClassifier().fit(X, y)
    for one, other, query in zip(sparse.explain(sp.csr_array(Q)), dense.explain(Q), Q, strict=True):
        assert one[:8] == other[:8]
        rows = np.array([query, X[one.conqueror], X[one.rival.conquerors[0]]])
        assert {feature.column for feature in one.features} == set(np.flatnonzero(rows.any(axis=0)).tolist())
        shares = {feature.column: feature for feature in other.features}
        for feature in one.features:
            expected = shares[feature.column]
            assert feature[:5] == expected[:5]
            assert feature.share == pytest.approx(expected.share)
            assert feature.scale == pytest.approx(expected.scale)


def test_a_membership_function_gets_a_sparse_array(words):
    X, y, _ = words
    seen = []

    def membership(samples, labels):
        seen.append(samples)
        return np.linspace(0, 1, len(labels))

    FuzzyOPFClassifier(membership=membership).fit(sp.csr_array(X), y)
    assert isinstance(seen[0], sp.csr_array)
    np.testing.assert_array_equal(seen[0].toarray(), X)


@every_metric
def test_files_keep_sparse_samples(metric, words, tmp_path):
    X, y, Q = words
    for model in (
        FuzzyOPFClassifier(metric=metric),
        OPFClustering(metric=metric),
        OPFPruner(OPFClassifier(metric=metric)),
        FuzzyOPFClassifierCV(metric=metric, **SMALL),
    ):
        model.fit(sp.csr_array(X), y).save(tmp_path / "model.pf")
        loaded = pathforest.load(tmp_path / "model.pf")
        same_models(loaded, model)
        same_arrays(answers(loaded, sp.csr_array(Q)), answers(model, Q))


FORGERIES = {
    "indptr": [
        lambda a: a[:1],
        lambda a: a[::-1].copy(),
        lambda a: a + 1,
        lambda a: a.astype(np.int32),
        lambda a: np.append(a, 2**40),
    ],
    "indices": [
        lambda a: a - 1,
        lambda a: a + 99,
        lambda a: a[:-1],
        lambda a: a.astype(np.int64),
        np.zeros_like,
    ],
    "data": [lambda a: a[:-1], lambda a: a * np.nan, lambda a: a * 0, lambda a: a.astype(np.int64)],
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_are_refused(name, words, tmp_path):
    X, y, _ = words
    OPFClassifier().fit(sp.csr_array(X), y).save(tmp_path / "model.pf")
    head, arrays = take_apart((tmp_path / "model.pf").read_bytes())
    number = head["objects"][0]["state"][name]["array"]
    for change in FORGERIES[name]:
        forged = [change(array) if i == number else array for i, array in enumerate(arrays)]
        (tmp_path / "forged.pf").write_bytes(forge(head, forged))
        with pytest.raises(ValueError, match="cannot be loaded"):
            pathforest.load(tmp_path / "forged.pf")


REFUSED = {
    "metric": (OPFClassifier(metric="manhattan"), r"metric='manhattan' takes no sparse matrix.*TruncatedSVD"),
    "gower": (OPFClassifier(metric="gower"), r"metric='gower' takes no sparse matrix"),
    "precomputed": (OPFClustering(metric="precomputed"), r"metric='precomputed' takes no sparse matrix"),
    "kd_tree": (
        OPFClassifier(algorithm="kd_tree"),
        r"algorithm='kd_tree' needs a dense array; use algorithm='auto'",
    ),
    "scan": (FuzzyOPFClassifier(algorithm="brute"), r"algorithm='brute' needs a dense array"),
    "pruner": (OPFPruner(OPFClassifier(metric="chi2")), r"metric='chi2' takes no sparse matrix"),
    "transforms": (
        FuzzyOPFClassifierCV(transforms="linear"),
        r"transforms='linear' takes no sparse.*TruncatedSVD",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_served_is_refused_with_a_way_out(case, words):
    X, y, _ = words
    model, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        clone(model).fit(sp.csr_array(X), y)


def test_a_table_of_sparse_columns_is_refused_with_a_way_out(words):
    pandas = pytest.importorskip("pandas")
    table, y = pandas.DataFrame.sparse.from_spmatrix(sp.csr_matrix(words[0])), words[1]
    with pytest.raises(TypeError, match=r"X.sparse.to_coo\(\) of a DataFrame"):
        OPFClassifier().fit(table, y)
    same_models(OPFClassifier().fit(table.sparse.to_coo(), y), OPFClassifier().fit(words[0], y))


def test_devices_are_refused(words):
    X, y, _ = words
    model = OPFClassifier()
    model.device = "torch-cpu"
    with pytest.raises(ValueError, match=r"device='torch-cpu' (takes no sparse matrix|.*PyTorch)"):
        model.fit(sp.csr_array(X), y)


def test_a_dense_model_refuses_sparse_queries(words):
    X, y, Q = words
    for model in (
        OPFClassifier(),
        OPFClustering(),
        FuzzyOPFClassifierCV(transforms=None, **SMALL),
        OPFPruner(),
    ):
        with pytest.raises(ValueError, match=r"fitted to a dense array.*X.toarray\(\)"):
            model.fit(X, y).predict(sp.csr_array(Q))


def test_a_cluster_is_refused(words):
    pytest.importorskip("distributed")
    from pathforest.dask import DaskFuzzyOPFClassifierCV, DaskOPFClassifier

    for model in (DaskOPFClassifier(), DaskFuzzyOPFClassifierCV()):
        with pytest.raises(
            ValueError, match=r"takes no sparse matrix; fit \w*OPF\w*, or reduce the features"
        ):
            model.fit(sp.csr_array(words[0]), words[1])


def test_explanations_of_scaled_sparse_samples_are_those_of_the_classifier(words):
    X, y, Q = words
    model = make_pipeline(MaxAbsScaler(), OPFClassifier()).fit(sp.csr_array(X), y)
    (one,) = pathforest.explain(model, sp.csr_array(Q[:1]))
    expected = model[-1].explain(model[0].transform(Q[:1]))[0]
    assert one[:8] == expected[:8]
    assert [feature[1:] for feature in one.features] == [feature[1:] for feature in expected.features]


def test_models_of_sparse_matrices_do_not_grow(words):
    X, y, _ = words
    for call in (
        lambda: OPFClassifier().partial_fit(sp.csr_array(X), y),
        lambda: OPFClassifier().fit(X, y).partial_fit(sp.csr_array(X), y),
        lambda: OPFClassifier().fit(sp.csr_array(X), y).partial_fit(X, y),
        lambda: OPFClassifier().fit(sp.csr_array(X), y).forget([0]),
        lambda: OPFClustering().partial_fit(sp.csr_array(X)),
    ):
        with pytest.raises(ValueError, match=r"sparse matrices cannot grow; fit to all samples again"):
            call()


def test_thorough_issues_are_refused(words):
    X, y, _ = words
    with pytest.raises(ValueError, match=r"method='thorough' takes no sparse matrix; use method='fast'"):
        find_issues(sp.csr_array(X), y, method="thorough")


def test_sums_of_repeated_entries_that_overflow_are_refused():
    entries = [1.5e308, 1.5e308, 1.0], [0, 0, 0], [0, 2, 3]
    with pytest.raises(ValueError, match="infinity"):
        OPFClassifier().fit(sp.csr_array(entries, shape=(2, 2)), [0, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(value, words):
    X, y, _ = words
    matrix = sp.csr_array(X)
    matrix.data[3] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        OPFClassifier().fit(matrix, y)


def test_too_many_features_are_refused():
    assert make_engine(sp.csr_array((1, LARGEST))).name == "sparse"
    X = sp.csr_array(([1.0], [4], [0, 0, 1]), shape=(2, LARGEST + 1))
    with pytest.raises(ValueError, match=f"X has {LARGEST + 1} features, and at most .*TruncatedSVD"):
        OPFClassifier().fit(X, [0, 1])


def test_values_too_large_are_refused_as_in_a_dense_array():
    X = np.eye(4) * 1e160
    for samples in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"feature 0 ranges from 0 to 1e\+160; rescale X"):
            OPFClassifier().fit(samples, [0, 0, 1, 1])


BROKEN = {
    "descending": {"indptr": [0, 2], "indices": [1, 0], "data": [1.0, 2.0]},
    "twice": {"indptr": [0, 2], "indices": [1, 1], "data": [1.0, 2.0]},
    "outside": {"indptr": [0, 1], "indices": [3], "data": [1.0]},
    "negative": {"indptr": [0, 1], "indices": [-1], "data": [1.0]},
    "too short": {"indptr": [0, 2], "indices": [0], "data": [1.0]},
    "backwards": {"indptr": [0, 2, 1, 2], "indices": [0, 1], "data": [1.0, 2.0]},
    "late": {"indptr": [1, 2], "indices": [0, 1], "data": [1.0, 2.0]},
    "no rows": {"indptr": [0], "indices": [], "data": []},
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_core_refuses_rows_that_are_none(case):
    types = {"indptr": np.int64, "indices": np.int32, "data": np.float64}
    arrays = {name: np.array(values, dtype=types[name]) for name, values in BROKEN[case].items()}
    with pytest.raises(ValueError, match=r"rows|ascend|samples and features"):
        make_sparse_engine(SparseSamples(**arrays, n_features=3))


def make_sparse_engine(samples):
    return pathforest._core.Engine.sparse(samples, "cosine")


def test_rows_are_chosen_as_those_of_an_array(words):
    X = words[0]
    samples = SparseSamples.of(X)
    for rows in (
        slice(3, 9),
        slice(None, None, -2),
        np.array([5, 5, 1]),
        np.arange(60) % 3 == 0,
        np.arange(0),
        (slice(4), ...),
    ):
        np.testing.assert_array_equal(samples[rows].toarray(), X[rows])
    np.testing.assert_array_equal(samples[-1].toarray(), X[-1:])
    with pytest.raises(IndexError):
        samples[60]
    with pytest.raises(TypeError, match=r"sparse samples are not supported here; pass X.toarray\(\)"):
        np.asarray(samples)
