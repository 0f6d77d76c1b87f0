"""Parameters of one name read the same everywhere, and docstrings list what signatures have."""

import importlib
import inspect
import re
from collections import defaultdict

import numpy as np
import pytest

import pathforest

pytest.importorskip("imblearn")
pytest.importorskip("distributed")

MODULES = ["distances", "graph", "membership", "forest", "pruning", "learning", "noise", "metrics", "dask"]
# Where a name means something else: the search takes several candidates, stages take arrays, and samplers
# need features.
OWN_TEXT = {
    "FuzzyOPFClassifierCV": {"k_max", "n_conquerors", "cv", "verbose"},
    "OPFClustering": {"k_max", "n_neighbors"},
    "OPFSemiSupervisedClassifier": {"n_neighbors"},
    "OPFUnderSampler": {"metric", "sampling_strategy"},
    "O2PFSampler": {"metric", "sampling_strategy"},
    "search_k": {"k_max"},
    "fuzzy_membership": {"sigma"},
    "grow_forest": {"membership"},
    "grow_forest_complete": {"membership"},
    "balancing_factors": {"codes"},
    "conquer": {"n_conquerors", "engine"},
    "knn_graph": {"engine", "k"},
    "estimate_density": {"k", "search"},
    "density": {"k"},
    "learn": {"model", "X_val"},
    "find_issues": {"y", "method", "n_conquerors"},
    "label_page": {"X", "y", "path"},
    "OnCluster": {"estimator"},
    "explain": {"estimator", "X"},
    "save": {"growable", "model", "path"},
}
# What is random differs everywhere, and so does how long the lists of a graph must be.
EVERYWHERE_OWN = {"random_state", "graph"}


def public():
    yield from (getattr(pathforest, name) for name in pathforest.__all__)
    for module in (importlib.import_module(f"pathforest.{name}") for name in MODULES):
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        yield from (getattr(module, name) for name in names)


def documented(item):
    """Return (name, type, text) of every parameter in a docstring; grouped ones have no type."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n---|\Z)", inspect.getdoc(item) or "", re.S | re.M
    )
    for head, text in re.findall(r"^(\S.*)\n((?: .*\n|\n)+)", f"{section[1]}\n" if section else "", re.M):
        names, _, kind = head.partition(" : ")
        yield from ((name, kind, " ".join(text.split())) for name in names.split(", "))


ITEMS = dict.fromkeys(
    item
    for item in public()
    if callable(item) and item.__module__.startswith("pathforest") and list(documented(item))
)


def test_parameters_of_one_name_read_the_same():
    texts = defaultdict(lambda: defaultdict(list))
    for item in ITEMS:
        for name, kind, text in documented(item):
            if kind and name not in OWN_TEXT.get(item.__name__, ()) and name not in EVERYWHERE_OWN:
                texts[name][re.sub(r", default=.*", "", kind), text].append(item.__name__)
    assert {name: dict(found) for name, found in texts.items() if len(found) > 1} == {}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.__name__)
def test_a_docstring_lists_the_parameters_and_defaults_of_the_signature(item):
    parameters = inspect.signature(item).parameters
    assert sorted(name for name, *_ in documented(item)) == sorted(parameters)
    for name, kind, _ in documented(item):
        default = re.search(r", default=(.*)", kind)
        expected = parameters[name].default
        if kind:
            assert (default is None) == (expected is inspect.Parameter.empty), name
        if default:
            np.testing.assert_equal(eval(default[1], {"nan": np.nan}), expected, err_msg=name)


def test_no_exception_is_left_over():
    names = {item.__name__: {name for name, *_ in documented(item)} for item in ITEMS}
    assert {owner: own - names[owner] for owner, own in OWN_TEXT.items() if own - names[owner]} == {}
