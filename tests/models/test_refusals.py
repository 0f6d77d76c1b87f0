"""Every mistake gets one clear built-in exception before any work: tables of who, what, error, message."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from growth import add
from sklearn.base import BaseEstimator
from zoo import ZOO, every, make, names

import pathforest
from pathforest import OPFClassifier, distances, learning, metrics, noise, pruning
from pathforest._engines.metric import SPARSE_METRICS
from pathforest._engines.samples import LARGEST
from pathforest._issues import find

X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3
D = np.abs(X[:, None] - X[None]).sum(axis=2)


class Forbidden:
    """Stands in for what builds engines where none may be built."""

    def __call__(self, *args):
        pytest.fail("work began before the input was refused")

    __getattr__ = __call__


@pytest.fixture
def idle(monkeypatch):
    """An error must come before any engine of the core is built, and before any matrix of distances."""
    monkeypatch.setattr("pathforest._core.Engine", Forbidden())
    monkeypatch.setattr("pathforest._engines.build.distance_matrix", Forbidden())


@every("one")
def test_work_is_noticed(name, idle):
    with pytest.raises(pytest.fail.Exception, match="work began"):
        make(name).fit(X, y)


@every("one")
def test_weights_of_samples_are_refused_with_the_reason(name, idle):
    with pytest.raises(TypeError, match=r"takes no sample_weight, because a path .*class_weight"):
        make(name).fit(X, y, sample_weight=np.ones(30))


def ones(who):
    """Configurations, one of each class, that a row of a table is about: a name of the zoo, or traits."""
    return [who] if who in ZOO else names("one", *who.split())


def rows(table):
    """Parameters of a test for each row of a table and each configuration that it is about."""
    return [(name, *row) for who, *row in table for name in ones(who)]


# Samples


def altered(value):
    """X with one entry replaced."""
    changed = X.copy()
    changed[3, 1] = value
    return changed


DATED = (X * 1000).astype("M8[s]")
DATES = DATED.copy()
DATES[3, 1] = "NaT"
# More mistakes: scikit-learn's own checks.
BAD_SAMPLES = {
    "nan": (altered(np.nan), "NaN"),
    "text": (X.astype(str).tolist()[:29] + [["a", "b", "c"]], "could not convert"),
    "missing dates": (DATES, "1 missing date.*row 3, column 1; drop"),
    "missing durations": ([[*row] for row in DATES - DATES[0, 0]], "1 missing date.*row 3, column 1"),
    "sparse with nan": (sp.csr_matrix(altered(np.nan)), "NaN|fitted to a dense array"),
}


@every("one")
@pytest.mark.parametrize("case", BAD_SAMPLES)
def test_bad_samples_are_refused_in_fit_and_predict(name, case, request):
    samples, message = BAD_SAMPLES[case]
    model = make(name).fit(X, y)
    request.getfixturevalue("idle")
    for use in (model.predict, lambda samples: make(name).fit(samples, y)):
        with pytest.raises(ValueError, match=message):
            use(samples)


# Labels

BAD_LABELS = {
    "none": ([None, *y[1:].tolist()], "missing|None"),
    "lost text": (["a", np.nan] * 15, "missing|NaN"),
    "lost dates": (np.where(y == 1, np.datetime64("NaT"), np.datetime64(0, "s")), "10 missing"),
    "lost durations": (np.where(y == 1, np.timedelta64("NaT"), np.timedelta64(0, "s")), "10 missing"),
    "lost dates in a list": ([np.datetime64("2026-01-01"), np.datetime64("NaT")] * 15, "15 missing"),
    "masked": (np.ma.array(y, mask=y == 2), "missing"),
    "masked in a list": ([*y[:29].tolist(), np.ma.masked], "missing"),
}


@every("one", "labels")
@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused(name, case, idle):
    labels, message = BAD_LABELS[case]
    with pytest.raises(ValueError, match=message):
        make(name).fit(X, labels)


# Parameters

PARAMETERS = [
    ("metric", {"metric": "no such metric"}, ValueError, "no such metric"),
    ("metric", {"metric": "minkowski", "metric_params": {"p": 0.5}}, ValueError, "p must be at least 1"),
    ("metric", {"metric": "euclidean", "metric_params": {"p": 3}}, ValueError, "metric_params"),
    ("metric", {"metric": "seuclidean", "metric_params": {"Q": 1}}, ValueError, "seuclidean.*only V.*'Q': 1"),
    ("metric", {"metric": "seuclidean", "metric_params": {"V": [1, 2]}}, ValueError, r"\[1, 2\].*correct"),
    ("metric", {"metric": "mahalanobis", "metric_params": {"VI": np.eye(2)}}, ValueError, r"\(3, 3\)"),
    ("metric", {"metric": "haversine"}, ValueError, "haversine.*3 feature"),
    ("metric", {"metric": lambda a: 0.0}, TypeError, "metric=.*function of two rows"),
    ("metric", {"metric": lambda a, b: 0.0, "metric_params": {"w": 1}}, TypeError, "metric=.*'w': 1"),
    ("metric", {"algorithm": "quantum"}, ValueError, "quantum"),
    ("metric", {"algorithm": "kd_tree", "metric": "cosine"}, ValueError, "tree.*cosine"),
    ("metric", {"metric": "chi2"}, ValueError, "chi2.*>= 0"),
    ("metric", {"device": "gpu"}, ValueError, "device='gpu' is unknown; use 'cpu', 'cuda' or"),
    ("probabilities grows", {"n_conquerors": 0}, ValueError, "n_conquerors=0"),
    ("probabilities grows", {"beta": np.inf}, ValueError, "beta=inf"),
    ("density", {"k_max": 0}, ValueError, "k_max=0"),
    ("density", {"n_neighbors": 30}, ValueError, "at most 29"),
    ("fuzzy", {"sigma": 0}, ValueError, "sigma=0"),
    ("fuzzy", {"sigma": 1.2, "competition": "tree"}, ValueError, "sigma=1.2"),
    ("fuzzy", {"competition": "fair"}, ValueError, "competition='fair'"),
    ("nearest", {"cv": [([], [0])]}, ValueError, "fold 0 of cv has 0 training"),
    ("nearest", {"random_state": -1}, ValueError, "random_state=-1 cannot seed"),
    ("pruner", {"max_loss": 2}, ValueError, "max_loss=2 must lie between 0 and 1"),
    ("pruner", {"validation_fraction": 0}, ValueError, "validation_fraction=0 must be finite and greater"),
    ("clusters", {"measure": "width"}, ValueError, "measure='width'.*'height', 'area', 'volume'"),
    ("clusters", {"threshold": 3, "n_clusters": 2}, ValueError, "only one of n_clusters and threshold"),
    ("outliers", {"contamination": 0.6}, ValueError, "contamination=0.6 must be at most 0.5"),
    ("clusters", {"selection": "eom"}, ValueError, "selection='eom'.*clear"),
    ("clusters", {"noise": 1.0}, ValueError, "noise=1.0 must be at least 0 and below 1"),
    ("balanced", {"method": "graph"}, ValueError, "method='graph' is unknown; use one of 'bal"),
    ("pruner", {"estimator": make("pruner")}, TypeError, "cannot be pruned"),
    ("pruner", {"estimator": make("search")}, TypeError, "cannot be pruned"),
]


@pytest.mark.parametrize(("name", "params", "error", "message"), rows(PARAMETERS))
def test_bad_parameters_are_refused(name, params, error, message, idle):
    with pytest.raises(error, match=message):
        make(name, **params).fit(X, y)


# What only the work itself can find
FOUND_LATER = [
    ("metric", {"metric": lambda a, b: np.zeros(3)}, TypeError, "metric=.*one number"),
    ("density", {"metric": lambda a, b: abs(a - b).max() * 1e-200}, ValueError, "distances up to .* under"),
    ("fuzzy", {"membership": lambda X, y: np.ones(29)}, ValueError, "30"),
    ("fuzzy", {"membership": lambda X, y: np.full(30, 1.5)}, ValueError, r"\[0, 1\]"),
    ("search", {"sigmas": (s / 10 for s in (2, 4))}, TypeError, "sigmas=<generator.*only once; pass a list"),
]


@pytest.mark.parametrize(("name", "params", "error", "message"), rows(FOUND_LATER))
def test_bad_functions_are_refused(name, params, error, message):
    with pytest.raises(error, match=message):
        make(name).set_params(**params).fit(X, y)


# Distances


def asymmetric(row, column, by):
    """A distance matrix with one entry off."""
    changed = D.copy()
    changed[row, column] += by
    return changed


MATRICES = {
    "not square": (D[:, :20], "square"),
    "asymmetric, by little more than rounding": (asymmetric(4, 2, 1.1e-10 * D.max()), "symmetric"),
    "asymmetric in a later block": (asymmetric(20, 29, 1e-3), r"X\[20, 29\]"),
    "negative": (-D, ">= 0"),
    "nan": (np.where(D.max() == D, np.nan, D), "NaN"),
}


@every("one", "metric")
@pytest.mark.parametrize("case", MATRICES)
def test_bad_matrices_of_distances_are_refused(name, case, idle, monkeypatch):
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * 30 * 4)
    matrix, message = MATRICES[case]
    with pytest.raises(ValueError, match=message):
        make(name, metric="precomputed").fit(matrix, y)


RANGES = [
    *(("metric", metric, None, 1e200, "overflow") for metric in ("euclidean", "sqeuclidean")),
    ("metric", "minkowski", {"p": 3}, 1e200, "overflow"),
    ("density", "manhattan", None, 1e200, "overflow"),  # the density squares distances
    ("metric", "euclidean", None, 1e-200, r"would underflow.*multiply X by 1e\+\d+"),
    *(
        ("metric", metric, None, 1e-155, r"would underflow.*multiply X by 1e\+\d+")
        for metric in ("sqeuclidean", "log_sqeuclidean", "nan_euclidean", "cosine")
    ),
    ("metric", "minkowski", {"p": 3}, 1e-104, r"would underflow.*multiply X by 1e\+\d+"),
    ("density", "manhattan", None, 1e-155, r"underflow.*multiply X by 1e\+15"),
    ("density", "precomputed", None, 1e-155, r"underflow.*multiply X by 1e\+15"),
]


@pytest.mark.parametrize(("name", "metric", "params", "scale", "message"), rows(RANGES))
def test_distances_out_of_range_are_refused(name, metric, params, scale, message, idle):
    samples = (D if metric == "precomputed" else X) * scale
    with pytest.raises(ValueError, match=message):
        make(name, metric=metric, metric_params=params).fit(samples, y)


@every("one", "metric", without=["searches"])  # which scales
def test_distances_to_queries_that_would_overflow_are_refused(name):
    with pytest.raises(ValueError, match="overflow"):
        make(name).fit(X, y).predict(X * 1e200)
    far = np.linspace(8e153, 9e153, 30)[:, None]  # either side is in range; the distance between them is not
    with pytest.raises(ValueError, match="overflow"):
        make(name).fit(far, y).predict(-far)


@every("one", "metric")
def test_the_wrong_number_of_distances_is_refused(name):
    with pytest.raises(ValueError, match=r"20 features.*30 features"):
        make(name, metric="precomputed").fit(D, y).predict(D[:, :20])


# Calls

TWO, PLAIN, LINE = [[0.0], [1.0]], OPFClassifier(), np.arange(12.0)[:, None] ** 1.5
DAYS = np.array(["2026-01-01", "2026-01-02", "1970-01-01"] * 10, dtype="M8[D]")
FITTED = OPFClassifier().fit(TWO, [0, 1])
PAIR = "no prediction could be right"
TABLE = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "sex": ["f", "m", "f", "m"]})
REMEDIES = (
    r"make_pipeline\(TablePreprocessor\(\), model\) or Table.*fit_transform\(X\), or pass metric='gower'"
)
SPARSE, NO_GROWTH = sp.csr_array(X), "sparse matrices cannot grow; fit to all samples again"
TINY = sp.csr_array([[0.0, 1e-200], [2e-200, 0.0]])
WIDE = sp.csr_array(([1e-200, 2e-200, 1e-200], [5, 5, 10**9], [0, 1, 3]), shape=(2, 2 * 10**9))
SUMS = sp.csr_array(([1.5e308, 1.5e308, 1.0], [0, 0, 0], [0, 2, 3]), shape=(2, 2))
WIDER = sp.csr_array(([1.0], [4], [0, 0, 1]), shape=(2, LARGEST + 1))
UNLIKE = r"unlabeled=.*of type .*; use a value of that type, or None"
CALLS = {
    # Sparse matrices
    "make('plain', metric='manhattan').fit(SPARSE, y)": "metric='manhattan' takes no sparse .*TruncatedSVD",
    "make('plain', metric='gower').fit(SPARSE, y)": "metric='gower' takes no sparse matrix",
    "make('clusters', metric='precomputed').fit(SPARSE, y)": "metric='precomputed' takes no sparse matrix",
    "pathforest.OPFPruner(OPFClassifier(metric='chi2')).fit(SPARSE, y)": "metric='chi2' takes no sparse",
    "make('plain', algorithm='kd_tree').fit(SPARSE, y)": "algorithm='kd_tree' needs a dense array.*'auto'",
    "make('fuzzy', algorithm='brute').fit(SPARSE, y)": "algorithm='brute' needs a dense array",
    "make('plain', device='torch-cpu').fit(SPARSE, y)": "device='torch-cpu' (takes no sparse|.*PyTorch)",
    "find_issues(SPARSE, y, method='thorough')": "'thorough' takes no sparse matrix; use method='fast'",
    **{
        f"make('{name}').fit(X, y).predict(SPARSE)": r"fitted to a dense array.*X.toarray\(\)"
        for name in ("plain", "clusters", "pruner", "search as given")
    },
    "make('plain').partial_fit(SPARSE, y)": NO_GROWTH,
    "make('plain').fit(X, y).partial_fit(SPARSE, y)": NO_GROWTH,
    "make('plain').fit(SPARSE, y).partial_fit(X, y)": NO_GROWTH,
    "make('plain').fit(SPARSE, y).forget([0])": NO_GROWTH,
    "make('plain').fit(SUMS, [0, 1])": "infinity",
    "make('plain').fit(WIDER, [0, 1])": f"X has {LARGEST + 1} features, and at most .*TruncatedSVD",
    "make_engine(1e160 * sp.eye_array(4))": r"feature 0 ranges from 0 to 1e\+160; rescale X",
    **{
        f"make_engine({name}, '{metric}')": "would underflow"
        for name in ("TINY", "WIDE")
        for metric in SPARSE_METRICS
    },
    # Samples, labels and models
    **{
        f"make('{name}').fit({table}, [0, 1, 0, 1])": rf"{column} holds text, such as 'f', .*{REMEDIES}"
        for name in ("plain", "search", "clusters", "pruner")
        for table, column in {"TABLE": "column 'sex'", "TABLE.astype(object).to_numpy()": "column 1"}.items()
        if (name, table) != ("search", "TABLE")  # which takes text in a table
    },
    "make_engine(DATES)": "1 missing date.*row 3, column 1; drop",
    "make('search', transforms=[None]).fit(DATES, y)": "1 missing date.*row 3, column 1; drop",
    "learn(PLAIN, DATES, y, DATED, y)": "1 missing date.*row 3, column 1; drop",
    "learn(PLAIN, DATED, y, DATES, y)": "1 missing date.*row 3, column 1; drop",
    "learn(PLAIN, TWO, [0, 1], [[0.0, 1.0]], [0])": "2 features",
    "learn(PLAIN, TWO, [0, 1], [[0.5]], ['0'])": (TypeError, PAIR),
    "learn(make('fuzzy'), TWO, [0, 1], TWO, [0, 1])": (TypeError, "takes an OPFClassifier"),
    "learn(OPFClassifier(metric='precomputed'), [[0.0]], [0], [[0.0]], [0])": "needs features",
    "prune(FITTED, [[0.0]], [0], max_loss=-0.1)": "between 0 and 1",
    "prune(FITTED, [[0.5]], np.array(['a'], dtype=object))": (TypeError, PAIR),
    "prune(make('fuzzy').fit(TWO, [0, 1]), [[0.0]], [0])": (TypeError, "OPFPruner"),
    "prune(OPFClassifier(metric='precomputed').fit(1 - np.eye(2), [0, 1]), [[0.0, 1.0]], [0])": "OPFPruner",
    "pathforest.explain(make('clusters').fit(X), X)": (TypeError, "explains no predictions; pass a fitted"),
    "make('fuzzy', sigma=1e300, metric='manhattan').fit(X * 1e100, y)": r"sigma=1e\+300.*overflow",
    "make('every dome', n_clusters=9, n_neighbors=3).fit(LINE)": "=9 .* 1 maxima .* search",
    "make('every dome', n_clusters=13, k_max=3).fit(LINE)": "=13 .* at most .*[0-9]$",
    "make('clusters', n_neighbors=3).fit(LINE).layer(99)": "n_clusters=99 .* at most",
    "make('clusters').fit(LINE).layer(0)": "n_clusters=0 .* coarsest",
    **{
        f"make('balanced', unlabeled={mark}).fit(X, {labels})": (TypeError, UNLIKE)
        for labels, marks in {"['a', 'b', ''] * 10": ["-1", "['a']", "b''"], "DAYS": ["-1", "'1970'"]}.items()
        for mark in marks
    },
    "make('balanced', unlabeled='-1').fit(X, y)": (TypeError, UNLIKE),
    "make('balanced').fit(X, [np.void(b'a')] * 30)": (TypeError, r"labels of type .*V1.*; convert them to"),
    "make('balanced', unlabeled='?').fit(X, ['?'] * 30)": r"all 30 samples as unlabelled \(unlabeled='\?'\)",
    "find_issues(X, y, method='slow')": "method='slow' is unknown; use one of 'auto', 'fast', 'learned'",
    "find_issues(X, y, metric='cosine', algorithm='kd_tree')": "'kd_tree' does not know metric='cos",
    "find_issues(D, y, method='thorough', metric='precomputed')": "needs features, not metric='precomputed'",
    **{f"flip_labels(y, {share})": f"share=.*{share}" for share in (-0.1, 1.1)},
}  # fmt: skip


MODULES = distances, find, learning, metrics, noise, pruning
NAMES = {name: value for module in MODULES for name, value in vars(module).items()} | globals()


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_refused(call):
    message = CALLS[call]
    error, message = message if isinstance(message, tuple) else (ValueError, message)
    with pytest.raises(error, match=message):
        eval(call, NAMES)


# Rules

PUBLIC = [getattr(pathforest, name) for name in pathforest.__all__]
KINDS = [kind for kind in PUBLIC if isinstance(kind, type) and issubclass(kind, BaseEstimator)]


class Hostile:
    def __repr__(self):
        return "\x1b[31m" + "x" * 10**6


LONG = ["x" * 10**6, "\x1b[2J", Hostile(), [Hostile()] * 2]
# Where integers have an upper limit; Python prints no more than 4300 digits.
LIMITED = ("n_neighbors", "n_clusters", "random_state", "contamination", "validation_fraction", "max_loss")
THEIRS = {"sampling_strategy"}  # checked by imbalanced-learn, in messages of its own


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_a_rule(kind):
    assert sorted(kind._rules) == sorted(kind().get_params(deep=False))


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in KINDS for name in kind._rules if name not in THEIRS]
)
def test_a_refused_value_is_shown_in_short_and_without_control_characters(kind, name):
    is_capped = (kind, name) == (pathforest.OPFSemiSupervisedClassifier, "n_neighbors")
    for value in [*LONG, 10**5000] if name in LIMITED and not is_capped else LONG:
        estimator = kind(**{name: value})
        with pytest.raises((TypeError, ValueError), match=name.removesuffix("s")) as error:
            getattr(estimator, "fit_resample", getattr(estimator, "fit", None))(X, y % 3 // 2)
        assert len(str(error.value)) < 500
        assert str(error.value).isprintable()


# Refusals leave nothing behind


@every("one")
def test_a_failed_fit_leaves_the_estimator_unfitted(name):
    model = make(name).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(altered(np.nan), y)
    assert not [attribute for attribute in vars(model) if attribute.endswith("_")]
    if hasattr(model, "partial_fit"):
        add(model, X, y)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="NaN"):
            add(model, altered(np.nan), y)
        assert vars(model) == before
