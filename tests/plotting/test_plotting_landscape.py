"""The landscape of a search: what it shows, not how it looks."""

import sys
from copy import copy

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV
from pathforest.plotting import plot_landscape

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402


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


def panels(display, x="k_max"):
    return [axes for axes in display.axes_ if axes.get_xlabel() == x]


def over_the_paper_s_parameters(search):
    return panels(plot_landscape(search, x="k_max", y="sigma"))


def changed(search, best=None, **results):
    """A search with other results."""
    other = copy(search)
    other.cv_results_ = {**search.cv_results_, **results}
    other.best_params_ = {**search.best_params_, **(best or {})}
    return other


@pytest.fixture(autouse=True)
def no_figures():
    yield
    plt.close("all")


def test_there_is_a_panel_per_competition(search):
    titles = [axes.get_title() for axes in over_the_paper_s_parameters(search)]
    assert titles == ['competition="tree"', 'competition="complete"']


def test_each_place_shows_the_best_over_the_other_parameters(search):
    results = search.cv_results_
    for axes in over_the_paper_s_parameters(search):
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
    score = search.cv_results_["mean_test_score"].copy()
    first = search.cv_results_["param_n_conquerors"] == 1
    score[first] = np.nan
    other = changed(search, mean_test_score=score)
    shown = [axes.images[0].get_array() for axes in over_the_paper_s_parameters(other)]
    assert sum(np.isfinite(np.ma.filled(values, np.nan)).sum() for values in shown) == sum(~first)


def test_without_any_score_there_is_nothing_to_draw(search):
    nothing = np.full(len(search.cv_results_["params"]), np.nan)
    with pytest.raises(ValueError, match="every mean score is nan"):
        plot_landscape(changed(search, mean_test_score=nothing))


def test_every_place_with_the_best_score_has_a_frame(search):
    axes = over_the_paper_s_parameters(search)
    shown = [np.ma.filled(one.images[0].get_array(), np.nan) for one in axes]
    assert [len(one.patches) for one in axes] == [
        int(np.sum(values == search.best_score_)) for values in shown
    ]


def test_trials_are_drawn_as_points(search):
    n = len(search.cv_results_["params"])
    spread = {"param_sigma": np.linspace(0.2, 0.9, n), "param_k_max": np.arange(1, n + 1)}
    best = {"k_max": 3, "sigma": spread["param_sigma"][2]}
    drawn = over_the_paper_s_parameters(changed(search, best, **spread))
    assert sum(len(axes.collections[0].get_offsets()) for axes in drawn) == n


def test_the_parameters_that_matter_most_are_the_axes(search):
    params = search.cv_results_["params"]
    score = [0.9 + 0.05 * (p["n_conquerors"] == 5) + 0.01 * (p["sigma"] == 1.0) for p in params]
    best = {"k_max": 2, "sigma": 1.0, "competition": "tree", "n_conquerors": 5}
    display = plot_landscape(changed(search, best, mean_test_score=np.array(score)))
    assert {display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()} == {"n_conquerors", "sigma"}
    bars = display.worth_ax_
    assert bars.get_title() == "what matters"
    worth = dict(zip([t.get_text() for t in bars.get_yticklabels()], bars.patches, strict=True))
    found = {name: bar.get_width() for name, bar in worth.items()}
    expected = {"n_conquerors": 0.05, "sigma": 0.01, "k_max": 0, "competition": 0}
    assert found == pytest.approx(expected, abs=1e-12)


def test_representations_have_panels_if_there_is_one_competition():
    X, y = load_iris(return_X_y=True)
    search = FuzzyOPFClassifierCV(transforms="kernel", k_max=(3, 5), sigmas=1.0, n_conquerors=(1, 3), cv=2)
    display = plot_landscape(search.fit(X, y))
    titles = [axes.get_title() for axes in panels(display, "n_conquerors")]
    assert len(titles) == 3
    assert f'transform="{search.best_params_["transform"]}"' in titles


@pytest.mark.parametrize(
    ("axes", "message"),
    [({"x": "metric"}, "x='metric' is unknown"), ({"x": "sigma", "y": "sigma"}, "both 'sigma'")],
)
def test_axes_that_make_no_sense_are_refused(search, axes, message):
    with pytest.raises(ValueError, match=message):
        plot_landscape(search, **axes)


def test_a_figure_given_is_drawn_into(search):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    display = plot_landscape(search, x="k_max", figure=figure)
    assert display.figure_ is figure
    assert len(panels(display)) == 2


def test_a_new_figure_belongs_to_pyplot(search):
    display = search.plot_landscape()
    assert [plt.figure(number) for number in plt.get_fignums()] == [display.figure_]


def test_a_notebook_shows_the_picture_once(search):
    """It draws the figures of pyplot, so what a cell returns must not be a figure."""
    display = search.plot_landscape()
    assert not hasattr(display, "savefig")
    assert repr(display).startswith(f"<LandscapeDisplay: best {search.best_score_:.4f}, shared by")


def test_the_figure_can_be_saved(search, tmp_path):
    search.plot_landscape().figure_.savefig(tmp_path / "landscape.png")
    assert (tmp_path / "landscape.png").stat().st_size > 10_000


def test_an_unfitted_search_is_refused():
    with pytest.raises(NotFittedError):
        plot_landscape(FuzzyOPFClassifierCV())


def test_without_matplotlib_the_error_says_how_to_get_it(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pathforest\[plot\]"):
        search.plot_landscape()


def test_a_search_at_the_end_of_a_pipeline_is_drawn(search):
    piped = plot_landscape(make_pipeline(StandardScaler(), search))
    assert repr(piped) == repr(plot_landscape(search))
