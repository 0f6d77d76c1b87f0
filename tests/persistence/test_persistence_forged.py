"""Files that are damaged, foreign or forged: always a ValueError that names the file."""

import io
import itertools
import json
import os
import pickle
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from checks import answers
from data.models import make_models
from machines import little_memory
from model_files import HEAD, forge, lying, npy, pack, positions, replaced, sign, stored, take_apart
from pipelines import PIPELINES
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pathforest
from pathforest import OPFClassifier, OPFClustering

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")]

X, Y = (values[::5] for values in load_iris(return_X_y=True))
D = np.abs(X[:, None] - X).sum(axis=2)
CUBES = {"k_max": 5, "metric": "minkowski", "metric_params": {"p": 3}}
SEARCH = {"k_max": 3, "sigmas": 0.5, "n_conquerors": 2, "cv": 2, "scoring": "f1_macro"}
MODELS = {  # with their samples and labels
    "chain": (OPFClassifier(), np.array([[0.0], [1.0], [2.5], [9.0], [10.0], [12.0]]), np.arange(6) // 3),
    "plain": (OPFClassifier(), X, Y),
    "text": (OPFClassifier(n_conquerors=2), X, np.array(["a", "b", "c"], dtype=object)[Y]),
    "sparse": (OPFClassifier(), csr_array(X.round()), Y),
    "matrix": (OPFClassifier(metric="mahalanobis"), X, Y),
    "precomputed": (OPFClassifier(metric="precomputed"), D, Y),
    "fuzzy": (pathforest.FuzzyOPFClassifier(**CUBES), X, Y),
    "few labels": (pathforest.OPFSemiSupervisedClassifier(n_neighbors=4, unlabeled=2), X, Y),
    "clustering": (OPFClustering(selection="cut", k_max=5), X, Y),
    "domes": (OPFClustering(selection="cut", k_max=2, measure="area", threshold=3), X, Y),
    "noise": (OPFClustering(n_neighbors=3, n_clusters=3, noise=0.3), X, Y),
    "outliers": (pathforest.OPFOutlierDetector(k_max=5), X, Y),
    "pruner": (pathforest.OPFPruner(pathforest.FuzzyOPFClassifier(**CUBES)), X, Y),
    "pruner of distances": (pathforest.OPFPruner(OPFClassifier(metric="precomputed")), D, Y),
    "search": (pathforest.FuzzyOPFClassifierCV(**SEARCH, transforms=make_models.PARTS[1:2]), X, Y),
}
MODELS["narrow"] = make_pipeline(StandardScaler(), OPFClassifier()), np.array([[0.0], [1.0]]), np.arange(2)
MODELS |= {name: (model, *table) for name, (model, table) in PIPELINES.items()}
MOST = int(os.environ.get("FORGERIES", "15"))  # cases tried of each kind; 100000 tries them all
FUZZED = "text", "sparse", "matrix", "few labels", "domes", "outliers", "pruner", "search", "tables"


@cache
def saved(name):
    """The bytes of a model's file."""
    model, samples, labels = MODELS[name]
    return stored(clone(model).fit(samples, labels))


def load(data):
    """The model in a file of these bytes."""
    with TemporaryDirectory() as folder:
        Path(f"{folder}/model.opf").write_bytes(data)
        return pathforest.load(f"{folder}/model.opf")


def assert_refused(data, reason=""):
    """Bytes are refused: with the name of the file, and the reason if given."""
    with pytest.raises(ValueError, match=rf"(?s)model\.opf cannot be loaded.*({reason})") as caught:
        load(data)
    assert type(caught.value) is ValueError


def some(cases):
    """All cases, or a fixed choice of them if there are too many to try."""
    cases = list(cases)
    return [cases[i] for i in np.random.default_rng(0).permutation(len(cases))[:MOST]]


# Damage: the checksum has to detect it.


def test_a_cut_anywhere_and_any_tail_are_detected():
    data = saved("plain")
    for length in [*range(0, len(data), 31), *range(len(data) - 70, len(data))]:
        assert_refused(data[:length])
    for tail in (b"\0", b"\n", bytes(64), saved("fuzzy")):
        assert_refused(data + tail, "damaged")


def test_a_flipped_bit_anywhere_is_detected():
    data, bits = bytearray(saved("plain")), itertools.cycle([1, 128, 8, 32, 2, 64, 4])
    places = [*range(60), *range(60, len(data) - 100, 17), *range(len(data) - 100, len(data))]
    for place, bit in zip(places, bits, strict=False):
        data[place] ^= bit
        assert_refused(data, "not a pathforest model|damaged")
        data[place] ^= bit


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"pathforest", pickle.dumps(OPFClassifier()), bytes(1000), pack([("0.npy", npy(X))])],
    ids=["empty", "newline", "word", "pickle", "zeros", "npz"],
)
def test_foreign_files_are_not_models(data):
    assert_refused(data, r"not a pathforest model.*pathforest\.libopf\.read_model.*joblib")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
def test_a_device_without_end_is_refused():
    with little_memory(), pytest.raises(ValueError, match="not a pathforest model"):
        pathforest.load("/dev/zero")


# Forged files: the checksum is correct, so everything else has to be checked.


def test_archives_with_other_members_are_refused():
    head, arrays = take_apart(saved("plain"))
    first, *others = [(HEAD, json.dumps(head)), *((f"{i}.npy", npy(array)) for i, array in enumerate(arrays))]
    for wrong in ([*others, ("x", b"")], others[1:], others[::-1], [others[0], *others]):
        with warnings.catch_warnings(action="ignore"):  # of a duplicate name
            assert_refused(pack([first, *wrong]), "does not consist of")
    assert_refused(pack([first, *others[:-1]]), "no array or object")
    compressed = pack([first, *others, (f"{len(others)}.npy", bytes(2**27))], ZIP_DEFLATED)
    with little_memory():
        assert_refused(compressed, "compressed")


@pytest.mark.parametrize("size", [10**7, 2**40])
def test_a_member_that_announces_more_than_the_file_is_refused(size):
    lie = io.BytesIO(saved("plain"))
    with ZipFile(lie, "a") as archive:
        archive.getinfo("0.npy").file_size = size
        archive.comment = bytes(64)  # has the directory written again
    with little_memory():
        assert_refused(sign(lie.getvalue()), "announces more")
    assert_refused(forge(b" " * (2**25 + 1), []), "announces more")


JUNK = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 10**18, 10**400, 1.5, -0.5, 1e308, "", "x",
    "kd_tree", "precomputed", "minkowski", "<f8", "|O", "O", "<U4", "OPFClassifier", "os.system", "F", [],
    [[]], [0], [-1], [10**9, 10**9], {}, {"array": 0}, {"array": -1}, {"array": 10**6}, {"array": True},
    {"object": 0}, {"object": 10**6}, {"float": "nan"}, {"float": "x"}, {"tuple": []}, {"tuple": {"a": 1}},
    {"pairs": 1}, {"pairs": [[1]]}, {"pairs": [[[], 1]]}, {"pairs": [1]},
    {"dict": []}, {"dict": {"p": 3}}, {"scalar": ["<i8", 1]}, {"scalar": ["|i1", 10**6]},
    {"scalar": ["<U4", 1]}, {"texts": [[], 0]}, {"texts": [["a"], 0]},
    {"masked": [{"array": 0}, {"array": 1}]}, {"a": 1, "b": 2}, json.loads("[" * 300 + "]" * 300),
]  # fmt: skip


def forgeries(name):
    """Files with something else in the head, in an array or in the archive around them; and what that is."""
    head, arrays = take_apart(saved(name))
    missing = some((path, ...) for path in positions(head) if path)
    for case in some(itertools.product(positions(head), JUNK)) + missing:
        yield case, forge(replaced(head, *case), arrays)
    rng, sizes = np.random.default_rng(0), [array.size for array in arrays]
    for i in rng.choice(np.flatnonzero(sizes), size=MOST):
        forged, dtype = arrays[i].copy(order="C"), arrays[i].dtype
        junk = [bytes(dtype.itemsize), b"\xff" * dtype.itemsize, rng.bytes(dtype.itemsize)]
        if dtype.kind in "fi":
            values = {"f": (np.nan, np.inf, -1, -0.0, 1e308), "i": (-1, -2, 0, len(X) - 1, len(X))}
            junk += [dtype.type(value).tobytes() for value in values[dtype.kind]]
        start = dtype.itemsize * rng.integers(forged.size)
        place = forged.reshape(-1).view(np.uint8)[start : start + dtype.itemsize]
        place[:] = np.frombuffer(junk[rng.integers(len(junk))], np.uint8)
        yield (i, forged), forge(head, [*arrays[:i], forged, *arrays[i + 1 :]])
    data = saved(name)
    starts = [place for place in range(len(data)) if data[place : place + 2] in (b"PK", b"\x93N")]
    for start in rng.choice(starts, size=MOST):
        place = start + rng.integers(min(60, len(data) - start))
        yield place, sign(data[:place] + rng.bytes(1) + data[place + 1 :])


@pytest.mark.parametrize("name", FUZZED)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")  # are optional
@pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")  # another text is also a category
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_forgery_leads_to_anything_but_a_refusal_or_a_model_that_works(name):
    refused = []
    for case, data in forgeries(name):
        try:
            answers(load(data), MODELS[name][1], ["explain"])
        except ValueError:
            refused.append(True)
        except Exception as error:
            raise AssertionError(case) from error
        else:
            refused.append(False)
    assert sum(refused) > len(refused) / 2


NO_HEADS = [
    b"", b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000, b"9" * 100_000, b"1e99999",
    b'{"format":1,"texts":{},"objects":NaN}', b'"\\ud800"', b"\xff\xfe", "☃".encode(), b"null", b"{}",
    b"{" + b'"a":1,' * 1000 + b'"a":1}',
]  # fmt: skip


@pytest.mark.parametrize("text", NO_HEADS, ids=itertools.count())
def test_heads_that_are_not_heads_are_refused(text):
    assert_refused(forge(text, []), "contents are not a model|digits")


# Attributes of a model and wrong values for them; the reason names the attribute, or something else if given.
WRONG_ARRAYS = [
    ("chain", "predecessor_", "circles", [[1, 0, -1, -1, 3, 4], [0, 2, -1, -1, 3, 4]]),
    ("chain", "predecessor_", "", [[6, 2, -1, -1, 3, 4], [-2, 2, -1, -1, 3, 4], [2**62, 2, -1, -1, 3, 4]]),
    ("chain", "predecessor_", "", [[1.0, 2, -1, -1, 3, 4], [1, 2, -1, -1, 3], [-1, 2, -1, -1, 3, 4]]),
    ("chain", "root_", "", [[3, 2, 2, 3, 3, 3], [6, 2, 2, 3, 3, 3]]),
    ("chain", "order_", "", [[2, 2, 4, 0, 1, 5], [2, 3, 4, 0, 1, 6], [2, 3, 4, 0, 1, -1]]),
    ("chain", "order_", "", [[5, 3, 4, 0, 1, 2], [[2, 3, 4, 0, 1, 5]]]),
    ("chain", "cost_", "", [[np.nan, 1.5, 0, 0, 1, 2], [1.5, 1.5, 0, 0, 1, np.inf], [-1.5, 1.5, 0, 0, 1, 2]]),
    ("chain", "cost_", "", [[1.5, 1.5, 0.5, 0, 1, 2], np.float32([1.5, 1.5, 0, 0, 1, 2]), np.arange(7.0)]),
    ("chain", "prototypes_", "", [[2, 6], [3, 2]]),
    ("chain", "prototypes_", "predecessor_", [np.array([], dtype=int)]),
    ("chain", "_fit_codes", "", [[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, -1]]),
    ("chain", "_fit_codes", "label_", [[1, 0, 0, 1, 1, 1]]),
    ("chain", "label_", "", [["0", "0", "0", "1", "1", "1"], [1, 0, 0, 1, 1, 1]]),
    ("chain", "classes_", "", [[1, 0], [0, 0], [0, np.nan], np.array([], dtype=int), [[0, 1]]]),
    ("chain", "_fit_X", "", [np.full((6, 1), np.nan), np.zeros((6, 2)), np.zeros((6, 1), dtype=int)]),
    ("chain", "_fit_X", "overflow", [[[0.0], [1.0], [2.5], [1e308], [-1e308], [12.0]]]),
    ("chain", "_fit_X", "prototypes_|predecessor_", [np.zeros((5, 1))]),
    ("chain", "_fit_X", "samples", [np.zeros((0, 1))]),
    ("clustering", "labels_", "", [np.full(30, 99), np.zeros(30, dtype=int)]),
    ("clustering", "cluster_roots_", "", [[30], [-1]]),
    ("clustering", "density_", "", [np.full(30, np.nan), np.full(30, -1.0), np.ones(29)]),
    ("clustering", "predecessor_", "", [np.roll(np.arange(30), 1)]),
    ("noise", "labels_", "", [np.full(30, -2), np.full(30, -1)]),
    ("noise", "root_", "", [np.full(30, 0), np.arange(30)]),
    ("domes", "_fit_tree_child", "maximum", [np.full(11, 99), np.full(11, -1)]),
    ("domes", "_fit_tree_child", "cluster_tree_", [np.zeros(1, dtype=int), np.zeros(11)]),
    ("outliers", "density_", "", [np.zeros(30), np.ones(31)]),
    ("outliers", "cuts_", "", [np.ones((2, 2))]),
    ("pruner", "sample_indices_", "", [[0]]),
    ("pruner", "classes_", "", [[0, 1, 3], [0.0, 1.0, 2.0]]),
    ("fuzzy", "membership_", "", [np.full(30, np.inf), np.ones(31)]),
    ("fuzzy", "density_", "", [np.ones((30, 1))]),
]


def metric(name, kind, p=2.0, **params):
    return {"tuple": [name, kind, p, {"dict": params}]}


def template(name, **params):
    return {"tuple": [name, {"dict": params}]}


WRONG_VALUES = [
    ("plain", "n_features_in_", "_fit_X", [3]),
    ("plain", "n_features_in_", "", [True]),
    ("plain", "_fit_algorithm", "algorithm", ["precomputed", "magic"]),
    ("plain", "_fit_metric", "euclidean", [metric("euclidean", kind) for kind in ("matrix", "precomputed")]),
    ("plain", "_fit_metric", "euclidean", [metric("euclidean", "features", w=1)]),
    ("plain", "_fit_metric", "l2", [metric("l2", "features")]),
    ("plain", "_fit_metric", "evil", [metric("evil", "features")]),
    ("plain", "_fit_metric", "p must", [metric("minkowski", "features", p) for p in (0.5, {"float": "nan"})]),
    ("plain", "_fit_metric", "metric", ["euclidean"]),
    ("plain", "_fit_X", "", [None]),
    ("plain", "_fit_cache", "no attribute", [{"dict": {"rank": 1}}]),
    ("plain", "predict", "no attribute", [1]),
    ("plain", "__class__", "no attribute", [1]),
    ("plain", "feature_names_in_", "", [["a", "b", "c", "d"]]),
    ("plain", "n_jobs", "", [0]),
    ("plain", "metric", "", [{"array": 0}]),
    ("precomputed", "_fit_X", "keeps no samples", [{"array": 0}]),
    ("precomputed", "n_features_in_", "prototypes_|predecessor_", [10**9]),
    ("matrix", "_fit_metric", "VI", [metric("mahalanobis", "matrix", VI=VI) for VI in ([[1.0]], "x")]),
    ("matrix", "_fit_metric", "V of shape", [metric("seuclidean", "matrix", V=[1.0] * 3)]),
    ("matrix", "_fit_metric", "haversine", [metric("haversine", "matrix")]),
    ("matrix", "_fit_metric", "w of shape", [metric("hamming", "matrix", w=[1.0])]),
    ("few labels", "_fit_n_neighbors", "", [31, 0, 4.0, True]),
    ("few labels", "class_factors_", "", [None, 1.0]),
    ("few labels", "transduction_", "", [None]),
    ("clustering", "best_k_", "", [30, 0, -1]),
    ("clustering", "_fit_largest_arc", "", [{"float": "nan"}, -1.0]),
    ("outliers", "offset_", "", [{"float": "nan"}, None]),
    ("domes", "_fit_tree_child", "cluster_tree_", [None]),
    ("pruner", "n_features_in_", "features", [5]),
    ("pruner", "estimator_", "", [None]),
    ("pruner", "estimator", "", ["evil"]),
    ("pruner", "_fit_template", "estimator", ["x", template("OPFPruner"), template("OPFClassifier", evil=1)]),
    ("pruner", "_fit_template", "n_jobs", [template("OPFClassifier", n_jobs=0)]),
    ("pruner of distances", "n_features_in_", "sample_indices_", [3]),
    ("search", "estimators_", "", [[], [{"object": 0}]]),
    ("search", "best_index_", "", [99, -1]),
    ("search", "scoring", "scoring|evil", ["evil"]),
    ("search", "transforms", "", ["evil"]),
    ("search", "_fit_untouched", "", [1]),
    ("search", "n_features_in_", "features|mean_", [5]),
]
WRONG = [
    (name, {attribute: np.asarray(value) if table is WRONG_ARRAYS else value}, reason or attribute)
    for table in (WRONG_ARRAYS, WRONG_VALUES)
    for name, attribute, reason, values in table
    for value in values
]


CIRCLE = {"predecessor_": np.array([1, 0, -1, -1, 3, 4]), "root_": np.array([0, 1, 2, 3, 3, 3])}


@pytest.mark.parametrize(("name", "changed", "reason"), [*WRONG, ("chain", CIRCLE, "circles")], ids=str)
def test_attributes_that_do_not_fit_are_refused(name, changed, reason):
    assert_refused(forge(*take_apart(saved(name)), **changed), reason)


def test_sparse_samples_and_what_growing_needs_have_to_fit(tmp_path):
    sparse, grown = OPFClassifier().fit(csr_array(X.round()), Y), pathforest.FuzzyOPFClassifier(k_max=2)
    grown.partial_fit([[1.0], [2.1], [0.0], [3.3]], [0, 0, 1, 1])
    for model, parts, name, change in (
        *((sparse, vars(sparse._fit_X), name, np.zeros_like) for name in ("data", "indices")),
        *((grown, grown._fit_grown, name, np.flip) for name in ("distances", "weight", "values")),
        (grown, grown._fit_grown, "target", lambda a: np.where(a == 3, 2, a)),  # a circle, and a part
        (grown, grown._fit_grown, "codes", lambda a: a + 9),
    ):
        with patch.dict(parts, {name: change(parts[name])}), pytest.raises(ValueError):  # noqa: PT011
            pathforest.save(model, tmp_path / "model.pf", growable=model is grown)


def wrong_heads():
    """A model, what is wrong in the head of its file, and the reason."""
    for number in (0, -1, 1.0, "1", True, None, [1], 2):
        reason = "format is 2.*upgrade pathforest" if number == 2 else "no format"
        yield "plain", {"format": number}, reason
    for kind in ("os.system", "BaseEstimator", "", None, 3, ["OPFClassifier"], {"a": 1}):
        for objects in ([], [{"class": "KFold", "state": {}}], [{"class": kind, "state": {}}]):
            yield "plain", {"objects": objects}, "not a model"
        for outer in (kind, "OPFClustering", "FuzzyOPFClassifierCV"):
            objects = [{"class": outer, "state": {}}, {"class": "OPFClassifier", "state": {}}]
            yield "plain", {"objects": objects}, "part of a model|not a model"
    number = next(iter(take_apart(saved("text"))[0]["texts"]))
    for texts in (["a", "b"], ["a", "b", 3], "abc", None, {"a": 1}):
        yield "text", {"texts": {number: texts}}, "array of text"
    for number in ("0", "-1", "99", "x"):
        yield "plain", {"texts": {number: ["a"]}}, ""


def test_heads_that_do_not_fit_are_refused():
    for name, wrong, reason in wrong_heads():
        head, arrays = take_apart(saved(name))
        assert_refused(forge(head | wrong, arrays), reason)


def parts(head, kind):
    """The objects of a class."""
    return [item for item in head["objects"] if item["class"] == kind]


def test_an_object_cannot_refer_to_itself_or_to_later_ones():
    head, arrays = take_apart(saved("search"))
    for pipeline in parts(head, "Pipeline"):
        pipeline["state"]["steps"] = [{"tuple": ["a", {"object": head["objects"].index(pipeline)}]}]
    assert_refused(forge(head, arrays), "no array or object")


WRONG_PARTS = [  # of pipelines and searches; `...` leaves an attribute out
    ("search", "StandardScaler", "scale_", ..., "scale_"),
    ("search", "KernelDiscriminant", "landmarks_", ..., "landmarks_"),
    ("search", "KernelDiscriminant", "discriminant_", ..., "discriminant_"),
    ("search", "RidgeDiscriminant", "scalings_", ..., "scalings_"),
    ("tables", "TablePreprocessor", "scale_", [0.0] * 4, "scale_"),
    ("tables", "TablePreprocessor", "kinds", [{"tuple": ["nothing", "drop"]}], "kinds"),
    ("tables", "TablePreprocessor", "category_value_", 0.0, "category_value_"),
    ("tables", "TablePreprocessor", "scale", 2, "scale"),
    ("tables", "TablePreprocessor", "categories_", [[], [], [], []], "categories_"),
    ("tables", "TablePreprocessor", "n_features_in_", 3, "feature_names_in_"),
    ("frames", "StandardScaler", "_sklearn_output_config", {"dict": {"transform": "evil"}}, "output"),
    ("names", "TablePreprocessor", "n_features_in_", 2, "not in the table|feature_names_in_"),
    ("names", "MinMaxScaler", "scale_", 1.0, "scale_"),
    ("components", "PCA", "components_", {"array": 0}, "components_"),
    ("components", "PCA", "n_components_", 2, "components_"),
    ("components", "Pipeline", "memory", "folder", "memory"),
    ("components", "Pipeline", "steps", [], "no steps"),
]


@pytest.mark.parametrize(("name", "kind", "attribute", "value", "reason"), WRONG_PARTS)
def test_transformers_that_do_not_fit_are_refused(name, kind, attribute, value, reason):
    head, arrays = take_apart(saved(name))
    part = parts(head, kind)[-1]  # a fitted one, after its template
    part["state"] = replaced(part["state"], (attribute,), value)
    assert_refused(forge(head, arrays), reason)


def test_a_pipeline_ends_with_a_model_that_takes_its_features():
    head, arrays = take_apart(saved("narrow"))
    empty = {"class": "Pipeline", "state": {"steps": []}}
    assert_refused(forge(head | {"objects": [head["objects"][0], empty]}, arrays), "not a model")
    steps = parts(head, "Pipeline")[0]["state"]["steps"]
    steps.append(steps[1])
    assert_refused(forge(head, arrays), "a OPFClassifier is not a transformer")
    del steps[2]
    scaler = parts(head, "StandardScaler")[0]["state"]
    scaler |= {"n_features_in_": 2, "with_mean": False, "with_std": False}
    assert_refused(forge(head, arrays), "2 features for a model of 1")


SHAPES = [
    (10**12,), (2**62,), (2**40, 2**40), (10**9,) * 4, (0, 10**18), (10**18, 0), (-1,), (-1, -30), (1,) * 100,
    (10**400,), (True,), (1.0,), ("1",), None, 3, ((1,),), (31,), (2,),
]  # fmt: skip
TYPES = [
    "|O", "O", "object", "<f16", ">f8", "<c16", "|V8", "<U0", "|S4", "f8,f8", "(2,)f8", "<M8", "<M8[0s]", "",
    [("a", "O")], [("a", "<f8")], "<U999999999", "evil", 3, None,
]  # fmt: skip
HEADERS = [{"descr": descr} for descr in TYPES]
HEADERS += [{"shape": s, "descr": d} for s in SHAPES for d in ("<f8", "|b1", "<U99999999", "<M8[ns]")]


WRONG_FILES = [
    *((lying(X, **header), "shape|type|descr|fill|header") for header in HEADERS),
    (npy(np.array([None, OPFClassifier()])), "cannot be in a file"),
    (npy(X).replace(b"\x01\x00", b"\x02\x00", 1), "version of the NPY format"),
    (npy(X) + b"\0", "does not fill"),
    (lying(np.empty(0), shape=(0, 10**18)), "not the shape"),
    (npy(np.array([0x110000, 0x7FFFFFFF], dtype="<u4").view("<U1")), "character"),
    (npy(np.array([0, 2], dtype=np.uint8).view(bool)), "truth value"),
    (npy(X)[:100], ""),
    (b"", ""),
    (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, ""),
]


@pytest.mark.parametrize(("data", "reason"), WRONG_FILES, ids=itertools.count())
def test_arrays_that_numpy_would_not_write_are_refused_without_memory(data, reason):
    head, arrays = take_apart(saved("plain"))
    forged = forge(head, [*arrays, data])
    with little_memory():
        assert_refused(forged, reason)


def many_texts():
    """A list that refers 500 times to an array of a million texts, and one that is written 500 times."""
    head, arrays = take_apart(saved("text"))
    arrays.append(np.zeros(10**6, np.int32))
    head["texts"][str(len(arrays) - 1)] = ["text"]
    yield forge(head, arrays, metric_params=[{"array": len(arrays) - 1}] * 500)
    yield forge(head, arrays, metric_params=[{"texts": [["text"], len(arrays) - 1]}] * 500)


def nested_pipelines():
    """Pipelines that contain the one before twice, 40 of them; and one that is a step 10,000 times."""
    head, arrays = take_apart(saved("search"))
    scaler = parts(head, "StandardScaler")[-1]
    for depth, times in ((40, 2), (3, 10_000)):
        objects = [scaler]
        for number in range(depth):
            steps = [{"tuple": ["a", {"object": number}]}] * times
            objects.append({"class": "Pipeline", "state": {"steps": steps, "verbose": False}})
        search = head["objects"][-1]
        search = replaced(search, ("state", "estimators_"), [{"object": depth}])
        yield forge(head | {"objects": [*objects, search]}, arrays)


def many_trees():
    """Clusterings that share the columns of their trees, each to be put together."""
    head, arrays = take_apart(saved("domes"))
    yield forge(head | {"objects": head["objects"] * 5000}, arrays)


SCRIPT = """
import resource, sys
import pathforest

good, *files = sys.argv[1:]
pathforest.load(good)
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))  # seconds, for all of them; killed if it takes more
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
for file in files:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        pathforest.load(file)
    except ValueError:
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 2**10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and units of Linux")
def test_a_file_that_stands_for_much_more_is_refused_without_much_time_or_memory(tmp_path):
    files = []
    for data in saved("search"), *many_texts(), *nested_pipelines(), *many_trees():
        files.append(tmp_path / f"{len(files)}.opf")
        files[-1].write_bytes(data)
    run = subprocess.run([sys.executable, "-c", SCRIPT, *files], capture_output=True, text=True)
    megabytes = [float(line) for line in run.stdout.split()]
    assert len(megabytes) == len(files) - 1, run.stderr
    assert max(megabytes) < 300
