"""The reference lists every public name, with an example, and docstrings list what signatures have."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
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


def documented(item):
    """Yield name and type of every parameter in a docstring; grouped ones have no type."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n---|\Z)", inspect.getdoc(item), re.S | re.M)
    for head in re.findall(r"^(\S.*)\n(?: .*\n|\n)+", f"{section[1]}\n" if section else "", re.M):
        names, _, kind = head.partition(" : ")
        yield from ((name, kind) for name in names.split(", "))


@pytest.mark.parametrize("name", listed())
def test_every_listed_name_is_explained_with_an_example_and_its_parameters_and_defaults(name):
    item = find(name)
    text = inspect.getdoc(item)
    assert text
    if inspect.isfunction(item):
        assert ">>> " in text.partition("\nExamples\n")[2], f"{name} has no example"
    if found := list(documented(item)):
        parameters = inspect.signature(item).parameters
        assert sorted(parameter for parameter, _ in found) == sorted(parameters)
        for parameter, kind in found:
            default, expected = re.search(r", default=(.*)", kind), parameters[parameter].default
            assert not kind or (default is None) == (expected is inspect.Parameter.empty), parameter
            if default:
                np.testing.assert_equal(eval(default[1], {"nan": np.nan}), expected, err_msg=parameter)
