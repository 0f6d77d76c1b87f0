"""Pages name files and folders that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"`([\w./-]+\.(?:py|hpp|cpp|pyi)|(?:src|cpp|tests|benchmarks|docs|examples)/[\w./-]*/)`")
FOLDERS = ("src", "cpp", "tests", "benchmarks", "docs", "examples")
PATHS = [f"/{path.relative_to(ROOT).as_posix()}" for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
MADE = ("docs/api/generated/", "docs/gallery/")  # by the build of the site


def missing(text):
    """Return what is named but is not the end of any path."""
    named = {name for name in NAMED.findall(text) if not name.startswith(MADE)}
    return {name for name in named if not any(path.endswith(f"/{name.rstrip('/')}") for path in PATHS)}


def test_names_without_a_file_are_found():
    assert missing("`forest.py`, `cpp/src/forest/`, `_gone.py` and `src/gone/`") == {"_gone.py", "src/gone/"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_what_exists(page):
    assert missing(page.read_text(encoding="utf-8")) == set()
