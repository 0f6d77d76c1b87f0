"""How far a few labels lead, by what is asked: python -m benchmarks.studies.labelling (needs Node).

Up to 1,000 samples of a table, drawn anew in each repeat and standardised; none has a label at first. The
page of `pathforest label` asks by its own code, every fifth sample by lot. Uncertainty sampling draws its
first ten samples, then asks for the one whose largest probability is smallest. Accuracy is that of all
samples that were not asked for.
"""

import json
import subprocess
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from benchmarks import study
from benchmarks.studies.problems import load
from benchmarks.tables import bold_best, markdown
from pathforest import OPFClustering, OPFSemiSupervisedClassifier
from pathforest._pages.label import HERE, flow_arrays

TABLES = ("digits", "breast_cancer", "landsat")
AMOUNTS = (10, 20, 40, 80, 160)
LARGEST, SHARE = 1000, 0.8  # samples of a repeat, at most, and of a table
DRAWN = 10  # samples before the first that is uncertain

PAGE = """
import { readFileSync } from "node:fs";
const Flow = new Function(readFileSync("SCRIPT", "utf8") + "; return Flow;")();
const { y, roots, arrays, most, lots } = JSON.parse(readFileSync(0, "utf8"));
const lists = { roots };
for (const name of ["distances", "features"]) lists[name] = Float64Array.from(arrays[name]);
for (const name of ["indices", "elsewhere", "clusters"]) lists[name] = Int32Array.from(arrays[name]);
const run = await Flow.open(readFileSync("WASM"), lists, y.length);
const labels = new Int32Array(y.length).fill(-1), names = [...new Set(y)].sort((a, b) => a - b).map(String);
const asked = [];
while (asked.length < most) {
  const byLot = lots && asked.length % 5 === 4;
  const sample = byLot ? Flow.lot(labels, new Set(), asked.length)
    : Flow.ask(run(labels, names, true), labels, new Set(), lists)[0].sample;
  labels[sample] = y[sample];
  asked.push(sample);
}
console.log(JSON.stringify(asked));
"""


def units(repeats: int) -> Iterator[study.Unit]:
    """List every table with each draw of samples."""
    yield from ((name, i) for i in range(repeats) for name in TABLES)


def asked_by_page(X: np.ndarray, y: np.ndarray, lots: bool) -> np.ndarray:
    """Return the samples that the page asks about, in its order, or those that its queue does."""
    clusters = OPFClustering().fit(X)
    arrays = flow_arrays(X) | {"clusters": clusters.labels_}
    script = PAGE.replace("SCRIPT", str(HERE / "flow.js")).replace("WASM", str(HERE / "flow.wasm"))
    question = {
        "y": y.tolist(),
        "roots": clusters.cluster_roots_.tolist(),
        "arrays": {name: array.ravel().tolist() for name, array in arrays.items()},
        "most": max(AMOUNTS),
        "lots": lots,
    }
    node = ["node", "--input-type=module", "-e", script]
    said = subprocess.run(node, input=json.dumps(question), capture_output=True, text=True, check=True)
    return np.array(json.loads(said.stdout))


def asked_where_unsure(X: np.ndarray, y: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return the first that were drawn, and then those of which `LabelSpreading` is least sure."""
    asked = drawn[:DRAWN].tolist()
    while len(asked) < max(AMOUNTS):
        sure = LabelSpreading(kernel="knn").fit(X, known(y, asked)).label_distributions_.max(axis=1)
        sure[asked] = np.inf
        asked.append(int(np.argmin(sure)))
    return np.array(asked)


def known(y: np.ndarray, asked: np.ndarray | list[int]) -> np.ndarray:
    """Return the labels that were asked for, -1 for the others."""
    labels = np.full(len(y), -1)
    labels[asked] = y[asked]
    return labels


def measure(name: str, repeat: int) -> list[study.Row]:
    """Ask for labels in each way, and spread those of each amount."""
    X, y = load(name)
    rng = np.random.default_rng([repeat, *name.encode()])
    chosen = rng.permutation(len(X))[: min(LARGEST, int(SHARE * len(X)))]
    X, y, drawn = StandardScaler().fit_transform(X[chosen]), y[chosen], rng.permutation(len(chosen))
    ours, theirs = OPFSemiSupervisedClassifier(), LabelSpreading(kernel="knn")
    rows = []
    for method, asked, model in (
        ("the page, labels flow", asked_by_page(X, y, lots=True), ours),
        ("its queue alone, labels flow", asked_by_page(X, y, lots=False), ours),
        ("random, labels flow", drawn, ours),
        ("random, `LabelSpreading`", drawn, theirs),
        ("uncertain, `LabelSpreading`", asked_where_unsure(X, y, drawn), theirs),
    ):
        for amount in AMOUNTS:
            found = model.fit(X, known(y, asked[:amount])).transduction_
            rest = np.setdiff1d(np.arange(len(y)), asked[:amount])
            score = float(np.mean(found[rest] == y[rest]))
            rows.append({"set": name, "method": method, "amount": amount, "score": score})
    return rows


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write the mean accuracy of each way, by table and number of labels."""
    means = 100 * table.groupby(["set", "amount", "method"], sort=False).score.mean().unstack(sort=False)
    lines = [[name, str(amount), *bold_best(row.tolist(), ".1f")] for (name, amount), row in means.iterrows()]
    return {"labelling": markdown(["table", "labels", *means.columns], lines)}


if __name__ == "__main__":
    study.main("labelling", __doc__, units, measure, report, repeats=10)
