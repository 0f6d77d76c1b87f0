"""The built site: links lead somewhere, nothing is asked for from outside, pages fit phones and the dark.

`make docs-test` builds the site and runs these.
"""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browsers import WIDTHS, a_browser, a_page

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "docs"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("[!_]*/**/*.html"))
PAGES += sorted(path.name for path in SITE.glob("*.html"))
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
# What the theme would put behind pictures in the dark: they have no paper of their own.
PAPER = """() => [...document.querySelectorAll(".bd-article img")].filter(
  e => !/, 0\\)|transparent/.test(getComputedStyle(e).backgroundColor)).map(e => e.src)"""

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


def visit(browser, name, width=1280, scheme="light"):
    page = a_page(browser, width, scheme, allowed=lambda url: url.startswith(("file://", "data:")))
    page.goto((SITE / name).as_uri() if "?" not in name else f"{SITE.as_uri()}/{name}")
    return page


def test_every_local_link_leads_somewhere():
    broken = []
    for page in PAGES:
        for link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
            target = path.resolve()
            if not path.is_file() or (
                parts.fragment
                and path.suffix == ".html"
                and unquote(parts.fragment) not in read(target.relative_to(SITE.resolve()).as_posix()).names
            ):
                broken.append(f"{page}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_outside():
    afar = [f"{page}: {url}" for page in PAGES for url in read(page).loaded if urlsplit(url).netloc]
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8", errors="replace")
        afar += re.findall(r"(?:url\(|@import)\s*['\"]?(https?:[^)'\"]+)", text)
    assert afar == []


@pytest.mark.parametrize(("width", "scheme"), [*zip(WIDTHS, ("dark", "light"), strict=True)])
def test_pages_fit_their_window_and_follow_the_reader(browser, width, scheme):
    page, wrong = visit(browser, "index.html", width, scheme), []
    for name in LOOKED_AT:
        page.goto((SITE / name).as_uri())
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wrong.append(name)
        wrong += [f"{name}: {text}" for text in page.evaluate(CUT_OFF) + page.evaluate(PAPER)]
    assert wrong == []
    assert [problem for problem in page.problems if not problem.startswith("[PST]")] == []
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", color)[:3])) / (3 * 255)
    assert (lightness > 0.5) == (scheme == "light")


def test_each_story_has_pictures_and_no_warnings():
    image = pytest.importorskip("PIL.Image")
    for story in STORIES:
        pictures = list((SITE / "_images").glob(f"sphx_glr_{story.stem}_[0-9][0-9][0-9].png"))
        assert pictures, story
        for path in pictures:
            shown = image.open(path).convert("RGBA")
            assert len(shown.getcolors(2**24)) > 100, path  # an empty figure has a few greys
            assert shown.getpixel((1, 1))[3] == 0, path  # no paper
        page = (SITE / "gallery" / f"{story.stem}.html").read_text(encoding="utf-8")
        printed = re.findall(r'class="sphx-glr-script-out.*?</pre>', page, re.DOTALL)
        assert not any("Warning" in text for text in printed), story


def test_the_playground_has_the_theme_and_the_address_of_its_page(browser):
    if "pathforest-playground.html" not in PAGES:
        pytest.skip("the site was built without the compiler for WebAssembly")
    page = visit(browser, "playground.html", scheme="dark")
    page.goto((SITE / "playground.html").as_uri() + "#set=rings&model=fuzzy")
    page.reload()
    page.frame_locator("#playground-frame").locator("body.ready").wait_for()
    frame = page.frames[1]
    frame.wait_for_function("playground.state().model === 'fuzzy' && playground.state().set === 'rings'")
    assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
    frame.locator("input[name=k_max]").fill("9")
    page.wait_for_function("location.hash.includes('k_max=9')")
    assert [problem for problem in page.problems if not problem.startswith("[PST]")] == []


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("prototypes", "idea.html"),
        ("label errors", "find_wrong_labels.html"),
        ("imbalanced", "tuning.html"),
        ("class_weight", "tuning.html"),
        ("excel", "data.html"),
        ("sample_weight", "start.html"),
        ("GPU", "gpu.html"),
        ("streaming", "growing.html"),
    ],
)
def test_search_works_from_disk(browser, words, target):
    page = visit(browser, f"search.html?q={words}")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function(
        "document.querySelector('#search-results .search-summary')?.textContent.includes('found')"
    )
    (first, *_) = page.eval_on_selector_all("#search-results ul.search li a", "all => all.map(a => a.href)")
    assert target in first
