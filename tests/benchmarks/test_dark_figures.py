"""The dark version of a figure is the same drawing, readable on dark paper."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from benchmarks.dark import PAPER, dark_path, darken, save_both
from pathforest.plotting._draw import PALETTE


def luminance(colors):
    linear = np.asarray(colors)[..., :3] ** 2.2
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(colors):
    """Contrast with the paper, as web pages count it."""
    return (luminance(colors) + 0.05) / (luminance(PAPER) + 0.05)


@pytest.fixture
def figure():
    figure = Figure()
    ax = figure.subplots()
    ax.plot([0, 1], [1, 10], "o-", label="line")
    ax.set(title="title", xlabel="x", ylabel="y")
    ax.annotate("here", (0, 1), (0.5, 5), arrowprops={"arrowstyle": "->"})
    ax.grid(alpha=0.3)
    ax.legend()
    return figure


def test_texts_can_be_read(figure):
    darken(figure)
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    assert len(texts) > 8  # ticks too
    assert min(contrast(to_rgb(text.get_color())) for text in texts) > 7


def test_every_class_can_be_seen(figure):
    (ax,) = figure.axes
    points = ax.scatter(range(len(PALETTE)), range(1, len(PALETTE) + 1), c=PALETTE)
    line = ax.lines[0]
    line.set(color=PALETTE[0], markeredgecolor=to_rgba_array("black")[0, :3])  # an array, as displays set it
    darken(figure)
    assert contrast(points.get_facecolor()).min() > 3
    assert contrast(to_rgb(line.get_color())) > 3
    assert contrast(to_rgb(line.get_markeredgecolor())) > 7


def test_marks_that_follow_their_line_are_changed_once(figure):
    line = figure.axes[0].lines[0]
    darken(figure)
    assert line.get_markerfacecolor() == line.get_color()


def test_images_fade_to_the_paper_instead_of_white(figure):
    (ax,) = figure.axes
    drawn = ax.imshow(np.array([[[1.0, 1, 1], [0, 0, 0], [0.8, 0.9, 1]]]), aspect="auto")
    digit = ax.imshow(np.eye(2), cmap="gray_r", aspect="auto")
    darken(figure)
    white, black, blue = np.asarray(drawn.get_array())[0]
    np.testing.assert_allclose(white, PAPER)
    assert contrast(black) > 7
    assert blue[2] > blue[0]  # still blue
    np.testing.assert_allclose(digit.cmap(0.0)[:3], PAPER)


def test_marks_by_value_stand_out_where_they_did(figure):
    (ax,) = figure.axes
    points = ax.scatter([0, 1], [1, 2], c=[0.0, 1.0], cmap="cividis_r")
    bar = figure.colorbar(points)
    darken(figure)
    faint, strong = points.to_rgba([0.0, 1.0])
    assert contrast(strong) > 7 > contrast(faint)
    assert bar.cmap.name == points.cmap.name


def test_numbers_on_a_map_keep_the_colour_chosen_for_it(figure):
    (ax,) = figure.axes
    ax.imshow(np.eye(2), cmap="viridis", aspect="auto")
    number = ax.text(0, 0, ".95", color="black")
    darken(figure)
    assert number.get_color() == "black"


def test_both_versions_are_saved_side_by_side(figure, tmp_path):
    save_both(figure, tmp_path / "a.png", dpi=50)
    light, dark = (imread(path)[..., :3] for path in (tmp_path / "a.png", dark_path(tmp_path / "a.png")))
    assert light.shape == dark.shape
    np.testing.assert_allclose(light[0, 0], 1)
    np.testing.assert_allclose(dark[0, 0], PAPER, atol=0.01)
