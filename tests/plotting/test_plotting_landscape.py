"""The landscape of a search: what it shows, not how it looks."""

import sys

import numpy as np
import pytest

from pathforest import FuzzyOPFClassifierCV
from pathforest.plotting import plot_landscape

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def search():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 1.5 * y[:, None]
    return FuzzyOPFClassifierCV(
        transforms=None,
        k_max=(2, 5, 9),
        sigmas=(0.2, 1.0, 1.2),
        competitions=("tree", "complete"),
        n_conquerors=(1, 5),
        cv=2,
    ).fit(X, y)


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel() == "k_max"]


def test_there_is_a_panel_per_competition(search):
    titles = [axes.get_title() for axes in panels(search.plot_landscape())]
    assert titles == ['competition="tree"', 'competition="complete"']


def test_each_place_shows_the_best_over_the_other_parameters(search):
    results = search.cv_results_
    for axes in panels(search.plot_landscape()):
        shown = axes.images[0].get_array()
        for (row, column), value in np.ndenumerate(np.ma.filled(shown, np.nan)):
            competition = axes.get_title().split('"')[1]
            sigma, k = (0.2, 1.0, 1.2)[row], (2, 5, 9)[column]
            cells = [
                score
                for params, score in zip(results["params"], results["mean_test_score"], strict=True)
                if (params["k_max"], params["sigma"], params["competition"]) == (k, sigma, competition)
            ]
            assert value == max(cells) if cells else np.isnan(value)


def test_a_score_of_nan_leaves_the_others_of_its_place(search):
    results = dict(search.cv_results_)
    results["mean_test_score"] = results["mean_test_score"].copy()
    first = results["param_n_conquerors"] == 1
    results["mean_test_score"][first] = np.nan
    left = results["mean_test_score"][~first]
    shown = [axes.images[0].get_array() for axes in panels(plot_landscape(results, search.best_params_))]
    assert sum(np.isfinite(np.ma.filled(values, np.nan)).sum() for values in shown) == len(left)


def test_without_any_score_there_is_nothing_to_draw(search):
    results = {**search.cv_results_, "mean_test_score": np.full(len(search.cv_results_["params"]), np.nan)}
    with pytest.raises(ValueError, match="every mean score is nan"):
        plot_landscape(results, search.best_params_)


def test_every_place_with_the_best_score_has_a_frame(search):
    shown = [np.ma.filled(axes.images[0].get_array(), np.nan) for axes in panels(search.plot_landscape())]
    frames = [len(axes.patches) for axes in panels(search.plot_landscape())]
    assert frames == [int(np.sum(values == search.best_score_)) for values in shown]


def test_trials_are_drawn_as_points(search):
    results = dict(search.cv_results_)
    results["param_sigma"] = np.linspace(0.2, 0.9, len(results["params"]))
    results["param_k_max"] = np.arange(1, len(results["params"]) + 1)
    figure = plot_landscape(results, {**search.best_params_, "k_max": 3, "sigma": 0.4})
    points = sum(len(axes.collections[0].get_offsets()) for axes in panels(figure))
    assert points == len(results["params"])


def test_a_figure_given_is_drawn_into(search):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    assert plot_landscape(search.cv_results_, search.best_params_, figure=figure) is figure
    assert len(panels(figure)) == 2


def test_the_figure_can_be_saved(search, tmp_path):
    search.plot_landscape().savefig(tmp_path / "landscape.png")
    assert (tmp_path / "landscape.png").stat().st_size > 10_000


def test_without_matplotlib_the_error_says_how_to_get_it(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pathforest\[plot\]"):
        search.plot_landscape()
