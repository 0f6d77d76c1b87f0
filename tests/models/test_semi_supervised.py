"""OPFSemiSupervisedClassifier spreads labels as its definitions say, over all pairs or along lists."""

from typing import NamedTuple

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference_models import plain_model
from strategies import METRICS, distance_settings, problems

from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

FITTED = ["classes_", "prototypes_", "cost_", "predecessor_", "root_", "order_", "label_", "training_error_"]
TREE_METHODS = ["mst", "opfsemi"]
LIST_METHODS = ["balanced", "geodesic"]
every_method = pytest.mark.parametrize("method", [*LIST_METHODS, *TREE_METHODS])
every_tree_method = pytest.mark.parametrize("method", TREE_METHODS)


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


@every_tree_method
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
        spread = [OPFSemiSupervisedClassifier(method=m).fit(X, y).transduction_ for m in TREE_METHODS]
        for method, labels in zip(TREE_METHODS, spread, strict=True):
            np.testing.assert_array_equal(labels, transduce(D, y, labelled, method))
        n_different += not np.array_equal(*spread)
    assert n_different > 5


@every_tree_method
@given(case=cases())
def test_every_fitted_array_is_that_of_plain_opf_on_the_spread_labels(method, case):
    problem, D, *_, y, params = case
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    plain = OPFClassifier(**params).fit(problem.X, model.transduction_)
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    np.testing.assert_array_equal(model.cost_, plain_model(D, model.transduction_).cost)


@every_tree_method
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


@every_tree_method
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
    D = arcs_between(problem.X, problem.X, {"method": method, **params})
    model = OPFSemiSupervisedClassifier(method=method, **params).fit(problem.X, y)
    matrix = OPFSemiSupervisedClassifier(method=method, metric="precomputed").fit(D, y)
    np.testing.assert_array_equal(matrix.transduction_, model.transduction_)


def arcs_between(A, B, params):
    """Return the distances that a method adds up."""
    squares = params["method"] == "balanced" and params["metric"] == "euclidean"
    metric = "sqeuclidean" if squares else params["metric"]
    return reference.distance_matrix(A, B, metric, (params["metric_params"] or {"p": 2.0})["p"])


class Expected(NamedTuple):
    """What the reference finds for a case of the geodesic method."""

    forest: tuple[np.ndarray, ...]
    factors: np.ndarray
    k: int


@st.composite
def geodesic_cases(draw):
    """A case, with a method and the length of the lists, and what the reference finds for it."""
    problem, _, labelled, y, params = draw(cases())
    params |= {"n_neighbors": draw(st.integers(1, 12)), "method": draw(st.sampled_from(LIST_METHODS))}
    D = arcs_between(problem.X, problem.X, params)
    k, seeds = min(params["n_neighbors"], len(D) - 1), np.flatnonzero(labelled)
    codes = np.unique(y[seeds], return_inverse=True)[1]
    factors = np.ones(codes.max() + 1)
    if params["method"] == "balanced":
        factors = reference.balancing_factors(D, k, seeds, codes)
    forest = reference.geodesic(D, k, seeds, factors[codes])
    return problem, y, Expected(forest, factors, k), params


@given(case=geodesic_cases())
def test_every_fitted_array_is_that_of_the_shortest_paths(case):
    problem, y, expected, params = case
    model = OPFSemiSupervisedClassifier(**params).fit(problem.X, y)
    got = model.cost_, model.predecessor_, model.root_, model.order_
    checks.same_arrays(got, expected.forest)
    checks.same_arrays([model.class_factors_], [expected.factors])
    np.testing.assert_array_equal(model.prototypes_, np.flatnonzero(y >= 0))
    np.testing.assert_array_equal(model.transduction_, y[expected.forest[2]])
    assert model.training_error_ == 0


@given(case=geodesic_cases(), r=st.sampled_from([1, 2, 3, 100]))
def test_new_samples_go_to_the_class_with_the_cheapest_sums_of_cost_and_distance(case, r):
    problem, y, (forest, factors, _), params = case
    model = OPFSemiSupervisedClassifier(n_conquerors=r, **params).fit(problem.X, y)
    codes = np.searchsorted(model.classes_, y[forest[2]])
    DQ = arcs_between(problem.Q, problem.X, params)
    k = min(params["n_neighbors"], len(problem.X))
    costs, winners = reference.geodesic_class_costs(DQ, k, forest[0], forest[3], codes, factors, r)
    np.testing.assert_array_equal(model.class_costs(problem.Q), costs)
    np.testing.assert_array_equal(model.predict(problem.Q), model.classes_[winners])
    expected = reference.probabilities(costs, 8.0)
    np.testing.assert_allclose(model.predict_proba(problem.Q), expected, rtol=1e-12)


@given(case=geodesic_cases(), r=st.sampled_from([1, 3]))
def test_explanations_name_the_cheapest_neighbour_and_its_path(case, r):
    problem, y, (forest, factors, _), params = case
    model = OPFSemiSupervisedClassifier(n_conquerors=r, **params).fit(problem.X, y)
    explanations = model.explain(problem.Q)
    assert [e.label for e in explanations] == model.predict(problem.Q).tolist()
    DQ = arcs_between(problem.Q, problem.X, params)
    near = reference.nearest(DQ, min(params["n_neighbors"], len(problem.X)))[1]
    place = np.argsort(forest[3])
    for t, found in enumerate(explanations):
        factor = factors[np.searchsorted(model.classes_, found.label)]
        own = [q for q in near[t] if model.transduction_[q] == found.label]
        offers = [(forest[0][q] + factor * DQ[t, q], place[q], q) for q in own]
        assert (found.offer, found.conqueror) == min(offers)[::2]
        assert found.path[0] == found.conqueror
        assert found.path[-1] == model.root_[found.conqueror]
        assert model.transduction_[found.conqueror] == found.label
        assert found.costs == sorted(found.costs, reverse=True)
        assert found.costs[-1] == 0
        assert found.offer >= found.costs[0]


@given(case=geodesic_cases())
def test_a_matrix_of_distances_gives_the_predictions_of_features(case):
    problem, y, _, params = case
    D, DQ = (arcs_between(A, problem.X, params) for A in (problem.X, problem.Q))
    features = OPFSemiSupervisedClassifier(**params).fit(problem.X, y)
    settings = {name: params[name] for name in ("n_neighbors", "method")}
    matrix = OPFSemiSupervisedClassifier(metric="precomputed", **settings).fit(D, y)
    np.testing.assert_array_equal(matrix.cost_, features.cost_)
    np.testing.assert_array_equal(matrix.class_costs(DQ), features.class_costs(problem.Q))


def test_metrics_that_need_a_matrix_spread_labels_to_what_no_path_reaches():
    X, y = np.array([[0.0], [1.0], [50.0], [51.0], [20.0]]), [1, -1, -1, -1, 2]
    for metric in ("hamming", lambda a, b: abs(a - b).sum()):
        model = OPFSemiSupervisedClassifier(n_neighbors=1, metric=metric).fit(X, y)
        assert model.predict(X[4:]).tolist() == [2]
    assert model.transduction_.tolist() == [1, 1, 2, 2, 2]


def test_paths_take_many_short_steps_rather_than_a_long_one():
    """Sample 2 is nearer to the label of sample 0, but the steps from sample 1 are short."""
    chain = np.linspace(3, 9, 25)[1:]
    X, y = np.array([0.0, 9.0, 3.0, *chain[:-1]])[:, None], [0, 1] + [-1] * 24
    spread = [
        OPFSemiSupervisedClassifier(method="geodesic", metric=metric).fit(X, y).transduction_[2]
        for metric in ("sqeuclidean", "euclidean")
    ]
    assert spread == [1, 0]


def test_new_samples_see_their_own_neighbours_only():
    """The other class is nearer as the crow flies than the label at the far end of the chain."""
    chain = [[0.0, t] for t in range(8)] + [[t, 7.0] for t in range(1, 8)]
    X, y = [*chain, [7.0, 0.0], [7.0, 0.1], [7.0, 0.2]], [0] + [-1] * 14 + [1] * 3
    model = OPFSemiSupervisedClassifier(method="geodesic", n_neighbors=2).fit(X, y)
    assert model.class_costs([[7.0, 7.0]]).tolist() == [[14.0, np.inf]]
    assert model.predict([[7.0, 7.0]]).tolist() == [0]
    assert model.predict_proba([[7.0, 7.0]]).tolist() == [[1.0, 0.0]]


def test_parameters_changed_after_fit_leave_predictions_as_they_were():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(80, 2)), rng.normal(size=(20, 2))
    model = OPFSemiSupervisedClassifier(n_neighbors=3).fit(
        X, np.where(np.arange(80) < 8, np.arange(80) % 2, -1)
    )
    expected = model.class_costs(Q)
    model.set_params(method="mst", n_neighbors=40)
    np.testing.assert_array_equal(model.class_costs(Q), expected)


@pytest.mark.parametrize(("n_neighbors", "error"), [(0, ValueError), (2.5, TypeError), (None, TypeError)])
def test_lists_of_no_length_are_refused(n_neighbors, error):
    with pytest.raises(error, match=f"n_neighbors={n_neighbors} must be"):
        OPFSemiSupervisedClassifier(n_neighbors=n_neighbors).fit([[0.0], [1.0]], [0, -1])


@every_tree_method
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
    spread = [
        OPFSemiSupervisedClassifier(unlabeled="", method=m).fit(X, y).transduction_ for m in TREE_METHODS
    ]
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


def test_labels_that_no_mark_equals_are_refused():
    with pytest.raises(TypeError, match=r"labels of type .*V1.*; convert them to numbers or texts"):
        OPFSemiSupervisedClassifier().fit([[0.0], [1.0]], np.array([np.void(b"a"), np.void(b"b")]))


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method='graph' is unknown; use one of 'balanced', 'geodesic'"):
        OPFSemiSupervisedClassifier(method="graph").fit([[0.0], [1.0]], [0, -1])


@every_method
def test_one_labelled_sample_labels_all(method):
    model = OPFSemiSupervisedClassifier(method=method).fit([[0.0], [9.0], [5.0]], [-1, 4, -1])
    assert (model.transduction_.tolist(), model.classes_.tolist()) == ([4, 4, 4], [4])
