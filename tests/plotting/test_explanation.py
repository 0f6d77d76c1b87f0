"""The pictures of explanations: what they show, not how they look."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier
from pathforest.plotting import plot_explanation

matplotlib = pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)
Y = np.array(["apple", "fig", "quince"])[np.arange(60) % 3]
WIDE = RNG.normal(size=(60, 14)) + 2.0 * (np.arange(60) % 3)[:, None]
X = WIDE[:, :2]
PLAIN = OPFClassifier().fit(X, Y)
QUERY = np.array([1.0, 1.2])
FAR = X.min(axis=0)  # conquered along a path
WIDE_QUERY = WIDE[0] + np.linspace(-1, 1, 14)
WIDE_MODEL = OPFClassifier().fit(WIDE, Y)


@pytest.fixture(scope="module")
def search():
    return FuzzyOPFClassifierCV(transforms="linear", k_max=5, sigmas=1.0, cv=2).fit(WIDE, Y)


def annotations(display):
    found = [item for item in display.ax_.texts if isinstance(item, matplotlib.text.Annotation)]
    return {tuple(item.xy): item.get_text() for item in found}


@pytest.mark.parametrize("model", [PLAIN, FuzzyOPFClassifier(sigma=0.3, competition="tree").fit(X, Y)])
def test_the_path_runs_from_the_query_to_the_prototype_with_its_costs(model):
    display, reason = plot_explanation(model, FAR), model.explain([FAR])[0]
    assert len(reason.path) > 2
    assert (display.explanation_, display.ax_.get_title()) == (reason, reason.headline)
    np.testing.assert_array_equal(display.path_.get_xydata(), np.vstack([FAR, X[reason.path]]))
    written = annotations(display)
    assert written[tuple(FAR)] == f"{reason.offer:.3g}"
    assert written[tuple(X[reason.path[0]])] == f"{reason.costs[0]:.3g}"
    assert written[tuple(X[reason.path[-1]])] == "0"


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
    one_class = plot_explanation(OPFClassifier().fit(X, ["fig"] * 60), query)
    assert len(one_class.rivals_.get_segments()) == 0


def test_of_a_long_path_a_few_costs_and_images_are_drawn():
    line, last = np.cumsum(np.linspace(1, 2, 40))[:, None] * [1.0, 0.0], np.arange(40) == 0
    model = FuzzyOPFClassifier(sigma=0.9, competition="tree").fit(line, last)
    display = plot_explanation(model, line[-1] + 1)
    assert len(set(display.explanation_.costs)) > 20
    assert len(annotations(display)) == 8 + 1  # and the rival
    display = plot_explanation(OPFClassifier().fit(line, last), line[-1] + 1, image_shape=(1, 2))
    assert len(display.explanation_.path) == 39
    assert len(display.images_) == 1 + 7 + 1
    np.testing.assert_array_equal(display.images_[-2].get_array()[0], line[1])  # the prototype


def test_the_path_is_in_view():
    reason = PLAIN.explain([FAR])[0]
    ax = plot_explanation(PLAIN, FAR).ax_
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert ((low < X[reason.path]) & (X[reason.path] < high)).all()
    assert not ((low < X.min(axis=0)) & (X.max(axis=0) < high)).all()


def test_positions_on_a_plane():
    model = OPFClassifier(metric="precomputed").fit(np.linalg.norm(X[:, None] - X, axis=2), Y)
    display = plot_explanation(model, np.linalg.norm(X - QUERY, axis=1), X, position=QUERY)
    expected = plot_explanation(PLAIN, QUERY).path_.get_xydata()
    np.testing.assert_array_equal(display.path_.get_xydata(), expected)
    scaled = make_pipeline(StandardScaler(), OPFClassifier()).fit(X, Y)
    inside, outside = plot_explanation(scaled, QUERY), plot_explanation(scaled, QUERY, X)
    np.testing.assert_array_equal(inside.path_.get_xydata()[0], scaled[0].transform([QUERY])[0])
    np.testing.assert_array_equal(outside.path_.get_xydata()[0], QUERY)


# Bars of features


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
    assert hasattr(plot_explanation(WIDE_MODEL, WIDE_QUERY, kind="plane"), "path_")


def test_without_shares_bars_are_standard_deviations():
    display = plot_explanation(OPFClassifier(metric="cosine").fit(WIDE, Y), WIDE_QUERY)
    drawn = display.explanation_.features[:10]
    expected = [feature.difference / WIDE[:, feature.column].std() for feature in drawn]
    np.testing.assert_allclose(widths(display.bars_[0]), expected)
    assert "standard deviations" in display.ax_.get_xlabel()


def test_bars_of_categories_have_no_direction():
    model = OPFClassifier(metric="gower").fit([["fig", True, 1.0], ["quince", True, 5.0]], [0, 1])
    display = plot_explanation(model, np.array([["apple", False, 0.5]], dtype=object))
    features = display.explanation_.features
    lengths = {one.column: bar.get_width() for one, bar in zip(features, display.bars_[0], strict=True)}
    np.testing.assert_allclose([lengths[i] for i in range(3)], [1 / 3, 1 / 3, -0.5 / 4 / 3])
    assert display.ax_.get_xlabel().endswith("has more, or another category")


def test_dollars_in_names_are_not_mathematics():
    frame = pytest.importorskip("pandas").DataFrame(WIDE[:, :3], columns=["a$_{", "b$", "$c$ {"])
    model = OPFClassifier().fit(frame, np.where(Y == "fig", "$x_$", "$y^$"))
    plot_explanation(model, frame[:1]).figure_.canvas.draw()


def test_of_a_search_the_model_that_is_explained_is_drawn(search):
    cells = [one.cell for one in search.explain(WIDE)]
    for row in (cells.index(cell) for cell in set(cells)):
        display = plot_explanation(search, WIDE[row], kind="plane")
        assert display.explanation_.cell == cells[row]
        assert len(display.path_.get_xydata()) == 1 + len(display.explanation_.path)


# A row of images


def test_images_are_the_sample_the_path_and_the_rival():
    display = plot_explanation(WIDE_MODEL, WIDE_QUERY, image_shape=(2, 7))
    one = display.explanation_
    assert len(one.path) <= 7
    rows = [WIDE_QUERY, *WIDE[one.path], WIDE[one.rival.conquerors[0]]]
    for image, row in zip(display.images_, rows, strict=True):
        np.testing.assert_array_equal(image.get_array(), row.reshape(2, 7))
    lefts = [image.get_extent()[0] for image in display.images_]
    assert lefts == sorted(lefts)
    samples = np.abs(WIDE[:, :12]) % 1
    display = plot_explanation(OPFClassifier().fit(samples, Y), samples[0], image_shape=(2, 2, 3))
    assert display.images_[0].get_array().shape == (2, 2, 3)


def test_images_are_the_samples_as_given_whatever_a_model_makes_of_them(search):
    scaled = make_pipeline(StandardScaler(), OPFClassifier()).fit(WIDE, Y)
    mixed = make_pipeline(PCA(3), OPFClassifier()).fit(WIDE, Y)
    with pytest.raises(ValueError, match="pass them as X"):
        plot_explanation(mixed, WIDE_QUERY, image_shape=(2, 7))
    for model, training in ((scaled, None), (mixed, WIDE), (search, None)):
        display = plot_explanation(model, WIDE_QUERY, training, image_shape=(2, 7))
        conqueror = WIDE[display.explanation_.conqueror]
        np.testing.assert_array_equal(display.images_[0].get_array(), WIDE_QUERY.reshape(2, 7))
        np.testing.assert_allclose(display.images_[1].get_array(), conqueror.reshape(2, 7))
    values = {feature.value for feature in plot_explanation(scaled, WIDE_QUERY).explanation_.features}
    assert values == set(WIDE_QUERY.tolist())
