"""Builds pathforest.wasm, and compares its arrays, called from Node, with those of the Python package."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering, OPFSemiSupervisedClassifier

HERE = Path(__file__).parent
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
        for height in (None, 20, 300):
            yield clusters(X, Q, shared, given, height)
    many = np.random.default_rng(1).random((200, 2))  # equally high arcs lead to several neighbours
    yield clusters(many, many, {}, {"X": many.tolist(), "Q": many.tolist()}, 100)
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


def clusters(X, Q, shared, given, height):
    """Clusters, low ones merged."""
    model = OPFClustering(selection="cut", k_max=7, threshold=height, **shared).fit(X)
    names = ["cost_", "predecessor_", "root_", "density_", "cuts_", "best_k_", "cluster_roots_"]
    expected = {**fitted(model, names), "label": model.labels_}
    expected["joined"] = model.predict(Q)
    return {**given, "kind": "cluster", "y": [], "kMax": 7, "threshold": height or 0}, expected


def derived(question, got):
    """Find in several arrays of JavaScript what Python has a name for."""
    if question["kind"] == "cluster":
        return {"joined": np.array(got["label"])[got["conquerors"]]}
    classes = np.array(got["classes"])
    return {"best": np.reshape(got["conquerors"], (len(classes), -1))[np.arange(len(classes)), classes]}


def compare(folder):
    """Ask all questions in one Node process."""
    questions, answers = zip(*problems(), strict=True)
    script = SCRIPT.replace("MODULE", str(folder / "pathforest.mjs"))
    script = script.replace("WASM", str(folder / "pathforest.wasm"))
    found = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        sys.exit(found.stderr)
    for question, expected, got in zip(questions, answers, json.loads(found.stdout), strict=True):
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


def main():
    """Put the module and its loader into build/wasm."""
    built = build_other("wasm", "pathforest_wasm")
    if built is None:
        return
    folder = built.parents[1] / "wasm"
    folder.mkdir(exist_ok=True)
    for file in (built / "pathforest.wasm", HERE / "pathforest.mjs", HERE / "system.mjs"):
        shutil.copy(file, folder)
    module = (folder / "pathforest.wasm").read_bytes()
    print(f"{folder}: pathforest.wasm, {len(module):,} bytes, {len(gzip.compress(module)):,} compressed")
    compare(folder)


if __name__ == "__main__":
    main()
