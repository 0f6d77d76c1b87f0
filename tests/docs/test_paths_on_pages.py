"""Pages name files, folders and pictures that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


NAMED = re.compile(
    r"`([\w./-]+\.(?:py|hpp|cpp|pyi)|(?:src|cpp|tests|benchmarks|docs|examples)/[\w./-]*/)`|!\[.*?\]\((.*?)\)",
    re.DOTALL,
)
FOLDERS = ("src", "cpp", "tests", "benchmarks", "docs", "examples")
PATHS = [f"/{name_of(path)}" for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
MADE = ("docs/api/generated/", "docs/gallery/")  # by the build of the site


def missing(text):
    """Return what is named but is not the end of any path."""
    named = {name or picture.replace("../", "") for name, picture in NAMED.findall(text)}
    return {
        name
        for name in named
        if not name.startswith(MADE) and not any(path.endswith(f"/{name.rstrip('/')}") for path in PATHS)
    }


def test_pages_name_files_that_exist():
    assert missing("`forest.py`, `cpp/src/forest/`, `_gone.py`, `src/gone/`, ![x](../no.png)") == {
        "_gone.py", "src/gone/", "no.png",
    }  # fmt: skip
    found = {name_of(page): missing(page.read_text(encoding="utf-8")) - {""} for page in PAGES}
    assert {page: names for page, names in found.items() if names} == {}
