"""Models that grow equal in every array those that `fit` makes of the samples that are there."""

import pickle
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from checks import fitted_attributes, same_model
from growth import fit, histories, replay
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, make_codes, make_samples
from zoo import every, make

from pathforest import (
    FuzzyOPFClassifier,
    OPFClassifier,
    OPFClustering,
    OPFSemiSupervisedClassifier,
    load,
)
from pathforest._engines import growing
from pathforest._engines.metric import resolve_metric
from pathforest.fuzzy import TrainingErrorWarning

every_model = every("grows")
pytestmark = pytest.mark.filterwarnings("ignore::pathforest.fuzzy.TrainingErrorWarning")


def check(model, history):
    """After every step, the model equals one that was fitted to what is there."""
    for X, y in replay(model, history):
        same_model(model, fit(clone(model), X, y))
    same_model(model, fit(clone(model), X, y), history.Q)


@every_model
@settings(max_examples=20)
@given(data=st.data())
def test_growing_models_equal_fitted_ones_in_every_array_and_answer(name, data):
    history = data.draw(histories(unlabelled=isinstance(make(name), OPFSemiSupervisedClassifier)))
    model = make(
        name,
        algorithm=data.draw(st.sampled_from(["kd_tree", "brute"])),
        n_jobs=data.draw(st.sampled_from([1, 2, 3])),
    )
    # Both ways to search for new samples; and if they are many, updates all the same.
    few = data.draw(st.sampled_from([0, growing.FEW, 10**9]))
    most = data.draw(st.sampled_from([growing.MOST_NEW, np.inf]))
    with patch.object(growing, "MOST_NEW", most), patch.object(growing, "FEW", few):
        check(model, history)


@pytest.mark.parametrize(
    ("metric", "p"), [(name, p) for name, p in METRICS + BRUTE_METRICS if resolve_metric(name).grows]
)
@settings(max_examples=5)
@given(data=st.data())
def test_models_grow_with_every_metric_that_has_an_engine(metric, p, data):
    history = data.draw(histories(non_negative=metric in NON_NEGATIVE))
    params = {"p": p} if metric == "minkowski" else None
    with patch.object(growing, "MOST_NEW", np.inf):
        check(FuzzyOPFClassifier(metric=metric, metric_params=params, k_max=5), history)


def test_lists_made_anew_leave_the_update_of_the_tree_right():
    X = np.random.default_rng(0).integers(0, 4, (116, 4)).astype(float)
    y = make_codes("regions", 0, X)
    model = FuzzyOPFClassifier(algorithm="brute", competition="tree", k_max=2).partial_fit(X[:80], y[:80])
    model.set_params(k_max=12).partial_fit(X[80:], y[80:])
    same_model(model, fit(clone(model), X, y), X[:9] + 0.5)


@pytest.mark.parametrize("recipe", ["grid", "duplicates", "far clusters", "gaussian"])
@pytest.mark.parametrize("n_features", [2, 12])
def test_larger_batches_into_larger_models(recipe, n_features):
    X, Q = make_samples(recipe, 3, 400, n_features, np.float32)
    y = make_codes("regions", 3, X)
    model = FuzzyOPFClassifier(k_max=8)
    for rows in (slice(0, 250), slice(250, 251), slice(251, 350), slice(350, 400)):
        model.partial_fit(X[rows], y[rows])
    same_model(model, fit(FuzzyOPFClassifier(k_max=8), X, y), Q)
    leaving = np.random.default_rng(0).choice(400, 60, replace=False)
    X, y = np.delete(X, leaving, axis=0), np.delete(y, leaving)
    same_model(model.forget(leaving), fit(FuzzyOPFClassifier(k_max=8), X, y), Q)


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_ties_between_parts_go_to_the_lower_index(algorithm):
    X, _ = make_samples("grid", 6, 150, 2)
    y = make_codes("random", 6, X)
    model = OPFClassifier(algorithm=algorithm)
    for i in range(150):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        same_model(model, OPFClassifier().fit(X[: i + 1], y[: i + 1]))


def test_parts_are_few_and_their_engines_are_kept():
    X, _ = make_samples("gaussian", 1, 300, 3)
    model = OPFClassifier()
    for row in X:
        model.partial_fit([row], [0])
    parts = model._fit_cache["parts"]
    sizes = np.diff(parts.bounds)
    assert sizes.sum() == 300
    assert (sizes[:-1] >= 2 * sizes[1:]).all()
    engines = dict(parts.engines)
    assert engines
    after = model.partial_fit(X[:1], [0])._fit_cache["parts"].engines
    assert all(after[key] is engine for key, engine in engines.items() if key in after)
    assert any(key in after for key in engines)


# Labels


def test_classes_may_be_named_first_and_new_ones_arrive_later():
    model = OPFClassifier().partial_fit([[0.0], [1.0]], ["b", "b"], classes=["b", "d"])
    assert model.classes_.tolist() == ["b", "d"]
    assert model.class_costs([[0.0]]).tolist() == [[0.0, np.inf]]
    model.partial_fit([[5.0]], ["aaa"])
    assert model.classes_.tolist() == ["aaa", "b", "d"]
    assert model.label_.tolist() == ["b", "b", "aaa"]
    model.partial_fit([[6.0]], ["d"])
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    same_model(model, OPFClassifier().fit(X, ["b", "b", "aaa", "d"]))
    assert model.forget([2, 3]).classes_.tolist() == ["b", "d"]


def test_named_classes_without_samples_have_a_factor_of_their_own():
    X, y = [[0.0], [1.0], [5.0], [6.0]], ["a", "", "", "c"]
    model = OPFSemiSupervisedClassifier(n_neighbors=2).partial_fit(X, y, classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    expected = OPFSemiSupervisedClassifier(n_neighbors=2).fit(X, y)
    assert model.class_factors_[[0, 2]].tolist() == expected.class_factors_.tolist()
    assert model.class_factors_[1] == 1
    assert model.transduction_.tolist() == expected.transduction_.tolist()


def test_labels_of_another_kind_are_refused():
    model = OPFClassifier().partial_fit([[0.0]], ["a"])
    with pytest.raises(TypeError, match="new labels are of type int64 and earlier ones of type <U1"):
        model.partial_fit([[1.0]], [1])
    with pytest.raises(ValueError, match="requires y"):
        model.partial_fit([[1.0]], None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit([[1.0]], ["a", "b"])


@pytest.mark.parametrize("kind", [list, np.array])
def test_text_is_as_wide_as_that_of_fit(kind):
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "longer"]
    model = OPFClassifier().partial_fit(X[2:], kind(y[2:])).partial_fit(X[:2], kind(y[:2])).forget([0])
    for labels in (y[:2], np.array(y)[:2]):
        same_model(model, OPFClassifier().fit(X[:2], labels))
    assert model.classes_.dtype == "<U1"


def test_numbers_that_are_equal_in_a_common_type_are_refused():
    large = 2**63
    model = OPFClassifier().partial_fit([[0.0]], np.array([large - 1]))
    with pytest.raises(ValueError, match="int64 and uint64 are not all distinct as float64"):
        model.partial_fit([[1.0]], np.array([large], dtype=np.uint64))
    with pytest.raises(ValueError, match="are not all distinct"):
        OPFClassifier().partial_fit([[1.0]], [0], classes=[2**53 + 1]).partial_fit([[1.0]], [2.0**53])
    model = (
        OPFClassifier().partial_fit([[0.0]], [1]).partial_fit([[1.0]], np.array([1, 2], dtype=np.uint64)[:1])
    )
    assert model.classes_.tolist() == [1]


def test_labels_arrive_for_samples_that_are_there():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [6.0]]), np.array(["a", "", "", "", "", ""])
    model = OPFSemiSupervisedClassifier(n_neighbors=2).partial_fit(X, y)
    assert model.transduction_.tolist() == ["a"] * 6
    model.set_labels([5], ["b"])
    y[5] = "b"
    same_model(model, OPFSemiSupervisedClassifier(n_neighbors=2).fit(X, y))


# Samples


def test_later_samples_get_the_type_of_the_first():
    X, Q = make_samples("gaussian", 1, 20, 3)
    y = make_codes("regions", 1, X)
    model = OPFClassifier().partial_fit(X[:15].astype(np.float32), y[:15]).partial_fit(X[15:], y[15:])
    same_model(model, OPFClassifier().fit(X.astype(np.float32), y), Q)
    with pytest.raises(ValueError, match="infinity or a value too large"):
        model.partial_fit([[1e39, 0.0, 0.0]], [0])


def test_growing_leaves_the_arrays_of_the_caller_alone():
    X, _ = make_samples("gaussian", 1, 20, 3)
    y = make_codes("regions", 1, X)
    before = X.copy(), y.copy()
    model = OPFClassifier().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:]).set_labels([3], [1])
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    X[:], y[:] = 0, 0
    model.partial_fit(before[0][:1], before[1][:1])
    labels = np.append(before[1], before[1][0])
    labels[3] = 1
    same_model(model, OPFClassifier().fit(np.append(*before[:1], before[0][:1], axis=0), labels))


def test_samples_that_overflow_together_with_earlier_ones_are_refused():
    model = OPFClassifier().partial_fit([[1e154]], [0])
    with pytest.raises(ValueError, match="could overflow"):
        model.partial_fit([[-1e154]], [0])
    model.partial_fit([[9e153]], [0])
    same_model(model, OPFClassifier().fit([[1e154], [9e153]], [0, 0]))


def test_small_samples_in_between_do_not_hide_how_large_the_first_are():
    model = OPFClassifier().partial_fit([[0.0], [9.4e153]], [0, 0]).partial_fit([[1.0]], [0])
    with pytest.raises(ValueError, match="could overflow"):
        model.partial_fit([[-3e153]], [0])  # itself so small that its distances to samples like it fit


def test_samples_that_underflow_together_are_refused_and_others_beside_them_are_not():
    model = OPFClassifier().partial_fit([[0.0]], [0])
    with pytest.raises(ValueError, match="would underflow"):
        model.partial_fit([[1e-200]], [1])
    model.partial_fit([[1.0]], [1]).partial_fit([[1e-200], [2e-200]], [0, 0])
    same_model(model, OPFClassifier().fit([[0.0], [1.0], [1e-200], [2e-200]], [0, 1, 0, 0]))
    with pytest.raises(ValueError, match="would underflow"):
        model.forget([1])


def test_a_new_metric_starts_anew():
    X, Q = make_samples("grid", 1, 30, 3)
    y = make_codes("regions", 1, X)
    model = FuzzyOPFClassifier(k_max=3).partial_fit(X[:25], y[:25])
    model.set_params(metric="manhattan", k_max=6).partial_fit(X[25:], y[25:])
    same_model(model, fit(FuzzyOPFClassifier(metric="manhattan", k_max=6), X, y), Q)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"metric": "precomputed"}, "full matrix"),
        ({"metric": "seuclidean"}, "full matrix"),
        ({"metric": lambda a, b: 0.0}, "full matrix"),
        ({"metric": "gower"}, "learns from all samples"),
    ],
)
def test_metrics_that_cannot_grow_are_refused(params, reason):
    for model in (OPFClassifier(**params), OPFClassifier(**params).fit(1 - np.eye(3), [0, 1, 2])):
        with pytest.raises(ValueError, match=f"cannot grow: .*{reason}.*fit to all samples"):
            model.partial_fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="cannot grow"):
        model.forget([0])


@pytest.mark.parametrize("metric", ["seuclidean", "gower"])
def test_metrics_that_cannot_grow_are_refused_in_grown_models(metric):
    model = OPFClassifier().partial_fit([[0.0], [1.0], [3.0]], [0, 1, 1]).set_params(metric=metric)
    before = dict(vars(model))
    for change in (lambda: model.forget([0]), lambda: model.set_labels([0], [1])):
        with pytest.raises(ValueError, match=f"'{metric}' cannot grow"):
            change()
    assert vars(model) == before


def test_gaps_are_refused_if_the_new_metric_takes_none():
    model = OPFClassifier(metric="nan_euclidean").partial_fit(
        [[0.0, np.nan], [1.0, 2.0], [2.0, 2.0]], [0, 1, 1]
    )
    with pytest.raises(ValueError, match="contains NaN"):
        model.set_params(metric="euclidean").forget([2])


def test_new_samples_without_a_feature_in_common_are_refused():
    nan = np.nan
    model = OPFClassifier(metric="nan_euclidean").partial_fit([[0.0, 0.0]], [0])
    with pytest.raises(ValueError, match=r"undefined between row [01] of X and row [01] of X"):
        model.partial_fit([[1.0, nan], [nan, 1.0]], [0, 1])
    model.partial_fit([[1.0, nan]], [0])
    with pytest.raises(ValueError, match="undefined between row 0 of X and training sample 1"):
        model.partial_fit([[nan, 1.0]], [1])


def test_models_grow_with_missing_values():
    X, Q = make_samples("grid", 1, 40, 3)
    y = make_codes("regions", 1, X)
    X[::5, 0] = np.nan
    model = FuzzyOPFClassifier(metric="nan_euclidean", k_max=4)
    model.partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    same_model(model, fit(FuzzyOPFClassifier(metric="nan_euclidean", k_max=4), X, y), Q)


def test_nothing_may_be_forgotten_or_labelled():
    X, y = [[0.0], [1.0], [3.0]], ["a", "b", "b"]
    for model in (OPFClassifier().partial_fit(X, y), OPFClassifier().fit(X, y)):
        same_model(model.forget([]), OPFClassifier().fit(X, y))
        same_model(model.set_labels([], []), OPFClassifier().fit(X, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.set_labels([0], [])


def test_forgetting_refuses_what_it_cannot_do():
    with pytest.raises(NotFittedError):
        OPFClustering().forget([0])
    model = OPFClassifier().partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="all 2 samples would leave"):
        model.forget([1, 0])
    with pytest.raises(ValueError, match=r"indices\[0\]=2 is not a sample"):
        model.forget([2])
    with pytest.raises(TypeError, match="boolean mask"):
        model.forget([True, False])


def test_semi_supervised_models_keep_a_label():
    model = OPFSemiSupervisedClassifier().partial_fit([[0.0], [1.0]], [4, -1])
    before = fitted_attributes(model)
    with pytest.raises(ValueError, match="marks all 1 samples as unlabelled"):
        model.forget([0])
    assert fitted_attributes(model) == before


# What is kept


@every_model
def test_fitted_models_keep_labels_only_and_grow_on(name):
    X, Q = make_samples("grid", 1, 30, 3)
    y = make_codes("regions", 1, X)
    model = fit(make(name), X[:25], y[:25])
    labelled = hasattr(model, "set_labels")
    assert vars(model)["_fit_grown"].keys() == ({"values", "codes", "named"} if labelled else set())
    model.partial_fit(X[25:], *([y[25:]] if labelled else []))
    same_model(model, fit(clone(model), X, y), Q)
    same_model(fit(clone(model), X, y).forget([3]), fit(clone(model), *(np.delete(a, 3, 0) for a in (X, y))))


@every_model
@pytest.mark.parametrize("way", ["file", "pickle"])
def test_stored_models_grow_on(name, way, tmp_path):
    X, Q = make_samples("grid", 1, 40, 3)
    y = make_codes("regions", 1, X)
    model = make(name)
    if way == "file" and name == "fuzzy callable":
        pytest.skip("functions are not saved")
    labels = (lambda rows: [y[rows]]) if hasattr(model, "set_labels") else lambda rows: []
    model.partial_fit(X[:30], *labels(slice(30)))
    if way == "file":
        model.save(tmp_path / "model.opf", growable=True)
        stored = load(tmp_path / "model.opf")
    else:
        stored = pickle.loads(pickle.dumps(model))
    stored.partial_fit(X[30:], *labels(slice(30, 40)))
    same_model(stored, fit(clone(model), X, y), Q)


def test_files_keep_what_growing_needs_only_if_asked(tmp_path):
    model = OPFClassifier().partial_fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    model.save(tmp_path / "small.opf")
    OPFClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1]).save(tmp_path / "fitted.opf")
    assert (tmp_path / "small.opf").read_bytes() == (tmp_path / "fitted.opf").read_bytes()
    with pytest.raises(ValueError, match="Save models with growable=True"):
        load(tmp_path / "small.opf").partial_fit([[2.0]], [1])
    with pytest.raises(ValueError, match="growable=True needs"):
        load(tmp_path / "small.opf").save(tmp_path / "large.opf", growable=True)
    assert "_fit_grown" in vars(model)


@every_model
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_call_that_fails_leaves_the_model_as_it_was(name, error):
    X, Q = make_samples("grid", 1, 30, 3)
    y = make_codes("regions", 1, X)
    model = make(name)
    labels = (lambda rows: [y[rows]]) if hasattr(model, "set_labels") else lambda rows: []
    model.partial_fit(X[:10], *labels(slice(10))).partial_fit(X[10:15], *labels(slice(10, 15)))
    before = dict(vars(model))
    with patch.object(growing.GrowingEngine, "remembered", side_effect=error), pytest.raises(error):
        model.partial_fit(X[15:], *labels(slice(15, 30)))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
    same_model(model, fit(clone(model), X[:15], y[:15]), Q)
    model.partial_fit(X[15:], *labels(slice(15, 30)))
    same_model(model, fit(clone(model), X, y), Q)


def test_a_first_call_that_fails_leaves_the_model_unfitted():
    model = OPFClassifier()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[0.0], [1.0]], [0, np.nan])
    assert not fitted_attributes(model)


def test_warnings_that_are_errors_leave_the_model_as_it_was():
    model = FuzzyOPFClassifier().partial_fit([[0.0]], [0])
    before = dict(vars(model))
    with patch("pathforest.fuzzy.TRAINING_ERROR_LIMIT", -1), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TrainingErrorWarning):
            model.partial_fit([[1.0]], [1])
    assert vars(model) == before
