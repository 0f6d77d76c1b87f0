"""The pictures of fitted models: what they show, not how they look."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
    TablePreprocessor,
)
from pathforest.plotting import (
    plot_cluster_tree,
    plot_clusters,
    plot_decision_regions,
    plot_explanation,
    plot_forest,
    plot_membership,
    plot_outliers,
    plot_pruned,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

CLASSES = np.array(["apple", "fig", "quince"])


def make_samples(n_features=2, n_classes=3, n=60):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n, n_features)) + 2.0 * codes[:, None], codes


X, CODES = make_samples()
Y = CLASSES[CODES]
PLAIN = OPFClassifier().fit(X, Y)
FUZZY = FuzzyOPFClassifier(sigma=0.3, competition="tree").fit(X, Y)
CLUSTERS = OPFClustering(selection="cut", k_max=8).fit(X)
OUTLIERS = OPFOutlierDetector(contamination=0.1).fit(X)
PRUNED = OPFPruner().fit(X, Y)
PIPELINE = make_pipeline(StandardScaler(), OPFClassifier()).fit(X, Y)
MATRIX = OPFClassifier(metric="precomputed").fit(pairwise_distances(X), Y)
QUERY = np.array([1.0, 1.2])
FAR = X.min(axis=0)  # conquered along a path

TABLE = [[*row, CLASSES[code]] for row, code in zip(X.tolist(), CODES % 2, strict=True)]  # numbers and text

# Each picture as a function of (estimator, X, keywords), with an estimator it can draw.
PICTURES = {
    "forest": (plot_forest, PLAIN),
    "membership": (plot_membership, FUZZY),
    "regions": (plot_decision_regions, PLAIN),
    "clusters": (plot_clusters, CLUSTERS),
    "explanation": (lambda model, X=None, **more: plot_explanation(model, QUERY, X, **more), PLAIN),
    "features": (lambda model, **more: plot_explanation(model, QUERY, kind="features", **more), PLAIN),
    "images": (lambda model, **more: plot_explanation(model, QUERY, image_shape=(1, 2), **more), PLAIN),
    "outliers": (plot_outliers, OUTLIERS),
    "pruned": (plot_pruned, PRUNED),
}
each_picture = pytest.mark.parametrize(("plot", "model"), PICTURES.values(), ids=PICTURES)
each_forest = pytest.mark.parametrize(
    "model", [PLAIN, FUZZY, CLUSTERS], ids=lambda model: type(model).__name__
)


@pytest.fixture(autouse=True)
def no_figures():
    plt.close("all")
    yield
    plt.close("all")


def rgb(colors):
    return np.asarray(colors)[:, :3]


# What every picture has in common


@each_picture
def test_axes_given_are_used_and_no_figure_appears(plot, model):
    ax = matplotlib.figure.Figure().subplots()
    display = plot(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert plt.get_fignums() == []


@each_picture
def test_without_axes_there_is_one_new_figure(plot, model):
    display = plot(model)
    assert [plt.figure(number) for number in plt.get_fignums()] == [display.figure_]
    display.figure_.canvas.draw()


@each_picture
def test_drawing_changes_no_setting_of_matplotlib(plot, model):
    before = dict(matplotlib.rcParams)
    plot(model)
    assert dict(matplotlib.rcParams) == before


@each_picture
def test_an_unfitted_model_is_refused_and_leaves_no_figure(plot, model):
    with pytest.raises(NotFittedError):
        plot(clone(model))
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", ["forest", "membership", "clusters", "explanation"])
def test_samples_of_another_number_are_refused(name):
    plot, model = PICTURES[name]
    with pytest.raises(ValueError, match="X has 59 rows, but the model was fitted on 60 samples"):
        plot(model, X[1:])


@pytest.mark.parametrize("name", ["forest", "membership", "clusters", "explanation"])
def test_a_model_of_distances_needs_positions(name):
    plot, model = PICTURES[name]
    model = clone(model).set_params(metric="precomputed").fit(pairwise_distances(X), Y)
    with pytest.raises(ValueError, match=r"metric='precomputed' and knows no positions; pass X"):
        plot_explanation(model, pairwise_distances(X)[0]) if name == "explanation" else plot(model)


@pytest.mark.parametrize("plot", [plot_forest, plot_membership, plot_clusters])
def test_a_model_without_a_forest_is_refused(plot):
    with pytest.raises(TypeError, match="StandardScaler has no optimum-path forest"):
        plot(StandardScaler().fit(X))


@pytest.mark.parametrize(
    ("plot", "model", "missing"),
    [
        (plot_membership, PLAIN, "membership_"),
        (plot_clusters, PLAIN, "cluster_roots_"),
    ],
)
def test_a_model_without_what_is_drawn_is_refused(plot, model, missing):
    with pytest.raises(TypeError, match=f"{type(model).__name__} has no {missing} to draw; pass"):
        plot(model)


@each_picture
def test_without_matplotlib_the_error_says_how_to_get_it(plot, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pathforest\[plot\]"):
        plot(model)


@each_picture
def test_a_display_prints_in_one_short_line(plot, model):
    display = plot(model)
    title = display.ax_.get_title()
    assert repr(display) == f"<{type(display).__name__}{title and ': '}{title}>"
    assert len(repr(display)) < 80


# The plane


@each_forest
def test_positions_are_the_samples(model):
    np.testing.assert_array_equal(plot_forest(model).samples_.get_offsets(), X)


def test_positions_may_be_others_than_the_samples():
    other = X[:, ::-1] + 5
    np.testing.assert_array_equal(plot_forest(PLAIN, other).samples_.get_offsets(), other)


def test_more_features_are_drawn_on_the_plane_of_most_variance():
    wide, codes = make_samples(n_features=5)
    display = plot_forest(OPFClassifier().fit(wide, codes))
    shown = np.asarray(display.samples_.get_offsets())
    best = np.sort(np.linalg.eigvalsh(np.cov(wide.T)))[::-1]
    np.testing.assert_allclose(shown.var(axis=0, ddof=1), best[:2])
    labels = [display.ax_.get_xlabel(), display.ax_.get_ylabel()]
    assert labels == [f"principal component {i + 1} ({best[i] / best.sum():.0%} of variance)" for i in (0, 1)]


@pytest.mark.parametrize("n", [1, 2])
def test_few_samples_of_many_features_have_a_plane(n):
    wide = np.eye(n, 7)
    assert np.isfinite(plot_forest(OPFClassifier().fit(wide, np.arange(n))).samples_.get_offsets()).all()


def test_constant_features_have_a_plane():
    model = OPFClassifier().fit(np.ones((4, 3)), [0, 0, 1, 1])
    assert plot_forest(model).ax_.get_xlabel() == "principal component 1 (0% of variance)"


def test_one_feature_has_the_cost_as_height():
    model = OPFClassifier().fit(X[:, :1], Y)
    display = plot_forest(model)
    np.testing.assert_array_equal(display.samples_.get_offsets(), np.column_stack([X[:, 0], model.cost_]))
    assert display.ax_.get_ylabel() == "path cost"


def test_one_feature_has_the_membership_as_height():
    model = FuzzyOPFClassifier().fit(X[:, :1], Y)
    shown = plot_membership(model).samples_.get_offsets()
    np.testing.assert_array_equal(shown, np.column_stack([X[:, 0], model.membership_]))


def test_axes_have_the_names_of_the_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = OPFClassifier().fit(frame, Y)
    search = FuzzyOPFClassifierCV(transforms=None, k_max=5, sigmas=1.0, n_conquerors=1, cv=2).fit(frame, Y)
    displays = [
        plot_forest(model),
        plot_forest(PLAIN, frame),
        plot_forest(search),
        plot_decision_regions(model, grid_resolution=5),
        plot_explanation(model, frame.iloc[0]),
    ]
    for display in displays:
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    assert plot_forest(PLAIN).ax_.get_xlabel() == "feature 0"


def test_components_of_a_representation_are_not_named_features():
    cell = {"transforms": [PCA(1)], "k_max": 5, "sigmas": 1.0, "n_conquerors": 1, "cv": 2}
    search = FuzzyOPFClassifierCV(**cell).fit(X, Y)
    for plot in (plot_forest, plot_membership):
        assert plot(search).ax_.get_xlabel() == "representation, component 1"
    assert plot_forest(PIPELINE).ax_.get_xlabel() == "feature 0"


@pytest.mark.parametrize("n_features", [2, 4])
def test_a_sample_with_a_gap_lies_at_the_mean_of_the_feature(n_features):
    samples, codes = make_samples(n_features)
    samples[0, 0] = np.nan
    filled = np.where(np.isnan(samples), np.nanmean(samples, axis=0), samples)
    gower = OPFClassifier(metric="gower").fit(samples, codes)
    detector = OPFOutlierDetector(metric="gower").fit(samples)
    explanation = plot_explanation(gower, samples[0], kind="plane")
    assert np.isfinite(explanation.path_.get_xydata()).all()
    expected = plot_forest(OPFClassifier().fit(filled, codes)).samples_.get_offsets()
    for display in (plot_forest(gower), plot_outliers(detector), plot_outliers(detector, samples)):
        np.testing.assert_allclose(display.samples_.get_offsets(), expected)


def test_a_pipeline_is_drawn_in_its_own_features():
    shown = plot_forest(PIPELINE).samples_.get_offsets()
    np.testing.assert_array_equal(shown, StandardScaler().fit_transform(X))


def test_of_a_search_the_best_model_is_drawn():
    search = FuzzyOPFClassifierCV(transforms=None, k_max=(3, 9), sigmas=0.2, n_conquerors=1, cv=2).fit(X, Y)
    drawn = plot_membership(search).samples_.get_array()
    np.testing.assert_array_equal(drawn, search.best_estimator_.membership_)


def test_a_search_that_kept_no_model_is_refused():
    search = FuzzyOPFClassifierCV(
        transforms=None, k_max=5, sigmas=1.0, n_conquerors=1, cv=2, refit=False
    ).fit(X, Y)
    for plot in (plot_forest, plot_decision_regions):
        with pytest.raises(TypeError, match="refit=True"):
            plot(search)


# The forest


@each_forest
def test_each_segment_joins_a_sample_to_its_predecessor(model):
    child = np.flatnonzero(model.predecessor_ >= 0)
    expected = np.stack([X[child], X[model.predecessor_[child]]], axis=1)
    np.testing.assert_array_equal(plot_forest(model).paths_.get_segments(), expected)


@pytest.mark.parametrize("model", [PLAIN, FUZZY])
def test_prototypes_have_rings(model):
    np.testing.assert_array_equal(plot_forest(model).prototypes_.get_offsets(), X[model.prototypes_])


def test_each_class_has_a_colour_of_its_own():
    shown = rgb(plot_forest(PLAIN).samples_.get_facecolors())
    assert len(np.unique(shown, axis=0)) == 3
    assert len(np.unique(np.column_stack([shown, CODES]), axis=0)) == 3


def test_labels_given_colour_the_samples_but_not_the_paths():
    plain, other = plot_forest(PLAIN), plot_forest(PLAIN, y=np.roll(Y, 1))
    colors = rgb(plain.samples_.get_facecolors())
    np.testing.assert_array_equal(rgb(other.samples_.get_facecolors()), np.roll(colors, 1, axis=0))
    np.testing.assert_array_equal(other.paths_.get_colors(), plain.paths_.get_colors())


def test_unknown_labels_are_refused():
    with pytest.raises(ValueError, match=r"y contains 'plum', which is none of the model's classes"):
        plot_forest(PLAIN, y=np.where(Y == "fig", "plum", Y))
    with pytest.raises(ValueError, match=r"y has shape \(2,\)"):
        plot_forest(PLAIN, y=["fig", "fig"])


def legend_texts(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_legend_lists_classes_and_prototypes():
    assert legend_texts(plot_forest(PLAIN).ax_) == [*CLASSES, "prototype"]
    assert legend_texts(plot_forest(PLAIN, legend=False).ax_) == []


def test_the_legend_covers_no_data():
    display = plot_forest(PLAIN)
    display.figure_.canvas.draw()
    assert not display.ax_.get_legend().get_window_extent().overlaps(display.ax_.get_window_extent())


@pytest.mark.parametrize(("n_classes", "n_entries"), [(1, 2), (10, 11), (11, 0)])
def test_up_to_ten_classes_have_a_legend(n_classes, n_entries):
    many, codes = make_samples(n_classes=n_classes)
    display = plot_forest(OPFClassifier().fit(many, codes))
    assert len(legend_texts(display.ax_)) == n_entries
    assert len(np.unique(rgb(display.samples_.get_facecolors()), axis=0)) == n_classes


@pytest.mark.parametrize(("n", "raster"), [(5_000, False), (5_001, True)])
def test_many_samples_are_all_drawn_as_pixels(n, raster):
    many, codes = make_samples(n=n)
    display = plot_forest(OPFClassifier().fit(many, codes))
    assert len(display.samples_.get_offsets()) == n
    assert [bool(item.get_rasterized()) for item in (display.samples_, display.paths_)] == [raster, raster]


# Memberships


def test_memberships_are_the_colours_and_darker_is_higher():
    display = plot_membership(FUZZY)
    np.testing.assert_array_equal(display.samples_.get_array(), FUZZY.membership_)
    brightness = display.samples_.to_rgba([FUZZY.membership_.min(), FUZZY.membership_.max()])[:, :3].sum(
        axis=1
    )
    assert brightness[1] < brightness[0]
    assert display.colorbar_.ax.get_ylabel() == "membership"
    assert plot_membership(FUZZY, colorbar=False).colorbar_ is None


# Decision regions


def nearest_class(display, model, points):
    """Class whose colour the background has at some points, by the direction away from white."""
    image, (left, right, bottom, top) = (
        np.asarray(display.regions_.get_array()),
        display.regions_.get_extent(),
    )
    column = ((points[:, 0] - left) / (right - left) * image.shape[1]).astype(int)
    row = ((points[:, 1] - bottom) / (top - bottom) * image.shape[0]).astype(int)
    handles = display.ax_.get_legend().legend_handles
    away = 1 - np.array([matplotlib.colors.to_rgb(handle.get_color()) for handle in handles])
    seen = 1 - image[row, column]
    cosine = seen @ away.T / np.linalg.norm(seen, axis=1)[:, None] / np.linalg.norm(away, axis=1)
    return model.classes_[cosine.argmax(axis=1)]


def centres(display):
    """Centres of the pixels."""
    (height, width, _), (left, right, bottom, top) = (
        display.regions_.get_array().shape,
        display.regions_.get_extent(),
    )
    x = left + (np.arange(width) + 0.5) * (right - left) / width
    y = bottom + (np.arange(height) + 0.5) * (top - bottom) / height
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("model", [PLAIN, make_pipeline(StandardScaler(), FuzzyOPFClassifier()).fit(X, Y)])
def test_the_background_has_the_colour_of_the_prediction(model):
    display = plot_decision_regions(model, X, Y, grid_resolution=37)
    points = centres(display)
    assert display.regions_.origin == "lower"
    np.testing.assert_array_equal(nearest_class(display, model, points), model.predict(points))


def test_the_background_is_fainter_where_classes_are_close():
    display = plot_decision_regions(PLAIN, grid_resolution=40)
    certainty = PLAIN.predict_proba(centres(display)).max(axis=1)
    faintness = display.regions_.get_array().reshape(-1, 3).min(axis=1)
    for code, name in enumerate(CLASSES):
        own = PLAIN.predict(centres(display)) == name
        assert np.corrcoef(certainty[own], faintness[own])[0, 1] < -0.99, code


def test_training_samples_are_on_top_with_their_labels():
    display = plot_decision_regions(PLAIN, grid_resolution=5)
    np.testing.assert_array_equal(display.samples_.get_offsets(), X)
    forest = plot_forest(PLAIN)
    np.testing.assert_array_equal(
        rgb(display.samples_.get_facecolors()), rgb(forest.samples_.get_facecolors())
    )


def test_other_samples_have_the_colours_of_their_labels_or_predictions():
    new = X[:7] + 0.8
    shown = plot_decision_regions(PLAIN, new, grid_resolution=5).samples_
    same = plot_decision_regions(PLAIN, new, PLAIN.predict(new), grid_resolution=5).samples_
    np.testing.assert_array_equal(shown.get_offsets(), new)
    np.testing.assert_array_equal(shown.get_facecolors(), same.get_facecolors())
    other = plot_decision_regions(PLAIN, new, Y[:7][::-1], grid_resolution=5).samples_
    assert not np.array_equal(shown.get_facecolors(), other.get_facecolors())


@pytest.mark.parametrize(
    ("model", "samples", "error", "message"),
    [
        (
            OPFClassifier().fit(*make_samples(1)),
            None,
            ValueError,
            "need 2 features, and the model has 1; fit it",
        ),
        (
            OPFClassifier().fit(*make_samples(3)),
            None,
            ValueError,
            "need 2 features, and the model has 3; fit it",
        ),
        (MATRIX, X, ValueError, "need features, and metric='precomputed' has none"),
        (PLAIN, X[:, :1], ValueError, "X has 1 columns, but the model was fitted on 2 features"),
        (PIPELINE, None, ValueError, "pass X, and y for their labels"),
        (CLUSTERS, None, TypeError, "OPFClustering does not predict classes"),
    ],
)
def test_regions_that_cannot_be_drawn_are_refused(model, samples, error, message):
    with pytest.raises(error, match=message):
        plot_decision_regions(model, samples)


def test_metrics_of_positive_features_get_no_negative_ones():
    display = plot_decision_regions(OPFClassifier(metric="chi2").fit(np.abs(X), Y), grid_resolution=5)
    assert min(display.regions_.get_extent()) == 0


def test_one_class_fills_the_plane():
    display = plot_decision_regions(OPFClassifier().fit(X, ["fig"] * 60), grid_resolution=5)
    assert len(np.unique(display.regions_.get_array().reshape(-1, 3), axis=0)) == 1


# Clusters


def test_clusters_have_their_roots_and_a_colour_each():
    forest = plot_clusters(CLUSTERS).forest_
    roots = {tuple(place) for place in forest.prototypes_.get_offsets()}
    assert roots == {tuple(X[root]) for root in CLUSTERS.cluster_roots_}
    pairs = np.column_stack([rgb(forest.samples_.get_facecolors()), CLUSTERS.labels_])
    assert len(np.unique(pairs, axis=0)) == len(CLUSTERS.cluster_roots_)


def test_the_curve_shows_the_cuts_and_marks_the_best():
    curve, ring = plot_clusters(CLUSTERS).cut_ax_.lines
    np.testing.assert_array_equal(
        curve.get_xydata(), np.column_stack([1 + np.arange(len(CLUSTERS.cuts_)), CLUSTERS.cuts_])
    )
    assert ring.get_xydata().tolist() == [[CLUSTERS.best_k_, CLUSTERS.cuts_.min()]]


@pytest.mark.parametrize(
    ("cuts", "scale"), [([9.0, 2.0], "linear"), ([90.0, 2.0], "log"), ([90.0, 0.0], "linear")]
)
def test_a_curve_of_cuts_that_falls_far_has_a_logarithmic_scale(cuts, scale):
    model = OPFClustering(selection="cut", k_max=2).fit(X)
    model.cuts_, model.best_k_ = np.array(cuts), 2
    assert plot_clusters(model).cut_ax_.get_yscale() == scale


def test_a_pair_of_axes_gets_clusters_and_curve():
    pair = matplotlib.figure.Figure().subplots(1, 2)
    display = plot_clusters(CLUSTERS, ax=pair)
    assert [display.ax_, display.cut_ax_] == list(pair)
    assert plot_clusters(CLUSTERS, ax=pair[0]).cut_ax_ is None
    with pytest.raises(ValueError, match="ax has 3 axes"):
        plot_clusters(CLUSTERS, ax=matplotlib.figure.Figure().subplots(1, 3))


def test_noise_is_grey_and_in_the_legend():
    model = OPFClustering(n_neighbors=5, noise=0.2).fit(X)
    display = plot_forest(model)
    colors = rgb(display.samples_.get_facecolors())
    assert len(np.unique(colors[model.labels_ < 0], axis=0)) == 1
    assert "noise" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("n_domes", [1, 2, 5, 99])
def test_the_tree_has_a_bar_for_each_of_the_largest_domes(n_domes):
    model = OPFClustering(n_neighbors=3).fit(X)
    display = plot_cluster_tree(model, n_domes=n_domes)
    tree = model.cluster_tree_
    drawn = display.founders_.tolist()
    assert sorted(drawn) == sorted({*drawn[:1], *tree["child"][-(n_domes - 1) or len(tree) :].tolist()})
    assert len(drawn) == min(n_domes, len(tree) + 1)
    bars = [line.tolist() for line in display.ax_.collections[0].get_segments()]
    level = dict(zip(tree["child"].tolist(), tree["level"].tolist(), strict=True))
    assert bars == [[[x, level.get(q, 0)], [x, model.cost_[q]]] for x, q in enumerate(drawn)]


def test_a_line_divides_the_sizes_of_clusters_from_the_rest():
    model = OPFClustering(n_neighbors=3).fit(X)
    points, border = plot_cluster_tree(model).size_ax_.lines
    np.testing.assert_array_equal(points.get_ydata(), np.sort(model.cluster_tree_["volume"])[::-1])
    assert border.get_xdata()[0] == len(model.cluster_roots_) + 0.5


def test_a_clustering_without_a_tree_cannot_be_drawn_as_one():
    with pytest.raises(TypeError, match="no cluster_tree_ to draw; pass an OPFClustering, with merge_by"):
        plot_cluster_tree(CLUSTERS)


def test_a_fixed_neighbourhood_has_no_curve():
    display = plot_clusters(OPFClustering(n_neighbors=5).fit(X))
    assert display.cut_ax_ is None
    assert len(display.figure_.axes) == 1


# Explanations


def annotations(display):
    return {
        tuple(item.xy): item.get_text()
        for item in display.ax_.texts
        if isinstance(item, matplotlib.text.Annotation)
    }


@pytest.mark.parametrize("model", [PLAIN, FUZZY])
def test_the_path_runs_from_the_query_to_the_prototype(model):
    display, reason = plot_explanation(model, FAR), model.explain([FAR])[0]
    assert len(reason.path) > 2
    assert display.explanation_ == reason
    np.testing.assert_array_equal(display.path_.get_xydata(), np.vstack([FAR, X[reason.path]]))


def test_costs_are_written_at_both_ends_of_the_path():
    reason, written = PLAIN.explain([FAR])[0], annotations(plot_explanation(PLAIN, FAR))
    assert written[tuple(FAR)] == f"{reason.offer:.3g}"
    assert written[tuple(X[reason.path[0]])] == f"{reason.costs[0]:.3g}"
    assert written[tuple(X[reason.path[-1]])] == "0"


def test_of_a_long_path_a_few_costs_are_written():
    line = np.cumsum(np.linspace(1, 2, 40))[:, None] * [1.0, 0.0]
    model = FuzzyOPFClassifier(sigma=0.9, competition="tree").fit(line, np.arange(40) == 0)
    display = plot_explanation(model, line[-1] + 1)
    assert len(set(display.explanation_.costs)) > 20
    assert len(annotations(display)) == 8 + 1  # and the rival


@pytest.mark.parametrize("query", [QUERY, FAR, X.max(axis=0)], ids=["middle", "low", "high"])
def test_each_other_class_has_its_cheapest_offer(query):
    display, costs = plot_explanation(PLAIN, query, zoom=False), PLAIN.class_costs([query])[0]
    losers = np.argsort(costs)[1:]
    assert len(display.rivals_.get_segments()) == 2
    for code, (start, end) in zip(losers, display.rivals_.get_segments(), strict=True):
        np.testing.assert_array_equal(start, query)
        rival = int(np.flatnonzero((end == X).all(axis=1))[0])
        assert PLAIN.label_[rival] == CLASSES[code]
        assert max(PLAIN.cost_[rival], np.linalg.norm(query - X[rival])) == pytest.approx(costs[code])
        assert annotations(display)[tuple(end)] == f"{costs[code]:.3g}"


def test_a_path_from_a_few_labels_is_drawn_with_the_sums_of_its_steps():
    few = np.where(np.arange(len(X)) < 9, Y, "")
    model = OPFSemiSupervisedClassifier(method="geodesic", n_neighbors=4, metric="sqeuclidean").fit(X, few)
    display, reason = plot_explanation(model, FAR, zoom=False), model.explain([FAR])[0]
    assert display.explanation_ == reason
    offer = model.cost_[reason.conqueror] + np.sum((FAR - X[reason.conqueror]) ** 2)
    assert reason.offer == pytest.approx(offer)
    # Classes that none of the neighbours has make no offer.
    n_rivals = np.isfinite(model.class_costs([FAR])[0]).sum() - 1
    assert len(display.rivals_.get_segments() if n_rivals else []) == n_rivals < 2
    assert len(plot_forest(model).ax_.collections) > 0


def test_zoom_keeps_the_path_in_view():
    reason = PLAIN.explain([FAR])[0]
    for zoom in (True, False):
        ax = plot_explanation(PLAIN, FAR, zoom=zoom).ax_
        low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
        assert ((low < X[reason.path]) & (X[reason.path] < high)).all()
        assert ((low < X.min(axis=0)) & (X.max(axis=0) < high)).all() != zoom


def test_one_sample_is_explained_at_a_time():
    with pytest.raises(ValueError, match="query has 2 rows"):
        plot_explanation(PLAIN, X[:2])


def test_a_query_of_distances_needs_a_position():
    query = pairwise_distances([QUERY], X)
    with pytest.raises(ValueError, match="pass its position"):
        plot_explanation(MATRIX, query, X)
    display = plot_explanation(MATRIX, query, X, position=QUERY)
    np.testing.assert_array_equal(
        display.path_.get_xydata(), plot_explanation(PLAIN, QUERY).path_.get_xydata()
    )


def test_a_pipeline_explains_in_its_own_features_or_in_those_given():
    inside = plot_explanation(PIPELINE, QUERY).path_.get_xydata()
    np.testing.assert_array_equal(inside[0], PIPELINE[0].transform([QUERY])[0])
    outside = plot_explanation(PIPELINE, QUERY, X).path_.get_xydata()
    np.testing.assert_array_equal(outside[0], QUERY)


def test_one_class_has_no_rivals():
    display = plot_explanation(OPFClassifier().fit(X, ["fig"] * 60), QUERY)
    assert len(display.rivals_.get_segments()) == 0


def test_the_title_has_the_class_its_cost_and_the_next():
    for model in (PLAIN, OPFClassifier(n_conquerors=3).fit(X, Y)):
        costs = dict(zip(model.classes_, model.class_costs([QUERY])[0], strict=True))
        (first, lowest), (second, next_lowest), _ = sorted(costs.items(), key=lambda item: item[1])
        expected = f"Predicted {first}, cost {lowest:.3g} (next: {second}, {next_lowest:.3g})"
        assert plot_explanation(model, QUERY).ax_.get_title() == expected


def test_what_explains_nothing_is_refused():
    for model in (StandardScaler().fit(X), CLUSTERS):
        with pytest.raises(TypeError, match=f"{type(model).__name__} explains no predictions"):
            plot_explanation(model, QUERY)


# Explanations by features


WIDE, WIDE_CODES = make_samples(n_features=14)
WIDE_QUERY = WIDE[0] + np.linspace(-1, 1, 14)


def widths(bars):
    return np.array([bar.get_width() for bar in bars])


def test_many_features_are_drawn_as_bars_that_are_parts_of_the_distance():
    model = OPFClassifier().fit(WIDE, WIDE_CODES)
    display = plot_explanation(model, WIDE_QUERY)
    one = display.explanation_
    assert (display.path_, display.images_) == (None, None)
    for bars, sample, distance, name in zip(
        display.bars_,
        (one.conqueror, one.rival.conquerors[0]),
        (one.distance, one.rival.distance),
        ("share", "rival_share"),
        strict=True,
    ):
        drawn = one.features[:10]
        columns = [feature.column for feature in drawn]
        expected = np.array([getattr(feature, name) for feature in drawn]) * distance
        np.testing.assert_allclose(np.abs(widths(bars)), expected)
        np.testing.assert_array_equal(np.sign(widths(bars)), np.sign((WIDE_QUERY - WIDE[sample])[columns]))
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [f"{feature.name} = {feature.value:.4g}" for feature in one.features[:10]]


def test_without_shares_bars_are_standard_deviations():
    model = OPFClassifier(metric="cosine").fit(WIDE, WIDE_CODES)
    display = plot_explanation(model, WIDE_QUERY)
    one = display.explanation_
    expected = [feature.difference / WIDE[:, feature.column].std() for feature in one.features[:10]]
    np.testing.assert_allclose(widths(display.bars_[0]), expected)
    assert "standard deviations" in display.ax_.get_xlabel()


def test_a_pipeline_is_drawn_in_the_units_of_its_samples():
    model = make_pipeline(StandardScaler(), OPFClassifier()).fit(WIDE, WIDE_CODES)
    display = plot_explanation(model, WIDE_QUERY)
    assert {feature.value for feature in display.explanation_.features} == set(WIDE_QUERY.tolist())


def test_bars_of_categories_have_no_direction():
    model = OPFClassifier(metric="gower").fit([["fig", True, 1.0], ["quince", True, 5.0]], [0, 1])
    display = plot_explanation(model, np.array([["apple", False, 0.5]], dtype=object))
    lengths = {
        feature.column: bar.get_width()
        for feature, bar in zip(display.explanation_.features, display.bars_[0], strict=True)
    }
    np.testing.assert_allclose([lengths[i] for i in range(3)], [1 / 3, 1 / 3, -0.5 / 4 / 3])
    assert [feature.difference for feature in display.explanation_.features] == [1, 1, -0.5]
    assert display.ax_.get_xlabel().endswith("has more, or another category")


def test_dollars_in_names_are_not_mathematics():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(WIDE[:, :3], columns=["a$_{", "b$", "$c$ {"])
    display = plot_explanation(OPFClassifier().fit(frame, np.where(WIDE_CODES, "$x_$", "$y^$")), frame[:1])
    display.figure_.canvas.draw()


def test_a_model_of_distances_has_no_features_to_draw():
    with pytest.raises(ValueError, match="kind='features' needs features"):
        plot_explanation(MATRIX, pairwise_distances([QUERY], X), kind="features")


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind='tree' is unknown"):
        plot_explanation(PLAIN, QUERY, kind="tree")


def test_the_plane_is_drawn_if_asked_for():
    model = OPFClassifier().fit(WIDE, WIDE_CODES)
    assert plot_explanation(model, WIDE_QUERY, kind="plane").path_ is not None


def test_of_a_search_the_model_that_is_explained_is_drawn():
    search = FuzzyOPFClassifierCV(transforms="linear", k_max=5, sigmas=1.0, cv=2).fit(WIDE, WIDE_CODES)
    cells = [one.cell for one in search.explain(WIDE)]
    for row in (cells.index(cell) for cell in set(cells)):
        display = plot_explanation(search, WIDE[row], kind="plane")
        one, model = display.explanation_, search.estimators_[cells[row]]
        assert one.cell == cells[row]
        assert len(display.path_.get_xydata()) == 1 + len(one.path)
        assert str(display) == f"<ExplanationDisplay: {one.headline}>"
        assert hasattr(model, "predict")


# Explanations by images


def test_images_are_the_sample_the_path_and_the_rival():
    model = OPFClassifier().fit(WIDE, WIDE_CODES)
    display = plot_explanation(model, WIDE_QUERY, image_shape=(2, 7))
    one = display.explanation_
    assert len(one.path) <= 7
    rows = [WIDE_QUERY, *WIDE[one.path], WIDE[one.rival.conquerors[0]]]
    assert len(display.images_) == len(rows)
    for image, row in zip(display.images_, rows, strict=True):
        np.testing.assert_array_equal(image.get_array(), row.reshape(2, 7))
    lefts = [image.get_extent()[0] for image in display.images_]
    assert lefts == sorted(lefts)


def test_of_a_long_path_a_few_images_are_drawn():
    line = np.cumsum(np.linspace(1, 2, 40))[:, None] * [1.0, 0.0]
    model = OPFClassifier().fit(line, np.arange(40) == 0)
    display = plot_explanation(model, line[-1] + 1, image_shape=(1, 2))
    assert len(display.explanation_.path) == 39
    assert len(display.images_) == 1 + 7 + 1
    np.testing.assert_array_equal(display.images_[-2].get_array()[0], line[1])  # the prototype


def test_colour_images_are_drawn_in_colour():
    model = OPFClassifier().fit(np.abs(WIDE[:, :12]) % 1, WIDE_CODES)
    display = plot_explanation(model, model._fit_X[0], image_shape=(2, 2, 3))
    assert display.images_[0].get_array().shape == (2, 2, 3)


@pytest.mark.parametrize("shape", [(3, 5), (14,), (2, 7, 1), "ab", 14])
def test_an_image_shape_that_does_not_fit_is_refused(shape):
    model = OPFClassifier().fit(WIDE, WIDE_CODES)
    with pytest.raises(ValueError, match=r"image_shape=.* does not fit 14 features; pass \(height, width\)"):
        plot_explanation(model, WIDE_QUERY, image_shape=shape)
    assert plt.get_fignums() == []


def test_images_of_a_pipeline_are_those_before_its_scalers():
    scaled = make_pipeline(StandardScaler(), OPFClassifier()).fit(WIDE, WIDE_CODES)
    display = plot_explanation(scaled, WIDE_QUERY, image_shape=(2, 7))
    one = display.explanation_
    np.testing.assert_array_equal(display.images_[0].get_array(), WIDE_QUERY.reshape(2, 7))
    np.testing.assert_allclose(display.images_[1].get_array(), WIDE[one.conqueror].reshape(2, 7))
    mixed = make_pipeline(PCA(3), OPFClassifier()).fit(WIDE, WIDE_CODES)
    with pytest.raises(ValueError, match="pass them as X"):
        plot_explanation(mixed, WIDE_QUERY, image_shape=(2, 7))
    display = plot_explanation(mixed, WIDE_QUERY, WIDE, image_shape=(2, 7))
    conqueror = WIDE[display.explanation_.conqueror]
    np.testing.assert_array_equal(display.images_[1].get_array(), conqueror.reshape(2, 7))


def test_images_of_a_search_are_the_samples_as_given():
    search = FuzzyOPFClassifierCV(transforms="linear", k_max=5, sigmas=1.0, cv=2).fit(WIDE, WIDE_CODES)
    display = plot_explanation(search, WIDE_QUERY, image_shape=(2, 7))
    conqueror = WIDE[display.explanation_.conqueror]
    np.testing.assert_array_equal(display.images_[1].get_array(), conqueror.reshape(2, 7))


# Pruners


def test_kept_samples_are_a_forest_and_the_others_crosses():
    display = plot_pruned(PRUNED, X)
    kept = PRUNED.sample_indices_
    np.testing.assert_array_equal(display.kept_.get_offsets(), X[kept])
    np.testing.assert_array_equal(display.gone_.get_offsets(), np.delete(X, kept, axis=0))
    assert display.ax_.get_title() == f"{len(kept)} of 60 samples kept"
    assert legend_texts(display.ax_) == [*CLASSES, "prototype", "not in the model"]


def test_without_samples_those_kept_are_drawn():
    display = plot_pruned(make_pipeline(StandardScaler(), OPFPruner()).fit(X, Y))
    assert display.gone_ is None
    assert display.ax_.get_title().endswith("samples kept")


@pytest.mark.parametrize(
    "pruner",
    [make_pipeline(TablePreprocessor(), OPFPruner()), OPFPruner(OPFClassifier(metric="gower"))],
    ids=["pipeline", "gower"],
)
def test_a_table_with_text_goes_through_what_the_pruner_s_samples_did(pruner):
    display = plot_pruned(pruner.fit(TABLE, Y), TABLE)
    kept, gone = len(display.kept_.get_offsets()), len(display.gone_.get_offsets())
    assert kept + gone == 60
    shown = np.vstack([display.kept_.get_offsets(), display.gone_.get_offsets()])
    assert np.isfinite(shown).all()


def test_a_pruner_has_a_forest():
    shown = plot_forest(PRUNED).samples_.get_offsets()
    np.testing.assert_array_equal(shown, X[PRUNED.sample_indices_])


def test_a_pruner_of_distances_needs_positions():
    pruner = OPFPruner(OPFClassifier(metric="precomputed")).fit(pairwise_distances(X), Y)
    with pytest.raises(ValueError, match="pass X with one row for each sample"):
        plot_pruned(pruner)
    assert len(plot_pruned(pruner, X).gone_.get_offsets()) == 60 - len(pruner.sample_indices_)


def test_pictures_of_pruners_refuse_what_does_not_fit():
    with pytest.raises(TypeError, match="OPFClassifier prunes nothing; pass a fitted OPFPruner"):
        plot_pruned(PLAIN)
    with pytest.raises(ValueError, match=r"X has 9 rows, but sample \d+ was kept"):
        plot_pruned(PRUNED, X[:9])


# Outliers


@pytest.mark.parametrize("new", [None, X[::3] * 1.5], ids=["training", "new"])
def test_outliers_have_rings_and_colours_are_scores(new):
    display = plot_outliers(OUTLIERS, new)
    seen = X if new is None else new
    scores, is_outlier = OUTLIERS.score_samples(seen), OUTLIERS.predict(seen) < 0
    np.testing.assert_array_equal(display.samples_.get_offsets(), seen)
    np.testing.assert_allclose(display.samples_.get_array(), np.maximum(scores, -3))
    np.testing.assert_array_equal(display.outliers_.get_offsets(), seen[is_outlier])
    n = int(is_outlier.sum())
    assert display.ax_.get_title() == f"{n} outlier{'s' * (n != 1)} among {len(seen)} samples"
    assert sum(bar.get_height() for bar in display.score_ax_.patches) == len(seen)


def test_the_border_is_where_scores_cross_the_threshold():
    border = plot_outliers(OUTLIERS).border_
    points = np.vstack([path.vertices for path in border.get_paths()])
    assert len(points) > 20
    assert np.abs(OUTLIERS.decision_function(points)).max() < 0.2
    assert plot_outliers(OPFOutlierDetector().fit(WIDE)).border_ is None


def test_outliers_at_other_positions():
    distances = OPFOutlierDetector(metric="precomputed", contamination=0.1).fit(pairwise_distances(X))
    with pytest.raises(ValueError, match="pass position"):
        plot_outliers(distances)
    with pytest.raises(ValueError, match="position has 9 rows for 60 samples"):
        plot_outliers(distances, position=X[:9])
    display = plot_outliers(distances, position=X)
    np.testing.assert_array_equal(display.samples_.get_offsets(), X)
    assert display.border_ is None


def test_outliers_of_a_pipeline_and_of_one_feature():
    model = make_pipeline(StandardScaler(), OPFOutlierDetector()).fit(X)
    shown = plot_outliers(model, X).samples_.get_array()
    np.testing.assert_allclose(shown, np.maximum(model.score_samples(X), -3))
    assert plot_outliers(OPFOutlierDetector().fit(X[:, :1])).ax_.get_ylabel() == "score"


def test_pictures_of_outliers_refuse_other_models():
    with pytest.raises(TypeError, match="OPFClassifier finds no outliers; pass a fitted OPFOutlierDetector"):
        plot_outliers(PLAIN)
