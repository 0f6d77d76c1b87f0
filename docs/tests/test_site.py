"""The built site: links lead somewhere, nothing is asked for from outside, pages fit phones and the dark.

`make docs-test` builds the site and runs these.
"""

import io
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from browsers import WIDTHS, a_browser, a_page

import pathforest
import pathforest.dask

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "docs"
FILES = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
PAGES = sorted(name for name in FILES if not name.startswith("_"))
# Pages of the reference have one form; the first few stand for all.
WRITTEN = [page for page in PAGES if not page.startswith("api/generated/")]
LOOKED_AT = [*WRITTEN, *[page for page in PAGES if page.startswith("api/generated/")][:3]]
STORIES = sorted((ROOT / "examples").glob("plot_*.py"))
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}

# Text that ends beyond the window, and is in nothing that could be scrolled to see it.
CUT_OFF = """() => [...document.querySelectorAll(
    ".bd-article :is(h1, h2, h3, p, li, dt, dd, td, th, pre)")].filter(e => {
  if (e.getBoundingClientRect().right <= innerWidth + 1 || !e.textContent.trim()) return false;
  for (let a = e; !a.matches(".bd-article"); a = a.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(a).overflowX)) return false;
  return true;
}).map(e => e.textContent.trim().slice(0, 40))"""

# Tables that go on beyond what is shown, without the shadow that says so or with rows that hide it.
WITHOUT_A_SIGN = """() => [...document.querySelectorAll(".bd-article table")].filter(table => {
  let box = table.parentElement;
  while (!box.matches("body") && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
  if (table.getBoundingClientRect().width <= box.clientWidth + 1) return false;
  const opaque = e => !/^rgba|\\/ 0|^color\\(|transparent/.test(getComputedStyle(e).backgroundColor);
  return !box.matches(".pst-scrollable-table-container")
    || !getComputedStyle(box).backgroundAttachment.includes("local")
    || [table, ...table.querySelectorAll("thead, tbody, tr, th, td")].some(opaque);
}).map(table => table.textContent.trim().slice(0, 40))"""

assert PAGES, f"there is no site in {SITE}; run: make docs"


class Page(HTMLParser):
    """Links, names and what is loaded, of one page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        target = attrs.get(LOADING.get(tag, "href"))
        if target:
            self.links.append(target)
            if tag in LOADING and attrs.get("rel") not in ("next", "prev", "index", "search", "canonical"):
                self.loaded.append(target)


@cache
def read(page):
    return Page((SITE / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


def test_every_local_link_leads_somewhere():
    broken = []
    for page in PAGES:
        for link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
            if not path.is_file():
                broken.append(f"{page}: {link}")
            elif parts.fragment and path.suffix == ".html":
                target = path.resolve().relative_to(SITE.resolve()).as_posix()
                if unquote(parts.fragment) not in read(target).names:
                    broken.append(f"{page}: {link}")
    assert broken == []


def test_estimators_link_to_pages_that_exist(monkeypatch):
    monkeypatch.setattr("pathforest._models.documentation.find_site", lambda: SITE.as_posix())
    public = [getattr(room, name) for room in (pathforest, pathforest.dask) for name in room.__all__]
    pages = [kind()._get_doc_link() for kind in public if hasattr(kind, "_doc_link_module")]
    assert len(pages) > 10
    assert [page for page in pages if not Path(page).is_file()] == []


def test_nothing_is_loaded_from_outside():
    afar = [f"{page}: {url}" for page in PAGES for url in read(page).loaded if urlsplit(url).netloc]
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8", errors="replace")
        afar += [
            f"{style.name}: {url}" for url in re.findall(r"(?:url\(|@import)\s*['\"]?(https?:[^)'\"]+)", text)
        ]
    assert afar == []


class Walk(NamedTuple):
    """What is wrong with pages of one width."""

    too_wide: list
    silent: list
    problems: list


@pytest.fixture(scope="module", params=WIDTHS)
def walk(browser, request):
    page = a_page(browser, request.param, allowed=lambda url: url.startswith("file://"))
    found = Walk([], [], page.problems)
    for name in LOOKED_AT:
        page.goto((SITE / name).as_uri())
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.too_wide.append(name)
        found.too_wide.extend(f"{name}: {text}" for text in page.evaluate(CUT_OFF))
        found.silent.extend(f"{name}: {text}" for text in page.evaluate(WITHOUT_A_SIGN))
    return found


def test_pages_fit_their_window_and_ask_for_nothing(walk):
    assert walk.too_wide == []
    assert [problem for problem in walk.problems if not problem.startswith("[PST]")] == []


def test_tables_that_are_cut_show_that_they_scroll(walk):
    assert walk.silent == []


def test_the_benchmarks_show_all_their_columns_on_a_desk(browser):
    page = a_page(browser, 1280, allowed=lambda url: url.startswith("file://"))
    page.goto((SITE / "developer" / "benchmarks.html").as_uri())
    boxes = page.eval_on_selector_all(
        ".pst-scrollable-table-container", "all => all.map(e => [e.scrollWidth, e.clientWidth])"
    )
    assert boxes
    assert all(needed <= shown for needed, shown in boxes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_shadow_at_the_edge_of_a_table_can_be_seen(browser, scheme):
    """The edge of a table that goes on differs from that of the same table at its end."""
    page = a_page(browser, 390, scheme, allowed=lambda url: url.startswith("file://"))
    page.goto((SITE / "guide" / "fuzzy_cv.html").as_uri())
    table = page.locator(".numbers .pst-scrollable-table-container").first
    table.scroll_into_view_if_needed()
    lightness = []
    for place in (0, 10_000):
        table.evaluate("(e, place) => { e.scrollLeft = place; }", place)
        box = table.bounding_box()
        # Between the text of the last line and the rule below it, at the very edge.
        clip = {"x": box["x"] + box["width"] - 3, "y": box["y"] + 60, "width": 2, "height": 300}
        lightness.append(mean_lightness(page.screenshot(clip=clip)))
    assert abs(lightness[0] - lightness[1]) > 8


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_each_story_has_pictures_and_no_warnings(story):
    image = pytest.importorskip("PIL.Image")
    pictures = list((SITE / "_images").glob(f"sphx_glr_{story.stem}_[0-9][0-9][0-9].png"))
    assert pictures
    for path in pictures:
        colors = image.open(path).convert("RGB").getcolors(2**24)
        assert len(colors) > 100  # an empty figure has a few greys
    page = (SITE / "gallery" / f"{story.stem}.html").read_text(encoding="utf-8")
    printed = re.findall(r'class="sphx-glr-script-out.*?</pre>', page, re.DOTALL)
    assert not any("Warning" in text for text in printed)


def test_stories_leave_no_files():
    assert {path.suffix for path in (ROOT / "examples").iterdir() if path.is_file()} == {".py", ".rst"}


def mean_lightness(png):
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png)).convert("L")
    pixels = image.tobytes()
    return sum(pixels) / len(pixels)


def test_the_story_of_the_front_page_keeps_still_if_the_reader_asks(browser):
    def running(motion):
        page = a_page(browser, allowed=lambda url: url.startswith("file://"), reduced_motion=motion)
        page.goto((SITE / "index.html").as_uri())
        return page.evaluate("document.querySelector('.story').getAnimations({subtree: true}).length")

    assert running("no-preference") > 100
    assert running("reduce") == 0


def test_thumbnails_of_the_gallery_are_large(browser):
    page = a_page(browser, 1280, allowed=lambda url: url.startswith("file://"))
    page.goto((SITE / "gallery" / "index.html").as_uri())
    sizes = page.eval_on_selector_all(
        ".sphx-glr-thumbcontainer img.only-light", "all => all.map(e => [e.clientWidth, e.naturalWidth])"
    )
    assert len(sizes) > 10
    assert all(shown >= 300 and drawn >= 600 for shown, drawn in sizes)


def test_pictures_have_a_version_for_each_theme(browser):
    """What is shown in dark mode was drawn for it: the class says so, and its paper is dark."""
    Image = pytest.importorskip("PIL.Image")
    page, wrong, seen = a_page(browser, allowed=lambda url: url.startswith("file://")), [], set()
    shown = "all => all.filter(e => e.checkVisibility()).map(e => [e.className, e.src])"
    for name in WRITTEN:
        page.goto((SITE / name).as_uri())
        for theme in ("light", "dark"):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            pictures = page.eval_on_selector_all(".bd-article img:not(.toggler)", shown)
            wrong += [f"{name}: {src}" for classes, src in pictures if f"only-{theme}" not in classes]
            seen |= {(theme, unquote(urlsplit(src).path)) for _, src in pictures}
    assert wrong == []
    assert len(seen) > 50
    for theme, path in seen:
        with Image.open(path) as image:
            corner = sum(image.convert("RGB").getpixel((1, 1))) / (3 * 255)
        assert (corner > 0.5) == (theme == "light"), path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_follow_the_scheme_of_the_reader(browser, scheme):
    page = a_page(browser, scheme=scheme, allowed=lambda url: url.startswith("file://"))
    page.goto((SITE / "index.html").as_uri())
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", color)[:3])) / (3 * 255)
    assert (lightness > 0.5) == (scheme == "light")


def test_the_playground_has_the_theme_and_the_address_of_its_page(browser):
    if "pathforest-playground.html" not in PAGES:
        pytest.skip("the site was built without the compiler for WebAssembly")
    page = a_page(browser, scheme="dark", allowed=lambda url: url.startswith(("file://", "data:")))
    page.goto((SITE / "playground.html").as_uri() + "#set=rings&model=fuzzy")
    page.frame_locator("#playground-frame").locator("body.ready").wait_for()
    frame = page.frames[1]
    frame.wait_for_function("playground.state().model === 'fuzzy' && playground.state().set === 'rings'")
    assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
    frame.locator("input[name=k_max]").fill("9")
    page.wait_for_function("location.hash.includes('k_max=9')")
    height = page.evaluate("document.getElementById('playground-frame').offsetHeight")
    assert abs(height - frame.evaluate("document.documentElement.offsetHeight")) <= 1
    assert [problem for problem in page.problems if not problem.startswith("[PST]")] == []


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("prototypes", "idea.html"),
        ("n_conquerors", "label_noise.html"),
        ("label errors", "find_wrong_labels.html"),
        ("progress", "progress.html"),
        ("explain", "explain.html"),
    ],
)
def test_search_works_from_disk(browser, words, target):
    page = a_page(browser, allowed=lambda url: url.startswith("file://"))
    page.goto((SITE / "search.html").as_uri() + f"?q={words}")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function(
        "document.querySelector('#search-results .search-summary')?.textContent.includes('found')"
    )
    found = page.eval_on_selector_all("#search-results ul.search li a", "all => all.map(a => a.href)")
    assert any(target in url for url in found)
