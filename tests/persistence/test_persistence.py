"""Models and pipelines in files: what is saved comes back the same, anything else is refused."""

import json
import os
import stat
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from data.models.make_models import answers, samples
from model_files import forge, stored, take_apart
from pipelines import LABELS, PIPELINES, TABLE
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, make_scorer, pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

import pathforest
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
)
from pathforest._persistence.checks import MODELS as KINDS
from pathforest._persistence.file import FILE_FORMAT, load

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

FILES = Path(__file__).parents[1] / "data" / "models"
SMALL = {"k_max": 5, "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "transforms": None, "cv": 2}
ONE = {"k_max": 5, "sigmas": 0.5, "n_conquerors": 3, "cv": 2, "n_best": 5}
V = {"metric": "seuclidean", "metric_params": {"V": [0.5, 0.25, 2.0, 1.0]}}
TREE = FuzzyOPFClassifier(competition="tree", sigma=0.2, n_conquerors=2)
ONE_OF_EACH = [
    OPFClassifier(),
    FuzzyOPFClassifier(),
    OPFClustering(),
    OPFKNNClassifier(),
    OPFOutlierDetector(),
    OPFSemiSupervisedClassifier(),
    OPFPruner(TREE),
    FuzzyOPFClassifierCV(**ONE, transforms="linear"),
]
KERNEL = FuzzyOPFClassifierCV(**ONE, transforms="kernel", random_state=3)
WITH_METRICS = OPFClassifier(), OPFClustering(), FuzzyOPFClassifierCV(**SMALL)
MINKOWSKI = {"metric": "minkowski", "metric_params": {"p": np.float32(1.5)}}
METRICS = {"metric": "chi2"}, {"metric": "precomputed"}, {"metric": "seuclidean"}, MINKOWSKI
MODELS = [
    *ONE_OF_EACH,
    *(clone(model).set_params(**metric) for model in WITH_METRICS for metric in METRICS),
    OPFClassifier(n_conquerors=3, beta=2, n_jobs=2, verbose=True),
    OPFClassifier(metric="cosine", algorithm="brute"),
    OPFClassifier(metric="l1"),
    OPFClassifier(metric="mahalanobis"),
    OPFClassifier(metric="minkowski", metric_params={"p": 2, "w": np.arange(1, 5)}),
    FuzzyOPFClassifier(sigma=np.float64(0.7), k_max=np.int64(7)),
    FuzzyOPFClassifier(n_neighbors=4, membership_side="source"),
    OPFClustering(noise=0.1),
    OPFClustering(selection="cut", k_max=2, measure="area", threshold=5),
    OPFKNNClassifier(metric="precomputed", n_neighbors=3),
    OPFSemiSupervisedClassifier(method="opfsemi", n_conquerors=2),
    OPFSemiSupervisedClassifier(n_neighbors=3, n_conquerors=2, metric="precomputed"),
    OPFOutlierDetector(contamination=0.1, n_neighbors=4, metric="log_sqeuclidean"),
    OPFPruner(OPFClassifier(**V), random_state=3),
    OPFPruner(OPFClassifier(metric="precomputed"), max_iter=1),
    KERNEL,
    FuzzyOPFClassifierCV(
        **ONE, transforms=[None, ("scaled", StandardScaler(with_mean=False)), make_pipeline(MinMaxScaler())]
    ),
    FuzzyOPFClassifierCV(**SMALL, refit=False),
    FuzzyOPFClassifierCV(**SMALL | {"cv": StratifiedKFold(3), "n_best": 1, "scoring": "f1_macro"}),
    FuzzyOPFClassifierCV(**SMALL | {"cv": KFold(3, shuffle=True, random_state=1)}),
    FuzzyOPFClassifierCV(
        **SMALL | {"cv": [(np.arange(0, 50), np.arange(50, 75))], "sigmas": np.linspace(0.2, 1, 3)}
    ),
]
one_of_each = pytest.mark.parametrize("model", ONE_OF_EACH, ids=repr)
METHODS = ("predict", "predict_proba", "class_costs", "explain", "score_samples")


def problem(model, dtype="float64"):
    """Training samples, labels and queries of an estimator: 75 of iris, or distances between them."""
    X, y = load_iris(return_X_y=True)
    X, y, Q = X[::2].astype(dtype), y[::2], (X[1::4] + 0.03).astype(dtype)
    if get_tags(model).input_tags.pairwise:
        return pairwise_distances(X, X).astype(dtype), y, pairwise_distances(Q, X).astype(dtype)
    return X, y, Q


def fit(model, dtype="float64"):
    """A fitted copy."""
    return clone(model).fit(*problem(model, dtype)[:2])


def trip(model, folder):
    """A model from its file."""
    (folder / "model.opf").write_bytes(stored(model))
    return pathforest.load(folder / "model.opf")


def answer(model, Q):
    """All a model can say about queries."""
    return {method: getattr(model, method)(Q) for method in METHODS if hasattr(model, method)}


def assert_same(got, expected, where="model"):
    """Equal in value and type, down to the memory order of arrays."""
    assert type(got) is type(expected), where
    if isinstance(expected, np.ndarray):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), where
        if expected.flags.forc:
            assert got.flags.c_contiguous == expected.flags.c_contiguous, where
        assert got.flags.writeable == expected.flags.writeable, where
        if isinstance(expected, np.ma.MaskedArray):
            np.testing.assert_array_equal(got.mask, expected.mask, err_msg=where)
            got, expected = got.data, expected.data
        np.testing.assert_array_equal(got, expected, err_msg=where)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys(), where
        for key in expected:
            assert_same(got[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, (list, tuple)):
        assert len(got) == len(expected), where
        for i, pair in enumerate(zip(got, expected, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif hasattr(expected, "__dict__"):  # estimators, transformers, splitters and scorers
        # Files keep what growing needs only if asked.
        left_out = ("_fit_cache", "_fit_grown", "_fit_svd_solver")
        state, wanted = ({k: v for k, v in vars(o).items() if k not in left_out} for o in (got, expected))
        assert_same(state, wanted, f"{where}.")
    else:
        assert got == expected or (got != got and expected != expected), where


@pytest.mark.parametrize("number", range(len(MODELS)), ids=lambda i: f"{i}-{MODELS[i]!r:.60}")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_everything_comes_back_and_saving_changes_nothing(number, dtype, tmp_path):
    model, Q = fit(MODELS[number], dtype), problem(MODELS[number], dtype)[2]
    before = [id(value) for value in vars(model).values()]
    loaded = trip(model, tmp_path)
    assert [id(value) for value in vars(model).values()] == before
    assert_same(loaded, model)
    assert_same(answer(loaded, Q), answer(model, Q))
    assert stored(loaded) == stored(model)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_comes_back(name, tmp_path):
    model, (X, y) = PIPELINES[name]
    model, queries = clone(model).fit(X, y), X[1::2]
    if name == "tables":  # new texts and gaps
        queries = X[:6].assign(port="X", age=np.nan)
    loaded = trip(model, tmp_path)
    assert_same(answer(loaded, queries), answer(model, queries))
    assert_same(np.asarray(loaded[:-1].transform(queries)), np.asarray(model[:-1].transform(queries)))
    assert stored(loaded) == stored(model)
    assert_same(clone(loaded).fit(X, y).predict(X), model.predict(X))


def test_names_of_features_come_back(tmp_path):
    model = clone(PIPELINES["tables"][0]).fit(TABLE, LABELS)
    found = trip(model, tmp_path)
    assert found[:-1].get_feature_names_out().tolist() == model[:-1].get_feature_names_out().tolist()
    assert found.feature_names_in_.tolist() == list(TABLE.columns)
    with pytest.raises(ValueError, match="feature names"):
        trip(fit(OPFClassifier()).fit(TABLE[["age"]].fillna(1), LABELS), tmp_path).predict(TABLE[["fare"]])


def test_parts_that_models_share_stay_shared(tmp_path):
    best, second, *_ = trip(fit(FuzzyOPFClassifierCV(**SMALL)), tmp_path).estimators_
    assert best._fit_X is second._fit_X
    assert best.classes_ is second.classes_


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "", "snowman ☃"]),
        np.array(["b", "trailing zero\0", "\ud800"], dtype=object),
        np.array([True, False, True]),
        np.array([3, -2, 1], dtype=np.int8),
        np.array([2**63, 1, 0], dtype=np.uint64),
        np.array([3, -2, 1], dtype=">i4"),
        np.array([3.0, -2.0, 1.0]),
        np.array(["2020-01-01", "1960-05-05", "2031-12-31"], dtype="datetime64[D]"),
        np.array([5, -1, 0], dtype="timedelta64[10ms]"),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("model", [OPFClassifier(), FuzzyOPFClassifierCV(**SMALL)], ids=["plain", "search"])
@pytest.mark.filterwarnings("ignore:.*is deprecated.*:DeprecationWarning")
def test_labels_of_any_storable_type_come_back(model, labels, tmp_path):
    X, y, Q = problem(model)
    model = clone(model).fit(X, labels[y])
    loaded = trip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(Q), model.predict(Q))
    assert loaded.classes_.dtype == model.classes_.dtype.newbyteorder("=")
    assert [type(c) for c in loaded.classes_] == [type(c) for c in model.classes_]


@one_of_each
@pytest.mark.parametrize("n", [1, 2, 25])  # the last of them in one class
def test_tiny_models_come_back(model, n, tmp_path):
    X, y, Q = problem(model)
    model = clone(model)
    if isinstance(model, FuzzyOPFClassifierCV):  # a search needs two samples
        n = max(n, 2)
        model.set_params(cv=[(np.array([0]), np.array([1]))])
    model.fit(X[:n], y[:n])
    assert_same(answer(trip(model, tmp_path), Q), answer(model, Q))


def maximum(a, b):
    return np.abs(a - b).max()


def ones(X, y):
    return np.ones(len(X))


class Derived(OPFClassifier):
    """A user's own estimator."""


ITSELF = [1]
ITSELF.append(ITSELF)
CACHED = Pipeline([("scale", StandardScaler())], memory=joblib.Memory(None))
SEARCH = FuzzyOPFClassifierCV(**SMALL)
ADVICE = "cannot be saved.*joblib.*skops"
REFUSED = [  # an estimator, parameters that are set after fitting, and the reason
    (OPFClassifier(metric=maximum), {}, f"^metric=.*{ADVICE}"),
    (OPFClassifier(metric=maximum), {"metric": "euclidean"}, r"^metric\[0\]=<function maximum"),
    (FuzzyOPFClassifier(membership=ones), {}, f"^membership=.*{ADVICE}"),
    (FuzzyOPFClassifierCV(**SMALL, scoring=make_scorer(accuracy_score)), {}, f"^scoring=.*{ADVICE}"),
    (FuzzyOPFClassifierCV(**SMALL | {"cv": ShuffleSplit(2, random_state=0)}), {}, f"^cv=.*{ADVICE}"),
    (SEARCH, {"random_state": np.random.RandomState(0)}, f"^random_state=.*{ADVICE}"),
    (
        FuzzyOPFClassifierCV(**ONE, transforms=[None, ("a", PowerTransformer())]),
        {},
        rf"^transforms\[1\]\[1\]=.*{ADVICE}",
    ),
    (FuzzyOPFClassifierCV(**ONE, transforms=[CACHED]), {}, r"^transforms\[0\]=.*no place for its memory"),
    (SEARCH, {"cv": ITSELF}, "nested too deeply"),
    (SEARCH, {"cv": {1: 2}}, "keys are not all text"),
    (SEARCH, {"cv": np.array([None])}, "objects other than text"),
    (SEARCH, {"cv": np.zeros((1,) * 5)}, "not portable"),
    (SEARCH, {"cv": np.complex64(1)}, "not portable"),
    (SEARCH, {"cv": [OPFClassifier()]}, "missing"),
    (SEARCH, {"cv": [KFold()] * 30_000}, "consists of 30... objects"),
    (OPFSemiSupervisedClassifier(), {"unlabeled": "x" * 2**25}, "bytes of text"),
    (OPFPruner(OPFClassifier(metric=maximum)), {}, rf"^estimator_\.metric=.*{ADVICE}"),
    (OPFPruner(Derived()), {}, f"^estimator_=.*{ADVICE}"),
    (OPFPruner(), {"estimator": OPFKNNClassifier()}, "estimator="),
    (OPFPruner(), {"estimator": "plain"}, "estimator="),
    (OPFPruner(), {"estimator": OPFClassifier(n_jobs=0)}, "n_jobs"),
    (Derived(), {}, f"^Derived=.*{ADVICE}"),
    (type("OPFClassifier", (Derived,), {})(), {}, f"^OPFClassifier=.*{ADVICE}"),
    (OPFClassifier(), {"algorithm": "fast"}, "algorithm"),
    (OPFClassifier(), {"n_jobs": 0}, "n_jobs"),
    (OPFClassifier(), {"metric": "unknown"}, "metric"),
    (make_pipeline(PowerTransformer(), OPFClassifier()), {}, rf"PowerTransformer\(\).*{ADVICE}"),
    (make_pipeline(SimpleImputer(), OPFClassifier()), {}, rf"SimpleImputer\(\).*{ADVICE}"),
    (make_pipeline(StandardScaler(), SVC()), {}, rf"SVC\(\).*{ADVICE}"),
    (make_pipeline(StandardScaler(), OPFClassifier()), {"memory": "cache"}, "no place for its memory"),
    (SVC(), {}, rf"SVC\(\).*{ADVICE}"),
    (GridSearchCV(OPFClassifier(), {"n_conquerors": [1]}, cv=2), {}, r"save its \.best_estimator_, or use"),
]


@pytest.mark.parametrize(("model", "params", "reason"), REFUSED, ids=[reason for _, _, reason in REFUSED])
def test_what_cannot_be_stored_is_refused_before_a_file_is_touched(model, params, reason, tmp_path):
    (tmp_path / "model.opf").write_bytes(b"older")
    model = fit(model).set_params(**params)
    with pytest.raises((TypeError, ValueError), match=reason):
        pathforest.save(model, tmp_path / "model.opf")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("model.opf", b"older")]


def test_an_attribute_that_no_table_has_is_refused():
    model = fit(OPFClassifier())
    model.later_ = 3
    with pytest.raises(ValueError, match="no place for its later_"):
        stored(model)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
def test_labels_that_are_not_portable_are_refused():
    X, y, _ = problem(OPFClassifier())
    with pytest.raises(ValueError, match=r"classes_=.*longdouble|float128.*not portable"):
        stored(OPFClassifier().fit(X, y.astype(np.longdouble)))


def test_a_function_that_is_no_longer_needed_can_be_replaced(tmp_path):
    model = fit(FuzzyOPFClassifier(membership=ones)).set_params(membership="density")
    Q = problem(model)[2]
    assert_same(answer(trip(model, tmp_path), Q), answer(model, Q))


def test_a_template_comes_back_as_it_is_now_and_unfitted(tmp_path):
    X, y, Q = problem(TREE)
    model = OPFPruner(clone(TREE).fit(X, y)).fit(X, y)
    model.estimator.set_params(sigma=0.7)
    loaded = trip(model, tmp_path)
    assert (loaded.estimator.sigma, loaded.estimator_.sigma) == (0.7, 0.2)
    assert not hasattr(loaded.estimator, "cost_")
    assert_same(answer(loaded, Q), answer(model, Q))


@one_of_each
def test_an_unfitted_estimator_is_refused(model, tmp_path):
    with pytest.raises(NotFittedError):
        clone(model).save(tmp_path / "model.opf")


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace", f"{load.__module__}.write_array"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
def test_a_failure_leaves_the_old_file_and_nothing_else(failing, error, tmp_path, monkeypatch):
    def fail(*args):
        raise error

    model = fit(OPFClassifier())
    (tmp_path / "model.opf").write_bytes(b"older")
    monkeypatch.setattr(failing, fail)
    with pytest.raises(type(error)):
        model.save(tmp_path / "model.opf")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("model.opf", b"older")]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_permissions_and_symbolic_links_stay_when_a_longer_file_is_replaced(tmp_path):
    model = fit(OPFClassifier())
    (tmp_path / "ordinary").touch()
    fit(ONE_OF_EACH[-1]).save(tmp_path / "secret.opf")
    (tmp_path / "secret.opf").chmod(0o600)
    (tmp_path / "link.opf").symlink_to(tmp_path / "secret.opf")
    for file in ("new.opf", "link.opf"):
        model.save(tmp_path / file)
    assert (tmp_path / "link.opf").is_symlink()
    assert type(pathforest.load(tmp_path / "secret.opf")) is OPFClassifier
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes.keys() == {"ordinary", "secret.opf", "link.opf", "new.opf"}
    assert (modes["new.opf"], modes["secret.opf"]) == (modes["ordinary"], 0o600)


def test_file_system_errors_stay_what_they_are(tmp_path):
    model = fit(OPFClassifier())
    with pytest.raises(FileNotFoundError):
        pathforest.load(tmp_path / "none.opf")
    with pytest.raises(OSError, match=r"folder|directory"):
        pathforest.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "model.opf")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


GOLDEN = [
    (file.name.split("_")[0], name)
    for file in sorted(FILES.glob("*_answers.json"))
    for name in json.loads(file.read_text())
]


def test_there_are_files_of_every_format_and_every_estimator():
    assert {version for version, _ in GOLDEN} == {f"v{i + 1}" for i in range(FILE_FORMAT)}
    kinds = {type(pathforest.load(FILES / f"{version}_{name}.opf")).__name__ for version, name in GOLDEN}
    assert kinds == {*KINDS}


@pytest.mark.parametrize(("version", "name"), GOLDEN)
def test_a_file_from_another_machine_answers_as_it_did_there(version, name):
    model = pathforest.load(FILES / f"{version}_{name}.opf")
    expected = json.loads((FILES / f"{version}_answers.json").read_text())[name]
    found = answers(model, samples()[2])
    assert found.keys() == expected.keys()
    for method, value in expected.items():
        if method in ("predict", "paths"):
            assert found[method] == value, method
        else:  # linear algebra rounds differently elsewhere
            np.testing.assert_allclose(found[method], value, rtol=1e-6, err_msg=method)


def test_a_parameter_that_a_file_lacks_has_its_default(tmp_path):
    head, arrays = take_apart(stored(fit(OPFClassifier(beta=2))))
    del head["objects"][-1]["state"]["beta"]
    (tmp_path / "model.opf").write_bytes(forge(head, arrays))
    assert pathforest.load(tmp_path / "model.opf").beta == 8.0


@pytest.mark.parametrize("model", [*ONE_OF_EACH, KERNEL], ids=repr)
def test_joblib_and_skops_keep_models_and_skops_has_to_trust_our_own_classes_only(model, tmp_path):
    model, Q = fit(model), problem(model)[2]
    expected = answer(model, Q)  # fills the cache, which holds compiled objects
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("pathforest.") and "._core" not in name for name in unknown)
    assert_same(answer(skops.io.loads(data, trusted=unknown), Q), expected)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(answer(joblib.load(tmp_path / "model.joblib"), Q), expected)
