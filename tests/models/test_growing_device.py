"""Models that grow on a device equal those that `fit` makes on the CPU."""

import numpy as np
import pytest
from checks import same_model
from growth import fit
from strategies import DTYPES, make_codes, make_samples
from torch_device import DEVICE
from zoo import every, make


@pytest.mark.filterwarnings("ignore::pathforest.fuzzy.TrainingErrorWarning")
@every("grows")
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_grow_on_a_device(name, recipe, dtype):
    X, Q = make_samples(recipe, 5, 60, 4, dtype)
    y = make_codes("regions", 5, X)
    model = make(name, device=DEVICE)
    for rows in (slice(0, 40), slice(40, 41), slice(41, 60)):
        model.partial_fit(X[rows], *([y[rows]] if hasattr(model, "set_labels") else []))
    same_model(model.set_params(device="cpu"), fit(make(name), X, y), Q)
    model.set_params(device=DEVICE).forget(np.arange(3, 30, 4))
    X, y = np.delete(X, np.arange(3, 30, 4), axis=0), np.delete(y, np.arange(3, 30, 4))
    same_model(model.set_params(device="cpu"), fit(make(name), X, y), Q)
