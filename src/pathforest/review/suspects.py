"""The suspects of the page, each beside its conquerors, with the data that the script needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from itertools import islice

import numpy as np

from pathforest._page.document import paragraph
from pathforest.review.contents import Review, Suspect, Table, telling_features
from pathforest.review.decisions import COLUMNS
from pathforest.review.images import Show
from pathforest.review.map import class_kind
from pathforest.review.pieces import anchor, cell, chip, heads, number, visible

SCORES = {
    "fast": "the cost of the best other class, divided by the sum of both costs",
    "thorough": "the probability of the given label, by models that have not seen it",
}
MOST, ROOM = 500, 4_000_000  # suspects in full, and their bytes, unless a number is asked for
ABOUT = 8  # columns that are not features


def suspect_items(review: Review, show: Show, most: int | None) -> list[str]:
    """Write suspects in full, the worst first: so many, or by default as many as keep the page small."""
    X = review.table.X
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    items: list[str] = []
    size = 0
    for rank, suspect in enumerate(review.suspects[: most or MOST], 1):
        if most is None and size > ROOM:
            break
        items.append(_suspect(review, rank, suspect, telling_features(X, suspect, spread), show))
        size += len(items[-1])
    return items


def suspects_html(review: Review, items: Sequence[str]) -> str:
    """Write the section of the suspects, with the data that the script needs."""
    if not items:
        return paragraph("No label is probably wrong.")
    shown = review.suspects[: len(items)]
    hint = (
        f"The worst first: the score is {SCORES[review.issues.method]}. Each suspect stands beside its "
        "nearest conquerors of both classes, with their distances. Features that speak most against the "
        "given label come first."
    )
    left_out = ""
    if len(shown) < len(review.suspects):
        left_out = (
            f"These are {len(shown)} of {len(review.suspects)}; the CSV file of suspects has all of them."
        )
    data = {
        "table": review.table.fingerprint,
        "label": review.table.label,
        "columns": COLUMNS,
        "classes": review.classes,
        "suspects": [(s.row, s.given, s.rival) for s in shown],
    }
    keys = (
        '<p class="keys">Keys inside a suspect: <kbd>K</kbd> keep, <kbd>C</kbd> change, <kbd>D</kbd> drop, '
        "<kbd>N</kbd> next, <kbd>P</kbd> previous.</p>"
    )
    listed = "\n".join(items)
    return (
        f'{paragraph(hint, left_out)}\n{keys}\n<ol class="suspects">\n{listed}\n</ol>\n'
        f'<script type="application/json" id="data">{_json(data)}</script>'
    )


def _json(data: object) -> str:
    """Write JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _suspect(review: Review, rank: int, suspect: Suspect, features: np.ndarray, show: Show) -> str:
    table, name = review.table, anchor(suspect.row)
    about = "".join(
        f"<div><dt>{escape(visible(column))}</dt><dd>{escape(visible(cells[suspect.row]))}</dd></div>"
        for column, cells in islice(table.others.items(), ABOUT)
    )
    remarks = "".join(f'<span class="remark">{escape(remark)}</span>' for remark in suspect.remarks)
    given, rival = suspect.costs
    arrow = '<span class="arrow" role="img" aria-label="fits worse than">→</span>'
    return (
        f'<li id="{name}" class="suspect" tabindex="-1" aria-labelledby="{name}-title">\n'
        f'<div class="head"><h3 id="{name}-title"><span class="rank">{rank}</span> '
        f"{escape(table.where(suspect.row))}</h3>"
        f'<p class="verdict">{chip(review, suspect.given)} <span class="cost">cost {number(given)}</span> '
        f"{arrow if suspect.rival_fits_better else 'or'} "
        f'{chip(review, suspect.rival)} <span class="cost">cost {number(rival)}</span></p>'
        '<p class="score"><span class="gauge" aria-hidden="true">'
        f'<i style="width:{100 * suspect.score:.0f}%"></i></span> score <b>{suspect.score:.3f}</b></p>'
        f"{remarks}</div>\n"
        + (f'<dl class="about">{about}</dl>\n' if about else "")
        + _evidence(review, suspect, features, show)
        + '\n<div class="decide" hidden></div>\n</li>'
    )


def _evidence(review: Review, suspect: Suspect, features: np.ndarray, show: Show) -> str:
    table = review.table
    rows = [suspect.row, *(w.row for witnesses in suspect.witnesses for w in witnesses)]
    numbers = _feature_table(review, suspect, features, rows)
    if not any(map(show, rows)):
        return numbers
    figures = [_image(table, suspect.row, show, "this sample")]
    for code, witnesses in zip((suspect.given, suspect.rival), suspect.witnesses, strict=True):
        pictures = "".join(_image(table, w.row, show, number(w.distance)) for w in witnesses)
        figures.append(f'<div class="side"><p>{chip(review, code)}</p><div>{pictures}</div></div>')
    return (
        f'<div class="images">{"".join(figures)}</div>\n'
        f"<details><summary>The numbers</summary>\n{numbers}\n</details>"
    )


def _image(table: Table, row: int, show: Show, text: str) -> str:
    where, image = escape(table.where(row)), show(row)
    shown = '<span class="none">–</span>' if image is None else f'<img src="{image}" alt="{where}">'
    return f"<figure>{shown}<figcaption>{where}<br>{escape(text)}</figcaption></figure>"


def _feature_table(review: Review, suspect: Suspect, features: np.ndarray, rows: Sequence[int]) -> str:
    table = review.table
    sides = [
        (code, witnesses)
        for code, witnesses in zip((suspect.given, suspect.rival), suspect.witnesses, strict=True)
        if witnesses
    ]
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(witnesses)}">{chip(review, code)}</th>'
        for code, witnesses in sides
    )
    kinds = ["this", *("first" if i == 0 else "" for _, side in sides for i in range(len(side)))]
    colours = ["this", *(class_kind(code) for code, side in sides for _ in side)]
    witnesses = [witness for _, side in sides for witness in side]
    header = heads(["Feature", "", "This sample"]) + "".join(
        f'<th scope="col" class="{kind}">{escape(table.where(w.row))}<br>{number(w.distance)}</th>'
        for kind, w in zip(kinds[1:], witnesses, strict=True)
    )
    body = []
    for j in features.tolist():
        values = table.X[rows, j]
        cells = "".join(cell(number(v), kind) for v, kind in zip(values.tolist(), kinds, strict=True))
        body.append(
            f'<tr><th scope="row">{escape(visible(table.features[j]))}</th>'
            f"<td>{_strip(values, colours)}</td>{cells}</tr>"
        )
    more = len(table.features) - len(features)
    left_out = f'<p class="more">{more} more features, which speak less against the label</p>' if more else ""
    title = escape(f"Features of {table.where(suspect.row)} beside those of its conquerors")
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}"><table class="features">'
        f'<col><col><col><thead><tr><td colspan="3"></td>{groups}</tr><tr>{header}</tr></thead>\n'
        f"<tbody>{''.join(body)}</tbody></table></div>{left_out}"
    )


def _strip(values: np.ndarray, colours: Sequence[str]) -> str:
    """Show values as marks on a line, from the smallest to the largest, the sample's own on top."""
    low, high = values.min(), values.max()
    shares = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    marks = "".join(
        f'<i class="{colour}" style="left:{100 * share:.0f}%"></i>'
        for share, colour in zip(shares[::-1].tolist(), colours[::-1], strict=True)
    )
    return f'<span class="strip" aria-hidden="true">{marks}</span>'
