"""OPFSemiSupervisedClassifier spreads labels as its definitions say, over all pairs or along lists."""

import checks
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference.models import plain_model
from strategies import measured_problems

from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

pytestmark = pytest.mark.kernel

FITTED = ["classes", "prototypes", "cost", "predecessor", "root", "order", "label", "training_error"]


@st.composite
def cases(draw):
    """A problem, and its labels, some of them hidden."""
    problem = draw(measured_problems(largest=34))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    labelled = rng.random(len(problem.X)) < draw(st.floats(0, 1))
    labelled[rng.integers(len(labelled))] = True
    return problem, labelled, np.where(labelled, problem.codes, -1)


def transduce(D, y, labelled, method):
    """Labels by a competition of the seeds over the complete graph, one arc at a time."""
    seeds = np.flatnonzero(labelled)
    if method == "opfsemi":
        part = D[np.ix_(seeds, seeds)]
        seeds = seeds[reference.prototypes(reference.spanning_tree(part), y[seeds])]
    _, _, root, _ = reference.compete(D, seeds, np.ones(len(D)))
    return np.where(labelled, y, y[root])


@pytest.mark.parametrize("method", ["mst", "opfsemi"])
@given(case=cases())
def test_labels_spread_over_the_complete_graph_and_train_plain_opf(method, case):
    problem, labelled, y = case
    model = OPFSemiSupervisedClassifier(method=method, **problem.params).fit(problem.X, y)
    np.testing.assert_array_equal(model.transduction_, transduce(problem.D, y, labelled, method))
    plain = OPFClassifier(**problem.params).fit(problem.X, model.transduction_)
    checks.same_values(model, {name: getattr(plain, f"{name}_") for name in FITTED})
    np.testing.assert_array_equal(model.cost_, plain_model(problem.D, model.transduction_).cost)
    np.testing.assert_array_equal(model.predict_proba(problem.Q), plain.predict_proba(problem.Q))
    assert model.explain(problem.Q) == plain.explain(problem.Q)


def arcs_between(A, B, params):
    """Return the distances that a method adds up."""
    squares = params["method"] == "balanced" and params["metric"] == "euclidean"
    metric = "sqeuclidean" if squares else params["metric"]
    return reference.distance_matrix(A, B, metric, (params["metric_params"] or {"p": 2.0})["p"])


@st.composite
def geodesic_cases(draw):
    """A case, with a method and the length of the lists; the forest and the factors of the reference."""
    problem, labelled, y = draw(cases())
    params = problem.params | {
        "n_neighbors": draw(st.integers(1, 12)),
        "method": draw(st.sampled_from(["balanced", "geodesic"])),
    }
    D = arcs_between(problem.X, problem.X, params)
    k, seeds = min(params["n_neighbors"], len(D) - 1), np.flatnonzero(labelled)
    codes = np.unique(y[seeds], return_inverse=True)[1]
    factors = np.ones(codes.max() + 1)
    if params["method"] == "balanced":
        factors = reference.balancing_factors(D, k, seeds, codes)
    forest = reference.geodesic(D, k, seeds, factors[codes])
    return problem, y, forest, factors, params


@given(case=geodesic_cases(), r=st.sampled_from([1, 2, 3, 100]))
def test_forest_and_class_costs_are_those_of_the_shortest_paths(case, r):
    problem, y, forest, factors, params = case
    model = OPFSemiSupervisedClassifier(n_conquerors=r, **params).fit(problem.X, y)
    checks.same_arrays((model.cost_, model.predecessor_, model.root_, model.order_), forest)
    checks.same_arrays([model.class_factors_], [factors])
    np.testing.assert_array_equal(model.prototypes_, np.flatnonzero(y >= 0))
    np.testing.assert_array_equal(model.transduction_, y[forest[2]])
    np.testing.assert_array_equal(model.label_, model.transduction_)
    assert model.training_error_ == 0
    codes = np.searchsorted(model.classes_, y[forest[2]])
    DQ = arcs_between(problem.Q, problem.X, params)
    k = min(params["n_neighbors"], len(problem.X))
    costs, winners = reference.geodesic_class_costs(DQ, k, forest[0], forest[3], codes, factors, r)
    np.testing.assert_array_equal(model.class_costs(problem.Q), costs)
    np.testing.assert_array_equal(model.predict(problem.Q), model.classes_[winners])
    expected = reference.probabilities(costs, 8.0)
    np.testing.assert_allclose(model.predict_proba(problem.Q), expected, rtol=1e-12)
    place, near = np.argsort(forest[3]), reference.nearest(DQ, k)[1]
    for distances, neighbors, found in zip(DQ, near, model.explain(problem.Q), strict=True):
        factor = factors[np.searchsorted(model.classes_, found.label)]
        own = neighbors[model.transduction_[neighbors] == found.label]
        offers = [(forest[0][q] + factor * distances[q], place[q], q) for q in own]
        assert (found.offer, found.conqueror) == min(offers)[::2]


def test_metrics_that_need_a_matrix_spread_labels_to_what_no_path_reaches():
    X, y = np.array([[0.0], [1.0], [50.0], [51.0], [20.0]]), [1, -1, -1, -1, 2]
    for metric in ("hamming", lambda a, b: abs(a - b).sum()):
        model = OPFSemiSupervisedClassifier(n_neighbors=1, metric=metric).fit(X, y)
        assert model.predict(X[4:]).tolist() == [2]
    assert model.transduction_.tolist() == [1, 1, 2, 2, 2]


NUMBERS, TEXTS = [0, 1, -1], ["a", "b", ""]
DATES = np.array(["2026-01-01", "2026-01-02", "1970-01-01"], dtype="M8[D]")


@pytest.mark.parametrize(
    ("mark", "y", "classes"),
    [
        *((None, y, [0, 1]) for y in (NUMBERS, np.array(NUMBERS, dtype=float))),
        *((None, y, ["a", "b"]) for y in (TEXTS, np.array(TEXTS, dtype=object))),
        (None, [True, False, True], [False, True]),
        (None, np.array([255, 1, 0], dtype=np.uint8), [0, 1, 255]),
        (None, DATES, sorted(DATES.tolist())),
        (-1.0, NUMBERS, [0, 1]),
        (DATES[2], DATES, DATES[:2].tolist()),
    ],
)
def test_the_mark_may_be_any_label_and_is_not_a_class(mark, y, classes):
    for method in ("balanced", "opfsemi"):
        model = OPFSemiSupervisedClassifier(unlabeled=mark, method=method).fit([[0.0], [1.0], [2.0]], y)
        assert model.classes_.tolist() == classes
        labels = np.asarray(y).tolist()
        assert model.transduction_.tolist() == [*labels[:2], labels[2] if labels[2] in classes else labels[1]]
