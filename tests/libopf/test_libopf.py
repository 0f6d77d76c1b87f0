"""Files of LibOPF: its models go on as ours, and no file does harm."""

import struct

import libopf_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libopf_files import Trained, model_bytes
from machines import little_memory

from pathforest import OPFClassifier, OPFClustering, OPFKNNClassifier
from pathforest.libopf import read_distances, read_model, read_positions, write_distances

LAYOUTS = [("f", True), ("f", False), ("d", True), ("d", False)]
KINDS = {"supervised": OPFClassifier, "clusters": OPFClustering, "nearest": OPFKNNClassifier}


def samples(seed, n=60, n_features=3):
    """Three overlapping classes, and queries from the same source; float32, and far from ties."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    centres = rng.normal(scale=1.5, size=(3, n_features))
    X, Q = (rng.normal(size=(n, n_features)) + centres[y] for _ in range(2))
    return X.astype(np.float32), y + 1, Q.astype(np.float32)


def trained(kind, seed=0, n=60):
    X, y, Q = samples(seed, n)
    if kind == "supervised":
        return libopf_files.train(X, y), Q
    return libopf_files.train_densities(X, 4, None if kind == "clusters" else y), Q


@pytest.fixture(scope="module")
def models():
    return {kind: trained(kind) for kind in KINDS}


@pytest.fixture
def read(tmp_path):
    """A function that reads bytes as a model."""

    def read_data(data, **options):
        (tmp_path / "classifier.opf").write_bytes(data)
        return read_model(tmp_path / "classifier.opf", **options)

    return read_data


# Answers


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_model_answers_as_libopf_does(kind, seed, read):
    model, Q = trained(kind, seed)
    found = read(model_bytes(model, *LAYOUTS[seed % 4 if kind == "supervised" else 0]))
    assert type(found) is KINDS[kind]
    classify = libopf_files.classify if kind == "supervised" else libopf_files.classify_by_density
    answers = found.predict(Q)
    assert np.array_equal(answers, classify(model, Q))
    nearest = model.label[libopf_files.arcs(Q, model.X).argmin(axis=1)]
    # Else the densities would not have been put to the test.
    assert kind == "supervised" or not np.array_equal(answers, nearest)
    assert np.array_equal(found.cost_, model.cost)
    assert np.array_equal(found.predecessor_, model.predecessor)
    assert np.array_equal(found.labels_ if kind == "clusters" else found.label_, model.label)


# Identities: what one of our own models says, it says after a trip through LibOPF's layout


def as_libopf(model):
    """What LibOPF would write of one of our classifiers."""
    label = model.label_.astype(int)
    return Trained(model._fit_X, label, np.maximum(label, 1), model.predecessor_, model.cost_, model.order_)


GRID = np.stack(np.meshgrid(np.arange(-1, 6), np.arange(-1, 6)), axis=-1).reshape(-1, 2) * 1.0


@st.composite
def tied_samples(draw):
    """Few points of a small grid in up to three classes, with repeats: costs and offers tie everywhere."""
    n = draw(st.integers(3, 20))
    cells = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    X = np.column_stack([draw(cells), draw(cells)]).astype(float)
    return X, np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))


@given(tied_samples(), st.sampled_from(["sqeuclidean", "manhattan", "chebyshev"]), st.sampled_from(LAYOUTS))
def test_our_classifier_is_the_same_after_the_trip_ties_included(tmp_path_factory, data, metric, layout):
    file = tmp_path_factory.mktemp("trip") / "classifier.opf"
    model = OPFClassifier(metric=metric).fit(*data)
    file.write_bytes(model_bytes(as_libopf(model), *layout))
    found = read_model(file, metric=metric)
    for name in ("cost_", "predecessor_", "root_", "order_", "label_", "prototypes_", "classes_"):
        assert np.array_equal(getattr(found, name), getattr(model, name))
    assert found.explain(GRID) == model.explain(GRID)
    assert np.array_equal(found.predict_proba(GRID), model.predict_proba(GRID))


# Distances and positions


def test_the_file_of_distances_is_a_count_and_the_rows(tmp_path):
    file = tmp_path / "distances.dat"
    write_distances(file, [[0, 1.5], [2, 0]])
    assert file.read_bytes() == struct.pack("<i4f", 2, 0, 1.5, 2, 0)
    found = read_distances(file)
    assert found.dtype == np.float32
    assert found.tolist() == [[0, 1.5], [2, 0]]
    assert found.flags.writeable


@pytest.mark.parametrize(
    ("D", "reason"),
    [
        ([[0, 1]], r"shape \(1, 2\)"),
        ([[0, 1], [np.nan, 0]], "row 1, column 0 is nan"),
        ([[0, 1], [-1, 0]], "row 1, column 0 is -1.0"),
    ],
)
def test_what_is_no_matrix_of_distances_is_not_written(D, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        write_distances(tmp_path / "distances.dat", D)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (read_distances, b""),
        (read_distances, struct.pack("<i", 2) + bytes(17)),
        (read_distances, struct.pack("<i", 2**31 - 1) + bytes(16)),
        (read_distances, struct.pack("<i4f", 2, 0, -1, 1, 0)),
        (read_positions, struct.pack("<3i", 1, 1, 1)),
        (read_positions, struct.pack("<5if", 1, 1, 1, -1, 1, 0.5)),
    ],
    ids=range(6),
)
def test_what_has_no_distances_or_positions_is_refused(function, data, tmp_path):
    (tmp_path / "file.dat").write_bytes(data)
    with little_memory(), pytest.raises(ValueError, match=r"file\.dat"):
        function(tmp_path / "file.dat")


# What is refused


CHAIN = Trained(
    X=np.array([[0.0], [1], [3], [4]]),
    label=np.array([1, 1, 2, 2]),
    true_label=np.array([1, 1, 2, 2]),
    predecessor=np.array([1, -1, -1, 2]),
    cost=np.array([1.0, 0, 0, 1]),
    order=np.array([1, 2, 0, 3]),
)
DENSE = {"best_k": 2, "df": 3.0, "lowest": 0.25, "highest": 0.5, "density": [1, 1000, 1000, 1]}
FORGED = {
    "circle": ({"predecessor": [3, -1, -1, 0]}, "circles"),
    "order with a repeat": ({"order": [1, 1, 0, 3]}, "every sample once"),
    "one class, as LibOPF leaves it": ({"order": [0, 0, 0, 0]}, "same label"),
    "order against the cost": ({"order": [0, 1, 2, 3]}, "does not sort"),
    "cost of nan": ({"cost": [np.nan, 0, 0, 1]}, "cost_ has values that are not finite"),
    "negative cost": ({"cost": [-1, 0, 0, 1], "order": [0, 1, 2, 3]}, "negative"),
    "cost of a prototype": ({"cost": [1, 0.5, 0, 1], "order": [2, 1, 0, 3]}, "cost_ is not 0"),
    "label of another root": ({"label": [2, 1, 2, 2]}, "label"),
    "feature of infinity": ({"X": np.array([[0.0], [np.inf], [3], [4]])}, "_fit_X has values that are"),
    "negative neighbourhood": ({**DENSE, "best_k": -1}, "n_neighbors"),
    "range beyond 1": ({**DENSE, "highest": 1.5}, "from 0.25 to 1.5"),
    "range upside down": ({**DENSE, "lowest": 0.75}, "from 0.75 to 0.5"),
    "densities below 1": ({**DENSE, "density": [0.5, 1000, 1000, 1]}, "from 0.5 to 1000"),
    "negative longest arc": ({**DENSE, "df": -1.0}, "_fit_largest_arc"),
}


def test_the_chain_is_a_model(read):
    assert read(model_bytes(CHAIN), metric="euclidean").predict([[0.4], [9]]).tolist() == [1, 2]
    assert read(model_bytes(CHAIN._replace(**DENSE))).predict([[0.4], [9]]).tolist() == [1, 2]


@pytest.mark.parametrize("name", FORGED)
def test_forged_values_are_refused(name, read):
    changes, reason = FORGED[name]
    with pytest.raises(ValueError, match=rf"(?s)classifier\.opf cannot be read.*{reason}"):
        read(model_bytes(CHAIN._replace(**changes)))


@pytest.mark.parametrize(
    ("kind", "newer", "metric", "reason"),
    [
        ("clusters", False, "log_sqeuclidean", r"older opf_cluster.*OPFClustering"),
        *(("clusters", True, name, f"{name}.*train again") for name in ("euclidean", "precomputed")),
        *(("supervised", True, given, "has no engine.*precomputed") for given in ("mahalanobis", max)),
        ("supervised", True, "chi2", r"classifier\.opf.*Negative values"),
    ],
)
def test_models_and_metrics_that_do_not_suit_are_refused(kind, newer, metric, reason, models, read):
    with pytest.raises(ValueError, match=reason):
        read(model_bytes(models[kind][0], newer=newer), metric=metric)


# Fuzzing: a ValueError or a model that works, for any content


@pytest.fixture(scope="module")
def sound():
    """Small files, one of each kind and layout that can be read."""
    kinds = [
        *(("supervised", layout) for layout in LAYOUTS),
        ("clusters", LAYOUTS[0]),
        ("nearest", LAYOUTS[2]),
    ]
    return [model_bytes(trained(kind, n=9)[0], *layout) for kind, layout in kinds]


@pytest.fixture(scope="module")
def survive(tmp_path_factory):
    """A function that reads bytes, uses the result, and returns whether that was a model."""
    file = tmp_path_factory.mktemp("fuzz") / "classifier.opf"

    def read_and_use(data):
        file.write_bytes(data)
        try:
            model = read_model(file)
            model.predict(np.zeros((2, model.n_features_in_)))
        except ValueError:
            return False
        return True

    return read_and_use


def test_every_cut_and_every_tail_is_refused(sound, survive):
    for data in sound:
        assert survive(data)
        assert not any(survive(data[:length]) for length in range(len(data)))
        assert not any(survive(data + bytes(length)) for length in (1, 4, 8, 36))


JUNK = [0, 1, -1, 2, 9, 2**31 - 1, -(2**31), 2**16]
words = st.one_of(st.sampled_from(JUNK), st.integers(-(2**31), 2**31 - 1), st.integers(-12, 12))


@settings(max_examples=300)
@given(st.data())
def test_forged_words_are_refused_or_make_a_model_and_take_no_memory(sound, survive, data):
    headers = st.lists(words, min_size=3, max_size=8).map(
        lambda header: struct.pack(f"<{len(header)}i", *header)
    )
    random = st.builds(bytes.__add__, headers, st.integers(0, 400).map(bytes))
    forged = bytearray(data.draw(st.one_of(st.sampled_from(sound), random)))
    places = st.integers(0, len(forged) // 4 - 1)
    for place, word in data.draw(st.lists(st.tuples(places, words), min_size=1, max_size=4)):
        struct.pack_into("<i", forged, 4 * place, word)
    with little_memory():
        survive(forged)
