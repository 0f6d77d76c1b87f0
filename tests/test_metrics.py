import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from pathforest.metrics import opf_accuracy

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


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        opf_accuracy([1, 2], [1])
