import json
from pathlib import Path

import numpy as np
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pathforest._reproduction.textbook import training_error, worst_training_error

TIES = json.loads((Path(__file__).parents[1] / "data" / "opfython_models.json").read_text())["ties"]
X, y = (np.array(values) for values in TIES["samples"])


@given(
    arrays(np.int64, st.tuples(st.integers(2, 25), st.just(2)), elements=st.integers(0, 4)),
    st.integers(0, 99),
)
def test_it_is_the_reference_on_tied_data(points, seed):
    labels = np.random.default_rng(seed).integers(0, 3, len(points))
    found = reference.textbook_opf(reference.distance_matrix(points, points), labels)
    assert training_error(points.astype(float), labels) == np.mean(found != labels)


def test_ties_lose_training_labels_and_how_many_depends_on_their_order():
    given, turned = training_error(X, y), training_error(X[::-1], y[::-1])
    assert given > 0.1
    assert given != turned
    assert worst_training_error(training_error, X, y, np.random.default_rng(0)) >= max(given, turned)
