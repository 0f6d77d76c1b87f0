"""The reference lists every public name, and every one of them has an example that runs."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

INDEX = Path(__file__).parents[2] / "docs" / "api" / "index.rst"
pytestmark = pytest.mark.skipif(not INDEX.exists(), reason="needs the repository")

# Modules whose public names are all meant for users.
WITH_ALL = ("pathforest", *(f"pathforest.{room}" for room in ("plotting", "datasets", "libopf", "dask")))
# Those without `__all__`: what they define themselves, without an underscore, is public.
WITHOUT = ("metrics", "noise", "pruning", "learning", "graph", "membership", "forest")
# Parts of the machinery, for engines rather than for users.
INTERNAL = {
    "pathforest.graph.shorter_lists",
    "pathforest.graph.spanning_tree_by_asking",
    "pathforest.membership.lower_fence",
    "pathforest.membership.normality",
    "pathforest.pruning.pass_on_names",
    "pathforest.pruning.OPFPruner",  # listed as pathforest.OPFPruner
}


def listed():
    """Return the full names of the index, in order."""
    names, module = [], ""
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"   ([\w.]+)", line):
            names.append(f"{module}.{found[1]}")
    return names


def find(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def defined_in(module):
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
            yield f"{module.__name__}.{name}"


def test_every_public_name_is_listed():
    public = set()
    for name in WITH_ALL:
        module = pytest.importorskip(name)
        public |= {f"{name}.{public_name}" for public_name in module.__all__ if public_name != "__version__"}
    for name in WITHOUT:
        public |= set(defined_in(importlib.import_module(f"pathforest.{name}"))) - INTERNAL
    assert public - set(listed()) == set()


@pytest.mark.parametrize("name", listed())
def test_every_listed_name_is_explained(name):
    text = inspect.getdoc(find(name))
    assert text
    # The loaders of single sets need their data, and point to `load`, whose example they share.
    if inspect.isfunction(find(name)) and not name.startswith("pathforest.datasets.load_"):
        assert ">>> " in text.partition("\nExamples\n")[2], f"{name} has no example"
