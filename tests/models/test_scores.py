"""Scores of OPF's literature equal their definitions; labels made wrong are as many as asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from zoo import make, samples

from pathforest import metrics
from pathforest.metrics import opf_accuracy, opf_accuracy_scorer
from pathforest.noise import flip_labels

classes = st.sampled_from([range(4), ["ham", "eggs", "spam", "tea"]]).map(st.sampled_from)
pairs_of_labels = classes.flatmap(lambda one: st.lists(st.tuples(one, one), min_size=1, max_size=30))


def opf_accuracy_by_definition(pairs):
    errors = []
    for c in {true for true, _ in pairs}:
        own, others = ([p for t, p in pairs if (t == c) == is_own] for is_own in (True, False))
        stolen = sum(p == c for p in others) / len(others) if others else 0
        errors.append(sum(p != c for p in own) / len(own) + stolen)
    return 1 - sum(errors) / (2 * len(errors))


@given(pairs_of_labels)
def test_opf_accuracy_is_its_definition(pairs):
    expected = opf_accuracy_by_definition(pairs)
    assert opf_accuracy(*zip(*pairs, strict=True)) == pytest.approx(expected, abs=1e-12)


def test_the_scorer_is_the_score_of_the_predictions():
    X, y, _ = samples()
    train, test = np.arange(0, 75, 2), np.arange(1, 75, 2)
    model = make("plain r=3").fit(X[train], y[train])
    expected = opf_accuracy(y[test], model.predict(X[test]))
    assert opf_accuracy_scorer(model, X[test], y[test]) == expected < 1
    assert cross_val_score(model, X, y, scoring=opf_accuracy_scorer, cv=[(train, test)]) == [expected]
    with pytest.raises(AttributeError, match="no attribute 'opf_recall'"):
        _ = metrics.opf_recall


Y = np.repeat(["ham", "eggs", "spam"], 40)


@pytest.mark.parametrize(("share", "n_wrong"), [(0, 0), (0.1, 12), (0.5, 60), (1, 120)])
def test_as_many_labels_are_wrong_as_asked_for(share, n_wrong):
    y, rng = Y.copy(), np.random.RandomState(0)
    first, again, one, other = (flip_labels(y, share, *seed) for seed in ([], [0], [rng], [rng]))
    assert np.sum(first != Y) == np.sum(one != Y) == n_wrong
    assert (first == again).all()
    assert (one == other).all() == (share == 0)
    np.testing.assert_array_equal(y, Y)


def test_every_other_class_is_as_likely_and_one_class_stays():
    flipped = flip_labels(np.repeat(Y, 50), 1.0)[:2000]  # all eggs and spam now
    assert set(flipped) == {"eggs", "spam"}
    assert abs(np.mean(flipped == "eggs") - 0.5) < 0.05
    assert set(flip_labels(["a", "a"], 1.0)) == {"a"}
