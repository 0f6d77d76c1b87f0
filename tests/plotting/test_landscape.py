"""The landscape of a search: what it shows, not how it looks."""

import sys
from copy import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV
from pathforest.plotting import plot_landscape

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

Y = np.arange(60) % 2
X = np.random.default_rng(0).normal(size=(60, 2)) + 1.5 * Y[:, None]


@pytest.fixture(scope="module")
def search():
    return FuzzyOPFClassifierCV(
        transforms=None,
        k_max=(2, 5, 9),
        sigmas=(0.2, 1.0, 1.2),
        competitions=("tree", "complete"),
        n_conquerors=(1, 5),
        cv=2,
    ).fit(X, Y)


def maps(search):
    """What the panels over the paper's parameters show."""
    axes = plot_landscape(search, x="k_max", y="sigma").axes_
    return [np.ma.filled(one.images[0].get_array(), np.nan) for one in axes], axes


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


def test_each_place_shows_the_best_over_the_other_parameters(search):
    results = search.cv_results_
    shown, axes = maps(search)
    assert [one.get_title() for one in axes] == ['competition="tree"', 'competition="complete"']
    for values, competition in zip(shown, ("tree", "complete"), strict=True):
        for (row, column), value in np.ndenumerate(values):
            place = (2, 5, 9)[column], (0.2, 1.0, 1.2)[row], competition
            cells = [
                score
                for params, score in zip(results["params"], results["mean_test_score"], strict=True)
                if (params["k_max"], params["sigma"], params["competition"]) == place
            ]
            assert value == max(cells) if cells else np.isnan(value)
    assert [len(one.patches) for one in axes] == [  # the frames
        int(np.sum(values == search.best_score_)) for values in shown
    ]


def test_a_score_of_nan_leaves_the_others_of_its_place(search):
    score = search.cv_results_["mean_test_score"].copy()
    first = search.cv_results_["param_n_conquerors"] == 1
    score[first] = np.nan
    shown, _ = maps(changed(search, mean_test_score=score))
    assert sum(np.isfinite(values).sum() for values in shown) == sum(~first)


def test_the_parameters_that_matter_most_are_the_axes(search):
    params = search.cv_results_["params"]
    score = [0.9 + 0.05 * (p["n_conquerors"] == 5) + 0.01 * (p["sigma"] == 1.0) for p in params]
    best = {"k_max": 2, "sigma": 1.0, "competition": "tree", "n_conquerors": 5}
    display = plot_landscape(changed(search, best, mean_test_score=np.array(score)))
    assert {display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()} == {"n_conquerors", "sigma"}
    bars = display.worth_ax_
    found = dict(zip([t.get_text() for t in bars.get_yticklabels()], bars.patches, strict=True))
    expected = {"n_conquerors": 0.05, "sigma": 0.01, "k_max": 0, "competition": 0}
    assert {name: bar.get_width() for name, bar in found.items()} == pytest.approx(expected, abs=1e-12)


def test_representations_have_panels_if_there_is_one_competition():
    search = FuzzyOPFClassifierCV(transforms="kernel", k_max=(3, 5), sigmas=1.0, n_conquerors=(1, 3), cv=2)
    titles = [axes.get_title() for axes in plot_landscape(search.fit(X, Y)).axes_]
    assert len(titles) == 3
    assert f'transform="{search.best_params_["transform"]}"' in titles


def test_what_makes_no_sense_is_refused(search, monkeypatch):
    nothing = np.full(len(search.cv_results_["params"]), np.nan)
    for error, message, plot in [
        (NotFittedError, "not fitted", lambda: plot_landscape(FuzzyOPFClassifierCV())),
        (ValueError, "x='metric' is unknown", lambda: plot_landscape(search, x="metric")),
        (ValueError, "both 'sigma'", lambda: plot_landscape(search, x="sigma", y="sigma")),
        (ValueError, "every mean score is nan", lambda: maps(changed(search, mean_test_score=nothing))),
    ]:
        with pytest.raises(error, match=message):
            plot()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pathforest\[plot\]"):
        search.plot_landscape()


def test_a_figure_given_is_drawn_into_and_a_new_one_belongs_to_pyplot(search, tmp_path):
    figure = matplotlib.figure.Figure(figsize=(9, 4), layout="constrained")
    assert plot_landscape(search, figure=figure).figure_ is figure
    assert plt.get_fignums() == []
    display = search.plot_landscape()
    assert [plt.figure(number) for number in plt.get_fignums()] == [display.figure_]
    display.figure_.savefig(tmp_path / "landscape.png")
    # A notebook draws the figures of pyplot, so what a cell returns must not be a figure.
    assert not hasattr(display, "savefig")
    assert repr(display).startswith(f"<Display: best {search.best_score_:.4f}, shared by")
    piped = plot_landscape(make_pipeline(StandardScaler(), search))
    assert repr(piped) == repr(display)
