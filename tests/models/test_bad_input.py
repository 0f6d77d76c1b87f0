"""Every bad input gets one clear built-in exception before any work; good but unusual ones work."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from strategies import DTYPES

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
)
from pathforest.distances import make_engine
from pathforest.learning import learn

X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3
D = np.abs(X[:, None] - X[None]).sum(axis=2)

PLAIN, FUZZY, CLUSTERING, KNN = OPFClassifier(), FuzzyOPFClassifier(), OPFClustering(), OPFKNNClassifier()
OUTLIERS, PRUNER = OPFOutlierDetector(), OPFPruner()
SEMI = OPFSemiSupervisedClassifier()
WITH_METRIC = [PLAIN, FUZZY, KNN, SEMI, CLUSTERING, OUTLIERS]
every_class = pytest.mark.parametrize("estimator", WITH_METRIC, ids=repr)
pruner_too = pytest.mark.parametrize("estimator", [*WITH_METRIC, PRUNER], ids=repr)
both_classifiers = pytest.mark.parametrize("estimator", [PLAIN, FUZZY], ids=repr)
every_classifier = pytest.mark.parametrize("estimator", [PLAIN, FUZZY, KNN, SEMI], ids=repr)
density_users = pytest.mark.parametrize("estimator", [FUZZY, KNN, CLUSTERING, OUTLIERS], ids=repr)


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


def altered(value):
    """X with one entry replaced."""
    changed = X.copy()
    changed[3, 1] = value
    return changed


DATED = (X * 1000).astype("M8[s]")
DATES = DATED.copy()
DATES[3, 1] = "NaT"
DURATIONS = [[*row] for row in DATES - DATES[0, 0]]

BAD_SAMPLES = {
    "nan": (altered(np.nan), ValueError, "NaN"),
    "infinity": (altered(np.inf), ValueError, "infinity"),
    "text": (X.astype(str).tolist()[:29] + [["a", "b", "c"]], ValueError, "could not convert"),
    "one dimension": (X[:, 0], ValueError, "2D array"),
    "three dimensions": (X[:, :, None], ValueError, "dim 3"),
    "no rows": (X[:0], ValueError, "0 sample"),
    "no columns": (X[:, :0], ValueError, "0 feature"),
    "missing dates": (DATES, ValueError, "1 missing date.*row 3, column 1; drop"),
    "missing durations in lists": (DURATIONS, ValueError, "1 missing date.*row 3, column 1"),
    "sparse with nan": (scipy.sparse.csr_matrix(altered(np.nan)), ValueError, "NaN"),
    "sparse with infinity": (scipy.sparse.csr_matrix(altered(np.inf)), ValueError, "infinity"),
    "complex": (X.astype(complex), ValueError, "[Cc]omplex"),
}


@pruner_too
@pytest.mark.parametrize("case", BAD_SAMPLES)
def test_bad_training_samples_are_refused(estimator, case, idle):
    samples, error, message = BAD_SAMPLES[case]
    with pytest.raises(error, match=message):
        clone(estimator).fit(samples, y[: samples.shape[0]] if hasattr(samples, "shape") else y)


@pruner_too
@pytest.mark.parametrize("case", ["nan", "infinity", "text", "one dimension", "no rows", "missing dates"])
def test_bad_queries_are_refused(estimator, case):
    samples, error, message = BAD_SAMPLES[case]
    with pytest.raises(error, match=message):
        clone(estimator).fit(X, y).predict(samples)


TAKE_SAMPLES = {
    "search": lambda X: FuzzyOPFClassifierCV(refit=False).fit(X, y),
    "search with a transformer": lambda X: FuzzyOPFClassifierCV(transforms=[None]).fit(X, y),
    "engine": make_engine,
    "learn, training": lambda X: learn(PLAIN, X, y, DATED, y),
    "learn, validation": lambda X: learn(PLAIN, DATED, y, X, y),
}


@pytest.mark.parametrize("case", TAKE_SAMPLES)
def test_missing_dates_are_refused_by_all_that_take_samples(case):
    with pytest.raises(ValueError, match=r"1 missing date.*row 3, column 1; drop"):
        TAKE_SAMPLES[case](DATES)


def test_dates_are_numbers():
    np.testing.assert_array_equal(PLAIN.fit(DATED, y).cost_, PLAIN.fit(DATED.astype(float), y).cost_)


@pruner_too
def test_a_wrong_number_of_features_is_refused(estimator):
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        clone(estimator).fit(X, y).predict(X[:, :2])


BAD_LABELS = {
    "missing": (None, "y"),
    "too few": (y[:29], "inconsistent numbers of samples"),
    "nan": (np.where(y == 0, np.nan, y), "NaN"),
    "none": ([None, *y[1:].tolist()], "missing|None"),
    "lost text": (["a", np.nan] * 15, "missing|NaN"),
    "lost dates": (np.where(y == 1, np.datetime64("NaT"), np.datetime64(0, "s")), "10 missing"),
    "lost durations": (np.where(y == 1, np.timedelta64("NaT"), np.timedelta64(0, "s")), "10 missing"),
    "lost dates in a list": ([np.datetime64("2026-01-01"), np.datetime64("NaT")] * 15, "15 missing"),
    "masked": (np.ma.array(y, mask=y == 2), "missing"),
    "masked in a list": ([*y[:29].tolist(), np.ma.masked], "missing"),
    "continuous": (X[:, 0], "continuous"),
    "two columns": (np.column_stack([y, y]), "1d array|shape"),
    "no labels": ([], "inconsistent|0 sample|[Ee]mpty"),
}


@pytest.mark.parametrize("estimator", [PLAIN, FUZZY, KNN, SEMI, PRUNER], ids=repr)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused(estimator, case, idle):
    labels, message = BAD_LABELS[case]
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, labels)


BAD_PARAMETERS = [
    ({"metric": "no such metric"}, ValueError, "no such metric"),
    ({"metric": 3}, TypeError, "metric=3"),
    ({"metric": "minkowski", "metric_params": {"p": 0.5}}, ValueError, "p must be at least 1"),
    ({"metric": "euclidean", "metric_params": {"p": 3}}, ValueError, "metric_params"),
    ({"metric": "seuclidean", "metric_params": {"Q": 1}}, ValueError, "seuclidean.*only V.*'Q': 1"),
    ({"metric": "seuclidean", "metric_params": {"V": [1, 2]}}, ValueError, r"seuclidean.*\[1, 2\].*correct"),
    ({"metric": "mahalanobis", "metric_params": {"VI": np.eye(2)}}, ValueError, r"mahalanobis.*\(3, 3\)"),
    ({"metric": "hamming", "metric_params": {"w": [-1, 1, 1]}}, ValueError, "hamming.*correct metric_params"),
    ({"metric": "haversine"}, ValueError, "haversine.*3 feature"),
    ({"metric": lambda a: 0.0}, TypeError, "metric=.*function of two rows"),
    ({"metric": lambda a, b: 0.0, "metric_params": {"w": 1}}, TypeError, "metric=.*'w': 1"),
    ({"algorithm": "quantum"}, ValueError, "quantum"),
    ({"algorithm": "kd_tree", "metric": "cosine"}, ValueError, "tree.*cosine"),
    ({"metric": "chi2"}, ValueError, "chi2.*>= 0"),
    ({"metric": "braycurtis"}, ValueError, "braycurtis.*>= 0"),
    ({"n_jobs": 0}, ValueError, "n_jobs=0"),
    ({"n_jobs": 1.5}, TypeError, "n_jobs=1.5"),
]
BAD_CLASSIFIER_PARAMETERS = [
    ({"n_conquerors": 0}, ValueError, "n_conquerors=0"),
    ({"n_conquerors": 2.0}, TypeError, "n_conquerors=2.0"),
    ({"beta": 0}, ValueError, "beta=0"),
    ({"beta": np.inf}, ValueError, "beta=inf"),
    ({"beta": 10**400}, ValueError, "beta=1000"),
    ({"beta": "8"}, TypeError, "beta='8'"),
]
BAD_DENSITY_PARAMETERS = [
    ({"k_max": 0}, ValueError, "k_max=0"),
    ({"k_max": -3}, ValueError, "k_max=-3"),
    ({"k_max": 2.5}, TypeError, "k_max=2.5"),
    ({"k_max": "many"}, TypeError, "k_max='many'"),
    ({"k_max": True}, TypeError, "k_max=True"),
    ({"n_neighbors": 0}, ValueError, "n_neighbors=0"),
    ({"n_neighbors": 3.0}, TypeError, "n_neighbors=3.0"),
    ({"n_neighbors": 30}, ValueError, "at most 29"),
    ({"n_neighbors": 99}, ValueError, "at most 29"),
]
BAD_FUZZY_PARAMETERS = [
    ({"sigma": 0}, ValueError, "sigma=0"),
    ({"sigma": -0.5}, ValueError, "sigma=-0.5"),
    ({"sigma": np.nan}, ValueError, "sigma=nan"),
    ({"sigma": "0.8"}, TypeError, "sigma='0.8'"),
    ({"sigma": 1.2, "competition": "tree"}, ValueError, "sigma=1.2"),
    ({"competition": "fair"}, ValueError, "competition='fair'"),
    ({"membership": "degree"}, ValueError, "membership='degree'"),
    ({"membership_side": "left"}, ValueError, "membership_side='left'"),
]


BAD_PRUNER_PARAMETERS = [
    ({"max_loss": -0.1}, ValueError, "max_loss=-0.1 must lie between 0 and 1"),
    ({"max_loss": 2}, ValueError, "max_loss=2 must lie between 0 and 1"),
    ({"max_loss": np.nan}, ValueError, "max_loss=nan must lie between 0 and 1"),
    ({"max_loss": True}, TypeError, "max_loss=True must be a number"),
    ({"max_iter": 1.5}, TypeError, "max_iter=1.5 must be an integer"),
]
BAD_FRACTIONS = [
    ({"validation_fraction": 0}, ValueError, "validation_fraction=0 must be finite and greater than 0"),
    ({"validation_fraction": 1.0}, ValueError, "validation_fraction=1.0 must be below 1"),
    ({"validation_fraction": "half"}, TypeError, "validation_fraction='half' must be a number"),
    ({"random_state": -1}, ValueError, "random_state=-1 cannot seed"),
]
BAD_FOLDS = [
    ({"cv": []}, ValueError, "gives no fold"),
    ({"cv": [([], [0])]}, ValueError, "fold 0 of cv has 0 training"),
    ({"cv": [0, 1]}, ValueError, r"cv=\[0, 1\] is unknown; use .* pairs"),
]
BAD_CONTAMINATIONS = [
    ({"contamination": 0.0}, ValueError, "contamination=0.0 must be finite and greater than 0"),
    ({"contamination": 0.6}, ValueError, "contamination=0.6 must be at most 0.5"),
    ({"contamination": np.nan}, ValueError, "contamination=nan must be finite"),
    ({"contamination": "some"}, TypeError, "contamination='some' must be a number"),
    ({"contamination": True}, TypeError, "contamination=True must be a number"),
]
BAD_DOMES = [
    ({"threshold": 0}, ValueError, "threshold=0 must be"),
    ({"threshold": "much"}, TypeError, "threshold='much'"),
    ({"n_clusters": 0}, ValueError, "n_clusters=0"),
    ({"measure": "width"}, ValueError, "measure='width'.*'height', 'area', 'volume'"),
    ({"threshold": 3, "n_clusters": 2}, ValueError, "only one of n_clusters and threshold"),
]
REFUSED = [
    (WITH_METRIC, BAD_PARAMETERS),
    ([PLAIN, FUZZY, SEMI], BAD_CLASSIFIER_PARAMETERS),
    ([FUZZY, KNN, CLUSTERING, OUTLIERS], BAD_DENSITY_PARAMETERS),
    ([FUZZY], BAD_FUZZY_PARAMETERS),
    ([PRUNER], BAD_PRUNER_PARAMETERS),
    ([KNN, PRUNER], BAD_FRACTIONS),
    ([KNN], BAD_FOLDS),
    ([OUTLIERS], BAD_CONTAMINATIONS),
    ([CLUSTERING], BAD_DOMES),
]


def refuse(estimator, parameters, error, message):
    """Check that fit refuses these parameters."""
    with pytest.raises(error, match=message):
        clone(estimator).set_params(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "parameters", "error", "message"),
    [(estimator, *case) for estimators, cases in REFUSED for estimator in estimators for case in cases],
)
def test_bad_parameters_are_refused(estimator, parameters, error, message, idle):
    refuse(estimator, parameters, error, message)


@every_class
@pytest.mark.parametrize("value", [np.zeros(3), "far", {}])
def test_a_metric_that_returns_no_number_is_refused(estimator, value):
    refuse(estimator, {"metric": lambda a, b: value}, TypeError, "metric=.*one number")


BAD_MEMBERSHIPS = {
    "too few": (np.ones(29), "30"),
    "above one": (np.full(30, 1.5), r"\[0, 1\]"),
    "negative": (np.full(30, -0.1), r"\[0, 1\]"),
    "nan": (np.full(30, np.nan), r"\[0, 1\]|NaN"),
    "text": (["high"] * 30, "membership"),
}


@pytest.mark.parametrize("case", BAD_MEMBERSHIPS)
def test_bad_values_from_a_membership_callable_are_refused(case):
    values, message = BAD_MEMBERSHIPS[case]
    with pytest.raises((ValueError, TypeError), match=message):
        FuzzyOPFClassifier(membership=lambda X, y: values).fit(X, y)


def asymmetric():
    """A distance matrix with one entry off, by little more than rounding may be."""
    changed = D.copy()
    changed[4, 2] += 1.1e-10 * D.max()
    return changed


BAD_MATRICES = {
    "not square": (D[:, :20], "square"),
    "asymmetric": (asymmetric(), "symmetric"),
    "negative": (-D, ">= 0"),
    "nan": (np.where(D.max() == D, np.nan, D), "NaN"),
}


@every_class
@pytest.mark.parametrize("case", BAD_MATRICES)
def test_bad_matrices_of_distances_are_refused(estimator, case, idle):
    matrix, message = BAD_MATRICES[case]
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(metric="precomputed").fit(matrix, y)


@every_class
def test_rounding_errors_in_a_matrix_of_distances_are_accepted(estimator):
    noisy = D + np.tril(np.full_like(D, 0.9e-10 * D.max()), -1)
    got = clone(estimator).set_params(metric="precomputed").fit(noisy, y).predict(D)
    np.testing.assert_array_equal(got, clone(estimator).set_params(metric="precomputed").fit(D, y).predict(D))


@every_class
def test_the_wrong_number_of_distances_is_refused(estimator):
    model = clone(estimator).set_params(metric="precomputed").fit(D, y)
    with pytest.raises(ValueError, match=r"20 features.*30 features"):
        model.predict(D[:, :20])


@every_class
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "minkowski"])
def test_a_distance_that_would_overflow_is_refused(estimator, metric, idle):
    params = {"p": 3} if metric == "minkowski" else None
    model = clone(estimator).set_params(metric=metric, metric_params=params)
    with pytest.raises(ValueError, match="overflow"):
        model.fit(X * 1e200, y)


@density_users
def test_a_distance_whose_square_would_overflow_in_the_density_is_refused(estimator, idle):
    with pytest.raises(ValueError, match="overflow"):
        clone(estimator).set_params(metric="manhattan").fit(X * 1e200, y)


@pytest.mark.parametrize(
    ("metric", "largest"), [("manhattan", 1e300), ("chebyshev", 1e300), ("euclidean", 1e150)]
)
def test_large_values_that_do_not_overflow_work(metric, largest):
    model = OPFClassifier(metric=metric)
    np.testing.assert_array_equal(model.fit(X * largest, y).root_, model.fit(X, y).root_)


@every_class
@pytest.mark.parametrize(
    ("metric", "params", "scale"),
    [
        ("euclidean", {}, 1e-200),
        ("sqeuclidean", {}, 1e-155),
        ("log_sqeuclidean", {}, 1e-155),
        ("nan_euclidean", {}, 1e-155),
        ("cosine", {}, 1e-155),
        ("minkowski", {"p": 3}, 1e-104),
    ],
    ids=str,
)
def test_differences_whose_squares_would_underflow_are_refused(estimator, metric, params, scale, idle):
    model = clone(estimator).set_params(metric=metric, metric_params=params or None)
    with pytest.raises(ValueError, match=r"would underflow.*multiply X by 1e\+\d+"):
        model.fit(X * scale, y)


@density_users
@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_a_distance_whose_square_would_underflow_in_the_density_is_refused(estimator, metric, idle):
    samples = (D if metric == "precomputed" else X) * 1e-155
    with pytest.raises(ValueError, match=r"underflow.*multiply X by 1e\+15"):
        clone(estimator).set_params(metric=metric).fit(samples, y)


@density_users
def test_distances_of_a_function_whose_squares_would_vanish_in_the_density_are_refused(estimator):
    with pytest.raises(ValueError, match=r"distances up to .* underflow"):
        clone(estimator).set_params(metric=lambda a, b: np.abs(a - b).max() * 1e-200).fit(X, y)


SMALL = {
    "a range just large enough": X / np.ptp(X, axis=0).max() * 2.0**-511,
    "one small feature": X * [1e-200, 1e-300, 1],
    "equal samples": np.full((30, 3), 1e-200),
    "zeros": np.zeros((30, 3)),
    "a wide range only among later samples": np.repeat(X, 5, axis=0)
    * np.repeat([[1e-200], [1]], [120, 30], axis=0),
}


@every_class
@pytest.mark.parametrize("case", SMALL)
def test_small_features_that_tell_samples_apart_work(estimator, case):
    samples = SMALL[case]
    clone(estimator).fit(samples, np.arange(len(samples)) % 3)


def test_small_ranges_matter_only_to_metrics_with_a_unit():
    expected = OPFClustering(metric="canberra").fit_predict(np.exp(X) * 1e-20)
    np.testing.assert_array_equal(OPFClustering(metric="canberra").fit_predict(np.exp(X) * 1e-200), expected)
    OPFClassifier(metric="manhattan").fit(X * 1e-200, y)


@every_class
def test_queries_whose_distance_would_overflow_are_refused(estimator):
    with pytest.raises(ValueError, match="overflow"):
        clone(estimator).fit(X, y).predict(X * 1e200)


@every_class
def test_sample_weights_are_refused(estimator):
    with pytest.raises(TypeError, match="sample_weight"):
        clone(estimator).fit(X, y, sample_weight=np.ones(30))


@density_users
def test_k_max_is_capped_for_small_folds(estimator):
    assert clone(estimator).set_params(k_max=1000).fit(X[:5], y[:5]).best_k_ <= 4


@every_class
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_inputs_are_never_modified(estimator, dtype, order):
    samples, labels = np.array(X, dtype=dtype, order=order), y.copy()
    clone(estimator).fit(samples, labels).predict(samples)
    assert np.array_equal(samples, X.astype(dtype))
    assert np.array_equal(labels, y)


@every_class
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_read_only_arrays_work(estimator, metric):
    samples, labels = (D if metric == "precomputed" else X).copy(), y.copy()
    samples.flags.writeable = labels.flags.writeable = False
    assert clone(estimator).set_params(metric=metric).fit(samples, labels).predict(samples).shape == (30,)


@every_class
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_read_only_memory_maps_work(estimator, metric, tmp_path):
    np.save(tmp_path / "samples.npy", D if metric == "precomputed" else X)
    samples = np.load(tmp_path / "samples.npy", mmap_mode="r")
    assert clone(estimator).set_params(metric=metric).fit(samples, y).predict(samples).shape == (30,)


@every_class
def test_lists_and_integers_work(estimator):
    samples = np.rint(X * 10).astype(int)
    got = clone(estimator).fit(samples.tolist(), y.tolist()).predict(samples.tolist())
    np.testing.assert_array_equal(got, clone(estimator).fit(samples.astype(float), y).predict(samples))


@every_class
@pytest.mark.parametrize("memory", ["strided", "Fortran", "swapped bytes"])
def test_any_memory_layout_works(estimator, memory):
    strided = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    samples = {"strided": strided, "Fortran": np.asfortranarray(X), "swapped bytes": X.astype(">f8")}[memory]
    got = clone(estimator).fit(samples, y).predict(samples)
    np.testing.assert_array_equal(got, clone(estimator).fit(X, y).predict(X))


@every_class
def test_a_failed_fit_leaves_the_estimator_unfitted(estimator):
    model = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(altered(np.nan), y)
    assert not hasattr(model, "n_features_in_")


@every_class
def test_the_upper_triangle_of_a_noisy_matrix_counts(estimator):
    noisy = D + np.tril(np.full_like(D, 0.9e-10 * D.max()), -1)
    model = clone(estimator).set_params(metric="precomputed")
    learned = "density_" if estimator is OUTLIERS else "cost_"
    expected = getattr(model.fit(D, y), learned)
    np.testing.assert_array_equal(getattr(model.fit(noisy, y), learned), expected)


@every_class
def test_asymmetry_is_seen_in_every_block(estimator, monkeypatch):
    changed = D.copy()
    changed[20, 29] += 1e-3
    monkeypatch.setattr("pathforest._engines.samples.BLOCK_BYTES", 8 * 30 * 4)
    with pytest.raises(ValueError, match=r"X\[20, 29\]"):
        clone(estimator).set_params(metric="precomputed").fit(changed, y)


@every_class
def test_queries_too_far_from_the_training_samples_are_refused(estimator):
    far = np.linspace(8e153, 9e153, 30)[:, None]  # either side is in range; the distance between them is not
    with pytest.raises(ValueError, match="overflow"):
        clone(estimator).fit(far, y).predict(-far)


def test_a_sigma_that_makes_costs_overflow_is_refused():
    with pytest.raises(ValueError, match=r"sigma=1e\+300.*overflow"):
        FuzzyOPFClassifier(sigma=1e300, metric="manhattan").fit(X * 1e100, y)


# Text in tables


@pytest.mark.parametrize("model", [OPFClassifier(), FuzzyOPFClassifierCV(), OPFClustering(), OPFPruner()])
def test_text_is_refused_by_the_name_of_its_column(model):
    table = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "sex": ["f", "m", "f", "m"]})
    remedies = (
        r"make_pipeline\(TablePreprocessor\(\), model\) or TablePreprocessor\(\)\.fit_transform\(X\), or "
        "pass metric='gower'"
    )
    with pytest.raises(ValueError, match=rf"column 'sex' holds text, such as 'f', .*{remedies}"):
        model.fit(table, [0, 1, 0, 1])
    with pytest.raises(ValueError, match=rf"column 1 holds text, such as 'f', .*{remedies}"):
        model.fit(table.astype(object).to_numpy(), [0, 1, 0, 1])
