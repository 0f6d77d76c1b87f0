"""The stories of the gallery have titles, cells and pictures, and write nothing."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs the repository")


def test_stories_have_a_title_and_cells_and_show_their_pictures(tmp_path, monkeypatch):
    """One is drawn: `make docs` tells all of them, and the tests of the site look at their pictures."""
    for script in sorted(FOLDER.glob("plot_*.py")):
        text = script.read_text()
        _, title, rule, *_ = text.splitlines()
        assert rule == "=" * len(title), script.name
        assert "\n# %%\n" in text, script.name
        assert text.endswith("plt.show()\n"), script.name
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")  # what other tests left open
    runpy.run_path(str(FOLDER / "plot_idea.py"))
    assert len(plt.get_fignums()) == 3
    plt.close("all")
    assert list(tmp_path.iterdir()) == []
