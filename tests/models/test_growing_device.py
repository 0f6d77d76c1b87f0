"""Models that grow on a device equal those that `fit` makes on the CPU."""

import numpy as np
import pytest
from growth import MODELS, assert_same_model, fit
from sklearn.base import clone
from strategies import DTYPES, make_codes, make_samples
from torch_device import DEVICE


@pytest.mark.filterwarnings("ignore::pathforest.fuzzy.TrainingErrorWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_grow_on_a_device(name, recipe, dtype):
    X, Q = make_samples(recipe, 5, 60, 4, dtype)
    y = make_codes("regions", 5, X)
    model = clone(MODELS[name]).set_params(device=DEVICE)
    for rows in (slice(0, 40), slice(40, 41), slice(41, 60)):
        model.partial_fit(X[rows], *([y[rows]] if hasattr(model, "set_labels") else []))
    assert_same_model(model.set_params(device="cpu"), fit(clone(MODELS[name]), X, y), Q)
    model.set_params(device=DEVICE).forget(np.arange(3, 30, 4))
    X, y = np.delete(X, np.arange(3, 30, 4), axis=0), np.delete(y, np.arange(3, 30, 4))
    assert_same_model(model.set_params(device="cpu"), fit(clone(MODELS[name]), X, y), Q)
