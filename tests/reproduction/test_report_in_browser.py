"""The report in a browser: it draws, fits, can be reached by keyboard, and asks for nothing."""

from functools import cache

import pytest
from browsers import PATIENCE, WIDTHS, a_browser, looks, visitor, wait_until
from experiments import an_experiment

from pathforest.reproduction.page import write_report

pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(an_experiment(), path)
    return path.as_uri()


@pytest.fixture(scope="module")
def visit(browser, report):
    """Open the report; what it complains of and asks for is kept on the page as `problems`."""
    return visitor(browser, report, allowed=report.__eq__)


@pytest.fixture(scope="module")
def look(visit):
    """Pages that tests look at and leave as they are."""
    return cache(visit)


def boxes(page, selector):
    return page.eval_on_selector_all(
        selector, "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.right, b.height])"
    )


@looks
def test_every_figure_is_drawn_inside_its_place(look, width, scheme):
    page = look(width, scheme)
    assert page.problems == []
    places = boxes(page, ".plot")
    drawn = boxes(page, ".plot .main-svg:first-child")
    assert len(places) == len(drawn) == 16
    for (left, right, height), (drawn_left, drawn_right, drawn_height) in zip(places, drawn, strict=True):
        assert drawn_right - drawn_left > 200
        assert drawn_height == height > 100
        assert left <= drawn_left + 1
        assert drawn_right <= right + 1


@looks
def test_the_page_is_as_wide_as_the_window(look, width, scheme):
    page = look(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
def test_axes_have_room_beside_their_labels(look, width):
    """Long names and legends take room; what is left must show the data."""
    page = look(width, "light")
    areas = page.eval_on_selector_all(".plot", "all => all.map(e => e._fullLayout._size.w / e.clientWidth)")
    assert min(areas) > 0.4


@pytest.mark.parametrize("width", WIDTHS)
def test_labels_of_an_axis_do_not_overlap(look, width):
    page = look(width, "light")
    overlaps = page.evaluate(
        """() => Array.from(document.querySelectorAll(".plot")).flatMap((plot) => {
          // Axes are called x, y, x2 and so on, and their labels xtick, ytick, x2tick.
          const axes = Object.groupBy(plot.querySelectorAll("g[class$=tick]"), (tick) => tick.classList[0]);
          return Object.values(axes).flatMap((ticks) => {
            const all = ticks.map((tick) => tick.querySelector("text").getBoundingClientRect());
            return all.flatMap((a, i) => all.slice(i + 1).filter((b) =>
              a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom));
          });
        }).length"""
    )
    assert overlaps == 0


def test_figures_follow_the_scheme_of_the_reader(visit):
    page = visit()
    ink = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"{ink} !== '{light}'")
    red, green, blue = (int(part) for part in page.evaluate(ink)[4:-1].split(","))
    assert min(red, green, blue) > 150
    assert page.problems == []


def test_figures_follow_the_width_of_the_window(visit):
    page = visit()
    page.set_viewport_size({"width": 390, "height": 900})
    wait_until(page, "document.querySelector('.plot .main-svg').clientWidth < 390")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_tab_reaches_the_skip_link_first_then_every_region(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    assert top >= 0
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    regions = page.eval_on_selector_all("[role=region]", "all => all.map(e => e.getAttribute('aria-label'))")
    assert len(regions) > 8
    assert set(regions) <= reached


def test_the_skip_link_leads_to_the_report(visit):
    page = visit()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_focus_can_be_seen(visit):
    page = visit()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_tables_are_there_without_javascript(visit):
    page = visit(javascript=False)
    assert page.problems == []
    assert page.locator("table").count() > 8
    assert page.get_by_text("0.9929 ± 0.0170").first.is_visible()


def test_print_is_light_and_cuts_no_figure(visit):
    page = visit(scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 900})  # A4 less its margins
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    for (left, right, _), (drawn_left, drawn_right, _) in zip(
        boxes(page, ".plot"), boxes(page, ".plot .main-svg:first-child"), strict=True
    ):
        assert left <= drawn_left + 1
        assert drawn_right <= right + 1
    assert page.evaluate("document.documentElement.scrollWidth") == 688


def test_a_dataset_s_odd_name_is_no_markup(browser, tmp_path):
    name = "<b>&<img src=x onerror=document.title='bad'>"
    write_report(an_experiment(datasets=(name, "boat"), runs=3), tmp_path / "odd.html")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto((tmp_path / "odd.html").as_uri())
    assert page.title() != "bad"
    assert page.locator("h4", has_text=name).first.is_visible()
    assert page.locator(".ytick text", has_text=name).first.is_visible()
    page.close()
