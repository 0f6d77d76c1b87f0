"""Builds pathforest.wasm, and compares its arrays, called from Node, with those of the Python package."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from pathforest import FuzzyOPFClassifier, OPFClassifier, OPFClustering

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "platforms"))
from platforms import build_other  # noqa: E402

SCRIPT = """
import { readFileSync } from "node:fs";
import { load } from "MODULE";
const pathforest = await load(readFileSync("WASM"));
const answers = JSON.parse(readFileSync(0, "utf8")).map(({ X, y, Q, ...options }) => {
  const samples = { X: Float64Array.from(X.flat()), nFeatures: X[0].length, ...options };
  try {
    if (!y) return pathforest.cluster(samples).arrays;
    const model = pathforest.fit({ ...samples, y: Int32Array.from(y) });
    return { ...model.arrays, ...model.predict(Float64Array.from(Q.flat()), options) };
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
    forest = ["prototypes_", "cost_", "predecessor_", "root_", "order_", "label_"]
    fuzzy = [*forest, "density_", "cuts_", "best_k_", "membership_"]
    clusters = ["labels_", "cost_", "predecessor_", "root_", "density_", "cuts_", "best_k_"]
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
        given = {"X": X.tolist(), "metric": metric, "p": p}
        for r, options, model, names in (
            (1, {}, OPFClassifier(**shared), forest),
            (3, {"kMax": 8, "sigma": 0.6}, FuzzyOPFClassifier(k_max=8, sigma=0.6, **shared), fuzzy),
            (
                2,
                {"kMax": 5, "sigma": 0.3, "alongTree": True},
                FuzzyOPFClassifier(k_max=5, sigma=0.3, competition="tree", **shared),
                fuzzy,
            ),
        ):
            model.set_params(n_conquerors=r).fit(X, y)
            expected = fitted(model, names)
            expected["classes"] = model.predict(Q)
            expected["conquerors"] = np.array([e.conqueror for e in model.explain(Q)])
            expected["costs"] = model.class_costs(Q).ravel()
            yield {**given, **options, "y": y.tolist(), "Q": Q.tolist(), "nConquerors": r}, expected
        model = OPFClustering(selection="cut", k_max=7, **shared).fit(X)
        expected = fitted(model, clusters)
        expected["label"] = expected.pop("labels")
        yield {**given, "kMax": 7}, expected
    wrong = {"X": [[0, 1], [2, 3]], "y": [0, 1], "Q": [[0, 0]]}
    yield {**wrong, "metric": "none"}, "metric 'none' is not known; take euclidean or manhattan"
    yield {**wrong, "sigma": 0}, "sigma must be a positive number"
    yield {**wrong, "X": [[0, -1], [2, 3]], "metric": "chi2"}, "X[0, 1] is -1"


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
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array, err_msg=f"{name} of {question['metric']}")
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
