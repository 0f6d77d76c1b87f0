"""Imports point one way through the rooms of the package, and never in a circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pathforest

SOURCES = Path(pathforest.__file__).parent

# From the bottom up: a module imports from lines above its own, and from its own.
ORDER = [
    ["_core"],  # compiled, and imports nothing
    ["_utils"],
    ["_tables"],
    ["_engines"],
    ["distances", "graph", "membership", "forest"],
    ["_persistence"],
    ["_models"],
    ["classifier", "fuzzy"],
    ["preprocessing"],
    ["_search"],
    ["plotting"],
    ["fuzzy_cv", "knn_classifier", "semi_supervised", "clustering", "outlier", "pruning", "noise"],
    ["_pages"],
    ["learning", "resampling", "metrics", "_issues"],
    [""],  # the package itself, which shows names of all these
    ["datasets"],
    ["libopf"],
    ["dask"],
    ["_reproduction"],
    ["_cli"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def module_name(path):
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCES.rglob("*.py"))}
NAMES = {*MODULES, "pathforest._core"}


def room(module):
    return module.partition(".")[2].partition(".")[0]


def imported(module):
    """Modules of the package that a file imports anywhere, also late, for types, or by a literal string."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import; name the module in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == "pathforest":
                while name not in NAMES:  # a function or class: the module it lies in
                    name = name.rpartition(".")[0]
                yield name


IMPORTS = {(module, name) for module in MODULES for name in imported(module)}


def test_every_room_has_its_place():
    assert {room(name) for name in NAMES} == LEVEL.keys()


def test_imports_point_down():
    assert {(m, name) for m, name in IMPORTS if LEVEL[room(name)] > LEVEL[room(m)]} == set()


def test_no_module_imports_itself_by_way_of_others():
    graph = {}
    for module, name in IMPORTS:
        graph.setdefault(module, set()).add(name)
    TopologicalSorter(graph).prepare()  # raises CycleError
