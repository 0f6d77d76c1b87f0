"""The pictures of fitted models and of explanations: what they show, not how they look."""

import sys
from copy import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFPruner,
)
from pathforest.plotting import (
    plot_cluster_tree,
    plot_clusters,
    plot_decision_regions,
    plot_explanation,
    plot_forest,
    plot_landscape,
)

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

CLASSES = np.array(["apple", "fig", "quince"])


def make_samples(n_features=2, n_classes=3, n=60):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n, n_features)) + 2.0 * codes[:, None], codes


X, CODES = make_samples()
Y = CLASSES[CODES]
DISTANCES = pairwise_distances(X)
PLAIN = OPFClassifier().fit(X, Y)
FUZZY = FuzzyOPFClassifier(sigma=0.3, competition="tree").fit(X, Y)
CLUSTERS = OPFClustering(selection="cut", k_max=8).fit(X)
DOMES = OPFClustering(n_neighbors=3).fit(X)
PRUNED = OPFPruner().fit(X, Y)
SCALED = make_pipeline(StandardScaler(), OPFClassifier()).fit(X, Y)
MATRIX = OPFClassifier(metric="precomputed").fit(DISTANCES, Y)
GRID = {"k_max": (2, 5, 9), "sigmas": (0.2, 1.0, 1.2), "n_conquerors": (1, 5), "cv": 2}
SEARCH = FuzzyOPFClassifierCV(transforms=None, competitions=("tree", "complete"), **GRID).fit(X, CODES > 0)
QUERY = np.array([1.0, 1.2])
WIDE, _ = make_samples(n_features=14)
WIDE_QUERY = WIDE[0] + np.linspace(-1, 1, 14)
WIDE_MODEL = OPFClassifier().fit(WIDE, Y)
FAR = X.min(axis=0)  # conquered along a path


@pytest.fixture(autouse=True)
def no_figures():
    plt.close("all")
    yield
    plt.close("all")


# Each picture as a function of (estimator, keywords), with an estimator it can draw.
PICTURES = {
    "forest": (plot_forest, PLAIN),
    "membership": (lambda model, **more: plot_forest(model, color="membership", **more), FUZZY),
    "regions": (plot_decision_regions, PLAIN),
    "clusters": (plot_clusters, CLUSTERS),
    "domes": (plot_cluster_tree, DOMES),
    "explanation": (lambda model, **more: plot_explanation(model, QUERY, **more), PLAIN),
    "features": (lambda model, **more: plot_explanation(model, QUERY, kind="features", **more), PLAIN),
    "pruned": (plot_forest, PRUNED),
}
each_picture = pytest.mark.parametrize(("plot", "model"), PICTURES.values(), ids=PICTURES)


def rgb(colors):
    return np.asarray(colors)[:, :3]


def places(artist):
    return np.asarray(artist.get_offsets())


def legend_texts(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


@each_picture
def test_axes_given_are_used_and_without_them_there_is_one_new_figure_that_prints_in_a_line(plot, model):
    ax, before = matplotlib.figure.Figure().subplots(), dict(matplotlib.rcParams)
    display = plot(model, ax=ax)
    assert (display.ax_, display.figure_, plt.get_fignums()) == (ax, ax.figure, [])
    display = plot(model)
    assert [plt.figure(number) for number in plt.get_fignums()] == [display.figure_]
    display.figure_.canvas.draw()
    assert dict(matplotlib.rcParams) == before
    title = display.ax_.get_title()
    assert repr(display) == f"<Display{title and ': '}{title}>"


@each_picture
def test_what_cannot_be_drawn_leaves_no_figure(plot, model, monkeypatch):
    with pytest.raises(NotFittedError):
        plot(clone(model))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pathforest\[plot\]"):
        plot(model)
    assert plt.get_fignums() == []


def changed(search, scores, **best):
    """A search with other scores."""
    other = copy(search)
    other.cv_results_ = search.cv_results_ | {"mean_test_score": np.array(scores)}
    other.best_params_ = search.best_params_ | best
    return other


REFUSALS = {  # ValueError, if no other is named
    "plot_forest(PLAIN, X[1:])": "X has 59 rows, but the model was fitted on 60 samples",
    "plot_forest(PRUNED, X[:9])": r"X has 9 rows, but sample \d+ was kept",
    "plot_forest(MATRIX)": "metric='precomputed' and knows no positions; pass X",
    "plot_explanation(MATRIX, DISTANCES[0])": "knows no positions; pass X",
    "plot_explanation(MATRIX, DISTANCES[0], X)": "pass its position",
    "plot_forest(StandardScaler().fit(X))": (TypeError, "StandardScaler has no predecessor_ to draw"),
    "plot_forest(clone(SEARCH).set_params(refit=False).fit(X, Y))": (TypeError, "refit=True"),
    "plot_forest(PLAIN, color='membership')": (TypeError, "OPFClassifier has no membership_ to draw"),
    "plot_forest(PLAIN, color='red')": "color='red' is unknown",
    "plot_forest(PLAIN, y=np.where(Y == 'fig', 'plum', Y))": "y contains 'plum', which is none of",
    "plot_forest(PLAIN, y=['fig', 'fig'])": r"y has shape \(2,\)",
    "plot_clusters(PLAIN)": (TypeError, "OPFClassifier has no cluster_roots_ to draw"),
    "plot_clusters(CLUSTERS, ax=matplotlib.figure.Figure().subplots(1, 3))": "3 axes",
    "plot_cluster_tree(PLAIN)": (TypeError, "no cluster_tree_ to draw; pass an OPFClustering"),
    "plot_decision_regions(WIDE_MODEL)": "need 2 features, and the model has 14; fit it",
    "plot_decision_regions(MATRIX, X)": "need features, and metric='precomputed'",
    "plot_decision_regions(PLAIN, X[:, :1])": "X has 1 columns, but the model was fitted",
    "plot_decision_regions(SCALED)": "pass X, and y for their labels",
    "plot_decision_regions(CLUSTERS)": (TypeError, "OPFClustering does not predict classes"),
    "plot_explanation(PLAIN, X[:2])": "query has 2 rows",
    "plot_explanation(PLAIN, QUERY, kind='tree')": "kind='tree' is unknown",
    "plot_explanation(CLUSTERS, QUERY)": (TypeError, "OPFClustering explains no predictions"),
    "plot_explanation(MATRIX, DISTANCES[0], kind='features')": "needs features",
    "plot_landscape(FuzzyOPFClassifierCV())": (NotFittedError, "not fitted"),
    "plot_landscape(changed(SEARCH, np.nan * SEARCH.cv_results_['mean_test_score']))": "mean score is nan",
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSALS)
def test_wrong_calls_are_refused(call):
    error, message = said if isinstance(said := REFUSALS[call], tuple) else (ValueError, said)
    with pytest.raises(error, match=message):
        eval(call)
    assert plt.get_fignums() == []


def test_positions_are_those_given_or_what_the_model_sees():
    other = X[:, ::-1] + 5
    np.testing.assert_array_equal(places(plot_forest(PLAIN, other).samples_), other)
    np.testing.assert_array_equal(places(plot_forest(SCALED).samples_), StandardScaler().fit_transform(X))


def test_more_features_are_drawn_on_the_plane_of_most_variance():
    display = plot_forest(WIDE_MODEL)
    best = np.sort(np.linalg.eigvalsh(np.cov(WIDE.T)))[::-1]
    np.testing.assert_allclose(places(display.samples_).var(axis=0, ddof=1), best[:2])
    labels = [display.ax_.get_xlabel(), display.ax_.get_ylabel()]
    assert labels == [f"principal component {i + 1} ({best[i] / best.sum():.0%} of variance)" for i in (0, 1)]


@pytest.mark.parametrize("model", [PLAIN, FUZZY, CLUSTERS], ids=lambda model: type(model).__name__)
def test_segments_join_samples_to_predecessors_and_roots_have_rings(model):
    display, child = plot_forest(model), np.flatnonzero(model.predecessor_ >= 0)
    expected = np.stack([X[child], X[model.predecessor_[child]]], axis=1)
    np.testing.assert_array_equal(places(display.samples_), X)
    np.testing.assert_array_equal(display.paths_.get_segments(), expected)
    np.testing.assert_array_equal(places(display.prototypes_), X[model.predecessor_ < 0])


def test_noise_is_grey_gaps_lie_at_the_mean_and_labels_given_colour_no_paths():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["length", "width"])
    frame.iloc[0, 0] = np.nan
    display = plot_forest(OPFClassifier(metric="gower").fit(frame, Y))
    assert display.ax_.get_ylabel() == "width"
    assert places(display.samples_)[0, 0] == pytest.approx(frame["length"].mean())
    model = OPFClustering(n_neighbors=5, noise=0.2).fit(X)
    is_grey = np.ptp(rgb(plot_forest(model).samples_.get_facecolors()), axis=1) == 0
    np.testing.assert_array_equal(is_grey, model.labels_ < 0)
    own, other = plot_forest(PLAIN), plot_forest(PLAIN, y=np.roll(Y, 1))
    assert (own.samples_.get_facecolors() != other.samples_.get_facecolors()).any()
    np.testing.assert_array_equal(other.paths_.get_colors(), own.paths_.get_colors())


@pytest.mark.parametrize("color", ["membership", "density", "cost"])
def test_values_are_colours_and_darker_is_higher(color):
    points = plot_forest(FUZZY, color=color).samples_
    np.testing.assert_array_equal(points.get_array(), getattr(FUZZY, f"{color}_"))
    lowest, highest = points.to_rgba(points.get_clim())[:, :3].sum(axis=1)
    assert highest < lowest
    assert points.colorbar.ax.get_ylabel() == color
    assert plot_forest(FUZZY, color=color, legend=False).samples_.colorbar is None


def test_kept_samples_are_a_forest_and_the_others_crosses():
    display, kept = plot_forest(PRUNED, X), PRUNED.sample_indices_
    np.testing.assert_array_equal(places(display.samples_), X[kept])
    np.testing.assert_array_equal(places(display.gone_), np.delete(X, kept, axis=0))
    assert display.ax_.get_title() == f"{len(kept)} of 60 samples kept"
    assert legend_texts(display.ax_) == [*CLASSES, "prototype", "not in the model"]
    assert plot_forest(PRUNED).gone_ is None


@pytest.mark.parametrize("model", [PLAIN, make_pipeline(StandardScaler(), FuzzyOPFClassifier()).fit(X, Y)])
def test_the_background_has_the_colour_of_the_prediction_and_is_fainter_where_classes_are_close(model):
    display = plot_decision_regions(model, X, Y, grid_resolution=37)
    image, (left, right, bottom, top) = display.regions_.get_array(), display.regions_.get_extent()
    centres = (np.arange(37) + 0.5) / 37
    x, y = left + centres * (right - left), bottom + centres * (top - bottom)
    points = np.stack(np.meshgrid(x, y), axis=-1)
    image, points = np.asarray(image).reshape(-1, 4), points.reshape(-1, 2)
    handles = display.ax_.get_legend().legend_handles
    colors = np.array([matplotlib.colors.to_rgb(handle.get_color()) for handle in handles])
    assert display.regions_.origin == "lower"
    np.testing.assert_array_equal(image[:, :3], colors[np.searchsorted(CLASSES, model.predict(points))])
    certainty = model.predict_proba(points).max(axis=1)
    assert np.corrcoef(certainty, image[:, 3])[0, 1] > 0.99


def test_clusters_have_a_colour_each_and_the_curve_shows_the_cuts():
    display = plot_clusters(CLUSTERS)
    pairs = np.column_stack([rgb(display.samples_.get_facecolors()), CLUSTERS.labels_])
    assert len(np.unique(pairs, axis=0)) == len(CLUSTERS.cluster_roots_)
    curve, ring = display.cut_ax_.lines
    expected = np.column_stack([1 + np.arange(len(CLUSTERS.cuts_)), CLUSTERS.cuts_])
    np.testing.assert_array_equal(curve.get_xydata(), expected)
    assert ring.get_xydata().tolist() == [[CLUSTERS.best_k_, CLUSTERS.cuts_.min()]]
    pair = matplotlib.figure.Figure().subplots(1, 2)
    display = plot_clusters(CLUSTERS, ax=pair)
    assert [display.ax_, display.cut_ax_] == list(pair)
    fixed = plot_clusters(OPFClustering(n_neighbors=5).fit(X))  # no search, no curve
    assert (fixed.cut_ax_, len(fixed.figure_.axes)) == (None, 1)


@pytest.mark.parametrize("n_domes", [1, 2, 5, 99])
def test_the_tree_has_a_bar_for_each_of_the_largest_domes(n_domes):
    display, tree = plot_cluster_tree(DOMES, n_domes=n_domes), DOMES.cluster_tree_
    drawn = display.founders_.tolist()
    assert sorted(drawn) == sorted({*drawn[:1], *tree["child"][-(n_domes - 1) or len(tree) :].tolist()})
    assert len(drawn) == min(n_domes, len(tree) + 1)
    bars = [line.tolist() for line in display.ax_.collections[0].get_segments()]
    level = dict(zip(tree["child"].tolist(), tree["level"].tolist(), strict=True))
    assert bars == [[[x, level.get(q, 0)], [x, DOMES.cost_[q]]] for x, q in enumerate(drawn)]
    points, border = display.size_ax_.lines
    np.testing.assert_array_equal(points.get_ydata(), np.sort(tree["height"])[::-1])
    assert border.get_xdata()[0] == len(DOMES.cluster_roots_) + 0.5


def test_each_place_shows_the_best_over_the_other_parameters():
    results, scores = SEARCH.cv_results_, SEARCH.cv_results_["mean_test_score"].copy()
    first = results["param_n_conquerors"] == 1
    without_first = changed(SEARCH, np.where(first, np.nan, scores))  # nan leaves the others of its place
    for search, counted in ((SEARCH, scores), (without_first, np.where(first, -np.inf, scores))):
        maps = plot_landscape(search).axes_
        x, y = maps[0].get_xlabel(), maps[0].get_ylabel()
        columns, rows = (np.unique(results[f"param_{name}"]).tolist() for name in (x, y))
        assert [axes.get_title() for axes in maps] == ['competition="tree"', 'competition="complete"']
        for axes, competition in zip(maps, ("tree", "complete"), strict=True):
            values = np.ma.filled(axes.images[0].get_array(), np.nan)
            for (i, j), value in np.ndenumerate(values):
                place = {x: columns[j], y: rows[i], "competition": competition}
                here = [place.items() <= params.items() for params in results["params"]]
                assert value == max(counted[here]) if any(here) else np.isnan(value)
            assert len(axes.patches) == np.sum(values == counted.max())  # the frames


def test_the_parameters_that_matter_most_are_the_axes():
    params = SEARCH.cv_results_["params"]
    score = [0.9 + 0.05 * (p["n_conquerors"] == 5) + 0.01 * (p["sigma"] == 1.0) for p in params]
    display = plot_landscape(changed(SEARCH, score, k_max=2, sigma=1.0, competition="tree", n_conquerors=5))
    assert {display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()} == {"n_conquerors", "sigma"}
    bars = display.worth_ax_
    found = dict(zip([t.get_text() for t in bars.get_yticklabels()], bars.patches, strict=True))
    expected = {"n_conquerors": 0.05, "sigma": 0.01, "k_max": 0, "competition": 0}
    assert {name: bar.get_width() for name, bar in found.items()} == pytest.approx(expected, abs=1e-12)


def annotations(display):
    found = [item for item in display.ax_.texts if isinstance(item, matplotlib.text.Annotation)]
    return {tuple(item.xy): item.get_text() for item in found}


@pytest.mark.parametrize("model", [PLAIN, FUZZY, MATRIX, OPFKNNClassifier(n_neighbors=9).fit(X, Y)])
def test_the_path_runs_from_the_query_to_the_prototype_with_its_costs(model):
    given = (np.linalg.norm(X - FAR, axis=1), X) if model is MATRIX else (FAR,)
    reason, display = model.explain(given[:1])[0], plot_explanation(model, *given, position=FAR)
    assert len(reason.path) > 2
    assert (display.explanation_, display.ax_.get_title()) == (reason, reason.headline)
    np.testing.assert_array_equal(display.path_.get_xydata(), np.vstack([FAR, X[reason.path]]))
    written = annotations(display)
    assert written[tuple(FAR)] == f"{reason.offer:.3g}"
    assert written[tuple(X[reason.path[0]])] == f"{reason.costs[0]:.3g}"
    assert written[tuple(X[reason.path[-1]])] == f"{reason.costs[-1]:.3g}"


@pytest.mark.parametrize("query", [QUERY, FAR, X.max(axis=0)], ids=["middle", "low", "high"])
def test_each_other_class_has_its_cheapest_offer(query):
    display, costs = plot_explanation(PLAIN, query), PLAIN.class_costs([query])[0]
    arcs = display.rivals_.get_segments()
    for code, (start, end) in zip(np.argsort(costs)[1:], arcs, strict=True):
        np.testing.assert_array_equal(start, query)
        rival = int(np.flatnonzero((end == X).all(axis=1))[0])
        assert PLAIN.label_[rival] == PLAIN.classes_[code]
        assert max(PLAIN.cost_[rival], np.linalg.norm(query - X[rival])) == pytest.approx(costs[code])
        assert annotations(display)[tuple(end)] == f"{costs[code]:.3g}"


def test_all_offers_that_decide_are_drawn():
    model = OPFClassifier(n_conquerors=3).fit(X, Y)
    display = plot_explanation(model, QUERY)
    ends, reason = [arc[1] for arc in display.offers_.get_segments()], display.explanation_
    np.testing.assert_array_equal(ends, X[reason.conquerors[1:]])
    assert len(ends) == 2
    rivals = np.array([arc[1] for arc in display.rivals_.get_segments()])
    assert len(rivals) == 3 * (len(model.classes_) - 1)
    assert all((end == rivals).all(axis=1).any() for end in X[reason.rival.conquerors])


def widths(bars):
    return np.array([bar.get_width() for bar in bars])


def test_many_features_are_drawn_as_bars_that_are_parts_of_the_distance():
    display = plot_explanation(WIDE_MODEL, WIDE_QUERY)
    one, drawn = display.explanation_, display.explanation_.features[:10]
    columns = [feature.column for feature in drawn]
    own = one.conqueror, one.distance * np.array([feature.share for feature in drawn])
    rivals = one.rival.conquerors[0], one.rival.distance * np.array([f.rival_share for f in drawn])
    for bars, (sample, expected) in zip(display.bars_, (own, rivals), strict=True):
        np.testing.assert_allclose(np.abs(widths(bars)), expected)
        np.testing.assert_array_equal(np.sign(widths(bars)), np.sign((WIDE_QUERY - WIDE[sample])[columns]))
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [f"{feature.name} = {feature.value:.4g}" for feature in drawn]


def test_without_shares_bars_are_standard_deviations():
    display = plot_explanation(OPFClassifier(metric="cosine").fit(WIDE, Y), WIDE_QUERY)
    drawn = display.explanation_.features[:10]
    expected = [feature.difference / WIDE[:, feature.column].std() for feature in drawn]
    np.testing.assert_allclose(widths(display.bars_[1]), expected)
    assert "standard deviations" in display.ax_.get_xlabel()
