"""Models in files: what is saved comes back, what cannot be saved is refused, old files stay readable."""

import json
import os
import stat
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from data.models.make_models import answers, samples
from model_files import FIRST_LINE, forge, take_apart
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer, pairwise_distances
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
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
from pathforest._search.representations import KernelDiscriminant, RidgeDiscriminant

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

MODELS = Path(__file__).parents[1] / "data" / "models"
SMALL = {"k_max": 5, "sigmas": (0.5, 1.0), "n_conquerors": (1, 3), "cv": 2}
ONE = {"k_max": 5, "sigmas": 0.5, "n_conquerors": 3, "cv": 2, "n_best": 5}
V = {"V": [0.5, 0.25, 2.0, 1.0]}
ESTIMATORS = {
    "plain": OPFClassifier(),
    "plain conquerors": OPFClassifier(n_conquerors=3, beta=2, n_jobs=2, verbose=True),
    "plain minkowski": OPFClassifier(metric="minkowski", metric_params={"p": 3}),
    "plain p of numpy": OPFClassifier(metric="minkowski", metric_params={"p": np.float32(1.5)}),
    "plain chi2": OPFClassifier(metric="chi2"),
    "plain cosine": OPFClassifier(metric="cosine", algorithm="brute"),
    "plain alias": OPFClassifier(metric="l1"),
    "plain seuclidean": OPFClassifier(metric="seuclidean"),
    "plain seuclidean given": OPFClassifier(metric="seuclidean", metric_params=V),
    "plain mahalanobis": OPFClassifier(metric="mahalanobis"),
    "plain weights": OPFClassifier(metric="minkowski", metric_params={"p": 2, "w": np.arange(1, 5)}),
    "plain precomputed": OPFClassifier(metric="precomputed"),
    "fuzzy": FuzzyOPFClassifier(),
    "fuzzy tree": FuzzyOPFClassifier(competition="tree", sigma=0.2, n_conquerors=2),
    "fuzzy sigma of numpy": FuzzyOPFClassifier(sigma=np.float64(0.7), k_max=np.int64(7)),
    "fuzzy neighbours": FuzzyOPFClassifier(n_neighbors=4, membership_side="source"),
    "fuzzy chi2": FuzzyOPFClassifier(metric="chi2", sigma=1.2),
    "fuzzy precomputed": FuzzyOPFClassifier(metric="precomputed"),
    "clustering": OPFClustering(),
    "clustering neighbours": OPFClustering(n_neighbors=3, metric="sqeuclidean"),
    "clustering minkowski": OPFClustering(metric="minkowski", metric_params={"p": 1.5}),
    "clustering chi2": OPFClustering(metric="chi2"),
    "clustering precomputed": OPFClustering(metric="precomputed"),
    "clustering domes": OPFClustering(k_max=2, min_area=5),
    "clustering with a tree": OPFClustering(n_neighbors=3, merge_by="height"),
    "nearest": OPFKNNClassifier(),
    "nearest cross-validated": OPFKNNClassifier(cv=3, k_max=6, metric="chi2"),
    "nearest precomputed": OPFKNNClassifier(metric="precomputed", n_neighbors=3),
    "semi-supervised": OPFSemiSupervisedClassifier(),
    "semi-supervised seeds": OPFSemiSupervisedClassifier(method="opfsemi", n_conquerors=2),
    "outliers": OPFOutlierDetector(),
    "outliers share": OPFOutlierDetector(contamination=0.1, n_neighbors=4, metric="log_sqeuclidean"),
    "outliers seuclidean": OPFOutlierDetector(metric="seuclidean"),
    "outliers precomputed": OPFOutlierDetector(metric="precomputed"),
    "pruner": OPFPruner(max_loss=0.02),
    "pruner of given": OPFPruner(OPFClassifier(metric="seuclidean", metric_params=V), random_state=3),
    "pruner of fuzzy": OPFPruner(FuzzyOPFClassifier(competition="tree", sigma=0.2, n_conquerors=2)),
    "pruner precomputed": OPFPruner(OPFClassifier(metric="precomputed"), max_iter=1),
    "search": FuzzyOPFClassifierCV(**SMALL),
    "search linear": FuzzyOPFClassifierCV(**ONE, transforms="linear"),
    "search kernel": FuzzyOPFClassifierCV(**ONE, transforms="kernel", random_state=3),
    "search given": FuzzyOPFClassifierCV(
        **ONE, transforms=[None, ("scaled", StandardScaler(with_mean=False)), make_pipeline(StandardScaler())]
    ),
    "search precomputed": FuzzyOPFClassifierCV(**SMALL, metric="precomputed"),
    "search chi2": FuzzyOPFClassifierCV(**SMALL, metric="chi2"),
    "search minkowski": FuzzyOPFClassifierCV(**SMALL, metric="minkowski", metric_params={"p": 3}),
    "search seuclidean": FuzzyOPFClassifierCV(**SMALL, metric="seuclidean"),
    "search without refit": FuzzyOPFClassifierCV(**SMALL, refit=False),
    "search with a scorer": FuzzyOPFClassifierCV(**SMALL, scoring="f1_macro", error_score="raise"),
    "search with a splitter": FuzzyOPFClassifierCV(**{**SMALL, "cv": StratifiedKFold(3)}),
    "search with one split": FuzzyOPFClassifierCV(
        **{**SMALL, "cv": [(np.arange(0, 50), np.arange(50, 75))], "sigmas": np.linspace(0.2, 1, 3)}
    ),
    "search of the best one": FuzzyOPFClassifierCV(**SMALL, n_best=1, tie_break="first"),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
one_of_each = pytest.mark.parametrize(
    "name",
    ["plain", "fuzzy", "clustering", "clustering domes", "nearest", "semi-supervised", "outliers", "pruner",
     "pruner of fuzzy", "search linear"],
)  # fmt: skip
METHODS = ("predict", "predict_proba", "class_costs", "explain", "score_samples")


def problem(name, dtype=np.float64):
    """Training samples, labels and queries of an estimator: 75 of iris, or distances between them."""
    X, y = load_iris(return_X_y=True)
    X, y, Q = X[::2].astype(dtype), y[::2], (X[1::4] + 0.03).astype(dtype)
    if get_tags(ESTIMATORS[name]).input_tags.pairwise:
        return pairwise_distances(X, X).astype(dtype), y, pairwise_distances(Q, X).astype(dtype)
    return X, y, Q


def fitted(name, dtype=np.float64):
    """A fitted model and queries for it."""
    X, y, Q = problem(name, dtype)
    return clone(ESTIMATORS[name]).fit(X, y), Q


def saved_and_loaded(model, folder):
    model.save(folder / "model.opf")
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
        state, wanted = ({k: v for k, v in vars(o).items() if k != "_fit_cache"} for o in (got, expected))
        assert_same(state, wanted, f"{where}.")
    else:
        assert got == expected or (got != got and expected != expected), where


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_attribute_comes_back(name, dtype, tmp_path):
    model, _ = fitted(name, dtype)
    assert_same(saved_and_loaded(model, tmp_path), model)


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_stay_the_same_bit_for_bit(name, dtype, tmp_path):
    model, Q = fitted(name, dtype)
    assert_same(answer(saved_and_loaded(model, tmp_path), Q), answer(model, Q))


@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("algorithm", ["tree", "brute"])
def test_a_loaded_model_answers_the_same_with_another_engine(name, dtype, algorithm, tmp_path):
    model, Q = fitted(name, dtype)
    loaded = saved_and_loaded(model, tmp_path)
    for part in [loaded, *getattr(loaded, "estimators_", []), getattr(loaded, "estimator_", None)]:
        classifier = part[-1] if isinstance(part, Pipeline) else part
        is_tree = getattr(classifier, "_fit_algorithm", None) in ("tree", "brute")
        if is_tree and not (algorithm == "tree" and classifier.metric in ("chi2", "cosine")):
            classifier.set_params(algorithm=algorithm)
            classifier._fit_algorithm = algorithm
    assert_same(answer(loaded, Q), answer(model, Q))


@every_estimator
def test_saving_again_gives_the_same_bytes(name, tmp_path):
    model, _ = fitted(name)
    saved_and_loaded(model, tmp_path).save(tmp_path / "again.opf")
    assert (tmp_path / "again.opf").read_bytes() == (tmp_path / "model.opf").read_bytes()


@one_of_each
def test_saving_changes_nothing(name, tmp_path):
    model, Q = fitted(name)
    model.predict(Q)
    before = dict(vars(model))
    model.save(tmp_path / "model.opf")
    assert [id(v) for v in vars(model).values()] == [id(v) for v in before.values()]


@one_of_each
def test_a_loaded_model_can_be_fitted_again(name, tmp_path):
    X, y, Q = problem(name)
    model = clone(ESTIMATORS[name]).fit(X, y)
    loaded = saved_and_loaded(model, tmp_path)
    assert_same(loaded.fit(X[::-1], y[::-1]).predict(Q), model.fit(X[::-1], y[::-1]).predict(Q))


def test_parts_that_models_share_stay_shared(tmp_path):
    model = saved_and_loaded(fitted("search linear")[0], tmp_path)
    assert model.best_estimator_ is model.estimators_[0]
    assert model.cost_ is model.best_estimator_[-1].cost_


LABELS = {
    "text": np.array(["b", "", "snowman ☃"]),
    "objects": np.array(["b", "trailing zero\0", "\ud800"], dtype=object),
    "booleans": np.array([True, False, True]),
    "int8": np.array([3, -2, 1], dtype=np.int8),
    "uint64": np.array([2**63, 1, 0], dtype=np.uint64),
    "big-endian": np.array([3, -2, 1], dtype=">i4"),
    "floats": np.array([3.0, -2.0, 1.0]),
    "dates": np.array(["2020-01-01", "1960-05-05", "2031-12-31"], dtype="datetime64[D]"),
    "durations": np.array([5, -1, 0], dtype="timedelta64[10ms]"),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["plain", "search"])
@pytest.mark.filterwarnings("ignore:.*is deprecated.*:DeprecationWarning")
def test_labels_of_any_storable_type_come_back(name, kind, tmp_path):
    X, y, Q = problem(name)
    model = clone(ESTIMATORS[name]).fit(X, LABELS[kind][y])
    loaded = saved_and_loaded(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(Q), model.predict(Q))
    assert loaded.classes_.dtype == model.classes_.dtype.newbyteorder("=")
    assert [type(c) for c in loaded.classes_] == [type(c) for c in model.classes_]


@one_of_each
@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 2), slice(0, 25)], ids=["one", "two", "one class"])
def test_tiny_models_come_back(name, rows, tmp_path):
    X, y, Q = problem(name)
    if name == "search linear" and rows.stop == 1:
        pytest.skip("a search needs two samples")
    model = clone(ESTIMATORS[name])
    if name == "search linear":
        model.set_params(cv=[(np.array([0]), np.array([1]))])
    model.fit(X[rows], y[rows])
    assert_same(answer(saved_and_loaded(model, tmp_path), Q), answer(model, Q))


@one_of_each
def test_feature_names_come_back(name, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, Q = problem(name)
    X, Q = (pandas.DataFrame(M, columns=["a", "b", "c", "☃"]) for M in (X, Q))
    loaded = saved_and_loaded(clone(ESTIMATORS[name]).fit(X, y), tmp_path)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "☃"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(Q[["b", "a", "c", "☃"]])


def test_a_transformer_of_another_library_is_refused_by_name(tmp_path):
    X, y, _ = problem("search")
    model = FuzzyOPFClassifierCV(**ONE, transforms=[None, ("mine", PCA(2))]).fit(X, y)
    with pytest.raises(ValueError, match=r"transforms\[1\]\[1\]=PCA.*joblib.*skops"):
        model.save(tmp_path / "model.opf")


def maximum(a, b):
    return np.abs(a - b).max()


def ones(X, y):
    return np.ones(len(X))


class Derived(OPFClassifier):
    """A user's own estimator."""


REFUSED = {
    "metric": OPFClassifier(metric=maximum),
    "membership": FuzzyOPFClassifier(membership=ones),
    "scoring": FuzzyOPFClassifierCV(**SMALL, scoring=make_scorer(accuracy_score)),
    "cv": FuzzyOPFClassifierCV(**{**SMALL, "cv": ShuffleSplit(2, random_state=0)}),
    "random_state": FuzzyOPFClassifierCV(**SMALL, random_state=np.random.RandomState(0)),
    "estimator_.metric": OPFPruner(OPFClassifier(metric=maximum)),
    "estimator_": OPFPruner(Derived()),
    "Derived": Derived(),
    "OPFClassifier": type("OPFClassifier", (Derived,), {})(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_stored_is_refused_by_name_before_a_file_is_touched(name, tmp_path):
    X, y, _ = problem("plain")
    (tmp_path / "model.opf").write_bytes(b"older")
    with pytest.raises(ValueError, match=rf"^{name}=.*cannot be saved.*joblib.*skops"):
        clone(REFUSED[name]).fit(X, y).save(tmp_path / "model.opf")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("model.opf", b"older")]


def test_a_callable_metric_is_refused_whatever_the_parameter_says_now(tmp_path):
    X, y, _ = problem("plain")
    model = OPFClassifier(metric=maximum).fit(X, y).set_params(metric="euclidean")
    with pytest.raises(ValueError, match=r"metric\[0\]=<function maximum"):
        model.save(tmp_path / "model.opf")


def test_a_membership_that_has_done_its_work_can_be_put_aside(tmp_path):
    X, y, Q = problem("fuzzy")
    model = FuzzyOPFClassifier(membership=ones).fit(X, y).set_params(membership="density")
    assert_same(answer(saved_and_loaded(model, tmp_path), Q), answer(model, Q))


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
def test_labels_that_are_not_portable_are_refused(tmp_path):
    X, y, _ = problem("plain")
    with pytest.raises(ValueError, match=r"classes_=.*longdouble|float128.*not portable"):
        OPFClassifier().fit(X, y.astype(np.longdouble)).save(tmp_path / "model.opf")


def test_a_pipeline_with_a_cache_is_refused(tmp_path):
    X, y, _ = problem("search")
    cached = Pipeline([("scale", StandardScaler())], memory=str(tmp_path / "cache"))
    model = FuzzyOPFClassifierCV(**ONE, transforms=[cached]).fit(X, y)
    with pytest.raises(ValueError, match=r"transforms\[0\]=.*no place for its memory"):
        model.save(tmp_path / "model.opf")


def test_a_transformer_set_to_give_frames_is_refused(tmp_path):
    pytest.importorskip("pandas")
    X, y, _ = problem("search")
    scaler = StandardScaler().set_output(transform="pandas")
    model = FuzzyOPFClassifierCV(**ONE, transforms=[scaler]).fit(X, y)
    with pytest.raises(ValueError, match="_sklearn_output_config"):
        model.save(tmp_path / "model.opf")


@pytest.mark.parametrize("params", [{"algorithm": "fast"}, {"n_jobs": 0}, {"metric": "unknown"}])
def test_a_parameter_broken_since_fit_is_refused(params, tmp_path):
    model, _ = fitted("plain")
    with pytest.raises(ValueError, match=next(iter(params))):
        model.set_params(**params).save(tmp_path / "model.opf")
    assert not list(tmp_path.iterdir())


@one_of_each
def test_an_unfitted_estimator_is_refused(name, tmp_path):
    with pytest.raises(NotFittedError):
        clone(ESTIMATORS[name]).save(tmp_path / "model.opf")


def test_a_list_that_holds_itself_is_refused(tmp_path):
    model, _ = fitted("search")
    model.cv = [1]
    model.cv.append(model.cv)
    with pytest.raises(ValueError, match="nested too deeply"):
        model.save(tmp_path / "model.opf")


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace", "pathforest.persistence._write"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(failing, error, tmp_path, monkeypatch):
    def fail(*args):
        raise error

    model, _ = fitted("plain")
    (tmp_path / "model.opf").write_bytes(b"older")
    monkeypatch.setattr(failing, fail)
    with pytest.raises(type(error)):
        model.save(tmp_path / "model.opf")
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("model.opf", b"older")]


def test_a_model_replaces_an_older_file(tmp_path):
    fitted("search")[0].save(tmp_path / "model.opf")
    assert type(saved_and_loaded(fitted("plain")[0], tmp_path)) is OPFClassifier
    assert [file.name for file in tmp_path.iterdir()] == ["model.opf"]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_new_file_has_ordinary_permissions_and_an_old_one_keeps_its_own(tmp_path):
    model, _ = fitted("plain")
    (tmp_path / "ordinary").touch()
    (tmp_path / "secret.opf").touch(mode=0o600)
    for file in ("new.opf", "secret.opf"):
        model.save(tmp_path / file)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert (modes["new.opf"], modes["secret.opf"]) == (modes["ordinary"], 0o600)


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_symbolic_link_keeps_pointing_to_the_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.opf").symlink_to(tmp_path / "folder" / "model.opf")
    fitted("plain")[0].save(tmp_path / "link.opf")
    assert (tmp_path / "link.opf").is_symlink()
    assert pathforest.load(tmp_path / "folder" / "model.opf").classes_.tolist() == [0, 1, 2]


def test_file_system_errors_stay_what_they_are(tmp_path):
    model, _ = fitted("plain")
    with pytest.raises(FileNotFoundError):
        pathforest.load(tmp_path / "none.opf")
    with pytest.raises(OSError, match=r"folder|directory"):
        pathforest.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "model.opf")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_paths_may_be_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted("plain")[0].save("model.opf")
    assert type(pathforest.load("model.opf")) is OPFClassifier


def test_a_template_changed_since_fit_comes_back_as_it_is_now(tmp_path):
    model, Q = fitted("pruner of fuzzy")
    model.estimator.set_params(sigma=0.7)
    loaded = saved_and_loaded(model, tmp_path)
    assert (loaded.estimator.sigma, loaded.estimator_.sigma) == (0.7, 0.2)
    assert_same(answer(loaded, Q), answer(model, Q))


def test_a_template_that_was_fitted_comes_back_unfitted(tmp_path):
    X, y, Q = problem("pruner")
    model = OPFPruner(OPFClassifier(n_conquerors=2).fit(X, y)).fit(X, y)
    loaded = saved_and_loaded(model, tmp_path)
    assert not hasattr(loaded.estimator, "cost_")
    assert_same(answer(loaded, Q), answer(model, Q))


@pytest.mark.parametrize("template", [OPFKNNClassifier(), OPFPruner(), "plain", OPFClassifier(n_jobs=0)])
def test_a_template_broken_since_fit_is_refused(template, tmp_path):
    model, _ = fitted("pruner")
    with pytest.raises((TypeError, ValueError), match=r"estimator=|n_jobs"):
        model.set_params(estimator=template).save(tmp_path / "model.opf")
    assert not list(tmp_path.iterdir())


GOLDEN = [
    (file.name.split("_")[0], name)
    for file in sorted(MODELS.glob("*_answers.json"))
    for name in json.loads(file.read_text())
]


def test_there_are_files_of_every_format():
    assert {version for version, _ in GOLDEN} == {
        f"v{i + 1}" for i in range(pathforest.persistence.FILE_FORMAT)
    }


def test_there_are_files_of_every_estimator():
    kinds = {type(pathforest.load(MODELS / f"{version}_{name}.opf")).__name__ for version, name in GOLDEN}
    assert kinds == set(pathforest.persistence.allowed.ESTIMATORS)


@pytest.mark.parametrize(("version", "name"), GOLDEN)
def test_a_file_of_an_older_format_still_answers_as_it_did(version, name):
    model = pathforest.load(MODELS / f"{version}_{name}.opf")
    expected = json.loads((MODELS / f"{version}_answers.json").read_text())[name]
    found = answers(model, samples()[2])
    assert found.keys() == expected.keys()
    for method, value in expected.items():
        if method in (
            "class_costs",
            "predict_proba",
            "score_samples",
        ):  # linear algebra rounds differently elsewhere
            np.testing.assert_allclose(found[method], value, rtol=1e-6, err_msg=method)
        else:
            assert found[method] == value, method


def test_a_file_of_a_later_format_asks_for_an_upgrade(tmp_path):
    fitted("plain")[0].save(tmp_path / "model.opf")
    header, payload = take_apart((tmp_path / "model.opf").read_bytes())
    (tmp_path / "model.opf").write_bytes(forge(header, payload, b"pathforest model 2\n"))
    with pytest.raises(ValueError, match=r"model\.opf.*format is 2.*upgrade pathforest"):
        pathforest.load(tmp_path / "model.opf")


def test_a_parameter_that_an_older_file_lacks_has_its_default(tmp_path):
    fitted("plain conquerors")[0].save(tmp_path / "model.opf")
    header, payload = take_apart((tmp_path / "model.opf").read_bytes())
    del header["objects"][-1]["state"]["beta"]
    (tmp_path / "model.opf").write_bytes(forge(header, payload))
    assert pathforest.load(tmp_path / "model.opf").beta == 8.0


def test_the_first_line_is_text(tmp_path):
    fitted("plain")[0].save(tmp_path / "model.opf")
    assert (tmp_path / "model.opf").read_bytes().startswith(FIRST_LINE + b'{"pathforest":"')


others_keep = pytest.mark.parametrize(
    "name",
    ["plain", "plain seuclidean", "fuzzy", "clustering", "outliers", "pruner of fuzzy", "search kernel"],
)
OURS = {f"pathforest.{module}" for module in ("classifier.OPFClassifier", "clustering.OPFClustering")}
OURS |= {"pathforest.outlier.OPFOutlierDetector", "pathforest.pruning.OPFPruner"}
OURS |= {f"pathforest.fuzzy{module}" for module in (".FuzzyOPFClassifier", "_cv.FuzzyOPFClassifierCV")}
OURS |= {
    f"pathforest._search.representations.{kind.__name__}" for kind in (RidgeDiscriminant, KernelDiscriminant)
}


@others_keep
def test_skops_has_to_trust_our_own_classes_only(name):
    model, Q = fitted(name)
    model.predict(Q)  # fills the cache, which holds compiled objects
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert set(unknown) <= OURS
    assert_same(answer(skops.io.loads(data, trusted=unknown), Q), answer(model, Q))


@others_keep
def test_joblib_keeps_models(name, tmp_path):
    model, Q = fitted(name)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(answer(joblib.load(tmp_path / "model.joblib"), Q), answer(model, Q))


def test_joblib_keeps_what_save_refuses(tmp_path):
    X, y, Q = problem("plain")
    model = OPFClassifier(metric=maximum).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(answer(joblib.load(tmp_path / "model.joblib"), Q), answer(model, Q))


def test_a_splitter_comes_back_with_its_settings(tmp_path):
    X, y, _ = problem("search")
    splitter = KFold(3, shuffle=True, random_state=1)
    model = FuzzyOPFClassifierCV(**{**SMALL, "cv": splitter}).fit(X, y)
    assert vars(saved_and_loaded(model, tmp_path).cv) == vars(splitter)
