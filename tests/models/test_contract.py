"""What every estimator promises, whichever it is; scikit-learn's own checks among it.

Refusals: `test_refusals.py`. Files: `tests/persistence`. Devices: `test_device.py`.
"""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from checks import answers, same, same_model
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import make_codes, make_samples
from zoo import ZOO, every, fitted, make, names, samples

import pathforest
from pathforest._engines.metric import resolve_metric

# On some of scikit-learn's datasets Algorithm 3 loses training labels, and warnings are errors here.
pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
X, y, Q = samples()

CALLING_PARTIAL_FIT = (
    "check_estimators_partial_fit_n_features",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
)


def expected_failures(estimator):
    expected = {}
    if isinstance(estimator, pathforest.OPFSemiSupervisedClassifier):
        expected["check_classifiers_classes"] = "has -1 among its classes, which marks unlabelled samples"
    metric = getattr(estimator, "metric", "euclidean")
    if hasattr(estimator, "partial_fit") and not resolve_metric(metric).grows:
        expected |= dict.fromkeys(CALLING_PARTIAL_FIT, f"{metric} distances cannot grow")
    return expected


@pytest.mark.slow  # hundreds of them
@parametrize_with_checks(
    [clone(ZOO[name].model) for name in names("checked")], expected_failed_checks=expected_failures
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@every()
def test_the_zoo_says_what_an_estimator_has(name):
    model, traits = fitted(name), ZOO[name].traits
    assert hasattr(model, "classes_") == ("labels" in traits)
    assert hasattr(model, "predict_proba") == ("probabilities" in traits)
    assert hasattr(model, "verbose") == hasattr(model, "device") == ("metric" in traits)
    assert get_tags(model).input_tags.pairwise == ("pairwise" in traits)  # so that matrices are sliced
    if "metric" in traits:
        assert get_tags(make(name, metric="precomputed")).input_tags.pairwise
    # What cannot grow does not say that it could.
    can_grow = "metric" in traits and hasattr(model, "forget")
    assert hasattr(model, "partial_fit") == (can_grow or hasattr(model, "estimators_"))
    assert not can_grow or resolve_metric(model.metric).grows == ("grows" in traits)


# What samples may be


@every("one")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_gives_the_answers_of_an_array_and_names(name, library):
    module = pytest.importorskip(library)

    def frame(array, columns="abcd"):
        return module.DataFrame({column: array[:, j] for j, column in enumerate(columns)})

    model = make(name).fit(frame(X), y)
    np.testing.assert_array_equal(model.predict(frame(Q)), fitted(name).predict(Q))
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(Q, "bcde"))
    inside = make_pipeline(StandardScaler(), make(name)).set_output(transform=library)
    assert inside.fit(frame(X), y)[-1].feature_names_in_.tolist() == list("abcd")


MEMORY = {
    "read-only memory map": lambda A: np.frombuffer(A.tobytes(), A.dtype).reshape(A.shape).view(np.memmap),
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 2, axis=1)[::2, ::2],
    "Fortran": np.asfortranarray,
    "swapped bytes": lambda A: A.astype(A.dtype.newbyteorder()),
    "lists": lambda A: A.tolist(),
}


@pytest.mark.parametrize("name", [*names("one"), "plain matrix"])
@pytest.mark.parametrize("memory", MEMORY)
def test_the_layout_in_memory_changes_nothing(name, memory):
    X, y, Q = samples(name)
    model = make(name).fit(MEMORY[memory](X), y.tolist() if memory == "lists" else y)
    same_model(model, fitted(name))
    same(answers(model, MEMORY[memory](Q)), answers(model, Q))


@every("one")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_the_caller_are_neither_changed_nor_needed(name, dtype):
    mine, labels, variances = X.astype(dtype), y.copy(), X.var(axis=0)
    learned = (
        {"metric": "seuclidean", "metric_params": {"V": variances}} if "metric" in ZOO[name].traits else {}
    )
    models = [make(name).fit(mine, labels), make(name, **learned).fit(mine, labels)]
    assert np.array_equal(mine, X.astype(dtype))
    assert np.array_equal(labels, y)
    expected = [answers(pickle.loads(pickle.dumps(model)), Q) for model in models]
    mine[:], labels[:], variances[:] = 0, 0, [1e-6, 1e6, 1e6, 1e6]
    same([answers(pickle.loads(pickle.dumps(model)), Q) for model in models], expected)


SMALL = {
    "a range just large enough": X / np.ptp(X, axis=0).max() * 2.0**-511,
    "one small feature": X * [1e-200, 1e-300, 1, 1],
    "equal samples": np.full((75, 4), 1e-200),
    "a wide range only among later samples": np.tile(X, (2, 1))
    * np.repeat([[1e-200], [1]], [120, 30], axis=0),
}


@every("one", "metric", without=["searches"])
@pytest.mark.parametrize("case", SMALL)
def test_small_features_that_tell_samples_apart_work(name, case):
    make(name).fit(SMALL[case], np.arange(len(SMALL[case])) % 3)


# What labels may be

KINDS = {
    "text": np.array(["ham", "eggs", "spam"])[y],
    "integers": np.array([10, -5, 0])[y],
    "floats": np.array([2.0, 1.0, 0.0])[y],
    "uint8": np.array([7, 8, 9], dtype=np.uint8)[y],
    "booleans": y > 0,
    "a Series": pd.Series(np.array(["ham", "eggs", "spam"], dtype=object)[y], index=range(1000, 1075)),
}
if hasattr(np.dtypes, "StringDType"):  # numpy 1 has none
    KINDS["text of variable width"] = KINDS["text"].astype(np.dtypes.StringDType())


@every("labels", "one")
@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_type_come_back(name, kind):
    labels = KINDS[kind]
    model = make(name).fit(X, labels)
    predicted = model.predict(X)
    assert predicted.dtype == (object if "variable" in kind else np.asarray(labels).dtype)
    assert set(predicted.tolist()) == set(labels)
    if hasattr(model, "label_"):
        assert model.label_.dtype == predicted.dtype


class Named(np.ndarray):
    """Any array with a name, as those of Dask have, which is not a name of labels."""

    name = "asarray-1"


@every("labels", "one")
def test_the_name_of_labels_is_remembered_and_forgotten(name, tmp_path):
    named = pd.Series(y, name="species")
    model = make(name).fit(X, named)
    model.save(tmp_path / "model.pf")
    assert pathforest.load(tmp_path / "model.pf").label_name_ == "species"
    for without in (y.view(Named), pd.Series(y), pd.Series(y, name=3), pd.Series(y, name="")):
        assert not hasattr(model.fit(X, without), "label_name_")
    if hasattr(model, "set_labels"):
        growing = make(name).partial_fit(X[::2], named[::2])
        assert growing.partial_fit(X[1::2], y[1::2]).label_name_ == "species"


# What is said meanwhile


@every("one")
def test_only_verbose_prints_stages_and_the_size_of_a_full_matrix(name, capfd):
    full = {"metric": "seuclidean"} if "metric" in ZOO[name].traits else {}
    fitted(name, **full)
    assert capfd.readouterr() == ("", "")
    if full:
        fitted(name, verbose=1, **full)
        printed, errors = capfd.readouterr()
        assert "took" in printed
        assert "75 x 75" in printed or "searches" in ZOO[name].traits
        assert not errors


# How answers are computed changes none of them


@every("metric")
def test_threads_change_nothing(name):
    A, _ = make_samples("grid", 2, 300, 3)
    A = pairwise_distances(A) if "pairwise" in ZOO[name].traits else A
    labels = make_codes("regions", 2, A)
    model, expected = (make(name, n_jobs=n).fit(A, labels) for n in (3, 1))
    same_model(model, expected, A[:40])


@every()
def test_models_go_through_pickle(name):
    model = fitted(name)
    model.predict(samples(name)[2])
    data = pickle.dumps(model)
    assert b"pathforest._core" not in data
    same_model(pickle.loads(data), model, samples(name)[2])


# scikit-learn's callbacks hear of every fit


class Recorder:
    """A callback that keeps what it hears, and goes on to estimators inside."""

    max_propagation_depth = None

    def __init__(self):
        self.heard, self.samples = [], []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.heard.append(f"begin {context.estimator_name} {context.task_name}")
        self.samples.append(X)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.heard.append(f"end {context.estimator_name} {context.task_name}")
        if fitted_estimator is not None:
            self.heard.append(f"fitted {hasattr(fitted_estimator, 'n_features_in_')}")


@pytest.fixture
def recorder():
    """A callback, where scikit-learn has them."""
    pytest.importorskip("sklearn.callback")
    return Recorder()


STAGES = {
    "plain": ["build engine", "spanning tree", "boundary prototypes", "grow forest"],
    "search": ["search", "refit"],
}


@every("one")
def test_callbacks_hear_of_a_fit_and_its_stages_and_change_no_answer(name, recorder, tmp_path):
    model, kind = make(name).set_callbacks(recorder).fit(X, y), type(make(name)).__name__
    if name in STAGES:
        inside = [f"{event} {kind} {stage}" for stage in STAGES[name] for event in ("begin", "end")]
        found = [text for text in recorder.heard if kind in text]
        assert found == [f"begin {kind} fit", *inside, f"end {kind} fit"]
    assert recorder.heard[:2] == ["setup", f"begin {kind} fit"]
    assert recorder.heard[-3:] == [f"end {kind} fit", "fitted True", "teardown"]
    assert recorder.heard.count("setup") == recorder.heard.count(f"end {kind} fit") == 1
    assert recorder.samples[0] is X
    model.save(tmp_path / "model.opf")
    for one in (model, pickle.loads(pickle.dumps(model)), pathforest.load(tmp_path / "model.opf")):
        same(answers(one, Q), answers(fitted(name), Q))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X + np.nan, y)
    assert recorder.heard[-1] == "teardown"


# Units


def units_said(fit):
    """The columns that warnings about units name."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit()
    texts = [str(one.message) for one in said if issubclass(one.category, UserWarning)]
    return [re.findall("'(.*?)'", text)[:2] for text in texts if text.startswith("features differ in scale")]


@every("one")
def test_features_in_far_larger_units_are_reported_once(name):
    frame = pd.DataFrame(X * [1, 1000, 1, 1], columns=["a", "b", "c", "d"]).assign(same=7e6)
    model = make(name, **({"transforms": None} if "searches" in ZOO[name].traits else {}))
    assert units_said(lambda: model.fit(frame, y)) == [["b", "d"]]
    first = clone(model).partial_fit if "grows" in ZOO[name].traits else model.fit
    assert units_said(lambda: first(frame.to_numpy(), y)) == [["x1", "x3"]]
    assert units_said(lambda: pathforest.find_issues(frame, y, method="fast")) == [["b", "d"]]
    assert units_said(lambda: model.fit(frame / [1, 100, 1, 1, 1], y)) == []


@pytest.mark.parametrize(
    "fit",
    [
        lambda X: make("search").fit(X, y),
        lambda X: make("search", transforms=[None, StandardScaler()]).fit(X, y),
        *(lambda X, m=m: make("plain", metric=m).fit(X, y) for m in ("gower", "chi2", "cosine", "canberra")),
        lambda X: make("plain", metric="precomputed").fit(pairwise_distances(X), y),
        lambda X: make("plain").fit(csr_array(X), y),
        lambda X: make("plain").fit(X[:1], y[:1]),
        lambda X: make("plain").fit(X[:, :1], y),
    ],
)
def test_units_are_not_reported_where_they_do_not_matter(fit):
    assert units_said(lambda: fit(X * [1, 1e4, 1, 1])) == []
