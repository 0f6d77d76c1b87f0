"""The page to review labels: one HTML file with everything in it, which asks for nothing from outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pathforest import __version__
from pathforest._page.document import (
    Section,
    cards,
    commands,
    document,
    facts,
    findings,
    paragraph,
    scrolling_table,
)
from pathforest._utils.show import escape as escape_controls
from pathforest.review import summary
from pathforest.review.contents import Review, Suspect, Table, telling_features
from pathforest.review.decisions import COLUMNS
from pathforest.review.images import Shape, file_image, pixel_images
from pathforest.review.map import class_kind, make_map, map_svg

MOST = 500  # suspects in full, unless another number is asked for
LISTED = 50  # rows of the other tables
LONGEST = 200  # characters of a cell
IMAGE_BYTES = 2_500_000  # of all images together


class Pictures(NamedTuple):
    """How samples become images: a shape of their pixels, or a column of files and the folder they lie in."""

    shape: Shape | None = None
    column: str | None = None
    folder: Path = Path()


def review_html(
    review: Review, *, command: str, settings: str, pictures: Pictures | None = None, most: int = MOST
) -> str:
    """Return the text of the page.

    Parameters
    ----------
    review : Review
        What was found.
    command : str
        The command that applies the decisions.
    settings : str
        How the audit compared samples.
    pictures : Pictures, default=None
        How samples are shown as images, if they are.
    most : int, default=500
        Suspects that are shown in full.
    """
    here = files("pathforest.review")
    shown = review.suspects[:most]
    rows = {suspect.row for suspect in shown}
    sections = [
        Section("summary", "Summary", _summary(review)),
        Section("map", "Map of the samples", _map(review, shown)),
        Section("suspects", "Suspects", _suspects(review, shown, pictures)),
        Section("mixing", "Classes that mix", _mixing(review)),
        *(
            Section(name, title, _groups(review, groups, caption, rows))
            for name, title, groups, caption in (
                ("conflicts", "Conflicts", summary.conflicts(review), "Equal rows with different labels"),
                ("duplicates", "Duplicates", summary.duplicates(review), "Equal rows with the same label"),
                ("islands", "Islands", summary.islands(review), "Small groups apart from their class"),
            )
        ),
        Section("outliers", "Outliers", _outliers(review, rows)),
        Section("apply", "Apply the decisions", _apply(review, command, settings)),
    ]
    return document(
        f"Review of the labels in {_visible(review.table.name)}",
        f"{summary.headline(review)} Decide what to do with each suspect, then export the decisions.",
        sections,
        style=(here / "style.css").read_text(encoding="utf-8"),
        scripts=[(here / "script.js").read_text(encoding="utf-8")],
        without_script=(
            "JavaScript is off: all numbers are here, the buttons are not. You can write decisions into the "
            "CSV file of suspects instead (--suspects)."
        ),
    )


def _visible(text: str) -> str:
    """Return a text of the table as one line that cannot turn around or hide what is next to it."""
    text = escape_controls(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _number(value: float) -> str:
    return "∞" if value == np.inf else f"{value:.4g}"


def _chip(review: Review, code: int) -> str:
    name = escape(_visible(review.classes[code]))
    return f'<span class="chip"><i class="{class_kind(code)}"></i><b>{name}</b></span>'


def _cell(text: str, kind: str = "") -> str:
    return f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>"


def _heads(names: Iterable[str], words: Sequence[str] = ()) -> str:
    return "".join(
        f'<th scope="col"{" class=word" if name in words else ""}>{escape(name)}</th>' for name in names
    )


def _link(row: int, text: str, shown: Iterable[int]) -> str:
    text = escape(text)
    return f'<a href="#{_name(row)}">{text}</a>' if row in shown else text


def _name(row: int) -> str:
    return f"row-{row}"


# Sections


def _summary(review: Review) -> str:
    return cards(summary.key_numbers(review)) + "\n" + findings(summary.findings(review))


def _map(review: Review, shown: Sequence[Suspect]) -> str:
    table = review.table
    drawn = make_map(table.Z, table.features, [suspect.row for suspect in shown])
    marks = [(s.row, s.rival, _name(s.row), _sentence(review, s)) for s in shown]
    x_axis, y_axis = map(_visible, drawn.axes)
    label = f"Map of the samples; {len(shown)} suspects are marked"
    sizes = np.bincount(review.codes, minlength=len(review.classes))
    legend = "".join(f"<li>{_chip(review, code)} {sizes[code]}</li>" for code in range(len(review.classes)))
    caption = (
        f"Across: {x_axis}. Up: {y_axis or 'nothing'}. A suspect has the colour of its given class inside and "
        "that of the class that fits better around it; it leads to its place on the page."
    )
    if drawn.is_thinned:
        caption += f" {len(drawn.rows) - len(shown)} of the other samples are drawn, at random."
    if drawn.is_cut:
        caption += " Samples at the edge lie farther out."
    places = dict(zip(drawn.rows.tolist(), drawn.xy.tolist(), strict=True))
    numbers = scrolling_table(
        "All suspects in one table, with their places on the map",
        _heads(["Sample", "Given", "Fits better", "Score", "Across", "Up"], ["Given", "Fits better"]),
        (
            f'<th scope="row">{_link(s.row, table.where(s.row), [s.row])}</th>'
            + _cell(_chip(review, s.given), "word")
            + _cell(_chip(review, s.rival), "word")
            + "".join(_cell(_number(value)) for value in (s.score, *places[s.row]))
            for s in shown
        ),
    )
    more = f"<details><summary>The suspects as a table</summary>\n{numbers}\n</details>" if shown else ""
    return (
        f'<figure>\n<ul class="legend">{legend}</ul>\n{map_svg(drawn, review.codes, marks, label)}\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>\n{more}"
    )


def _sentence(review: Review, suspect: Suspect) -> str:
    given, better = (_visible(review.classes[code]) for code in (suspect.given, suspect.rival))
    where = review.table.where(suspect.row)
    return f"{where}: {given}, where {better} fits better; score {_number(suspect.score)}"


def _suspects(review: Review, shown: Sequence[Suspect], pictures: Pictures | None) -> str:
    if not shown:
        return paragraph("No label looks wrong.")
    X = review.table.X
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    images = _images(review.table, shown, pictures) if pictures else {}
    hint = (
        "The worst first. A score is between 0 and 1: below one half, another class is nearer than the given "
        "one. Each suspect stands beside its nearest conquerors of both classes, with their distances; "
        "features that speak most against the given label come first."
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
    table, name = review.table, _name(suspect.row)
    about = "".join(
        f"<div><dt>{escape(_visible(column))}</dt><dd>{escape(_visible(cells[suspect.row]))}</dd></div>"
        for column, cells in table.others.items()
    )
    remarks = "".join(f'<span class="remark">{escape(remark)}</span>' for remark in suspect.remarks)
    given, rival = suspect.costs
    return (
        f'<li id="{name}" class="suspect" tabindex="-1" aria-labelledby="{name}-title">\n'
        f'<div class="head"><h3 id="{name}-title"><span class="rank">{rank}</span> '
        f"{escape(table.where(suspect.row))}</h3>"
        f'<p class="verdict">{_chip(review, suspect.given)} <span class="cost">cost {_number(given)}</span> '
        f'<span class="arrow" role="img" aria-label="fits better:">→</span> '
        f'{_chip(review, suspect.rival)} <span class="cost">cost {_number(rival)}</span></p>'
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
        pictures = "".join(_image(table, w.row, images, _number(w.distance)) for w in witnesses)
        figures.append(f'<div class="side"><p>{_chip(review, code)}</p><div>{pictures}</div></div>')
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
    sides = list(zip((suspect.given, suspect.rival), suspect.witnesses, ("own", "other"), strict=True))
    header = _heads(["Feature", "", "This sample"], [""]) + "".join(
        f'<th scope="col" class="{side}">{escape(table.where(w.row))}'
        f"<br><small>{_number(w.distance)}</small></th>"
        for _, witnesses, side in sides
        for w in witnesses
    )
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(witnesses)}" class="{side}">{_chip(review, code)}</th>'
        for code, witnesses, side in sides
        if witnesses
    )
    kinds = ["this", *(side for _, witnesses, side in sides for _ in witnesses)]
    body = []
    for j in features.tolist():
        values = table.X[rows, j]
        cells = "".join(_cell(_number(v), kind) for v, kind in zip(values.tolist(), kinds, strict=True))
        body.append(
            f'<tr><th scope="row">{escape(_visible(table.features[j]))}</th>'
            f"<td>{_strip(values, kinds, suspect)}</td>{cells}</tr>"
        )
    more = len(table.features) - len(features)
    left_out = f'<p class="more">{more} more features, which speak less against the label</p>' if more else ""
    title = escape(f"Features of {table.where(suspect.row)} beside those of its conquerors")
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}"><table class="features">'
        f'<thead><tr><td colspan="3"></td>{groups}</tr><tr>{header}</tr></thead>\n'
        f"<tbody>{''.join(body)}</tbody></table></div>{left_out}"
    )


def _strip(values: np.ndarray, kinds: Sequence[str], suspect: Suspect) -> str:
    """Show values as marks on a line, from the smallest to the largest, the sample's own on top."""
    low, high = values.min(), values.max()
    shares = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    colours = {
        "this": "this",
        "own": class_kind(suspect.given),
        "other": class_kind(suspect.rival),
    }
    marks = "".join(
        f'<i class="{colours[kind]}" style="left:{100 * share:.0f}%"></i>'
        for share, kind in zip(shares[::-1].tolist(), kinds[::-1], strict=True)
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


def _mixing(review: Review) -> str:
    pairs = summary.mixing(review)
    if not pairs:
        return ""
    hint = (
        "Samples that another class fits better than the given one, whether or not their labels count as "
        "probably wrong."
    )
    return paragraph(hint) + scrolling_table(
        "Given and better-fitting classes",
        _heads(["Given", "Fits better", "Samples", "Of the class", "Suspects"], ["Fits better"]),
        (
            f'<th scope="row">{_chip(review, pair.given)}</th>{_cell(_chip(review, pair.better), "word")}'
            f"{_cell(str(pair.count))}{_cell(summary.percent(pair.share))}{_cell(str(pair.suspects))}"
            for pair in pairs[:LISTED]
        ),
    )


def _groups(review: Review, groups: Sequence[np.ndarray], title: str, shown: Collection[int]) -> str:
    if not groups:
        return ""
    rows = []
    for group in groups[:LISTED]:
        first = group[:LISTED].tolist()
        samples = ", ".join(_link(row, review.table.where(row), shown) for row in first)
        samples += f" and {len(group) - len(first)} more" if len(group) > len(first) else ""
        chips = " ".join(_chip(review, code) for code in np.unique(review.codes[group]).tolist())
        rows.append(f'<th scope="row">{len(group)}</th>{_cell(chips, "word")}{_cell(samples, "word wrap")}')
    return _first_of(len(groups), "groups") + scrolling_table(
        title, _heads(["Size", "Labels", "Samples"], ["Labels", "Samples"]), rows
    )


def _first_of(count: int, what: str) -> str:
    return paragraph(f"The first {LISTED} of {count} {what}.") if count > LISTED else ""


def _outliers(review: Review, shown: Collection[int]) -> str:
    rows = summary.outliers(review)
    if len(rows) == 0:
        return ""
    score = review.issues.outlier_score
    return _first_of(len(rows), "samples") + scrolling_table(
        "Samples where the density is far below the usual",
        _heads(["Sample", "Label", "Outlier score"], ["Label"]),
        (
            f'<th scope="row">{_link(row, review.table.where(row), shown)}</th>'
            f"{_cell(_chip(review, int(review.codes[row])), 'word')}{_cell(_number(score[row]))}"
            for row in rows[:LISTED].tolist()
        ),
    )


def _apply(review: Review, command: str, settings: str) -> str:
    text = (
        "The button at the bottom saves your decisions as decisions.csv. Put the file beside the table; this "
        "command then writes a table with the changed labels and without the dropped rows. Samples without a "
        "decision stay as they are."
    )
    table = review.table
    values = [
        ("Table", _visible(table.name)),
        ("Samples", f"{len(review.codes)} with {len(table.features)} features"),
        ("Labels", _visible(table.label)),
        ("Fingerprint", table.fingerprint),
        ("Method", f"{review.issues.method}, {review.issues.n_conquerors} conquerors; {settings}"),
        ("Software", f"pathforest {__version__}"),
    ]
    return paragraph(text) + commands("The command that applies the decisions", command) + facts(values)
