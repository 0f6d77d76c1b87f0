"""The page of the playground: drawing, dragging, stepping and asking, by mouse, finger and keys."""

import gzip
import re
from functools import cache

import numpy as np
import pytest
from browsers import WIDTHS, a_browser, a_page, faint_texts, looks
from playgrounds import write_page

from pathforest import OPFClassifier

LIMIT = 500_000  # bytes of the whole page, compressed
LOCAL = ("file:", "data:")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("playground"))


@pytest.fixture(scope="module")
def visit(file):
    """Open the page with a state; what it complains of is kept on it as `problems`."""
    with a_browser() as browser:

        def open_page(state="", width=1280, scheme="light", **options):
            page = a_page(browser, width, scheme, allowed=lambda url: url.startswith(LOCAL), **options)
            page.goto(f"{file.as_uri()}#{state}")
            page.wait_for_selector("body.ready")
            return page

        yield open_page


@pytest.fixture(scope="module")
def look(visit):
    """Pages that tests look at and leave as they are."""
    return cache(visit)


def settled(page, condition="true"):
    """Wait until what was changed is fitted and drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(condition)


def points(page):
    X, y = page.evaluate("[Array.from(playground.data().X), Array.from(playground.data().y)]")
    return np.reshape(X, (-1, 2)), np.array(y)


def at(page, x, y, number=0):
    """The place on the page of a place on the plane."""
    box = page.locator(".plane").nth(number).bounding_box()
    return box["x"] + x / 1000 * box["width"], box["y"] + y / 1000 * box["height"]


def choose(page, name, value):
    page.locator(f"input[name={name}][value='{value}']").check(force=True)
    settled(page)


def drag(page, name, value):
    page.locator(f"input[name={name}]").fill(str(value))
    settled(page)


def words(page):
    return page.locator("#words").inner_text()


def test_the_page_is_small(file):
    assert len(gzip.compress(file.read_bytes())) <= LIMIT


@pytest.mark.parametrize("width", [*WIDTHS, 1920])
@pytest.mark.parametrize("state", ["", "set=grid&compare=ties"])
def test_the_page_fits_the_window_and_asks_for_nothing(look, width, state):
    page = look(state, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.problems == []


@looks
def test_text_stands_out_from_its_background(look, width, scheme):
    shown = "h1, h1 span, p, b, legend, small, label, output, button, summary, figcaption span"
    assert faint_texts(look("set=grid&compare=ties", width, scheme), shown) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_plane_follows_the_scheme(visit, scheme):
    page = visit("regions=off&forest=off", scheme=scheme)
    red = page.evaluate("document.querySelector('.plane').getContext('2d').getImageData(3, 3, 1, 1).data[0]")
    assert (red > 128) == (scheme == "light")


def test_every_control_has_a_name(look):
    nameless = look("set=grid&compare=ties").evaluate(
        """() => Array.from(document.querySelectorAll("input, select, button, canvas:not([aria-hidden])"))
          .filter((e) => !(e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.textContent).trim())
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []


def test_tab_goes_from_sets_to_plane_to_player_to_settings(visit):
    page = visit()
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "[document.activeElement].map((e) => e.name || e.id || e.className || e.tagName)[0]"
            )
        )
    order = [
        "set",
        "tool",
        "again",
        "clear",
        "plane",
        "first",
        "play",
        "step",
        "place",
        "model",
        "n",
        "wrong",
    ]
    assert [name for name in reached if name in order] == order


def test_sets_can_be_chosen(visit):
    page = visit()
    classes = {"spirals": 2, "rings": 3, "blobs": 4, "grid": 3, "overlap": 2, "moons": 2}
    for name, n_classes in classes.items():
        choose(page, "set", name)
        X, y = points(page)
        assert page.evaluate("playground.state().set") == name
        assert len(np.unique(y)) == n_classes
        assert X.min() >= 0
        assert X.max() <= 1000
        assert np.array_equal(X, X.round())


def test_the_grid_breaks_the_textbook_and_not_us(look):
    facts = look("set=grid&compare=ties").locator(".facts").all_inner_texts()
    assert [re.search(r"(\d+) of 60 training labels lost", fact)[1] for fact in facts] == ["33", "0"]


def test_wrong_labels_hurt_one_conqueror_more_than_many(visit):
    page = visit("compare=conquerors&n_conquerors=13")
    scores = "Array.from(document.querySelectorAll('.score'), (score) => score.textContent)"
    ready = f"{scores}.every((text) => text.includes('right'))"
    page.wait_for_function(ready)
    before = page.evaluate(scores)[0]
    drag(page, "wrong", 20)
    page.wait_for_function(f"(before) => {ready} && {scores}[0] !== before", arg=before)  # when it has time
    one, many = (float(re.match(r"[\d.]+", text)[0]) for text in page.locator(".score").all_inner_texts())
    assert many - one > 10
    _, y = points(page)
    flipped = page.evaluate("Array.from(playground.data().truth)") != y
    assert flipped.sum() == 48


def test_only_parameters_that_act_are_shown(visit):
    page = visit()
    sliders = {
        "fuzzy": {"n", "wrong", "sigma", "k_max", "n_conquerors"},
        "plain": {"n", "wrong", "n_conquerors"},
        "tree": {"n", "wrong", "sigma", "k_max", "n_conquerors"},
        "clusters": {"n", "k_max", "threshold"},
        "semi": {"n", "wrong", "n_conquerors", "n_labels"},
    }
    for model, expected in sliders.items():
        choose(page, "model", model)
        shown = page.locator(".slider input:visible").evaluate_all("all => all.map((e) => e.name)")
        assert set(shown) == expected


@pytest.mark.parametrize(
    ("state", "name", "value", "array"),
    [
        ("model=fuzzy", "sigma", 0.3, "cost"),
        ("model=tree", "k_max", 3, "membership"),
        ("model=clusters&set=blobs&threshold=0", "threshold", 400, "label"),
        ("model=semi&set=overlap", "n_labels", 9, "cost"),
        ("model=plain", "n", 90, "order"),
    ],
)
def test_models_follow_their_sliders(visit, state, name, value, array):
    page = visit(state)
    read = f"Array.from(playground.models()[0].arrays.{array})"
    before, picture = page.evaluate(read), page.locator(".plane").first.screenshot()
    drag(page, name, value)
    assert page.evaluate(read) != before
    assert page.locator(".plane").first.screenshot() != picture


def test_points_are_drawn_and_erased_by_mouse(visit):
    page = visit()
    page.get_by_role("button", name="Clear").click()
    settled(page)
    assert len(points(page)[1]) == 0
    assert page.locator(".facts").first.inner_text() == "Draw two points or more."
    choose(page, "tool", "2")
    page.mouse.click(*at(page, 200, 300))
    choose(page, "tool", "1")
    page.mouse.move(*at(page, 600, 600))
    page.mouse.down()
    page.mouse.move(*at(page, 800, 600), steps=20)
    page.mouse.up()
    settled(page)
    X, y = points(page)
    assert np.abs(X[0] - [200, 300]).max() <= 2
    assert 5 <= len(y) - 1 <= 11
    assert y.tolist() == [2] + [1] * (len(y) - 1)
    assert page.evaluate("playground.models()[0].classes") == [1, 2]
    choose(page, "tool", "erase")
    page.mouse.click(*at(page, 210, 310))  # near enough
    settled(page)
    assert set(points(page)[1]) == {1}
    assert page.problems == []


def test_points_are_drawn_by_keys(visit):
    page = visit()
    n = len(points(page)[1])
    choose(page, "tool", "3")
    page.locator(".plane").first.focus()
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    settled(page)
    X, y = points(page)
    assert (X[-1].tolist(), y[-1], len(y)) == ([480, 460], 3, n + 1)
    assert "wins this place" in words(page)
    page.keyboard.press("Delete")
    settled(page)
    assert 3 not in points(page)[1]


def test_points_are_drawn_by_finger(visit):
    page = visit(width=390, has_touch=True)
    n = len(points(page)[1])
    choose(page, "tool", "1")
    page.locator(".plane").first.scroll_into_view_if_needed()
    page.touchscreen.tap(*at(page, 100, 900))
    settled(page)
    X, y = points(page)
    assert (len(y), y[-1]) == (n + 1, 1)
    assert np.abs(X[-1] - [100, 900]).max() <= 3


@pytest.mark.parametrize("r", [1, 5])
def test_words_name_path_cost_and_rival(visit, r):
    page = visit(f"set=overlap&n_conquerors={r}")
    X, y = points(page)
    page.mouse.move(*at(page, 430, 520))
    settled(page)
    text = words(page)
    place = page.evaluate("document.querySelector('.plane').getBoundingClientRect().width")
    model = OPFClassifier(n_conquerors=r).fit(X, y)
    # The mouse points at a pixel; the words must be right for one of the places in it.
    reach = int(np.ceil(1000 / place))
    near = [[430 + i, 520 + j] for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)]

    def expected(query, why):
        costs = np.sort(model.class_costs([query])[0])
        name = ["Blue", "Orange"][why.label]
        return (
            text.startswith(f"{name} wins this place at cost {costs[0]:.3g}"[:-1])
            and f"sample {why.conqueror}:" in text
            and (f"prototype {why.path[-1]}" in text or len(why.path) == 1)
            and f"asks {costs[1]:.3g}"[:-1] in text
        )

    assert any(expected(q, why) for q, why in zip(near, model.explain(near), strict=True)), text


def test_the_words_are_announced(look):
    page = look()
    assert page.locator("#words").get_attribute("aria-live") == "polite"
    assert page.locator(".plane").first.get_attribute("aria-describedby") == "words"


def test_steps_show_one_sample_at_a_time(visit):
    page = visit("set=rings&n=40")
    order = page.evaluate("playground.order()[0]")
    step = page.get_by_role("button", name="One step")
    for count in (1, 2, 3):
        step.click()
        assert page.locator("#told").inner_text() == f"{count} of 40"
        assert words(page).startswith(f"Step {count} of 40: ")
        assert f" {order[count - 1]} " in words(page)
    page.locator("#place").fill("40")
    assert page.locator("#told").inner_text() == "all 40"
    page.get_by_role("button", name="Back to the start").click()
    assert page.locator("#told").inner_text() == "0 of 40"


def test_the_conquest_plays_to_its_end_and_pauses(visit):
    page = visit("set=rings&n=30")
    page.get_by_role("button", name="Play the conquest").click()
    page.wait_for_function("document.getElementById('told').textContent.startsWith('4 of')")
    page.get_by_role("button", name="Pause").click()
    paused = page.locator("#told").inner_text()
    page.wait_for_timeout(600)
    assert page.locator("#told").inner_text() == paused
    page.get_by_role("button", name="Play the conquest").click()
    page.wait_for_function("document.getElementById('told').textContent === 'all 30'")
    assert page.get_by_role("button", name="Play the conquest").is_visible()


def test_the_address_brings_the_same_picture(visit):
    page = visit("set=blobs&wrong=12&model=fuzzy&sigma=0.45")
    choose(page, "tool", "1")
    page.mouse.click(*at(page, 500, 500))
    drag(page, "k_max", 7)
    page.wait_for_function("location.hash.includes('k_max=7') && location.hash.includes('points=')")
    again = visit(page.evaluate("location.hash.slice(1)"))
    for known in ("playground.state()", "Array.from(playground.data().X)", "Array.from(playground.data().y)"):
        assert again.evaluate(known) == page.evaluate(known)
    assert again.locator("input[name=k_max]").input_value() == "7"


@pytest.mark.parametrize(
    "state",
    [
        "set=__proto__&model=constructor&sigma=x&k_max=",
        "n=1e9&seed=-4&sigma=-1",
        "set=drawn&points=%%%&wrong=999&compare=ties&model=clusters",
        "set=drawn&points=____AAAA<script>",
        "&&==&set=drawn",
    ],
)
def test_any_address_opens_a_page_that_works(visit, state):
    page = visit(state)
    choose(page, "set", "spirals")
    assert len(points(page)[1]) == 300
    assert page.problems == []


def test_lines_and_links_are_copied(visit, file):
    page = visit("set=overlap", permissions=["clipboard-read", "clipboard-write"])
    for button, told in (("Copy as Python", "Python copied."), ("Copy link", "Link copied.")):
        page.get_by_role("button", name=button).click()
        page.get_by_text(told).wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("import numpy" if "Python" in button else f"{file.as_uri()}#set=overlap")


def test_an_embedded_page_tells_a_story(visit):
    page = visit("embed=on")
    assert page.locator("aside").is_hidden()
    page.wait_for_function("document.body.classList.contains('is-playing')")
    assert "Prototypes" in page.locator("#caption").inner_text()


def test_an_embedded_page_stands_still_if_the_reader_wants_no_motion(visit):
    page = visit("embed=on", reduced_motion="reduce")
    settled(page, "playground.state().n_conquerors === 13")
    assert "islands go" in page.locator("#caption").inner_text()


def test_both_planes_lie_side_by_side_or_one_below_the_other(look):
    for width in WIDTHS:
        left, right = look("set=grid&compare=ties", width).locator(".plane").all()
        a, b = left.bounding_box(), right.bounding_box()
        assert (b["x"] > a["x"] + a["width"]) if width > 600 else (b["y"] > a["y"] + a["height"])
        assert abs(a["width"] - a["height"]) < 2
