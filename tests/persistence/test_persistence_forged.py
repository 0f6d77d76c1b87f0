"""Files that are damaged, foreign or forged: always a ValueError with the file's name, whatever they hold."""

import itertools
import json
import os
import pickle
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from model_files import FIRST_LINE, arrays_of, forge, positions, replaced, take_apart, with_arrays
from sklearn.datasets import load_iris

import pathforest
from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFOutlierDetector,
    OPFPruner,
)

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

X, Y = (values[::5] for values in load_iris(return_X_y=True))
SEARCH = {"k_max": 3, "sigmas": 0.5, "n_conquerors": 2, "cv": 2, "n_best": 5}
MODELS = {
    "plain": OPFClassifier(),
    "text": OPFClassifier(n_conquerors=2),
    "matrix": OPFClassifier(metric="mahalanobis"),
    "precomputed": OPFClassifier(metric="precomputed"),
    "fuzzy": FuzzyOPFClassifier(k_max=5, metric="minkowski", metric_params={"p": 3}),
    "clustering": OPFClustering(k_max=5),
    "outliers": OPFOutlierDetector(k_max=5),
    "pruner": OPFPruner(FuzzyOPFClassifier(k_max=5, metric="minkowski", metric_params={"p": 3})),
    "pruner of distances": OPFPruner(OPFClassifier(metric="precomputed")),
    "search": FuzzyOPFClassifierCV(**SEARCH, transforms="kernel", scoring="f1_macro"),
}
MOST = int(os.environ.get("FORGERIES", "300"))  # cases tried of each kind; 100000 tries them all
every_model = pytest.mark.parametrize("name", MODELS)


def samples(name):
    return np.abs(X[:, None] - X).sum(axis=2) if name in ("precomputed", "pruner of distances") else X


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of one file per model."""
    folder, files = tmp_path_factory.mktemp("models"), {}
    labels = {"text": np.array(["a", "b", "c"], dtype=object)[Y]}
    for name, model in MODELS.items():
        model.fit(samples(name), labels.get(name, Y)).save(folder / "model.opf")
        files[name] = (folder / "model.opf").read_bytes()
    return files


@pytest.fixture
def load(tmp_path):
    """A function that loads bytes from a file."""

    def load_bytes(data):
        (tmp_path / "model.opf").write_bytes(data)
        return pathforest.load(tmp_path / "model.opf")

    return load_bytes


@pytest.fixture
def assert_refused(load):
    """A function that checks that bytes are refused: with the name of the file, and the reason if given."""

    def check(data, reason=""):
        with pytest.raises(ValueError, match=rf"(?s)model\.opf cannot be loaded.*{reason}") as caught:
            load(data)
        assert type(caught.value) is ValueError

    return check


@contextmanager
def little_memory():
    """Fail if more than 10 MiB are taken at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def some(cases):
    """All cases, or a fixed choice where there are too many to try."""
    cases = list(cases)
    chosen = np.random.default_rng(0).permutation(len(cases))[:MOST]
    return [cases[i] for i in chosen]


def use(model, name):
    """Ask a model for all it can do."""
    for method in ("predict", "predict_proba", "class_costs", "explain", "score_samples"):
        if hasattr(model, method):
            getattr(model, method)(samples(name))


# Damage: the checksum has to notice.


def test_a_cut_anywhere_is_noticed(saved, assert_refused):
    data = saved["plain"]
    for length in [*range(0, len(data), 3), *range(len(data) - 40, len(data))]:
        assert_refused(data[:length])


def test_a_flipped_bit_in_any_byte_is_noticed(saved, assert_refused):
    data, bits = bytearray(saved["plain"]), itertools.cycle([1, 128, 8, 32, 2, 64, 4])
    for place, bit in zip(range(len(data)), bits, strict=False):
        data[place] ^= bit
        assert_refused(data)
        data[place] ^= bit


@every_model
def test_random_changes_are_noticed(name, saved, assert_refused):
    data, rng = saved[name], np.random.default_rng(0)
    for _ in range(150):
        a, b, c = sorted(rng.integers(0, len(data) + 1, size=3))
        inserted = data[:a] + rng.bytes(1 + rng.integers(8)) + data[a:]
        removed = data[:a] + data[max(b, a + 1) :]
        swapped = data[:a] + data[b:c] + data[a:b] + data[c:]
        replaced = data[:a] + rng.bytes(b - a) + data[b:]
        for changed in (inserted, removed, swapped, replaced):
            if changed != data:
                assert_refused(changed)


@pytest.mark.parametrize("tail", [b"\0", b"\n", bytes(32), FIRST_LINE])
def test_appended_bytes_are_noticed(tail, saved, assert_refused):
    assert_refused(saved["plain"] + tail, "damaged")


def test_one_model_after_another_is_no_model(saved, assert_refused):
    assert_refused(saved["plain"] + saved["fuzzy"], "damaged")


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"pathforest", pickle.dumps(OPFClassifier()), b"PK\x03\x04" + bytes(100), bytes(1000)],
    ids=["empty", "newline", "word", "pickle", "zip", "zeros"],
)
def test_foreign_files_are_no_model(data, assert_refused):
    assert_refused(data, "no pathforest model")


@pytest.mark.parametrize("version", [b"0", b"00", b"-1", b"1.0", b"", b"1 ", b"9" * 5000])
def test_versions_that_never_were_are_refused(version, saved, assert_refused):
    assert_refused(forge(*take_apart(saved["plain"]), b"pathforest model " + version + b"\n"))


def test_a_file_without_a_header_is_refused(assert_refused):
    assert_refused(forge(b"", b"")[:-33] + bytes(32))
    assert_refused(forge(b"", b""), "contents")


# Forged files: the checksum is right, so everything else has to be looked at.

DEEP = json.loads("[" * 300 + "]" * 300)
JUNK = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 10**18, 10**400, 1.5, -0.5, 1e308, "", "x",
    "tree", "precomputed", "minkowski", "<f8", "|O", "O", "<U4", "OPFClassifier", "os.system", "F", [], [[]],
    [0], [-1], [10**9, 10**9], {}, {"array": 0}, {"array": -1}, {"array": 10**6}, {"array": True},
    {"object": 0}, {"object": 10**6}, {"float": "nan"}, {"float": "x"}, {"tuple": []}, {"tuple": {"a": 1}},
    {"dict": []}, {"dict": {"p": 3}}, {"scalar": ["<i8", 1]}, {"scalar": ["|i1", 10**6]},
    {"scalar": ["<U4", 1]}, {"texts": [[], 0]}, {"texts": [["a"], 0]},
    {"masked": [{"array": 0}, {"array": 1}]}, {"a": 1, "b": 2}, DEEP,
]  # fmt: skip


@every_model
def test_no_junk_in_the_header_leads_to_anything_but_a_refusal_or_a_model(name, saved, load):
    header, payload = take_apart(saved[name])
    cases = some(itertools.product(positions(header), range(len(JUNK))))
    refused = 0
    for path, junk in cases:
        try:
            model = load(forge(replaced(header, path, JUNK[junk]), payload))
            use(model, name)  # some junk is a legal parameter; the model must then do its work or say why not
        except ValueError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{JUNK[junk]!r} at {path}") from error
    assert refused > len(cases) / 2


@pytest.mark.slow
@every_model
def test_no_missing_entry_of_the_header_leads_to_anything_else_either(name, saved, load):
    header, payload = take_apart(saved[name])
    for *path, last in some(path for path in positions(header) if path):
        shorter = header
        for key in path:
            shorter = shorter[key]
        shorter = shorter.copy()
        del shorter[last]
        try:
            use(load(forge(replaced(header, path, shorter), payload)), name)
        except ValueError:
            continue
        except Exception as error:
            raise AssertionError(f"without {last} at {path}") from error


@pytest.mark.slow
@every_model
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_value_in_an_array_leads_to_anything_but_a_refusal_or_a_model(name, saved, load):
    header, payload = take_apart(saved[name])
    rng = np.random.default_rng(0)
    arrays = [(i, array) for i, array in enumerate(arrays_of(header, payload)) if array.size]
    for _ in range(MOST):
        i, array = arrays[rng.integers(len(arrays))]
        forged = array.copy()
        raw = forged.reshape(-1).view(np.uint8)
        width = array.dtype.itemsize
        junk = [bytes(width), b"\xff" * width, b"\x7f" + b"\xff" * (width - 1), rng.bytes(width)]
        if array.dtype.kind == "f":
            junk += [np.array([v], array.dtype).tobytes() for v in (np.nan, np.inf, -1, -0.0, 1e308)]
        if array.dtype.kind == "i":
            junk += [np.array([v], array.dtype).tobytes() for v in (-1, -2, 0, len(X) - 1, len(X))]
        start = width * rng.integers(array.size)
        raw[start : start + width] = np.frombuffer(junk[rng.integers(len(junk))], np.uint8)
        others = [forged if j == i else a for j, a in enumerate(arrays_of(header, payload))]
        table = [item | {"order": "C"} for item in header["arrays"]]
        data = forge(header | {"arrays": table}, b"".join(a.tobytes() for a in others))
        try:
            use(load(data), name)
        except ValueError:
            continue
        except Exception as error:
            raise AssertionError(f"array {i}, {array.dtype}{array.shape}") from error


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"pathforest":NaN,"arrays":[],"objects":[]}',
        b"9" * 100_000,
        b"1e99999",
        b'"\\ud800"',
        b"\xff\xfe",
        "☃".encode(),
        b"null",
        b"{}",
        b"{" + b'"a":1,' * 1000 + b'"a":1}',
    ],
    ids=itertools.count(),
)
def test_headers_that_are_no_header_are_refused(text, assert_refused):
    assert_refused(forge(text, bytes(100)), "contents")


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A file of a model of six samples, with its header and its arrays."""
    file = tmp_path_factory.mktemp("chain") / "model.opf"
    OPFClassifier().fit([[0.0], [1.0], [2.5], [9.0], [10.0], [12.0]], [0, 0, 0, 1, 1, 1]).save(file)
    header, payload = take_apart(file.read_bytes())
    return header, arrays_of(header, payload)


def test_the_chain_is_what_the_forgeries_below_take_it_for(chain, load):
    model = load(with_arrays(*chain))
    assert model.predecessor_.tolist() == [1, 2, -1, -1, 3, 4]
    assert model.root_.tolist() == [2, 2, 2, 3, 3, 3]
    assert model.cost_.tolist() == [1.5, 1.5, 0, 0, 1, 2]
    assert model.order_.tolist() == [2, 3, 4, 0, 1, 5]


FORGED_ARRAYS = {
    "circle": ({"predecessor_": [1, 0, -1, -1, 3, 4]}, "circles"),
    "circle with roots in it": (
        {"predecessor_": [1, 0, -1, -1, 3, 4], "root_": [0, 1, 2, 3, 3, 3]},
        "circles",
    ),
    "its own predecessor": ({"predecessor_": [0, 2, -1, -1, 3, 4]}, "circles"),
    "predecessor beyond the end": ({"predecessor_": [6, 2, -1, -1, 3, 4]}, "predecessor_"),
    "predecessor of -2": ({"predecessor_": [-2, 2, -1, -1, 3, 4]}, "predecessor_"),
    "predecessor of 2^62": ({"predecessor_": [2**62, 2, -1, -1, 3, 4]}, "predecessor_"),
    "predecessors of floats": ({"predecessor_": [1.0, 2, -1, -1, 3, 4]}, "predecessor_"),
    "too few predecessors": ({"predecessor_": [1, 2, -1, -1, 3]}, "predecessor_"),
    "too many starts": ({"predecessor_": [-1, 2, -1, -1, 3, 4]}, "predecessor_"),
    "other root": ({"root_": [3, 2, 2, 3, 3, 3]}, "root_"),
    "root beyond the end": ({"root_": [6, 2, 2, 3, 3, 3]}, "root_"),
    "order with a repeat": ({"order_": [2, 2, 4, 0, 1, 5]}, "order_"),
    "order beyond the end": ({"order_": [2, 3, 4, 0, 1, 6]}, "order_"),
    "negative order": ({"order_": [2, 3, 4, 0, 1, -1]}, "order_"),
    "order against the cost": ({"order_": [5, 3, 4, 0, 1, 2]}, "order_"),
    "order as a table": ({"order_": [[2, 3, 4, 0, 1, 5]]}, "order_"),
    "cost of nan": ({"cost_": [np.nan, 1.5, 0, 0, 1, 2]}, "cost_"),
    "cost of infinity": ({"cost_": [1.5, 1.5, 0, 0, 1, np.inf]}, "cost_"),
    "negative cost": ({"cost_": [-1.5, 1.5, 0, 0, 1, 2]}, "cost_"),
    "cost of a prototype": ({"cost_": [1.5, 1.5, 0.5, 0, 1, 2]}, "cost_"),
    "cost of float32": ({"cost_": np.array([1.5, 1.5, 0, 0, 1, 2], dtype="f4")}, "cost_"),
    "too many costs": ({"cost_": [1.5, 1.5, 0, 0, 1, 2, 3]}, "cost_"),
    "prototype beyond the end": ({"prototypes_": [2, 6]}, "prototypes_"),
    "prototypes that descend": ({"prototypes_": [3, 2]}, "prototypes_"),
    "no prototypes": ({"prototypes_": np.array([], dtype=int)}, "predecessor_"),
    "code beyond the classes": ({"_fit_codes": [0, 0, 0, 1, 1, 2]}, "_fit_codes"),
    "negative code": ({"_fit_codes": [0, 0, 0, 1, 1, -1]}, "_fit_codes"),
    "code of another root": ({"_fit_codes": [1, 0, 0, 1, 1, 1]}, "label"),
    "label of another type": ({"label_": ["0", "0", "0", "1", "1", "1"]}, "label_"),
    "other label": ({"label_": [1, 0, 0, 1, 1, 1]}, "label"),
    "classes that descend": ({"classes_": [1, 0]}, "classes_"),
    "a class twice": ({"classes_": [0, 0]}, "classes_"),
    "a class of nan": ({"classes_": [0, np.nan]}, "classes_"),
    "no class": ({"classes_": np.array([], dtype=int)}, "classes_"),
    "samples of nan": ({"_fit_X": [[0.0], [1], [2.5], [np.nan], [10], [12]]}, "_fit_X"),
    "samples too large": ({"_fit_X": [[0.0], [1], [2.5], [1e308], [-1e308], [12]]}, "overflow"),
    "samples of two features": ({"_fit_X": np.zeros((6, 2))}, "_fit_X"),
    "too few samples": ({"_fit_X": np.zeros((5, 1))}, ""),
    "no samples": ({"_fit_X": np.zeros((0, 1))}, "samples"),
    "samples of integers": ({"_fit_X": np.zeros((6, 1), dtype=int)}, "_fit_X"),
}


@pytest.mark.parametrize("case", FORGED_ARRAYS)
def test_arrays_that_do_not_fit_together_are_refused(case, chain, assert_refused):
    changed, reason = FORGED_ARRAYS[case]
    assert_refused(with_arrays(*chain, **changed), reason)


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("clustering", {"labels_": np.full(30, 99)}, "labels_"),
        ("clustering", {"labels_": np.zeros(30, dtype=int)}, "labels_|clusters"),
        ("clustering", {"cluster_roots_": [30]}, "cluster_roots_"),
        ("clustering", {"cluster_roots_": [-1]}, "cluster_roots_"),
        ("clustering", {"density_": np.full(30, np.nan)}, "density_"),
        ("clustering", {"density_": np.full(30, -1.0)}, "density_"),
        ("clustering", {"density_": np.ones(29)}, "density_"),
        ("clustering", {"predecessor_": np.roll(np.arange(30), 1)}, "predecessor_"),
        ("outliers", {"density_": np.zeros(30)}, "density_"),
        ("outliers", {"density_": np.ones(31)}, "density_"),
        ("outliers", {"cuts_": np.ones((2, 2))}, "cuts_"),
        ("pruner", {"sample_indices_": [0]}, "sample_indices_"),
        ("pruner", {"classes_": [0, 1, 3]}, "classes_"),
        ("pruner", {"classes_": [0.0, 1.0, 2.0]}, "classes_"),
        ("fuzzy", {"membership_": np.full(30, np.inf)}, "membership_"),
        ("fuzzy", {"membership_": np.ones(31)}, "membership_"),
        ("fuzzy", {"density_": np.ones((30, 1))}, "density_"),
    ],
)
def test_arrays_of_other_estimators_are_checked_too(name, changed, reason, saved, assert_refused):
    header, payload = take_apart(saved[name])
    assert_refused(with_arrays(header, arrays_of(header, payload), **changed), reason)


FORGED_VALUES = [
    ("plain", "n_features_in_", 3, "_fit_X"),
    ("plain", "n_features_in_", True, "n_features_in_"),
    ("plain", "training_error_", 2.0, "training_error_"),
    ("plain", "_fit_algorithm", "precomputed", "algorithm"),
    ("plain", "_fit_algorithm", "magic", "algorithm"),
    ("plain", "_fit_metric", {"tuple": ["euclidean", "precomputed", 2.0, {"dict": {}}]}, "euclidean"),
    ("plain", "_fit_metric", {"tuple": ["l2", "features", 2.0, {"dict": {}}]}, "l2"),
    ("plain", "_fit_metric", {"tuple": ["evil", "features", 2.0, {"dict": {}}]}, "evil"),
    ("plain", "_fit_metric", {"tuple": ["euclidean", "features", 2.0, {"dict": {"w": 1}}]}, "euclidean"),
    ("plain", "_fit_metric", {"tuple": ["minkowski", "features", 0.5, {"dict": {}}]}, "p must be"),
    (
        "plain",
        "_fit_metric",
        {"tuple": ["minkowski", "features", {"float": "nan"}, {"dict": {}}]},
        "p must be",
    ),
    ("plain", "_fit_metric", "euclidean", "metric"),
    ("plain", "_fit_X", None, "_fit_X"),
    ("plain", "_fit_cache", {"dict": {"rank": 1}}, ""),
    ("plain", "predict", 1, "no attribute"),
    ("plain", "__class__", 1, "no attribute"),
    ("plain", "_check_fitted_state", 1, "no attribute"),
    ("plain", "feature_names_in_", ["a", "b", "c", "d"], "feature_names_in_"),
    ("plain", "n_jobs", 0, "n_jobs"),
    ("plain", "algorithm", "magic", "algorithm"),
    ("plain", "metric", {"array": 0}, "metric"),
    ("precomputed", "_fit_X", {"array": 0}, "keeps no samples"),
    ("precomputed", "n_features_in_", 10**9, "prototypes_|predecessor_"),
    ("precomputed", "n_features_in_", 10**18, "n_features_in_"),
    ("matrix", "_fit_metric", {"tuple": ["mahalanobis", "matrix", 2.0, {"dict": {"VI": [[1.0]]}}]}, "VI"),
    ("matrix", "_fit_metric", {"tuple": ["mahalanobis", "matrix", 2.0, {"dict": {"VI": "x"}}]}, "VI"),
    ("matrix", "_fit_metric", {"tuple": ["seuclidean", "matrix", 2.0, {"dict": {"V": [1.0] * 3}}]}, "V"),
    ("matrix", "_fit_metric", {"tuple": ["haversine", "matrix", 2.0, {"dict": {}}]}, "haversine"),
    ("matrix", "_fit_metric", {"tuple": ["hamming", "matrix", 2.0, {"dict": {"w": [1.0]}}]}, "w of shape"),
    ("clustering", "best_k_", 30, "best_k_"),
    ("clustering", "best_k_", 0, "best_k_"),
    ("clustering", "best_k_", -1, "best_k_"),
    ("clustering", "_fit_largest_arc", {"float": "nan"}, "largest_arc"),
    ("clustering", "_fit_largest_arc", -1.0, "largest_arc"),
    ("outliers", "offset_", {"float": "nan"}, "offset_"),
    ("outliers", "offset_", None, "offset_"),
    ("outliers", "contamination", 0.7, "contamination"),
    ("outliers", "best_k_", 30, "best_k_"),
    ("pruner", "max_loss", 2, "max_loss"),
    ("pruner", "n_iter_", -1, "n_iter_"),
    ("pruner", "n_features_in_", 5, "features"),
    ("pruner", "estimator_", None, "estimator_"),
    ("pruner", "estimator", "evil", "_fit_template|estimator"),
    ("pruner", "_fit_template", {"tuple": ["OPFPruner", {"dict": {}}]}, "estimator"),
    ("pruner", "_fit_template", {"tuple": ["OPFClassifier", {"dict": {"evil": 1}}]}, "estimator"),
    ("pruner", "_fit_template", {"tuple": ["OPFClassifier", {"dict": {"n_jobs": 0}}]}, "n_jobs"),
    ("pruner", "_fit_template", "OPFClassifier", "estimator"),
    ("pruner of distances", "n_features_in_", 3, "sample_indices_"),
    ("fuzzy", "sigma", 0, "sigma"),
    ("search", "estimators_", [], "estimators_"),
    ("search", "estimators_", [{"object": 0}], "estimators_"),
    ("search", "best_index_", 99, "best_index_"),
    ("search", "best_index_", -1, "best_index_"),
    ("search", "scoring", "evil", "scoring|evil"),
    ("search", "transforms", "evil", "transforms"),
    ("search", "_fit_untouched", 1, "untouched"),
    ("search", "n_features_in_", 5, "features|mean_"),
]


@pytest.mark.parametrize(("name", "attribute", "value", "reason"), FORGED_VALUES)
def test_values_that_do_not_fit_are_refused(name, attribute, value, reason, saved, assert_refused):
    header, payload = take_apart(saved[name])
    header["objects"][-1]["state"][attribute] = value
    assert_refused(forge(header, payload), reason)


@pytest.mark.parametrize(
    "kind",
    ["os.system", "Derived", "BaseEstimator", "OPFEstimator", "", None, 3, ["OPFClassifier"], {"a": 1}],
)
def test_classes_that_are_not_on_the_list_are_refused(kind, saved, assert_refused):
    header, payload = take_apart(saved["plain"])
    header["objects"][-1]["class"] = kind
    assert_refused(forge(header, payload))


def test_a_transformer_alone_is_no_model(assert_refused):
    state = {"copy": True, "with_mean": True, "with_std": True}
    header = {"pathforest": "0", "arrays": [], "objects": [{"class": "StandardScaler", "state": state}]}
    assert_refused(forge(header, b""), "no model")


def test_an_object_cannot_refer_to_itself_or_to_later_ones(saved, assert_refused):
    header, payload = take_apart(saved["search"])
    for index, item in enumerate(header["objects"]):
        if item["class"] == "Pipeline":
            item["state"]["steps"] = [{"tuple": ["a", {"object": index}]}]
    assert_refused(forge(header, payload), "no array or object")


def test_a_pipeline_cannot_be_given_a_cache_of_pickles(saved, assert_refused):
    header, payload = take_apart(saved["search"])
    pipeline = next(item for item in header["objects"] if item["class"] == "Pipeline")
    pipeline["state"]["memory"] = "folder"
    assert_refused(forge(header, payload), "memory")


@pytest.mark.parametrize("kind", ["StandardScaler", "RidgeDiscriminant", "KernelDiscriminant"])
def test_transformers_without_their_arrays_are_refused(kind, saved, assert_refused):
    header, payload = take_apart(saved["search"])
    found = [item for item in header["objects"] if item["class"] == kind]
    for attribute in ("mean_", "scale_", "scalings_", "landmarks_", "root_", "discriminant_"):
        if attribute in found[0]["state"]:
            kept = found[0]["state"].pop(attribute)
            assert_refused(forge(header, payload), f"{attribute}")
            found[0]["state"][attribute] = kept


SHAPES = [
    [10**12], [2**62], [2**40, 2**40], [10**9, 10**9, 10**9, 10**9], [0, 10**18], [10**18, 0], [-1],
    [-1, -150], [1] * 100, [10**400], [True], [1.0], ["1"], None, 3, [[1]],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["<f8", "|b1", "<U99999999", "<M8[ns]"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_lying_shape_takes_no_memory(shape, dtype, saved, assert_refused):
    header, payload = take_apart(saved["plain"])
    header["arrays"][0] |= {"shape": shape, "dtype": dtype}
    data = forge(header, payload)
    with little_memory():
        assert_refused(data)


@pytest.mark.parametrize("shape", [[0, 10**18], [10**18, 0]])
def test_an_array_without_entries_cannot_be_longer_than_the_file(shape, saved, assert_refused):
    header, payload = take_apart(saved["plain"])
    header["arrays"].append({"dtype": "<f8", "shape": shape, "order": "C"})
    assert_refused(forge(header, payload), "larger than the file")


@pytest.mark.parametrize(
    "dtype",
    ["|O", "O", "object", "<f16", ">f8", "<c16", "|V8", "<U0", "|S4", "f8,f8", "(2,)f8", "<M8", "<M8[0s]",
     "float64", "<f8\n", "", "{'names':['a'],'formats':['O']}", "<U999999999"],
)  # fmt: skip
def test_types_that_cannot_be_in_a_file_are_refused(dtype, saved, assert_refused):
    header, payload = take_apart(saved["plain"])
    header["arrays"][0]["dtype"] = dtype
    assert_refused(forge(header, payload), "cannot be in a file")


def test_text_of_characters_that_do_not_exist_is_refused(chain, assert_refused):
    header, arrays = chain
    broken = np.array([0x110000, 0x7FFFFFFF], dtype="<u4").view("<U1")
    assert_refused(with_arrays(header, arrays, classes_=broken), "character")


def test_truth_values_other_than_0_and_1_are_refused(chain, assert_refused):
    header, arrays = chain
    broken = np.array([0, 2], dtype=np.uint8).view(bool)
    assert_refused(with_arrays(header, arrays, classes_=broken), "truth value")


def test_bytes_that_belong_to_no_array_are_refused(saved, assert_refused):
    header, payload = take_apart(saved["plain"])
    assert_refused(forge(header, payload + b"\0"), "belong to no array")


@pytest.mark.parametrize("codes", [[0, 3, 0], [-1, 0, 0]])
def test_texts_that_are_not_there_are_refused(codes, saved, assert_refused):
    header, payload = take_apart(saved["text"])
    header["objects"][-1]["state"]["classes_"]["texts"][1] = len(header["arrays"])
    header["arrays"].append({"dtype": "<i4", "shape": [3], "order": "C"})
    assert_refused(forge(header, payload + np.array(codes, "<i4").tobytes()), "not there")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
def test_a_device_without_end_is_refused():
    with little_memory(), pytest.raises(ValueError, match="no pathforest model"):
        pathforest.load("/dev/zero")
