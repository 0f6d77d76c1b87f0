import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV

from pathforest import OPFClassifier, metrics
from pathforest.metrics import opf_accuracy, opf_accuracy_scorer, per_class_accuracy

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def opf_accuracy_by_definition(pairs: list[tuple[int, int]]) -> float:
    classes = {true for true, _ in pairs}
    errors = []
    for c in classes:
        own = [p for t, p in pairs if t == c]
        others = [p for t, p in pairs if t != c]
        missed = sum(p != c for p in own) / len(own)
        stolen = sum(p == c for p in others) / len(others) if others else 0
        errors.append(missed + stolen)
    return 1 - sum(errors) / (2 * len(classes))


@given(labels)
def test_opf_accuracy_is_its_definition(pairs):
    true, predicted = zip(*pairs, strict=True)
    assert opf_accuracy(true, predicted) == pytest.approx(opf_accuracy_by_definition(pairs), abs=1e-12)


def test_label_zero_counts():
    assert opf_accuracy([0, 0, 1, 1], [1, 1, 1, 1]) == 0.5


def test_two_classes_give_the_balanced_accuracy():
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 2, 50), rng.integers(0, 2, 50)
    assert opf_accuracy(true, predicted) == pytest.approx(balanced_accuracy_score(true, predicted))


def test_labels_may_be_strings():
    assert opf_accuracy(["a", "b"], ["a", "b"]) == 1.0


@pytest.mark.parametrize("score", [opf_accuracy, per_class_accuracy])
def test_lengths_must_agree(score):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        score([1, 2], [1])


@given(labels)
def test_per_class_accuracy_is_its_definition(pairs):
    true, predicted = zip(*pairs, strict=True)
    got = per_class_accuracy(true, predicted)
    assert got.label.tolist() == sorted(set(true))
    for label, accuracy, n_samples in zip(*got, strict=True):
        own = [p == t for t, p in pairs if t == label]
        assert (accuracy, n_samples) == (sum(own) / len(own), len(own))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of scikit-learn, about labels that only one side has
@given(labels)
def test_means_over_classes_are_the_balanced_and_the_plain_accuracy(pairs):
    true, predicted = zip(*pairs, strict=True)
    got = per_class_accuracy(true, predicted)
    assert got.accuracy.mean() == pytest.approx(balanced_accuracy_score(true, predicted))
    weighted = np.average(got.accuracy, weights=got.n_samples)
    assert weighted == pytest.approx(accuracy_score(true, predicted))


def test_per_class_accuracy_takes_text():
    got = per_class_accuracy(["ham", "ham", "spam"], ["ham", "eggs", "spam"])
    assert dict(zip(got.label.tolist(), got.accuracy.tolist(), strict=True)) == {"ham": 0.5, "spam": 1.0}


def test_the_scorer_is_the_score_of_the_predictions():
    X, y = load_iris(return_X_y=True)
    model = OPFClassifier().fit(X[::2], y[::2])
    assert opf_accuracy_scorer(model, X[1::2], y[1::2]) == opf_accuracy(y[1::2], model.predict(X[1::2]))


def test_a_grid_search_is_scored_by_it():
    X, y = load_iris(return_X_y=True)
    pair = np.arange(0, 150, 2), np.arange(1, 150, 2)
    grid = {"n_conquerors": [1, 9, 60]}
    search = GridSearchCV(OPFClassifier(), grid, scoring=opf_accuracy_scorer, cv=[pair]).fit(X, y)
    expected = []
    for r in grid["n_conquerors"]:
        model = clone(search.estimator).set_params(n_conquerors=r).fit(X[::2], y[::2])
        expected.append(opf_accuracy(y[1::2], model.predict(X[1::2])))
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected)


def test_other_names_are_not_attributes():
    with pytest.raises(AttributeError, match="no attribute 'opf_recall'"):
        _ = metrics.opf_recall
