"""Every picture begins without figures, and leaves none behind."""

import pytest


@pytest.fixture(autouse=True)
def no_figures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    yield
    pyplot.close("all")
