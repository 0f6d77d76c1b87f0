"""OPFClassifier equals the reference model in everything it learns and answers."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference.models import class_costs, plain_model
from strategies import BRUTE_METRICS, METRICS, NON_NEGATIVE, problems

from pathforest import OPFClassifier


@pytest.mark.parametrize("r", [1, 2, 5, 2**40])
@given(data=st.data())
def test_every_fitted_array_and_every_answer_equal_the_reference(r, data):
    metric, p = data.draw(st.sampled_from(METRICS + BRUTE_METRICS))
    X, codes, Q, _ = data.draw(problems(non_negative=metric in NON_NEGATIVE))
    # Gower's ranges are those of the training samples.
    distances = (
        partial(reference.gower_matrix, ranges=np.ptp(X.astype(float), axis=0))
        if metric == "gower"
        else partial(reference.distance_matrix, metric=metric, p=p)
    )
    params = {
        "metric": metric,
        "metric_params": {"p": p} if metric == "minkowski" else None,
        "algorithm": data.draw(st.sampled_from(["auto", "brute"])),
        "n_jobs": data.draw(st.sampled_from([None, 2, 3])),
        "beta": data.draw(st.sampled_from([0.5, 8.0, 50.0, Fraction(1, 2)])),
    }
    model, expected = (
        OPFClassifier(n_conquerors=r, **params).fit(X, codes),
        plain_model(distances(X, X), codes),
    )
    for name, value in expected._asdict().items():
        np.testing.assert_array_equal(getattr(model, f"{name}_"), value, err_msg=name)
    costs, winners = class_costs(expected, distances(Q, X), codes, r)
    np.testing.assert_array_equal(model.class_costs(Q), costs)
    np.testing.assert_array_equal(model.predict(Q), winners)
    probabilities = reference.probabilities(costs, float(params["beta"]))
    np.testing.assert_allclose(model.predict_proba(Q), probabilities, rtol=1e-10, atol=1e-300)


def test_float32_samples_neither_overflow_nor_round_queries():
    huge = OPFClassifier().fit(np.array([[0.0], [1e30], [2.5e30], [3e30]], dtype=np.float32), [0, 0, 1, 1])
    assert np.all(np.isfinite(huge.cost_))
    # 1.5 + 2**-40 is nearer to 3 than to 0; rounded to float32 it would be a tie, won by the first sample.
    model = OPFClassifier().fit(np.array([[0.0], [3.0]], dtype=np.float32), ["first", "second"])
    assert model.predict(np.array([[1.5 + 2.0**-40]])).tolist() == ["second"]
