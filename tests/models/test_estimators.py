"""The scikit-learn contract in full, for every estimator and its main settings."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

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
)
from pathforest._engines.metric import resolve_metric

# On some of scikit-learn's datasets Algorithm 3 loses training labels, and warnings are errors here.
pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

# Of what the search tries by default, all representations and a few cells: a quarter of the time.
SEARCH = FuzzyOPFClassifierCV(k_max=5, sigmas=0.5, n_conquerors=(1, 3), cv=2)
CLASSIFIERS = [
    OPFClassifier(),
    OPFClassifier(n_conquerors=3),
    OPFClassifier(algorithm="brute", n_jobs=2),
    OPFClassifier(metric="log_sqeuclidean", algorithm="kd_tree"),
    OPFClassifier(metric="minkowski", metric_params={"p": 3}),
    OPFClassifier(metric="chi2"),
    OPFClassifier(metric="seuclidean"),
    OPFClassifier(metric="gower"),
    OPFClassifier(metric="precomputed"),
    FuzzyOPFClassifier(),
    FuzzyOPFClassifier(membership_side="source"),
    FuzzyOPFClassifier(sigma=1.0),
    FuzzyOPFClassifier(n_neighbors=3),
    FuzzyOPFClassifier(sigma=1.2, n_conquerors=2),
    FuzzyOPFClassifier(competition="tree", sigma=0.2),
    FuzzyOPFClassifier(metric="precomputed"),
    SEARCH,
    FuzzyOPFClassifierCV(transforms="kernel", k_max=5, sigmas=0.5, n_conquerors=(1, 3), n_best=1, cv=2),
    FuzzyOPFClassifierCV(metric="precomputed", k_max=5, n_conquerors=(1, 3), cv=2),
    OPFKNNClassifier(),
    OPFKNNClassifier(n_neighbors=3),
    OPFKNNClassifier(metric="sqeuclidean", algorithm="brute", cv=2, n_jobs=2),
    OPFKNNClassifier(metric="precomputed"),
    OPFSemiSupervisedClassifier(),
    OPFSemiSupervisedClassifier(method="opfsemi", algorithm="brute", n_jobs=2),
    OPFSemiSupervisedClassifier(metric="precomputed"),
    OPFSemiSupervisedClassifier(method="mst"),
    OPFSemiSupervisedClassifier(n_neighbors=3, n_conquerors=2, algorithm="brute", n_jobs=2),
]
# Without metric="precomputed": check_clustering passes samples whatever the pairwise tag says.
CLUSTERINGS = [
    OPFClustering(),
    OPFClustering(n_neighbors=4),
    OPFClustering(metric="sqeuclidean", algorithm="brute", n_jobs=2),
    OPFClustering(selection="cut", measure="volume"),
]
OUTLIER_DETECTORS = [
    OPFOutlierDetector(),
    OPFOutlierDetector(contamination=0.1, n_neighbors=4),
    OPFOutlierDetector(metric="sqeuclidean", algorithm="brute", n_jobs=2),
    OPFOutlierDetector(metric="seuclidean"),
]
# Without metric="precomputed": the checks make distances only for an estimator with a parameter `metric`.
PRUNERS = [
    OPFPruner(),
    OPFPruner(OPFClassifier(n_conquerors=3), max_loss=0.05),
    OPFPruner(FuzzyOPFClassifier(competition="tree", sigma=0.2)),
]
WITH_PROBABILITIES = [
    OPFClassifier(),
    FuzzyOPFClassifier(),
    SEARCH,
    OPFSemiSupervisedClassifier(),
]
WITH_METRIC = [*WITH_PROBABILITIES, OPFKNNClassifier(), OPFClustering(), OPFOutlierDetector()]
every_class = pytest.mark.parametrize("estimator", [*WITH_METRIC, OPFPruner()])
with_metric = pytest.mark.parametrize("estimator", WITH_METRIC)  # of their own, and `verbose`
both_classifiers = pytest.mark.parametrize("estimator", [OPFClassifier(), FuzzyOPFClassifier()])
every_classifier = pytest.mark.parametrize("estimator", [*WITH_PROBABILITIES, OPFKNNClassifier()])
with_probabilities = pytest.mark.parametrize("estimator", [*WITH_PROBABILITIES, OPFPruner()])

CALLING_PARTIAL_FIT = (
    "check_estimators_partial_fit_n_features",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def expected_failures(estimator):
    expected = {}
    if isinstance(estimator, OPFSemiSupervisedClassifier):
        expected["check_classifiers_classes"] = "has -1 among its classes, which marks unlabelled samples"
    metric = getattr(estimator, "metric", "euclidean")
    if hasattr(estimator, "partial_fit") and not resolve_metric(metric).grows:
        expected |= dict.fromkeys(CALLING_PARTIAL_FIT, f"{metric} distances cannot grow")
    return expected


@pytest.mark.slow  # thousands of them
@parametrize_with_checks(
    CLASSIFIERS + CLUSTERINGS + OUTLIER_DETECTORS + PRUNERS, expected_failed_checks=expected_failures
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def as_frame(library, X):
    """X as a data frame with named columns."""
    module = pytest.importorskip(library)
    return module.DataFrame({f"column {j}": X[:, j] for j in range(X.shape[1])})


@every_class
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_the_predictions_of_arrays(estimator, library, iris):
    X, y = iris
    frame = as_frame(library, X)
    expected = clone(estimator).fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(estimator).fit(frame, y).predict(frame), expected)


@every_class
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_leave_their_feature_names(estimator, library, iris):
    X, y = iris
    model = clone(estimator).fit(as_frame(library, X), y)
    assert model.feature_names_in_.tolist() == [f"column {j}" for j in range(4)]


@every_class
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_other_columns_are_refused(estimator, library, iris):
    X, y = iris
    model = clone(estimator).fit(as_frame(library, X), y)
    other = as_frame(library, X[:, [0, 1, 2, 3, 3]])[[f"column {j}" for j in (1, 2, 3, 4)]]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)


@every_classifier
@pytest.mark.parametrize(
    "classes",
    [["ham", "eggs", "spam"], [10, -5, 0], [2.0, 1.0, 0.0], np.array([7, 8, 9], dtype=np.uint8)],
    ids=["text", "integers", "floats", "uint8"],
)
def test_any_label_type_comes_back(estimator, classes, iris):
    X, codes = iris
    y = np.array(classes)[codes]
    model = clone(estimator).fit(X, y)
    learned = model.label_.dtype, model.predict(X).dtype, set(model.predict(X).tolist())
    assert learned == (y.dtype, y.dtype, set(y.tolist()))


@every_classifier
def test_labels_in_a_pandas_series_come_back(estimator, iris):
    pandas = pytest.importorskip("pandas")
    X, codes = iris
    y = pandas.Series(np.array(["ham", "eggs", "spam"])[codes], index=range(1000, 1150))
    assert set(clone(estimator).fit(X, y).predict(X)) == {"ham", "eggs", "spam"}


@every_classifier
def test_boolean_labels_come_back(estimator, iris):
    X, codes = iris
    assert clone(estimator).fit(X, codes > 0).predict(X).dtype == bool


@every_classifier
@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 1 has no StringDType")
def test_labels_of_numpy_s_own_text_type_come_back(estimator, iris):
    X, codes = iris
    y = np.array(["ham", "eggs", "spam"])[codes]
    got = clone(estimator).fit(X, y.astype(np.dtypes.StringDType())).predict(X)
    np.testing.assert_array_equal(got, clone(estimator).fit(X, y).predict(X))


@every_classifier
def test_a_pipeline_passes_frames_through(estimator, iris):
    pytest.importorskip("pandas")
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform="pandas")
    pipeline.fit(as_frame("pandas", X), y)
    assert pipeline[-1].feature_names_in_.tolist() == [f"column {j}" for j in range(4)]


@every_classifier
def test_cross_validation_scores_well_on_iris(estimator, iris):
    assert cross_val_score(estimator, *iris, cv=5).mean() > 0.9


@pytest.mark.slow
@both_classifiers
def test_parallel_grid_search_equals_a_serial_one(estimator, iris):
    grid = {"n_conquerors": [1, 3], "metric": ["euclidean", "manhattan"]}
    searches = [GridSearchCV(estimator, grid, cv=3, n_jobs=n_jobs).fit(*iris) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*[search.cv_results_["mean_test_score"] for search in searches])


@with_probabilities
def test_calibration_wraps_the_probabilities(estimator, iris):
    X, y = iris
    calibrated = CalibratedClassifierCV(estimator, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@every_classifier
def test_bagging_survives_repeated_samples(estimator, iris):
    X, y = iris
    assert BaggingClassifier(estimator, n_estimators=5, random_state=0).fit(X, y).score(X, y) > 0.9


@every_class
def test_html_repr_names_the_estimator(estimator):
    assert type(estimator).__name__ in estimator._repr_html_()


@with_metric
def test_repr_shows_only_what_was_changed(estimator):
    assert repr(type(estimator)(metric="manhattan")).endswith("(metric='manhattan')")


@with_metric
def test_precomputed_sets_the_pairwise_tag(estimator):
    assert get_tags(clone(estimator).set_params(metric="precomputed")).input_tags.pairwise


@every_classifier
def test_cross_validation_slices_a_precomputed_matrix(estimator, iris):
    X, y = iris
    D = pairwise_distances(X, metric="chebyshev")  # no arithmetic but differences: the same bits everywhere
    on_matrix = cross_val_score(clone(estimator).set_params(metric="precomputed"), D, y, cv=5)
    on_samples = cross_val_score(clone(estimator).set_params(metric="chebyshev"), X, y, cv=5)
    np.testing.assert_array_equal(on_matrix, on_samples)


@every_class
def test_pickled_state_holds_no_compiled_object(estimator, iris):
    model = clone(estimator).fit(*iris)
    model.predict(iris[0])
    assert b"pathforest._core" not in pickle.dumps(model)


@every_class
def test_an_unfitted_estimator_says_so(estimator):
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(estimator).predict([[1.0, 2.0]])


@every_class
def test_changing_the_caller_s_array_after_fit_changes_nothing(estimator, iris):
    X, y = iris[0].copy(), iris[1]
    model = clone(estimator).fit(X, y)
    expected = pickle.loads(pickle.dumps(model)).predict(iris[0])
    X[:] = 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(iris[0]), expected)


@with_metric
def test_verbose_reports_the_stages(estimator, iris, caplog):
    clone(estimator).set_params(verbose=1).fit(*iris)
    assert [record.name for record in caplog.records if "took" in record.message]


@every_class
def test_nothing_is_logged_by_default(estimator, iris, caplog):
    clone(estimator).fit(*iris)
    assert not caplog.records


@with_metric
@pytest.mark.parametrize("verbose", [0, 1])
def test_the_size_of_a_full_matrix_is_logged_only_on_request(estimator, verbose, iris, caplog):
    clone(estimator).set_params(metric="seuclidean", verbose=verbose).fit(*iris)
    assert any("150 x 150" in record.message for record in caplog.records) == bool(verbose)


@with_metric
def test_nothing_is_logged_by_default_for_a_metric_without_an_engine(estimator, iris, caplog):
    clone(estimator).set_params(metric="seuclidean").fit(*iris)
    assert not caplog.records


@pytest.mark.parametrize(
    "estimator", [OPFClassifier(), FuzzyOPFClassifier(), OPFClustering(), OPFOutlierDetector()]
)
def test_a_large_matrix_is_warned_about_at_the_caller_s_line(estimator, iris, monkeypatch):
    monkeypatch.setattr("pathforest._engines.matrix.WARN_BYTES", 100)
    with pytest.warns(UserWarning, match="150 x 150") as issued:
        clone(estimator).set_params(metric="seuclidean").fit(*iris)
    assert issued[0].filename == __file__


@with_metric
def test_changing_metric_params_after_fit_changes_nothing(estimator, iris):
    X, y = iris
    variances = X.var(axis=0)
    model = clone(estimator).set_params(metric="seuclidean", metric_params={"V": variances}).fit(X, y)
    expected = model.predict(X + 0.3)
    variances[:] = [1e-6, 1e6, 1e6, 1e6]
    np.testing.assert_array_equal(model.predict(X + 0.3), expected)


@with_metric
def test_nothing_is_printed(estimator, iris, capfd):
    clone(estimator).set_params(verbose=1).fit(*iris)
    assert capfd.readouterr() == ("", "")


LABELLED = [
    OPFClassifier(),
    FuzzyOPFClassifier(),
    FuzzyOPFClassifierCV(k_max=(5,), sigmas=(1,), transforms=None),
    OPFKNNClassifier(),
    OPFSemiSupervisedClassifier(),
    OPFPruner(),
]


@pytest.mark.parametrize("estimator", LABELLED, ids=lambda estimator: type(estimator).__name__)
def test_a_classifier_remembers_the_name_of_its_labels_and_forgets_it(estimator, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).fit(X, pd.Series(y, name="species"))
    model.save(tmp_path / "model.pf")
    assert pathforest.load(tmp_path / "model.pf").label_name_ == "species"
    for without in (y, pd.Series(y), pd.Series(y, name=3), pd.Series(y, name="")):
        assert not hasattr(model.fit(X, pd.Series(y, name="species")).fit(X, without), "label_name_")


def test_a_growing_model_keeps_the_name_of_its_labels():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    model = OPFClassifier().partial_fit(X[::2], pd.Series(y[::2], name="species"))
    assert model.partial_fit(X[1::2], y[1::2]).label_name_ == "species"


def test_the_names_of_other_arrays_are_not_names_of_labels():
    da = pytest.importorskip("dask.array")
    X, y = load_iris(return_X_y=True)
    assert da.from_array(y).name
    assert not hasattr(OPFClassifier().fit(X, da.from_array(y)), "label_name_")
