"""Pruning keeps what the reference keeps and learning exchanges what it says, within what they promise."""

import numpy as np
import pytest
import reference
from checks import same, same_model
from hypothesis import given
from hypothesis import strategies as st
from reference.models import class_costs, plain_model
from sklearn.base import clone
from sklearn.datasets import load_iris
from strategies import problems, seeds

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFPruner
from pathforest.learning import learn
from pathforest.pruning import prune


def judge(X, codes, Q, answers, r=1):
    """By definition: how many queries are right, and which training samples had a part in any answer."""
    model, D = plain_model(reference.distance_matrix(X, X), codes), reference.distance_matrix(Q, X)
    winners, place, relevant = class_costs(model, D, codes, r)[1], np.argsort(model.order), set()
    for row, winner in zip(D, winners, strict=True):
        own = np.flatnonzero(codes == winner)
        for *_, q in sorted((max(model.cost[q], row[q]), place[q], q) for q in own)[:r]:
            while q != -1:
                relevant.add(int(q))
                q = model.predecessor[q]
    for c in set(codes.tolist()) - {int(codes[q]) for q in relevant}:
        relevant |= {int(q) for q in model.prototypes if codes[q] == c}
    return np.sum(winners == answers), sorted(relevant)


def expected_kept(X, codes, Q, answers, max_loss, r=1):
    kept = np.arange(len(X))
    first, relevant = judge(X, codes, Q, answers, r)
    while len(relevant) < len(kept):
        candidate = kept[relevant]
        n_right, relevant = judge(X[candidate], codes[candidate], Q, answers, r)
        if first - n_right > max_loss * len(Q) + 1e-9:
            break
        kept = candidate
    return kept


@st.composite
def cases(draw, largest=40):
    """A problem, and labels of its queries."""
    problem = draw(problems(largest=largest, most_features=4))
    rng = np.random.default_rng(draw(seeds))
    return problem, rng.integers(0, problem.codes.max() + 1, len(problem.Q))


@given(case=cases(), max_loss=st.sampled_from([0.0, 0.125, 0.25, 1.0]), r=st.sampled_from([1, 1, 3]))
def test_the_samples_kept_are_those_of_the_definition(case, max_loss, r):
    (X, codes, Q, _), answers = case
    model = OPFClassifier(n_conquerors=r).fit(X, codes)
    pruned = prune(model, Q, answers, max_loss=max_loss)
    np.testing.assert_array_equal(pruned.kept, expected_kept(X, codes, Q, answers, max_loss, r))
    same_model(model, OPFClassifier(n_conquerors=r).fit(X, codes))  # left alone
    same_model(pruned.model, OPFClassifier(n_conquerors=r).fit(X[pruned.kept], codes[pruned.kept]), Q)
    assert pruned.model.score(Q, answers) >= model.score(Q, answers) - max_loss - 1e-12
    assert set(codes[pruned.kept]) == set(codes)


def overlapping(seed, n, shift, n_classes):
    """Classes that no model can separate: accuracy rises and falls from round to round."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, 2 * n)
    X = rng.normal(size=(2 * n, 2)) + shift * y[:, None]
    return X[:n], y[:n], X[n:], y[n:]


def test_a_round_that_costs_too_much_is_taken_back():
    for seed in range(20):  # of 30 validation samples one may be lost, or none
        X, y, Q, answers = overlapping(seed, 30, 0.5, 2)
        for max_loss in (0.0, 0.04):
            kept = prune(OPFClassifier().fit(X, y), Q, answers, max_loss=max_loss).kept
            np.testing.assert_array_equal(kept, expected_kept(X, y, Q, answers, max_loss))


PARAMETER = {"seuclidean": "V", "mahalanobis": "VI", "gower": "ranges"}


@pytest.mark.parametrize("metric", PARAMETER)
@pytest.mark.parametrize("classes", [[0, 1], [0, 0]])
def test_a_metric_estimated_from_the_samples_stays_what_it_was(metric, classes):
    y = np.array(classes)[np.arange(80) % 2]
    X = np.random.default_rng(0).normal(size=(80, 4)) + 20 * y[:, None]
    model = OPFClassifier(metric=metric).fit(X, y)
    pruned = prune(model, X[:2] + 0.01, y[:2], max_loss=1.0)
    assert len(pruned.kept) < 40
    kept, learned = (one._fit_metric[3][PARAMETER[metric]] for one in (pruned.model, model))
    np.testing.assert_array_equal(kept, learned)


def test_names_of_features_survive_and_rounds_are_limited():
    X, y = load_iris(return_X_y=True, as_frame=True)
    start, new = OPFClassifier().fit(X[::2], y[::2]), (X[1::2], y[1::2])
    kept = [prune(start, *new, max_loss=1, max_iter=m) for m in (100, 1, 0)]
    assert len(kept[0].kept) < len(kept[1].kept) < len(kept[2].kept) == 75
    for model in (kept[0].model, learn(OPFClassifier(), X[::2], y[::2], *new).model):
        assert model.feature_names_in_.tolist() == list(X)


# OPFPruner

y = np.arange(400) % 3
X = np.random.default_rng(0).normal(size=(400, 2)) + 2 * y[:, None]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.9])
def test_the_pruner_prunes_as_prune_does_with_the_share_of_every_class_that_it_sets_aside(share):
    options = {"validation_fraction": share, "random_state": 0}
    left = OPFPruner(max_iter=0, **options).fit(X, y).sample_indices_
    assert np.abs(np.bincount(y) - np.bincount(y[left]) - share * np.bincount(y)).max() <= 1
    val = np.setdiff1d(np.arange(len(X)), left)
    kept = left[prune(OPFClassifier().fit(X[left], y[left]), X[val], y[val], max_loss=0.02).kept]
    pruner = OPFPruner(max_loss=0.02, **options).fit(X, y)
    np.testing.assert_array_equal(pruner.sample_indices_, kept)
    same_model(pruner.estimator_, OPFClassifier().fit(X[kept], y[kept]))
    np.testing.assert_array_equal(pruner.predict(X), pruner.estimator_.predict(X))
    assert OPFPruner(**options | {"random_state": 1}).fit(X, y).sample_indices_.tolist() != kept.tolist()
    assert len(kept) < len(left) or share == 0.1


@pytest.mark.parametrize("inner", [OPFClassifier(), OPFClassifier(n_conquerors=3), FuzzyOPFClassifier()])
def test_a_distance_matrix_gives_what_the_samples_give(inner):
    D = reference.distance_matrix(X, X, "chebyshev")
    on_samples = OPFPruner(clone(inner).set_params(metric="chebyshev")).fit(X, y)
    on_matrix = OPFPruner(clone(inner).set_params(metric="precomputed")).fit(D, y)
    np.testing.assert_array_equal(on_matrix.sample_indices_, on_samples.sample_indices_)
    np.testing.assert_array_equal(on_matrix.predict_proba(D), on_samples.predict_proba(X))


def test_what_cannot_be_pruned_stays():
    pruner = OPFPruner(validation_fraction=0.9).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert (pruner.sample_indices_.tolist(), pruner.n_iter_) == ([0, 1, 2], 0)  # nothing to validate with
    assert OPFPruner().fit([[3.0]], ["a"]).predict([[9.0]]).tolist() == ["a"]
    assert 1 <= len(OPFPruner().fit(np.arange(20.0)[:, None], np.zeros(20)).sample_indices_) < 20
    wide = FuzzyOPFClassifier(n_neighbors=60, competition="tree")
    pruner = OPFPruner(wide, validation_fraction=0.03).fit(np.arange(80.0)[:, None], np.zeros(80))
    assert len(pruner.sample_indices_) > 60  # as the neighbourhood needs


# learn


@given(cases(largest=60), seeds)
def test_learning_exchanges_within_classes_and_is_never_worse_than_its_start(case, seed):
    (X, codes, Q, _), answers = case
    model, train, val = learn(OPFClassifier(), X, codes, Q, answers, random_state=seed)
    rows, labels = np.concatenate([X, Q]), np.concatenate([codes, answers])
    assert sorted([*train, *val]) == list(range(len(labels)))
    np.testing.assert_array_equal(np.sort(labels[train]), np.sort(codes))
    same_model(model, OPFClassifier().fit(rows[train], labels[train]))
    assert model.score(rows[val], labels[val]) >= OPFClassifier().fit(X, codes).score(Q, answers)


@pytest.mark.parametrize("seed", [7, 11, 17, 18])  # where some iterations make it worse
def test_more_iterations_are_never_worse(seed):
    X, y, Q, answers = overlapping(seed, 15, 0, 4)
    rows, labels, scores = np.concatenate([X, Q]), np.concatenate([y, answers]), []
    for n_iter in range(11):
        model, _, val = learn(OPFClassifier(), X, y, Q, answers, n_iter=n_iter, random_state=seed)
        scores.append(model.score(rows[val], labels[val]))
    assert scores == sorted(scores)


def test_only_wrong_validation_samples_enter_no_prototype_leaves_and_the_score_rises():
    case = X, y, Q, answers = overlapping(0, 150, 1.5, 2)
    copies, start = [part.copy() for part in case], OPFClassifier().fit(X, y)
    learned = learn(OPFClassifier(), *case, n_iter=1)
    entered = learned.train_rows[learned.train_rows >= 150] - 150
    assert len(entered) > 0
    assert set(entered) <= set(np.flatnonzero(start.predict(Q) != answers))
    assert not {*np.setdiff1d(np.arange(150), learned.train_rows)} & {*start.prototypes_}
    same(list(case), copies)  # arrays of the caller are left alone
    one, again, other = (learn(OPFClassifier(), *case, random_state=seed) for seed in (0, 0, 1))
    rows, labels = np.concatenate([X, Q]), np.concatenate([y, answers])
    assert one.model.score(rows[one.val_rows], labels[one.val_rows]) > start.score(Q, answers)
    assert one.train_rows.tolist() == again.train_rows.tolist() != other.train_rows.tolist()
