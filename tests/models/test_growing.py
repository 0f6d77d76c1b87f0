"""Models that grow equal in every array those that `fit` makes of the samples that are there."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from checks import same_model
from growth import add, fit, histories, replay
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, make_codes, make_samples, with_gaps
from zoo import ZOO, every, make

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFSemiSupervisedClassifier, load
from pathforest._engines import growing
from pathforest._engines.metric import resolve_metric

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.fuzzy.TrainingErrorWarning")
LINE, APART = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [1e-200], [2e-200]])


def small(n, recipe="grid"):
    """Samples, their classes, and queries."""
    X, Q = make_samples(recipe, 1, n, 3)
    return X, make_codes("regions", 1, X), Q


def check(model, history):
    """After every step, the model equals one that was fitted to what is there."""
    for X, y in replay(model, history):
        same_model(model, fit(clone(model), X, y))
    same_model(model, fit(clone(model), X, y), history.Q)


GROWING_METRICS = [(name, p) for name, p in METRICS + BRUTE_METRICS if resolve_metric(name).grows]


@every("grows")
@settings(max_examples=settings().max_examples // 2)  # names share most of their code
@given(data=st.data())
def test_growing_models_equal_fitted_ones_in_every_array_and_answer(name, data):
    metric, p = data.draw(st.sampled_from(GROWING_METRICS))
    is_semi_supervised = isinstance(make(name), OPFSemiSupervisedClassifier)
    history = data.draw(histories(unlabelled=is_semi_supervised, non_negative=metric in NON_NEGATIVE))
    if metric == "nan_euclidean" and name != "fuzzy callable":
        history = history._replace(**dict(zip("XQ", with_gaps(*history[:2], whole_rows=False), strict=True)))
    params = {
        "metric": metric,
        "metric_params": {"p": p} if metric == "minkowski" else None,
        "algorithm": data.draw(st.sampled_from(["auto", "brute"])),
        "n_jobs": data.draw(st.integers(1, 3)),
    }
    # Both ways to search for new samples; and if they are many, updates all the same.
    few = data.draw(st.sampled_from([0, growing.FEW, 10**9]))
    most = data.draw(st.sampled_from([growing.MOST_NEW, np.inf]))
    with patch.object(growing, "MOST_NEW", most), patch.object(growing, "FEW", few):
        check(make(name, **params), history)


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


def test_parts_are_few_and_their_engines_are_kept():
    X, _ = make_samples("gaussian", 1, 100, 3)
    model = OPFClassifier()
    for row in X:
        model.partial_fit([row], [0])
    parts = model._fit_cache["parts"]
    sizes, engines = np.diff(parts.bounds), dict(parts.engines)
    assert sizes.sum() == 100
    assert (sizes[:-1] >= 2 * sizes[1:]).all()
    after = model.partial_fit(X[:1], [0])._fit_cache["parts"].engines
    assert any(after.get(key) is engine for key, engine in engines.items())


# Labels


def test_classes_may_be_named_first_and_new_ones_arrive_later():
    model = OPFClassifier().partial_fit([[0.0], [1.0]], ["b", "b"], classes=["b", "d"])
    assert model.classes_.tolist() == ["b", "d"]
    assert model.class_costs([[0.0]]).tolist() == [[0.0, np.inf]]
    model.partial_fit([[5.0]], ["aaa"])
    assert (model.classes_.tolist(), model.label_.tolist()) == (["aaa", "b", "d"], ["b", "b", "aaa"])
    model.partial_fit([[6.0]], ["d"])
    same_model(model, OPFClassifier().fit([[0.0], [1.0], [5.0], [6.0]], ["b", "b", "aaa", "d"]))
    assert model.forget([2, 3]).classes_.tolist() == ["b", "d"]
    same_model(start(LINE, ["a", "b", "longer"]).forget([2]), OPFClassifier().fit(LINE[:2], ["a", "b"]))


# Samples


def test_later_samples_get_the_type_of_the_first():
    X, y, _ = small(20, "gaussian")
    model = OPFClassifier().partial_fit(X[:15].astype(np.float32), y[:15]).partial_fit(X[15:], y[15:])
    same_model(model, OPFClassifier().fit(X.astype(np.float32), y))


def test_growing_neither_changes_nor_needs_the_arrays_of_the_caller():
    X, y, _ = small(20, "gaussian")
    mine, labels = X.copy(), y.copy()
    model = OPFClassifier().partial_fit(mine[:10], labels[:10]).partial_fit(mine[10:], labels[10:])
    model.set_labels([3], [1])
    np.testing.assert_array_equal(mine, X)
    np.testing.assert_array_equal(labels, y)
    mine[:], labels[:], y[3] = 0, 0, 1
    same_model(model.forget([0]), OPFClassifier().fit(X[1:], y[1:]))


def test_a_new_metric_starts_anew():
    X, y, Q = small(30)
    model = FuzzyOPFClassifier(k_max=3).partial_fit(X[:25], y[:25])
    model.set_params(metric="manhattan", k_max=6).partial_fit(X[25:], y[25:])
    same_model(model, fit(FuzzyOPFClassifier(metric="manhattan", k_max=6), X, y), Q)


FULL, LEARNS = "full matrix", "learns from all samples"


@pytest.mark.parametrize(
    ("metric", "reason"),
    [("precomputed", FULL), ("seuclidean", FULL), (lambda a, b: 0.0, FULL), ("gower", LEARNS)],
)
def test_metrics_that_cannot_grow_are_refused(metric, reason):
    D, y = 1 - np.eye(3), [0, 1, 2]
    fitted, grown = OPFClassifier(metric=metric).fit(D, y), OPFClassifier().partial_fit(D, y)
    before = dict(vars(grown.set_params(metric=metric)))
    for change in (
        lambda: OPFClassifier(metric=metric).partial_fit(D, y),
        lambda: fitted.partial_fit(D, y),
        lambda: fitted.forget([0]),
        lambda: grown.forget([0]),
        lambda: grown.set_labels([0], [1]),
    ):
        with pytest.raises(ValueError, match=f"cannot grow: .*{reason}.*fit to all samples"):
            change()
    assert vars(grown) == before


def start(X, y, classes=None, **params):
    """A plain model with its first samples."""
    return OPFClassifier(**params).partial_fit(X, y, classes)


SEMI = OPFSemiSupervisedClassifier().partial_fit(LINE[:2], [4, -1])
TEXT, NUMBERS = start(LINE, ["a", "b", "b"]), start(LINE, [0, 1, 1])
LATER = start([[0.0], [9.4e153]], [0, 0]).partial_fit([[1.0]], [0])  # does not hide how large the first are
GAP = start([[1.0, np.nan]], [0], metric="nan_euclidean")
NAN = start([[1.0, np.nan], [0.0, 0.0]], [0, 0], metric="nan_euclidean").set_params(metric="euclidean")
REFUSED = [  # ValueError, if no other is named
    (TEXT, "partial_fit(LINE[:1], [1])", "labels are of type int64 and earlier ones of type <U1", TypeError),
    (TEXT, "partial_fit(LINE[:1], None)", "requires y"),
    (TEXT, "partial_fit(LINE[:1], ['a', 'b'])", "inconsistent numbers of"),
    (TEXT, "set_labels([0], [])", "inconsistent numbers"),
    (OPFClassifier(), "forget([0])", "not fitted", NotFittedError),
    (OPFClassifier(), "partial_fit(LINE[:2], [0, np.nan])", "NaN"),
    (NUMBERS, "forget([1, 0, 2])", "all 3 samples would leave"),
    (NUMBERS, "forget([3])", r"indices\[0\]=3 is not a sample"),
    (NUMBERS, "forget([True, False, True])", "boolean mask", TypeError),
    (SEMI, "forget([0])", "marks all 1 samples as unlabelled"),
    (
        start([[0.0]], [2**63 - 1]),
        "partial_fit([[1.0]], np.array([2**63], 'u8'))",
        "int64 and uint64 are not all",
    ),
    (start(LINE[:1], [0], [2**53 + 1]), "partial_fit(LINE[:1], [2.0**53])", "are not all distinct"),
    (
        start(LINE.astype(np.float32), [0, 0, 1]),
        "partial_fit([[1e39]], [0])",
        "infinity or a value too large",
    ),
    (start([[1e154]], [0]), "partial_fit([[-1e154]], [0])", "could overflow"),
    (LATER, "partial_fit([[-3e153]], [0])", "could overflow"),
    (start([[0.0]], [0]), "partial_fit([[1e-200]], [1])", "would underflow"),
    (start(APART, [0, 1, 0, 0]), "forget([1])", "would underflow"),
    (NAN, "forget([1])", "contains NaN"),
    (GAP, "partial_fit([[np.nan, 1.0]], [1])", "undefined between row 0 of X and training sample 0"),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[2])
def test_what_cannot_be_done_is_refused_and_changes_nothing(row):
    model, call, message, *error = row
    before = dict(vars(model))
    with pytest.raises(*(error or [ValueError]), match=message):
        eval(f"model.{call}")
    assert vars(model) == before


# What is kept


@every("grows")
def test_fitted_and_stored_models_grow_on(name, tmp_path):
    X, y, Q = small(40)
    model, others = add(make(name), X[:30], y[:30]), [np.delete(a, 3, axis=0) for a in (X, y)]
    stored = [fit(make(name), X[:30], y[:30]), pickle.loads(pickle.dumps(model))]
    if "saves" in ZOO[name].traits:
        model.save(tmp_path / "model.opf", growable=True)
        stored.append(load(tmp_path / "model.opf"))
    for one in stored:
        same_model(add(one, X[30:], y[30:]), fit(make(name), X, y), Q)
    same_model(fit(make(name), X, y).forget([3]), fit(make(name), *others))


def test_files_keep_what_growing_needs_only_if_asked(tmp_path):
    model = OPFClassifier().partial_fit(LINE, [0, 0, 1])
    model.save(tmp_path / "small.opf")
    OPFClassifier().fit(LINE, [0, 0, 1]).save(tmp_path / "fitted.opf")
    assert (tmp_path / "small.opf").read_bytes() == (tmp_path / "fitted.opf").read_bytes()
    with pytest.raises(ValueError, match="Save models with growable=True"):
        load(tmp_path / "small.opf").partial_fit([[2.0]], [1])
    with pytest.raises(ValueError, match="growable=True needs"):
        load(tmp_path / "small.opf").save(tmp_path / "large.opf", growable=True)
    assert "_fit_grown" in vars(model)


@every("grows")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_call_that_fails_leaves_the_model_as_it_was(name, error):
    X, y, Q = small(30)
    model = add(add(make(name), X[:10], y[:10]), X[10:15], y[10:15])
    before = dict(vars(model))
    with patch.object(growing.GrowingEngine, "remembered", side_effect=error), pytest.raises(error):
        add(model, X[15:], y[15:])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
    same_model(model, fit(clone(model), X[:15], y[:15]), Q)
    same_model(add(model, X[15:], y[15:]), fit(clone(model), X, y), Q)
