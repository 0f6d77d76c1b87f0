"""A page of sections in one HTML file, which asks for nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple


class Section(NamedTuple):
    """A part of a page, with its name in links and its title in the navigation."""

    name: str
    title: str
    body: str  # HTML


def document(
    title: str,
    lead: str,
    sections: Iterable[Section],
    *,
    style: str,
    scripts: Sequence[str] = (),
    without_script: str = "",
) -> str:
    """Return the text of a page; sections without a body are left out.

    Parameters
    ----------
    title, lead, without_script : str
        The heading, the sentence below it, and what is said if JavaScript is off, as plain text.
    sections : iterable of Section
        The parts of the page.
    style : str
        Rules beside those that all pages have.
    scripts : sequence of str, default=()
        What the page runs. A browser refuses any other script, so that text from data cannot become one.
    """
    here = files("pathforest._page")
    shown = [section for section in sections if section.body]
    links = "\n".join(f'<li><a href="#{name}">{escape(text)}</a></li>' for name, text, _ in shown)
    bodies = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(text)}</h2>\n{body}\n</section>'
        for name, text, body in shown
    )
    return Template((here / "template.html").read_text(encoding="utf-8")).substitute(
        policy=_policy(scripts),
        title=escape(title),
        lead=escape(lead),
        style=(files("pathforest._pages") / "page.css").read_text(encoding="utf-8") + style,
        navigation=links,
        without_script=f'<noscript><p class="note">{escape(without_script)}</p></noscript>'
        if scripts
        else "",
        sections=bodies,
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _policy(scripts: Iterable[str]) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"


def scrolling_table(title: str, header: str, rows: Iterable[str], *, wide: bool = False) -> str:
    """Write a table in a region of its own, which scrolls by keyboard if the page is narrow.

    Parameters
    ----------
    title : str
        The caption, as plain text.
    header : str
        The cells of the header, as HTML.
    rows : iterable of str
        The cells of each row, as HTML.
    wide : bool, default=False
        Whether the table is set in smaller type.
    """
    caption = escape(title)
    kind = ' class="wide"' if wide else ""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">\n'
        f"<table{kind}>\n<caption><span>{caption}</span></caption>\n"
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def cards(numbers: Iterable[tuple[str, str]]) -> str:
    """Write key numbers, each with what it counts; nothing if there are none."""
    written = "".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(number)}</dd></div>" for number, label in numbers
    )
    return f'<dl class="cards">{written}</dl>' if written else ""


def findings(points: Iterable[tuple[str, str]]) -> str:
    """Write findings as a list, each with the question that it answers."""
    items = "\n".join(
        f"<li><strong>{escape(question)}</strong> {escape(answer)}</li>"
        for question, answer in points
        if answer
    )
    return f'<ul class="findings">\n{items}\n</ul>'


def facts(values: Iterable[tuple[str, str]]) -> str:
    """Write names and values as a list."""
    rows = "\n".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in values)
    return f'<dl class="facts">\n{rows}\n</dl>'


def commands(title: str, text: str) -> str:
    """Write lines to be copied."""
    return f'<pre role="region" tabindex="0" aria-label="{escape(title)}"><code>{escape(text)}</code></pre>'


def paragraph(*sentences: str) -> str:
    """Write sentences as one paragraph, nothing if there are none."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return f"<p>{escape(text)}</p>" if text else ""
