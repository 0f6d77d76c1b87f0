"""The page for those who come from OPFython tells the truth: its code runs, its table is right."""

import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import run_python

from pathforest import OPFClassifier, OPFClustering, OPFKNNClassifier

PAGE = Path(__file__).parents[2] / "docs" / "coming_from_opfython.md"
DATA = Path(__file__).parents[1] / "data"
TEXT = PAGE.read_text(encoding="utf-8")
RECORDED = json.loads((DATA / "opfython_distances.json").read_text())
MODELS = json.loads((DATA / "opfython_models.json").read_text())

# | `name` | `metric` | `their value` | remarks |
ROWS = re.findall(r"^\| `(\w+)` \| `((?:\"|lambda).*?)` \| `(.*?)` \| (.*) *\|$", TEXT, re.MULTILINE)


VECTORS = np.array(RECORDED["vectors"])
POSITIVE = np.random.default_rng(0).dirichlet(np.ones(4), 20) * 0.99 + 0.0025


def test_the_table_has_every_distance_once():
    assert [name for name, *_ in ROWS] == sorted(RECORDED["distances"])
    assert len(ROWS) == 47


@pytest.mark.parametrize(("name", "metric", "theirs", "remark"), ROWS, ids=[row[0] for row in ROWS])
def test_the_table_gives_the_distance_of_opfython_and_says_what_is_odd(name, metric, theirs, remark):
    metric = eval(metric, {"np": np})
    values = {tuple(pair): d for pair, d in zip(RECORDED["pairs"], RECORDED["distances"][name], strict=True)}
    for (i, j), recorded in values.items():
        x, y = VECTORS[[i, j]]
        # A model refuses negative values; some of these functions have them, and the page says which.
        if recorded >= 0 or isinstance(metric, str):
            d = OPFClassifier(metric=metric).fit([y], [0]).class_costs([x])[0, 0]
        else:
            d = metric(x, y)
        found = eval(theirs, {"np": np, "d": d, "n": len(x), "x": x, "y": y})
        assert found == pytest.approx(recorded, rel=1e-12, abs=1e-13)
    if name != "statistic":
        is_symmetric = all(abs(d - values[j, i]) < 1e-9 for (i, j), d in values.items())
        assert ("not symmetric" in remark) == (not is_symmetric)
        assert ("negative" in remark) == (min(values.values()) < 0)
    if callable(metric):
        assert OPFClassifier(metric=metric).fit(POSITIVE, np.arange(20) % 2).training_error_ == 0


def test_code_runs_and_prints_what_the_page_says():
    globs = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(block, globs)
    assert run_python(TEXT, globs, PAGE, flags=doctest.NORMALIZE_WHITESPACE) > 20


# What the page says about answers


X, Y, Q = (np.array(values) for values in MODELS["samples"])


def test_labels_clusters_and_their_numbers_are_the_same():
    for metric in ("log_sqeuclidean", "euclidean"):
        expected = MODELS["SupervisedOPF"]["predict"]
        assert OPFClassifier(metric=metric).fit(X, Y).predict(Q).tolist() == expected
    expected = MODELS["UnsupervisedOPF"]
    model = OPFClustering(selection="cut", metric="log_sqeuclidean", k_max=8).fit(X)
    assert (model.best_k_, model.labels_.tolist()) == (expected["best_k"], expected["labels"])
    expected = MODELS["KNNSupervisedOPF"]
    split = [(np.arange(40), np.arange(40, 60))]
    model = OPFKNNClassifier(metric="log_sqeuclidean", k_max=8, cv=split).fit(X, Y)
    assert model.best_k_ == expected["best_k"]
    model = OPFKNNClassifier(metric="log_sqeuclidean", n_neighbors=expected["best_k"]).fit(X[:40], Y[:40])
    assert model.predict(Q).tolist() == expected["predict"]


def test_ties_cost_as_many_labels_as_the_page_says():
    grid, classes = (np.array(values) for values in MODELS["ties"]["samples"])
    lost = np.sum(classes != MODELS["ties"]["labels"])
    said = f"on the {len(grid)} grid points in `tests/data/opfython_models.json`, {lost} training samples"
    assert said in " ".join(TEXT.split())
    assert OPFClassifier().fit(grid, classes).training_error_ == 0
