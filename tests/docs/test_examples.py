"""The examples: what they conclude follows from what they measure, and stories have titles and pictures."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs the repository")


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
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


def test_stories_have_a_title_and_cells_and_save_their_pictures_where_they_should_be(tmp_path, monkeypatch):
    """One is drawn: `make docs` tells all of them, and the tests of the site look at their pictures."""
    for script in sorted(FOLDER.glob("plot_*.py")):
        text = script.read_text()
        _, title, rule, *_ = text.splitlines()
        assert rule == "=" * len(title), script.name
        assert "\n# %%\n" in text, script.name
        assert text.endswith("plt.show()\n"), script.name
    pytest.importorskip("matplotlib")
    here, pictures = tmp_path / "here", tmp_path / "pictures"
    here.mkdir()
    monkeypatch.chdir(here)
    load("__main__").main(pictures, "plot_idea.py")
    names = ["plot_idea.png", "plot_idea_2.png", "plot_idea_3.png"]
    assert sorted(path.name for path in pictures.iterdir()) == names
    assert list(here.iterdir()) == []


def test_the_quickstart_writes_its_figure(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "argv", ["quickstart.py", "--out", str(tmp_path / "figure.png")])
    load("quickstart").main()
    assert (tmp_path / "figure.png").stat().st_size > 100_000
    assert "Fuzzy OPF, spanning tree" in capsys.readouterr().out
