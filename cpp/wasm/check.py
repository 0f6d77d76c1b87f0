"""Builds the modules of WebAssembly, and compares what they answer in Node with the Python package.

pathforest.wasm goes into build/wasm. flow.wasm is part of the package, and is written there together with a
checksum of its sources.
"""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFSemiSupervisedClassifier
from pathforest._core import geodesic_paths
from pathforest._pages.label import flow, flow_arrays
from pathforest.distances import make_engine
from pathforest.graph import knn_graph

HERE = Path(__file__).parent
MANY = 900  # samples of so many components that features decide
PAGES = HERE.parents[1] / "src" / "pathforest" / "_pages"
sys.path.insert(0, str(HERE.parent / "platforms"))
from platforms import build_other  # noqa: E402, found by the line above

SCRIPT = """
import { readFileSync } from "node:fs";
import { load } from "MODULE";
const pathforest = await load(readFileSync("WASM"));
const answers = JSON.parse(readFileSync(0, "utf8")).map(({ kind, X, y, Q, ...options }) => {
  const [numbers, queries] = [X, Q].map((rows) => Float64Array.from(rows.flat()));
  const samples = { X: numbers, y: Int32Array.from(y), nFeatures: X[0].length, ...options };
  try {
    const model = pathforest[kind](samples);
    if (kind === "cluster") return { ...model.arrays, ...model.join(queries) };
    const found = model.predict(queries, options);
    const probabilities = pathforest.probabilities(found.costs, Math.max(...y) + 1);
    return { ...model.arrays, ...found, probabilities };
  } catch (error) {
    return { error: error.message };
  }
});
console.log(JSON.stringify(answers, (_, v) => (ArrayBuffer.isView(v) ? Array.from(v) : v)));
"""

FLOW = """
import { readFileSync } from "node:fs";
const Flow = new Function(readFileSync("SCRIPT", "utf8") + "; return Flow;")();
const bytes = readFileSync("WASM");
const answers = [];
const questions = JSON.parse(readFileSync(0, "utf8"));
for (const { distances, indices, elsewhere, features, n, names, ofIntegers, labels } of questions) {
  const integers = { indices: Int32Array.from(indices), elsewhere: Int32Array.from(elsewhere) };
  const numbers = { distances: Float64Array.from(distances), features: Float64Array.from(features) };
  const run = await Flow.open(bytes, { ...integers, ...numbers }, n);
  for (const given of labels) answers.push(run(Int32Array.from(given), names, ofIntegers));
}
console.log(JSON.stringify(answers, (_, v) => (ArrayBuffer.isView(v) ? Array.from(v) : v)));
"""


def fitted(model, names):
    """Return the arrays of a model under the names they have in JavaScript."""
    return {name.rstrip("_"): np.atleast_1d(getattr(model, name)) for name in names}


def problems():
    """Questions to the module, and the arrays to expect."""
    rng = np.random.default_rng(0)
    for n, d, metric, p, classes in (
        (60, 2, "euclidean", 2, 3),
        (45, 2, "minkowski", 3, 2),
        (50, 11, "log_sqeuclidean", 2, 4),
        (40, 3, "cosine", 2, 1),
        (2, 2, "manhattan", 2, 2),
    ):
        X, Q = rng.integers(0, 6, (n, d)) + 0.25 * rng.random((n, d)).round(1) + 1, rng.random((30, d)) * 7
        y = rng.integers(0, classes, n)
        y[:classes] = range(classes)
        shared = {"metric": metric, "metric_params": {"p": p} if metric == "minkowski" else None}
        given = {"X": X.tolist(), "Q": Q.tolist(), "metric": metric, "p": p}
        yield from classifiers(X, y, Q, shared, given)
        for k, height in ((0, 0), (7, 0), (7, 20), (0, 300)):
            yield clusters(X, Q, shared, given, k, height)
    many = np.random.default_rng(1).random((200, 2))  # equally high arcs lead to several neighbours
    for k, height in ((0, 0), (4, 0), (4, 100)):
        yield clusters(many, many, {}, {"X": many.tolist(), "Q": many.tolist()}, k, height)
    apart = np.concatenate([rng.random((20, 2)), rng.random((20, 2)) + 100, rng.random((5, 2)) - 100])
    few = np.full(45, -1)
    few[[3, 11]] = 0, 1  # no path leads to the samples that lie apart
    yield semi_supervised(apart, few, apart, {}, {"X": apart.tolist(), "Q": apart.tolist()}, 1)
    wrong = {"kind": "fit", "X": [[0, 1], [2, 3]], "y": [0, 1], "Q": [[0, 0]]}
    yield {**wrong, "metric": "none"}, "metric 'none' is not known; take euclidean or manhattan"
    yield {**wrong, "sigma": 0}, "sigma must be a positive number"
    yield {**wrong, "X": [[0, -1], [2, 3]], "metric": "chi2"}, "X[0, 1] is -1"
    yield {**wrong, "kind": "spread", "y": [-1, 1]}, "class 0 has no sample with a label"


def classifiers(X, y, Q, shared, given):
    """Plain, fuzzy and semi-supervised forests of one set."""
    fuzzy = ["density_", "cuts_", "best_k_", "membership_"]
    for r, options, model, names in (
        (1, {}, OPFClassifier(**shared), []),
        (3, {"kMax": 8, "sigma": 0.6}, FuzzyOPFClassifier(k_max=8, sigma=0.6, **shared), fuzzy),
        (1, {"kMax": 8, "sigma": 1}, FuzzyOPFClassifier(k_max=8, sigma=1, **shared), fuzzy),
        (
            2,
            {"kMax": 5, "sigma": 0.3, "alongTree": True},
            FuzzyOPFClassifier(k_max=5, sigma=0.3, competition="tree", **shared),
            fuzzy,
        ),
    ):
        question = {**given, **options, "kind": "fit", "y": y.tolist(), "nConquerors": r}
        yield question, answers_of(model.set_params(n_conquerors=r).fit(X, y), Q, names)
    few = np.where(np.arange(len(y)) < 2 * len(np.unique(y)), y, -1)
    yield semi_supervised(X, few, Q, shared, given, 2)


def semi_supervised(X, y, Q, shared, given, r):
    """Labels that spread."""
    model = OPFSemiSupervisedClassifier(n_neighbors=6, n_conquerors=r, **shared).fit(X, y)
    question = {**given, "kind": "spread", "y": y.tolist(), "nNeighbors": 6, "nConquerors": r}
    return question, answers_of(model, Q, ["class_factors_"])


def answers_of(model, Q, names):
    """Return what a classifier knows, and what it says of queries."""
    forest = ["prototypes_", "cost_", "predecessor_", "root_", "order_", "label_"]
    return {
        **fitted(model, [*forest, *names]),
        "classes": model.predict(Q),
        "best": np.array([e.conqueror for e in model.explain(Q)]),
        "costs": model.class_costs(Q).ravel(),
        "probabilities": model.predict_proba(Q).ravel(),
    }


def clusters(X, Q, shared, given, k, height):
    """Clusters, low ones merged; 0 stands for the defaults."""
    k = min(k, len(X) - 1)
    model = OPFClustering(n_neighbors=k or None, threshold=height or None, **shared).fit(X)
    names = ["cost_", "predecessor_", "root_", "density_", "best_k_", "cluster_roots_"]
    expected = {**fitted(model, names), "label": model.labels_}
    expected["joined"] = model.predict(Q)
    return {**given, "kind": "cluster", "y": [], "nNeighbors": k, "threshold": height}, expected


def derived(question, got):
    """Find in several arrays of JavaScript what Python has a name for."""
    if question["kind"] == "cluster":
        return {"joined": np.array(got["label"])[got["conquerors"]]}
    classes = np.array(got["classes"])
    return {"best": np.reshape(got["conquerors"], (len(classes), -1))[np.arange(len(classes)), classes]}


def in_node(script, questions):
    """Ask all questions in one Node process."""
    found = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        sys.exit(found.stderr)
    return json.loads(found.stdout)


def compare(folder):
    """Compare forests, clusters and predictions."""
    questions, answers = zip(*problems(), strict=True)
    script = SCRIPT.replace("MODULE", str(folder / "pathforest.mjs"))
    found = in_node(script.replace("WASM", str(folder / "pathforest.wasm")), questions)
    for question, expected, got in zip(questions, answers, found, strict=True):
        if isinstance(expected, str):
            assert got["error"].startswith(expected), got
            continue
        assert "error" not in got, got["error"]
        got |= derived(question, got)
        probabilities = expected.pop("probabilities", None)
        if probabilities is not None:  # powers differ in the last bit from machine to machine
            np.testing.assert_allclose(got["probabilities"], probabilities, rtol=1e-14)
        for name, array in expected.items():
            found_array = [np.inf if value is None else value for value in got[name]]  # JSON has no infinity
            np.testing.assert_array_equal(found_array, array, err_msg=f"{name} of {question}")
    print(f"{len(questions)} models in WebAssembly are those of Python")


def given_labels():
    """Yield samples, names of classes, and labels that a person could give one after another."""
    rng, names = np.random.default_rng(2), ["b", "a", "10", "9", "\U0001f332", "\uffee"]
    for n, d, values, apart in (
        (2, 1, 2, 0),
        (30, 2, 4, 0),  # ties and copies
        (60, 3, 9, 1000),  # four components
        (400, 1, 38, 1),  # eleven
        (MANY, 1, 40, 0),  # forty
        (200, 5, 9, 0),
    ):
        X = rng.integers(0, values, (n, d)) / 4 + apart * rng.integers(0, 4, (n, 1))
        labels = np.full(n, -1)
        steps = []
        for code in range(len(names)):
            labels[rng.integers(0, n, 1 + n // 30)] = code
            if code == 4:
                labels[labels == 1] = -1  # taken back
            steps.append(labels.copy())
        yield X, names, steps
        yield X, ["7", "-3", "10", "9", "2", "1"], steps


def left_out(X, codes, factors):
    """Return the class of each sample with a label by the paths of the others; -1 if there are none."""
    graph = knn_graph(make_engine(X, "sqeuclidean"), min(10, len(X) - 1))
    found = np.full(len(X), -1)
    for sample in np.flatnonzero(codes >= 0):
        costs = []
        for code, factor in enumerate(factors):
            seeds = np.setdiff1d(np.flatnonzero(codes == code), sample).astype(np.int32)
            costs.append(factor * geodesic_paths(*graph, seeds, np.ones(len(seeds)))[0][sample])
        is_only = (codes == codes[sample]).sum() == 1
        found[sample] = -1 if is_only or np.isinf(costs).all() else np.argmin(costs)
    return found


def compare_flows(wasm):
    """Compare labels that flow, after every change, with those of Python; return how often."""
    cases = list(given_labels())
    questions = [
        {
            **{name: array.ravel().tolist() for name, array in flow_arrays(X).items()},
            "n": len(X),
            "names": names,
            "ofIntegers": "7" in names,
            "labels": [labels.tolist() for labels in steps],
        }
        for X, names, steps in cases
    ]
    script = FLOW.replace("SCRIPT", str(PAGES / "flow.js")).replace("WASM", str(wasm))
    found = iter(in_node(script, questions))
    for X, names, steps in cases:
        for labels in steps:
            got, is_integer = next(found), "7" in names
            given = np.array([*names, "-99" if is_integer else ""])[labels]
            y = given.astype(int) if is_integer else given
            model = OPFSemiSupervisedClassifier(unlabeled=-99 if is_integer else "").fit(X, y)
            assert min(got["label"]) >= 0
            assert np.array(names)[got["label"]].tolist() == model.transduction_.astype(str).tolist()
            np.testing.assert_array_equal(got["from"], model.predecessor_)
            np.testing.assert_array_equal(got["factors"], model.class_factors_)
            codes = np.where(labels < 0, -1, np.searchsorted(model.classes_, y))
            np.testing.assert_allclose(got["confidence"], flow(X, codes).confidence, rtol=1e-13)
            if len(X) < MANY:
                checked = [int(code) for code in left_out(X, codes, model.class_factors_)]
                numbers = [names.index(str(label)) for label in model.classes_.tolist()]
                assert got["checked"] == [numbers[code] if code >= 0 else -1 for code in checked]
    return sum(len(steps) for _, _, steps in cases)


def checksum(*names):
    """Return a checksum of sources and all they include of ours, whatever their comments and spaces are."""
    waiting, seen = [HERE.parents[1] / "cpp" / name for name in names], {}
    while waiting:
        path = waiting.pop()
        if path not in seen:
            text = seen[path] = path.read_text(encoding="utf-8")
            places = (HERE.parent / "include", path.parent)
            included = [place / name for name in re.findall('#include "(.*?)"', text) for place in places]
            waiting += filter(Path.exists, included)
    text = "".join(seen[path] for path in sorted(seen))
    return hashlib.sha256("".join(re.sub("//.*", "", text).split()).encode()).hexdigest()


def flow_checksum():
    """Return the checksum of what flow.wasm is made of."""
    return checksum("wasm/flow.cpp", "wasm/exceptions.cpp", "src/forest/geodesic.cpp")


def main():
    """Put the modules where they belong."""
    built = build_other("wasm", "pathforest_wasm")
    if built is None:
        return
    build_other("wasm", "pathforest_flow")
    print(f"{compare_flows(built / 'flow.wasm')} times, labels flow in WebAssembly as in Python")
    if (PAGES / "flow.sha256").read_text().strip() != flow_checksum():
        shutil.copyfile(built / "flow.wasm", PAGES / "flow.wasm")
        (PAGES / "flow.sha256").write_text(f"{flow_checksum()}\n")
    folder = built.parents[1] / "wasm"
    folder.mkdir(exist_ok=True)
    for file in (built / "pathforest.wasm", HERE / "pathforest.mjs", HERE / "system.mjs"):
        shutil.copy(file, folder)
    module = (folder / "pathforest.wasm").read_bytes()
    print(f"{folder}: pathforest.wasm, {len(module):,} bytes, {len(gzip.compress(module)):,} compressed")
    compare(folder)


if __name__ == "__main__":
    main()
