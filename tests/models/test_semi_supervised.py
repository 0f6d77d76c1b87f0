"""OPFSemiSupervisedClassifier spreads labels as the competition over the complete graph does."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference_models import plain_model
from strategies import METRICS, distance_settings, problems

from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

FITTED = ["classes_", "prototypes_", "cost_", "predecessor_", "root_", "order_", "label_", "training_error_"]
METHODS = ["mst", "opfsemi"]
every_method = pytest.mark.parametrize("method", METHODS)


@st.composite
def cases(draw, share=None):
    """A problem with some labels hidden, its distances, and the parameters of an estimator for them."""
    metric, p = draw(st.sampled_from(METRICS))
    problem = draw(problems(largest=50))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    labelled = rng.random(len(problem.X)) < (draw(st.floats(0, 1)) if share is None else share)
    labelled[rng.integers(len(labelled))] = True
    D = reference.distance_matrix(problem.X, problem.X, metric, p)
    return problem, D, labelled, np.where(labelled, problem.codes, -1), distance_settings(draw, metric, p)


def transduce(D, y, labelled, method):
    """Labels by a competition of the seeds over the complete graph, one arc at a time."""
    seeds = np.flatnonzero(labelled)
    if method == "opfsemi":
        part = D[np.ix_(seeds, seeds)]
        seeds = seeds[reference.prototypes(reference.spanning_tree(part), y[seeds])]
    _, _, root, _ = reference.compete(D, seeds, np.ones(len(D)))
    return np.where(labelled, y, y[root])


@every_method
@given(case=cases())
def test_labels_spread_like_a_competition_over_the_complete_graph(method, case):
    problem, D, labelled, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    np.testing.assert_array_equal(model.transduction_, transduce(D, y, labelled, method))


def test_labels_spread_like_that_where_the_methods_differ():
    n_different = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        labelled = rng.random(60) < 0.5
        y = np.where(labelled, (X[:, 0] + rng.normal(size=60) > 0).astype(int), -1)
        D = reference.distance_matrix(X, X)
        spread = [OPFSemiSupervisedClassifier(method=m).fit(X, y).transduction_ for m in METHODS]
        for method, labels in zip(METHODS, spread, strict=True):
            np.testing.assert_array_equal(labels, transduce(D, y, labelled, method))
        n_different += not np.array_equal(*spread)
    assert n_different > 5


@every_method
@given(case=cases())
def test_every_fitted_array_is_that_of_plain_opf_on_the_spread_labels(method, case):
    problem, D, *_, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    plain = OPFClassifier(**params).fit(problem.X, model.transduction_)
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    np.testing.assert_array_equal(model.cost_, plain_model(D, model.transduction_).cost)


@every_method
@given(case=cases(share=1))
def test_without_unlabelled_samples_it_is_plain_opf(method, case):
    problem, *_, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, problem.codes)
    plain = OPFClassifier(**params).fit(problem.X, problem.codes)
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    np.testing.assert_array_equal(model.predict_proba(problem.Q), plain.predict_proba(problem.Q))


@every_method
@given(case=cases())
def test_labelled_samples_keep_their_labels(method, case):
    problem, _, labelled, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    np.testing.assert_array_equal(model.transduction_[labelled], y[labelled])
    np.testing.assert_array_equal(model.label_, model.transduction_)


@every_method
@given(case=cases())
def test_predictions_and_explanations_are_those_of_plain_opf(method, case):
    problem, *_, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    plain = OPFClassifier(**params).fit(problem.X, model.transduction_)
    np.testing.assert_array_equal(model.predict(problem.Q), plain.predict(problem.Q))
    assert model.explain(problem.Q) == plain.explain(problem.Q)


@every_method
@given(case=cases())
def test_the_mark_may_be_any_label(method, case):
    problem, _, labelled, y, params = case
    names = np.array([f"class {c:02}" for c in range(problem.codes.max() + 1)])
    text = np.where(labelled, names[problem.codes], "")
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    other = OPFSemiSupervisedClassifier(method=method, unlabeled="", **params).fit(problem.X, text)
    np.testing.assert_array_equal(other.transduction_, names[model.transduction_])
    np.testing.assert_array_equal(other.classes_, names[model.classes_])


@every_method
@given(case=cases())
def test_a_matrix_of_distances_gives_the_labels_of_features(method, case):
    problem, D, _, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    matrix = OPFSemiSupervisedClassifier(method=method, metric="precomputed").fit(D, y)
    np.testing.assert_array_equal(matrix.transduction_, model.transduction_)


@every_method
def test_labels_follow_a_chain_past_the_other_class(method):
    """The far end of a chain is nearer to the other class, and yet belongs to its own."""
    X = np.column_stack([np.arange(20.0), np.zeros(20)]).tolist() + [[19.0, 3.0], [19.5, 3.0]]
    y = [0] + [-1] * 19 + [1, -1]
    assert OPFSemiSupervisedClassifier(method=method).fit(X, y).transduction_.tolist() == [0] * 20 + [1] * 2


def test_the_methods_differ_in_where_labels_start():
    # The first sample is labelled, but not at the border between classes: with "opfsemi" it starts nothing,
    # and a chain from the other class reaches its neighbour, the last sample, at shorter steps.
    X = [[0, 0], [2, 0], [5, 0], [5, -1.4], [5, -2.8], [3.6, -3], [2.2, -3], [0.9, -3], [0, -2.4], [0, -1]]
    y = ["b", "b", "a"] + [""] * 7
    spread = [OPFSemiSupervisedClassifier(unlabeled="", method=m).fit(X, y).transduction_ for m in METHODS]
    assert [(labels[0], labels[-1]) for labels in spread] == [("b", "b"), ("b", "a")]


def test_no_labelled_sample_is_refused():
    with pytest.raises(ValueError, match=r"all 3 samples as unlabelled \(unlabeled='\?'\)"):
        OPFSemiSupervisedClassifier(unlabeled="?").fit([[0.0], [1.0], [2.0]], ["?"] * 3)


NUMBERS, TEXTS = [0, 1, -1], ["a", "b", ""]
DATES = np.array(["2026-01-01", "2026-01-02", "1970-01-01"], dtype="M8[D]")


@pytest.mark.parametrize(
    ("mark", "y"),
    [(-1, TEXTS), ("-1", NUMBERS), (["a"], TEXTS), (b"", TEXTS), (-1, DATES), ("1970-01-01", DATES)],
)
def test_a_mark_that_could_match_no_label_is_refused(mark, y):
    with pytest.raises(TypeError, match=r"unlabeled=.*of type .*; use a value of that type, or None"):
        OPFSemiSupervisedClassifier(unlabeled=mark).fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize(
    ("mark", "y", "classes"),
    [
        (None, NUMBERS, [0, 1]),
        (None, np.array(NUMBERS, dtype=float), [0, 1]),
        (None, TEXTS, ["a", "b"]),
        (None, np.array(TEXTS, dtype=object), ["a", "b"]),
        (None, [True, False, True], [False, True]),
        (None, np.array([255, 1, 0], dtype=np.uint8), [0, 1, 255]),
        (None, DATES, sorted(DATES.tolist())),
        (-1.0, NUMBERS, [0, 1]),
        (DATES[2], DATES, DATES[:2].tolist()),
    ],
)
def test_the_mark_is_not_a_class(mark, y, classes):
    model = OPFSemiSupervisedClassifier(unlabeled=mark).fit([[0.0], [1.0], [2.0]], y)
    assert model.classes_.tolist() == classes


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method='graph' is unknown; use one of 'mst', 'opfsemi'"):
        OPFSemiSupervisedClassifier(method="graph").fit([[0.0], [1.0]], [0, -1])


def test_one_labelled_sample_labels_all():
    model = OPFSemiSupervisedClassifier().fit([[0.0], [9.0], [5.0]], [-1, 4, -1])
    assert (model.transduction_.tolist(), model.classes_.tolist()) == ([4, 4, 4], [4])
