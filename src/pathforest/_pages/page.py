"""The one renderer of pages: a template, a style sheet for light and dark, and scripts by their checksums."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pathforest._utils.text import shorten

HERE = Path(__file__).parent
LONGEST = 200  # characters of a text from a table


def render(
    template: Path,
    *,
    title: str,
    sections: Iterable[tuple[str, str]],
    scripts: Sequence[str] = (),
    runs_core: bool = False,
    **values: Any,
) -> str:
    """Return the text of a page.

    Every value is escaped where it is written, so that no text of a file can become markup, unless the
    template calls it safe.

    Parameters
    ----------
    template : Path
        A file that extends `page.html`. It has a block `lead`, a block for each section, by its name, and may
        have a block `style` of CSS. The templates of its folder, and `pieces.html`, can be imported there.
    title : str
        The heading of the page.
    sections : iterable of (name, title)
        What is shown, in this order; blocks of other names are left out.
    scripts : sequence of str, default=()
        What the page runs. A browser refuses any other script.
    runs_core : bool, default=False
        Whether the page runs WebAssembly, which only its own scripts can hand over.
    **values
        What the template names; a name without a value is an error.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"
    allowed += " 'wasm-unsafe-eval'" * runs_core
    values.setdefault("version", version("pathforest"))
    values.update(title=title, sections=list(sections), scripts=scripts, allowed=allowed)
    return _environment(template.parent).get_template(template.name).render(values)


def part(template: Path, **values: Any) -> Any:
    """Return a piece of a page, whose values are escaped as there, as a text that pages write as it is."""
    environment = _environment(template.parent)
    return environment.filters["safe"](environment.get_template(template.name).render(values))


@cache
def _environment(folder: Path) -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise ImportError("pages need jinja2; run: pip install 'pathforest[cli]'") from None
    environment = Environment(
        loader=FileSystemLoader([folder, HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, visible=visible)
    return environment


def visible(text: str) -> str:
    """Return a text of a table as one line that cannot turn around or hide what is next to it."""
    return shorten(text, LONGEST)


def number(value: float) -> str:
    """Write a number with four digits."""
    return "∞" if value == float("inf") else f"{value:.4g}"
