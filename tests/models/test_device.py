"""Every estimator with `device` equals the one on the CPU, and says what a device cannot do."""

import pickle
import sys

import checks
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import StandardScaler
from strategies import DTYPES, make_codes, make_samples
from torch_device import DEVICE, torch

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
    load,
)
from pathforest._engines.torch import devices
from pathforest._engines.torch.engine import TorchEngine


@pytest.mark.parametrize("make", [OPFClassifier, FuzzyOPFClassifier], ids=["plain", "fuzzy"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_equal_those_of_the_cpu_in_every_array(make, dtype):
    X, Q = make_samples("grid", 2, 300, 4, dtype)
    y = make_codes("regions", 2, X)
    on_device, on_cpu = make(device=DEVICE).fit(X, y), make().fit(X, y)
    for name in ("prototypes_", "cost_", "predecessor_", "root_", "order_", "label_"):
        np.testing.assert_array_equal(getattr(on_device, name), getattr(on_cpu, name))
    np.testing.assert_array_equal(on_device.predict(Q), on_cpu.predict(Q))
    for r in (1, 3, 250):  # the last is more than a class has
        found, expected = (model.set_params(n_conquerors=r).class_costs(Q) for model in (on_device, on_cpu))
        np.testing.assert_array_equal(found, expected)
    assert on_device.set_params(device="cpu").explain(Q) == on_cpu.explain(Q)


def test_tensors_are_taken_and_labels_keep_their_type():
    X, Q = make_samples("gaussian", 2, 60, 4, np.float32)
    y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]
    where = "cuda" if DEVICE == "cuda" else "cpu"
    model = OPFClassifier(device=DEVICE).fit(torch.as_tensor(X, device=where).requires_grad_(), y)
    found = model.predict(torch.as_tensor(Q, device=where))
    assert isinstance(found, np.ndarray)
    assert found.tolist() == OPFClassifier().fit(X, y).predict(Q).tolist()
    codes = torch.as_tensor((y == "b").astype(int), device=where)
    assert OPFClassifier().fit(X, codes).predict(Q).tolist() == (found == "b").astype(int).tolist()


def test_arrays_that_must_not_be_written_to_are_taken():
    X, Q = make_samples("gaussian", 2, 60, 4, np.float32)
    X.flags.writeable = Q.flags.writeable = False
    y = X[:, 0] > 0
    found = OPFClassifier(device=DEVICE).fit(X, y).predict(Q)
    np.testing.assert_array_equal(found, OPFClassifier().fit(X, y).predict(Q))


# Every estimator that has an engine.
SMALL = {"k_max": 4, "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "cv": 2, "n_best": 2}
ESTIMATORS = {
    "plain": lambda device, **kw: OPFClassifier(device=device, **kw),
    "fuzzy": lambda device, **kw: FuzzyOPFClassifier(device=device, **kw),
    "nearest": lambda device, **kw: OPFKNNClassifier(device=device, k_max=4, **kw),
    "folds": lambda device, **kw: OPFKNNClassifier(device=device, k_max=3, cv=2, **kw),
    "unlabelled": lambda device, **kw: OPFSemiSupervisedClassifier(
        device=device, unlabeled=0, method="opfsemi", **kw
    ),
    "geodesic": lambda device, **kw: OPFSemiSupervisedClassifier(
        device=device, unlabeled=0, n_neighbors=2, n_conquerors=2, **kw
    ),
    "clusters": lambda device, **kw: OPFClustering(device=device, n_neighbors=4, noise=0.1, **kw),
    "every dome": lambda device, **kw: OPFClustering(device=device, selection="cut", k_max=6, **kw),
    "outliers": lambda device, **kw: OPFOutlierDetector(device=device, k_max=6, **kw),
    "pruned": lambda device, **kw: OPFPruner(OPFClassifier(device=device, **kw)),
    "pruned fuzzy": lambda device, **kw: OPFPruner(FuzzyOPFClassifier(device=device, **kw)),
    "search": lambda device, **kw: FuzzyOPFClassifierCV(device=device, **SMALL, **kw),
    "transforms": lambda device, **kw: FuzzyOPFClassifierCV(
        device=device, transforms=["passthrough", StandardScaler()], **SMALL, **kw
    ),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def assert_equal_state(a, b):
    """Compare every fitted attribute, those of models within too."""
    if isinstance(a, BaseEstimator):
        names = [name for name in vars(a) if name.endswith("_")]
        assert names or not vars(b).keys() - vars(a).keys()
        for name in names:
            assert_equal_state(getattr(a, name), getattr(b, name))
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for first, second in zip(a, b, strict=True):
            assert_equal_state(first, second)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_equal_state(a[key], b[key])
    elif isinstance(a, (np.ndarray, float)):
        np.testing.assert_array_equal(a, b)
    elif not callable(a):
        assert a == b


def moved(model, device):
    """The model with its answers computed elsewhere; a pruner has the device of its classifier."""
    getattr(model, "estimator_", model).set_params(device=device)
    return model


def ask(model, Q):
    """All answers of a model."""
    names = ["predict", "predict_proba", "class_costs", "score_samples"]
    return [getattr(model, name)(Q) for name in names if hasattr(model, name)]


@every_estimator
@pytest.mark.parametrize("recipe", ["grid", "gaussian"])
def test_estimators_equal_those_of_the_cpu_in_every_array_and_answer(name, recipe):
    X, Q = make_samples(recipe, 2, 150, 4, np.float32)
    y = make_codes("regions", 2, X)
    on_device, on_cpu = (ESTIMATORS[name](device).fit(X, y) for device in (DEVICE, "cpu"))
    assert_equal_state(on_device, on_cpu)
    expected = ask(on_cpu, Q)
    checks.same_arrays(ask(on_device, Q), expected)
    checks.same_arrays(ask(moved(on_device, "cpu"), Q), expected)
    checks.same_arrays(ask(moved(on_cpu, DEVICE), Q), expected)


@every_estimator
def test_the_engine_of_a_fit_is_on_the_device(name, monkeypatch):
    made = []
    original = TorchEngine.__init__
    monkeypatch.setattr(TorchEngine, "__init__", lambda *args: made.append(args) or original(*args))
    X, _ = make_samples("gaussian", 2, 60, 4)
    model = ESTIMATORS[name](DEVICE).fit(X, np.arange(60) % 2)
    n_made = len(made)
    assert n_made
    ask(model, X[:5])
    assert len(made) > n_made
    monkeypatch.setattr(TorchEngine, "_best", lambda *args, **kwargs: pytest.fail("this is the device"))
    ask(moved(model, "cpu"), X[:5])


@every_estimator
def test_every_estimator_refuses_metrics_that_are_not_there(name):
    X, _ = make_samples("gaussian", 2, 20, 4, np.float32)
    with pytest.raises(ValueError, match=r"metric='manhattan' is not available with device="):
        ESTIMATORS[name](DEVICE, metric="manhattan").fit(X, np.arange(20) % 2)


@every_estimator
def test_every_estimator_refuses_unknown_devices(name):
    with pytest.raises(ValueError, match=r"device='gpu' is unknown; use 'cpu', 'cuda' or 'cuda:<number>'"):
        ESTIMATORS[name]("gpu").fit(np.eye(6), [0, 1] * 3)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "minkowski"])
def test_metrics_that_are_not_there_are_refused(metric):
    X, _ = make_samples("gaussian", 2, 20, 4, np.float32)
    params = {"p": 3} if metric == "minkowski" else None
    with pytest.raises(ValueError, match=f"metric='{metric}' is not available with device=.*euclidean"):
        OPFClassifier(device=DEVICE, metric=metric, metric_params=params).fit(X, [0, 1] * 10)


def test_matrices_are_refused():
    with pytest.raises(ValueError, match="'precomputed' is not computed on a device"):
        OPFClassifier(device=DEVICE, metric="precomputed").fit(np.zeros((2, 2)), [0, 1])


@pytest.mark.parametrize("metric", ["hamming", lambda a, b: abs(a - b).sum()], ids=["named", "callable"])
def test_metrics_that_need_a_matrix_are_refused(metric):
    with pytest.raises(ValueError, match=r"is not computed on a device; use device='cpu'"):
        OPFClassifier(device=DEVICE, metric=metric).fit(np.zeros((2, 2)), [0, 1])


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:01", "CUDA", None, 0])
def test_devices_of_other_names_are_refused(device):
    with pytest.raises(ValueError, match=r"device=.* is unknown; use 'cpu', 'cuda' or 'cuda:<number>'"):
        OPFClassifier(device=device).fit([[0.0], [1.0]], [0, 1])


@pytest.fixture
def no_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def two_cards(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("no_card")
@pytest.mark.parametrize("make", [OPFClassifier, FuzzyOPFClassifier])
def test_without_a_gpu_there_is_an_error_and_no_silent_answer(make):
    with pytest.raises(RuntimeError, match=r"device='cuda': PyTorch .* sees no GPU.*'cpu'"):
        make(device="cuda").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.usefixtures("two_cards")
def test_cards_are_counted_from_0():
    assert devices.find_device("cuda:1") == torch.device("cuda:1")
    for device in ("cuda:2", "cuda:200", "cuda:999"):  # torch takes the last two for negative numbers
        with pytest.raises(RuntimeError, match=f"device='{device}': there is no such GPU, only 2"):
            OPFClassifier(device=device).fit([[0.0], [1.0]], [0, 1])


def test_without_torch_there_is_an_error_and_no_silent_answer(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs PyTorch; run pip install .*device='cpu'"):
        OPFClassifier(device="cuda").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.usefixtures("no_card")
@every_estimator
def test_models_travel_to_machines_without_a_card(name, tmp_path):
    X, Q = make_samples("gaussian", 2, 60, 4)
    model = ESTIMATORS[name]("torch-cpu").fit(X, np.arange(60) % 2)
    expected = model.predict(Q)
    pickled = pickle.dumps(model.set_params(device="cpu"))
    assert b"torch" not in pickled.replace(b"torch-cpu", b"")  # engines stay at home, names of devices travel
    model.set_params(device="cuda").save(tmp_path / "model.opf")
    for travelled in (model, load(tmp_path / "model.opf"), pickle.loads(pickle.dumps(model))):
        assert travelled.get_params()["device"] == clone(travelled).device == "cuda"
        with pytest.raises(RuntimeError, match="sees no GPU"):
            travelled.predict(Q)
        np.testing.assert_array_equal(travelled.set_params(device="cpu").predict(Q), expected)
