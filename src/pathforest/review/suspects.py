"""The suspects of the page, each beside its conquerors, with the data that the script needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pathforest._page.document import paragraph
from pathforest.review.contents import Review, Suspect, Table, telling_features
from pathforest.review.decisions import COLUMNS
from pathforest.review.images import Shape, file_image, pixel_images
from pathforest.review.map import class_kind
from pathforest.review.pieces import anchor, cell, chip, heads, number, visible

SCORES = {
    "fast": "the cost of the best other class, divided by the sum of both costs",
    "thorough": "the probability of the given label, by models that have not seen it",
}
IMAGE_BYTES = 1_500_000  # of all images together


class Pictures(NamedTuple):
    """How samples become images: a shape of their pixels, or a column of files and the folder they lie in."""

    shape: Shape | None = None
    column: str | None = None
    folder: Path = Path()


def suspects_html(review: Review, shown: Sequence[Suspect], pictures: Pictures | None) -> str:
    """Write the suspects that are shown in full."""
    if not shown:
        return paragraph("No label is probably wrong.")
    X = review.table.X
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    images = _images(review.table, shown, pictures) if pictures else {}
    hint = (
        f"The worst first: the score is {SCORES[review.issues.method]}. Each suspect stands beside its nearest "
        "conquerors of both classes, with their distances; features that speak most against the given label "
        "come first."
    )
    left_out = ""
    if len(shown) < len(review.suspects):
        left_out = (
            f"These are {len(shown)} of {len(review.suspects)}; the CSV file of suspects has all of them."
        )
    data = {
        "table": review.table.fingerprint,
        "columns": COLUMNS,
        "classes": review.classes,
        "suspects": [(s.row, s.given, s.rival) for s in shown],
    }
    items = "\n".join(
        _suspect(review, rank, suspect, telling_features(X, suspect, spread), images)
        for rank, suspect in enumerate(shown, 1)
    )
    keys = (
        '<p class="keys">Keys inside a suspect: <kbd>K</kbd> keep, <kbd>C</kbd> change, <kbd>D</kbd> drop, '
        "<kbd>N</kbd> next, <kbd>P</kbd> previous.</p>"
    )
    return (
        f"{paragraph(hint, left_out)}\n{keys}\n<ol class=suspects>\n{items}\n</ol>\n"
        f'<script type="application/json" id="data">{_json(data)}</script>'
    )


def _json(data: object) -> str:
    """Write JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _suspect(
    review: Review, rank: int, suspect: Suspect, features: np.ndarray, images: dict[int, str]
) -> str:
    table, name = review.table, anchor(suspect.row)
    about = "".join(
        f"<div><dt>{escape(visible(column))}</dt><dd>{escape(visible(cells[suspect.row]))}</dd></div>"
        for column, cells in table.others.items()
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
        + _evidence(review, suspect, features, images)
        + '\n<div class="decide" hidden></div>\n</li>'
    )


def _evidence(review: Review, suspect: Suspect, features: np.ndarray, images: dict[int, str]) -> str:
    table = review.table
    rows = [suspect.row, *(w.row for witnesses in suspect.witnesses for w in witnesses)]
    numbers = _feature_table(review, suspect, features, rows)
    if not any(row in images for row in rows):
        return numbers
    figures = [_image(table, suspect.row, images, "this sample")]
    for code, witnesses in zip((suspect.given, suspect.rival), suspect.witnesses, strict=True):
        pictures = "".join(_image(table, w.row, images, number(w.distance)) for w in witnesses)
        figures.append(f'<div class="side"><p>{chip(review, code)}</p><div>{pictures}</div></div>')
    return (
        f'<div class="images">{"".join(figures)}</div>\n'
        f"<details><summary>The numbers</summary>\n{numbers}\n</details>"
    )


def _image(table: Table, row: int, images: dict[int, str], text: str) -> str:
    where = escape(table.where(row))
    shown = f'<img src="{images[row]}" alt="{where}">' if row in images else '<span class="none">–</span>'
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
        f'<thead><tr><td colspan="3"></td>{groups}</tr><tr>{header}</tr></thead>\n'
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


def _images(table: Table, shown: Sequence[Suspect], pictures: Pictures) -> dict[int, str]:
    """Make the images of suspects and their conquerors, the worst first, until they take too much room."""
    wanted = list(
        dict.fromkeys(row for s in shown for row in (s.row, *(w.row for side in s.witnesses for w in side)))
    )
    make: Callable[[int], str | None]
    if pictures.shape is not None:
        low, high = float(table.X.min()), float(table.X.max())

        def make(row: int) -> str | None:
            return pixel_images(table.X[[row]], pictures.shape, low, high)[0]
    else:
        names = table.others[pictures.column]

        def make(row: int) -> str | None:
            return file_image(pictures.folder, names[row])

    images: dict[int, str] = {}
    left = IMAGE_BYTES
    for row in wanted:
        image = make(row)
        if image is not None and len(image) <= left:
            images[row] = image
            left -= len(image)
    return images
