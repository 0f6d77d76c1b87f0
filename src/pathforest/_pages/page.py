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
    """Return the text of a page; no text of a file can become markup, unless the template calls it safe."""
    # The template extends `page.html`. It has a block `lead`, a block for each section, by its name, of which
    # `sections` (name, title) are shown, in this order, and may have a block `style` of CSS. It can import
    # templates of its folder and `pieces.html`; what it names without a value is an error. Browsers refuse
    # any script but `scripts`, which alone can hand over WebAssembly, if the page runs it.
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
