"""A browser without a window, and pages to look at: reviews of hostile tables and the playground."""

import importlib.util
import re
import shutil
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pathforest import find_issues
from pathforest._pages.review import Features, Table, make_review

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (1280, 390)  # a desk and a phone
PATIENCE = 180_000  # milliseconds; a busy machine draws slowly
PLAYGROUND = Path(__file__).parents[2] / "docs" / "playground" / "build.py"
looks = pytest.mark.parametrize(("width", "scheme"), [*zip(WIDTHS, ("light", "dark"), strict=True)])


@contextmanager
def a_browser():
    """Start the first browser found; skip the test if there is no browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the path")
    with sync_api.sync_playwright() as playwright:
        # Without the sandbox, because containers do not let it start; the pages are our own.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def a_page(browser, width=1280, scheme="light", allowed=lambda url: False, **options):
    """Open an empty page; what it complains of, and what it asks for and may not, are its `problems`."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))

    def note(route):
        if not allowed(route.request.url):
            page.problems.append(route.request.url)
        route.continue_() if route.request.url.startswith("file://") else route.abort()

    page.route("**/*", note)
    return page


def visitor(browser, address, allowed):
    """Return a function that opens the page at an address; its `problems` are as above."""

    def open_page(width=1280, scheme="light", javascript=True):
        page = a_page(browser, width, scheme, allowed=allowed, java_script_enabled=javascript)
        page.goto(address)
        return page

    return open_page


def faint_texts(page, shown):
    """List elements whose text does not stand out from its background: below the contrast of 4.5."""
    return page.evaluate(
        """(shown) => {
          const light = (colour) => {
            const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255);
            const [r, g, b] = parts.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const behind = (e) => {
            const colour = getComputedStyle(e).backgroundColor;
            return colour === "rgba(0, 0, 0, 0)" && e.parentElement ? behind(e.parentElement) : colour;
          };
          return Array.from(document.querySelectorAll(shown)).filter((e) => {
            const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
            return e.innerText?.trim() && (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
          }).map((e) => `${e.tagName} ${e.className} ${e.innerText.slice(0, 40)}`);
        }""",
        shown,
    )


# Reviews

X, codes = load_iris(return_X_y=True)
# What a page, a spreadsheet or a script could take for something else than text.
HOSTILE = [
    "</script><script>document.title='bad'</script>",
    "=cmd('x'),\"quoted\"\nnext line",
    "<img src=x onerror=\"document.title='bad'\"> ünï\u202e☃ '&amp;",
]
NAMES = ["<b>length</b>", "</style>", "${x}`'\"", "petal & width"]


def hostile_labels():
    """Return iris labels under hostile names, some of them wrong."""
    labels = np.array(HOSTILE)[codes]
    labels[[3, 20, 81, 120]] = np.array(HOSTILE)[[1, 2, 2, 0]]
    return labels


def a_review(X=X, labels=None, names=NAMES, file="<i>table</i>.csv", others=None, **options):
    """Review a table whose lines count from 2, as in a CSV file."""
    labels = hostile_labels() if labels is None else labels
    places = range(2, len(X) + 2)
    others = {"<u>note</u>": HOSTILE * (len(X) // 3 + 1)} if others is None else others
    features = Features.of(dict(zip(names, X.T, strict=True)), None)
    row = range(len(X))
    table = Table(file, "line", places, features, "kind", others, "sha256:0123456789abcdef", row, str)
    return make_review(table, find_issues(X, labels, **options))


def playground(folder):
    """Put the playground's page into a folder, from the sources as they are; skip without a compiled core."""
    spec = importlib.util.spec_from_file_location("build_playground", PLAYGROUND)
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    if not build.WASM.is_file():
        pytest.skip("no WebAssembly module of the core; `make playground` builds it")
    path = folder / "playground.html"
    path.write_text(build.build(), encoding="utf-8")
    return path


class Page(HTMLParser):
    """A page of one file: its elements, its text outside scripts, and its tables as rows of cells.

    Every element is closed, names are unique, links lead to one of them, and nothing is asked for.
    """

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text, self.rows = [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []
        names, links = self.values("id"), self.values("href", "src", "xlink:href")
        assert len(names) == len(set(names))
        assert {link for link in links if not link.startswith("data:")} <= {f"#{name}" for name in names}
        assert set(re.findall(r"url\((.*?)\)", text)) <= {f"#{name}" for name in names}
        assert "@import" not in text

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in {"meta", "link", "br", "img", "col", "input"}:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1] += data.strip("\n")

    def values(self, *names):
        return [
            value for _, attributes in self.elements for name, value in attributes.items() if name in names
        ]
