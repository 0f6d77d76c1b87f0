"""Models and pipelines in files: what is saved comes back the same, anything else is refused."""

import json
import os
import stat
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from checks import answers, same
from data.models import make_models
from model_files import forge, stored, take_apart
from pipelines import PIPELINES
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from zoo import ZOO, every, fitted, make, names, samples

import pathforest
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFPruner,
    OPFSemiSupervisedClassifier,
)
from pathforest._persistence.checks import MODELS as KINDS
from pathforest._persistence.file import FILE_FORMAT

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

FILES = Path(__file__).parents[1] / "data" / "models"
SMALL = {"k_max": 5, "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "transforms": None, "cv": 2}
ONE = {"k_max": 5, "sigmas": 0.5, "n_conquerors": 3, "cv": 2, "n_best": 5}
MATRIX = {"metric": "precomputed"}
PARAMETERS = [  # that the zoo does not have
    OPFClassifier(n_conquerors=3, beta=2, n_jobs=2, verbose=True),
    OPFClassifier(metric="mahalanobis"),
    OPFClassifier(metric="minkowski", metric_params={"p": 2, "w": np.arange(1, 5)}),
    OPFClustering(**MATRIX),
    OPFKNNClassifier(**MATRIX, n_neighbors=3),
    OPFSemiSupervisedClassifier(**MATRIX, n_neighbors=3, n_conquerors=2),
    OPFPruner(OPFClassifier(metric="seuclidean", metric_params={"V": [0.5, 0.25, 2.0, 1.0]}), random_state=3),
    FuzzyOPFClassifierCV(**SMALL, metric="minkowski", metric_params={"p": np.float32(1.5)}),
    FuzzyOPFClassifierCV(**ONE, random_state=3, class_weight={0: 1.0, 1: 2.5, 2: 9}),
    FuzzyOPFClassifierCV(
        **ONE, transforms=[None, ("scaled", StandardScaler(with_mean=False)), make_pipeline(MinMaxScaler())]
    ),
    FuzzyOPFClassifierCV(**SMALL, **MATRIX, refit=False),
    FuzzyOPFClassifierCV(**SMALL | {"cv": StratifiedKFold(3), "n_best": 1, "scoring": "f1_macro"}),
    FuzzyOPFClassifierCV(**SMALL | {"cv": KFold(3, shuffle=True, random_state=1)}),
    FuzzyOPFClassifierCV(
        **SMALL | {"cv": [(np.arange(0, 50), np.arange(50, 75))], "sigmas": np.linspace(0.2, 1, 3)}
    ),
]
MODELS = {name: (ZOO[name].model, None) for name in names("saves")}
MODELS |= {f"{i} {model!r:.60}": (model, None) for i, model in enumerate(PARAMETERS)} | PIPELINES
MODELS["sparse"] = OPFClassifier(), (csr_array(samples()[0]), samples()[1])


def problem(model, dtype="float64"):
    """Training samples, labels and queries of an estimator."""
    return samples("plain matrix" if get_tags(model).input_tags.pairwise else "plain", dtype)


def fit(model, dtype="float64"):
    """A fitted copy."""
    return clone(model).fit(*problem(model, dtype)[:2])


def trip(model, folder):
    """A model from its file."""
    (folder / "model.opf").write_bytes(stored(model))
    return pathforest.load(folder / "model.opf")


def same_file(loaded, model, Q):
    """Equal to the last bit, in all that is kept and answered; only the cache and growth are left out."""
    same(loaded, model, left_out=("_fit_cache", "_fit_grown", "_fit_svd_solver"), memory=True)
    same(answers(loaded, Q, ["explain"]), answers(model, Q, ["explain"]))
    assert stored(loaded) == stored(model)


FLOAT32 = [(name, "float32") for name in names("saves", "one")]


@pytest.mark.parametrize(("name", "dtype"), [*((name, "float64") for name in MODELS), *FLOAT32])
def test_everything_comes_back_and_saving_changes_nothing(name, dtype, tmp_path):
    model, table = MODELS[name]
    X, y, Q = (*table, table[0][1::2]) if table else problem(model, dtype)
    if name == "tables":  # new texts and gaps
        Q = X[:6].assign(port="X", age=np.nan)
    model = clone(model).fit(X, y)
    before = [id(value) for value in vars(model).values()]
    loaded = trip(model, tmp_path)
    assert [id(value) for value in vars(model).values()] == before
    same_file(loaded, model, Q)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "", "snowman ☃"]),
        np.array(["b", "trailing zero\0", "\ud800"], dtype=object),
        np.array([True, False, True]),
        np.array([2**63, 1, 0], dtype=np.uint64),
        np.array([3, -2, 1], dtype=">i4"),
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
REFUSED = [  # an estimator, attributes that are set after fitting, and the reason
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
    (SEARCH, {"cv": {(1,): 2}}, "keys are not all text or numbers"),
    (SEARCH, {"cv": np.array([None])}, "objects other than text"),
    (SEARCH, {"cv": [KFold()] * 30_000}, "consists of 30... objects"),
    (OPFSemiSupervisedClassifier(), {"unlabeled": "x" * 2**25}, "bytes of text"),
    (OPFPruner(OPFClassifier(metric=maximum)), {}, rf"^estimator_\.metric=.*{ADVICE}"),
    (OPFPruner(Derived()), {}, f"^estimator_=.*{ADVICE}"),
    (OPFPruner(), {"estimator": OPFClassifier(n_jobs=0)}, "n_jobs"),
    (Derived(), {}, f"^Derived=.*{ADVICE}"),
    (type("OPFClassifier", (Derived,), {})(), {}, f"^OPFClassifier=.*{ADVICE}"),
    (make_pipeline(PowerTransformer(), OPFClassifier()), {}, rf"PowerTransformer\(\).*{ADVICE}"),
    (make_pipeline(StandardScaler(), SVC()), {}, rf"SVC\(\).*{ADVICE}"),
    (make_pipeline(StandardScaler(), OPFClassifier()), {"memory": "cache"}, "no place for its memory"),
    (GridSearchCV(OPFClassifier(), {"n_conquerors": [1]}, cv=2), {}, r"save its \.best_estimator_, or use"),
    (OPFClassifier(), {"later_": 3}, "no place for its later_"),
]


@pytest.mark.parametrize(("model", "changed", "reason"), REFUSED, ids=[reason for *_, reason in REFUSED])
def test_what_cannot_be_stored_is_refused_before_a_file_is_touched(model, changed, reason, tmp_path):
    (tmp_path / "model.opf").write_bytes(b"older")
    model = fit(model)
    vars(model).update(changed)
    with pytest.raises((TypeError, ValueError), match=reason):
        pathforest.save(model, tmp_path / "model.opf")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("model.opf", b"older")]


@every("one")
def test_an_unfitted_estimator_is_refused(name, tmp_path):
    with pytest.raises(NotFittedError):
        make(name).save(tmp_path / "model.opf")


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace", "numpy.lib.format.write_array"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
def test_a_failure_leaves_the_old_file_and_nothing_else(failing, error, tmp_path, monkeypatch):
    def fail(*args, **options):
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
    fitted("search").save(tmp_path / "secret.opf")
    (tmp_path / "secret.opf").chmod(0o600)
    (tmp_path / "link.opf").symlink_to(tmp_path / "secret.opf")
    for file in ("new.opf", "link.opf"):
        model.save(tmp_path / file)
    assert (tmp_path / "link.opf").is_symlink()
    assert type(pathforest.load(tmp_path / "secret.opf")) is OPFClassifier
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes.keys() == {"ordinary", "secret.opf", "link.opf", "new.opf"}
    assert (modes["new.opf"], modes["secret.opf"]) == (modes["ordinary"], 0o600)


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
    found = make_models.answers(model, make_models.samples()[2])
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


@every("one")
def test_skops_keeps_models_and_has_to_trust_our_own_classes_only(name):
    model, Q = fitted(name), samples(name)[2]
    expected = answers(model, Q)  # fills the cache, which holds compiled objects
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("pathforest.") and "._core" not in name for name in unknown)
    same(answers(skops.io.loads(data, trusted=unknown), Q), expected)
