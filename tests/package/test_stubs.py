"""The committed type stubs of the extension are the ones its bindings generate."""

import difflib
from pathlib import Path

import pytest

import pathforest
from pathforest import _core

STUBS = Path(pathforest.__file__).with_name("_core.pyi")


def test_the_stubs_are_up_to_date():
    StubGen = pytest.importorskip("nanobind.stubgen").StubGen

    generator = StubGen(_core)
    generator.put(_core)
    changed = list(difflib.unified_diff(STUBS.read_text().splitlines(), generator.get().splitlines()))
    assert not changed, "run `make stubs`:\n" + "\n".join(changed)
