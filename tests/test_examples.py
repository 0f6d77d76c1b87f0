"""What the examples conclude follows from what they measure."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs the repository")


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("gain", "word"),
    [([2.0, 2.5, 1.5], "better"), ([-2.0, -2.5, -1.5], "worse"), ([2.0, -2.0, 1.0], "level")],
)
def test_memberships_are_judged_by_their_gain(gain, word, capsys):
    plain = np.array([[80.0, 81.0, 82.0]])
    load("memberships").conclude({"none (plain OPF)": plain, "density (paper)": plain + gain})
    assert capsys.readouterr().out.rstrip().endswith(word)


def test_models_are_counted_until_the_score_is_reached():
    models_until = load("continuous_search").models_until
    assert models_until([0.5, 0.8, 0.9], 0.8) == 2
    assert models_until([0.5], 0.8) is None
