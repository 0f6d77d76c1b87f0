"""Every estimator with `device` equals the one on the CPU, and says what a device cannot do."""

import pickle
import sys

import numpy as np
import pytest
from checks import answers, same, same_model
from growth import add, fit
from sklearn.base import clone
from strategies import DTYPES, make_codes, make_samples
from torch_device import DEVICE, torch
from zoo import every, make, names

from pathforest import OPFClassifier, load
from pathforest._engines import samples
from pathforest._engines.torch.engine import TorchEngine

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
# Each fits in its own way, with an engine or several; a pruner has the device of its classifier.
NAMES = [*names("grows"), "nearest", "nearest folds", "pruner fuzzy", "search", "search as given"]
every_estimator = pytest.mark.parametrize("name", NAMES)


def on(name, device, **params):
    """A configuration whose distances are computed on a device."""
    prefix = "estimator__" if name.startswith("pruner") else ""
    params = {f"{prefix}{key}": value for key, value in {"device": device, **params}.items()}
    return make(name, algorithm="auto", **params) if name == "plain r=3" else make(name, **params)


def moved(model, device):
    """The model with its answers computed elsewhere."""
    getattr(model, "estimator_", model).set_params(device=device)
    return model


@every_estimator
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
def test_estimators_equal_those_of_the_cpu_in_every_array_and_answer(name, recipe):
    X, Q = make_samples(recipe, 2, 150, 4, np.float32)
    y = make_codes("regions", 2, X)
    on_device, on_cpu = (on(name, device).fit(X, y) for device in (DEVICE, "cpu"))
    expected = answers(on_cpu, Q)
    same_model(on_device, on_cpu, Q)
    same(answers(moved(on_device, "cpu"), Q), expected)
    same(answers(moved(on_cpu, DEVICE), Q), expected)


@every("grows")
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_grow_on_a_device(name, recipe, dtype):
    X, Q = make_samples(recipe, 5, 60, 4, dtype)
    y = make_codes("regions", 5, X)
    model = make(name, device=DEVICE)
    for rows in (slice(0, 40), slice(40, 41), slice(41, 60)):
        add(model, X[rows], y[rows])
    same_model(moved(model, "cpu"), fit(make(name), X, y), Q)
    leaving = np.arange(3, 30, 4)
    moved(model, DEVICE).forget(leaving)
    same_model(moved(model, "cpu"), fit(make(name), *(np.delete(a, leaving, axis=0) for a in (X, y))), Q)


@every_estimator
def test_the_engine_of_a_fit_is_on_the_device(name, monkeypatch):
    made, original = [], TorchEngine.__init__
    monkeypatch.setattr(TorchEngine, "__init__", lambda *args: made.append(args) or original(*args))
    X, _ = make_samples("gaussian", 2, 60, 4)
    model = on(name, DEVICE).fit(X, np.arange(60) % 2)
    n_made = len(made)
    assert n_made
    answers(model, X[:5])
    assert len(made) > n_made
    monkeypatch.setattr(TorchEngine, "_best", lambda *args, **kwargs: pytest.fail("this is the device"))
    answers(moved(model, "cpu"), X[:5])


def test_tensors_and_arrays_that_must_not_be_written_to_are_taken():
    X, Q = make_samples("gaussian", 2, 60, 4, np.float32)
    X.flags.writeable = Q.flags.writeable = False
    y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]
    expected = make("plain").fit(X, y).predict(Q)
    np.testing.assert_array_equal(make("plain", device=DEVICE).fit(X, y).predict(Q), expected)
    X, Q, codes = (torch.tensor(a, device=DEVICE.removeprefix("torch-")) for a in (X, Q, y == "b"))
    found = make("plain", device=DEVICE).fit(X.requires_grad_(), y).predict(Q)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == expected.tolist()
    model, shared = make("plain"), X.detach().cpu().clone()
    model.fit(shared, y)
    shared.zero_()
    np.testing.assert_array_equal(model.predict(Q), expected)
    assert make("plain").fit(X, codes.int()).predict(Q).tolist() == (found == "b").astype(int).tolist()


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_half_precision_answers_as_its_values_in_float32(kind, device):
    X, Q = (torch.as_tensor(a).to(getattr(torch, kind)) for a in make_samples("gaussian", 2, 60, 4))
    y = np.arange(60) % 2
    expected = make("plain").fit(X.float().numpy(), y)
    models = [make("plain", device=device).fit(X, y)]
    models += [make("plain", device=device).fit(X.numpy(), y)] if kind == "float16" else []
    for model in models:
        same_model(model, expected, Q.float().numpy())
        np.testing.assert_array_equal(model.predict(Q), expected.predict(Q.float().numpy()))


def test_large_arrays_are_copied_and_checked_in_parts(monkeypatch):
    X, Q = make_samples("gaussian", 2, 60, 4)
    expected, y = make("plain").fit(X, np.arange(60) % 2), np.arange(60) % 2
    monkeypatch.setattr(samples, "LARGE", 0)
    monkeypatch.setattr(samples, "BLOCK_BYTES", 7 * 32)
    given = X.copy()
    model = make("plain", n_jobs=2).fit(given, y)
    given[:] = 0
    same_model(model, expected, Q)
    for value in (np.nan, np.inf):
        given[50, 1] = value
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            make("plain").fit(given, y)


# What a device cannot do


NO_NAME = r"device=.* is unknown; use 'cpu', 'cuda' or 'cuda:<number>'"
REFUSED = [
    ({"metric": "precomputed"}, "'precomputed' is not available with device="),
    ({"metric": lambda a, b: abs(a - b).sum()}, r"is not available with device=.*or device='cpu'"),
    ({"metric": "minkowski", "metric_params": {"p": 3}}, "'minkowski' is not available with device="),
    *(({"device": name}, NO_NAME) for name in ("gpu", "cuda:", "cuda:-1", "cuda:01", None)),
]


@pytest.mark.parametrize(("params", "message"), REFUSED)
def test_what_a_device_does_not_compute_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        OPFClassifier(**{"device": DEVICE, **params}).fit(np.zeros((2, 2)), [0, 1])


@pytest.fixture
def no_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_card")
@pytest.mark.parametrize("name", ["plain", "fuzzy"])
def test_without_a_gpu_there_is_an_error_and_no_silent_answer(name):
    with pytest.raises(RuntimeError, match=r"device='cuda': PyTorch .* sees no GPU.*'cpu'"):
        make(name, device="cuda").fit([[0.0], [1.0]], [0, 1])


def test_without_torch_there_is_an_error_and_no_silent_answer(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs PyTorch; run pip install .*device='cpu'"):
        make("plain", device="cuda").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.usefixtures("no_card")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("fuzzy callable", "pruner fuzzy")])
def test_models_travel_to_machines_without_a_card(name, tmp_path):
    X, Q = make_samples("gaussian", 2, 60, 4)
    model = on(name, "torch-cpu").fit(X, np.arange(60) % 2)
    expected = model.predict(Q)
    pickled = pickle.dumps(model.set_params(device="cpu"))
    assert b"torch" not in pickled.replace(b"torch-cpu", b"")  # engines stay at home, names of devices travel
    model.set_params(device="cuda").save(tmp_path / "model.opf")
    for travelled in (model, load(tmp_path / "model.opf"), pickle.loads(pickle.dumps(model))):
        assert travelled.get_params()["device"] == clone(travelled).device == "cuda"
        with pytest.raises(RuntimeError, match="sees no GPU"):
            travelled.predict(Q)
        np.testing.assert_array_equal(travelled.set_params(device="cpu").predict(Q), expected)
