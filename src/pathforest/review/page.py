"""The page to review labels: one HTML file with everything in it, which asks for nothing from outside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from importlib.resources import files

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
from pathforest._utils.text import escape as escape_controls
from pathforest.review import summary
from pathforest.review.contents import Review, Suspect
from pathforest.review.images import Show, no_image
from pathforest.review.map import make_map, map_svg
from pathforest.review.pieces import anchor, cell, chip, heads, link, number, visible
from pathforest.review.suspects import suspect_items, suspects_html

LISTED = 50  # rows of the other tables


def review_html(
    review: Review,
    *,
    command: str,
    settings: str,
    show: Show = no_image,
    most: int | None = None,
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
    show : callable, default=no_image
        Returns the image of a sample, if it has one.
    most : int, default=None
        Suspects that are shown in full; by default at most 500, and fewer if they take much room.
    """
    here = files("pathforest.review")
    items = suspect_items(review, show, most)
    shown = review.suspects[: len(items)]
    rows = {suspect.row for suspect in shown}
    sections = [
        Section("summary", "Summary", _summary(review)),
        Section("map", "Map of the samples", _map(review, shown)),
        Section("suspects", "Suspects", suspects_html(review, items)),
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
        f"Review of the labels in {visible(review.table.name)}",
        summary.headline(review),
        sections,
        style=(here / "style.css").read_text(encoding="utf-8"),
        scripts=[(here / "script.js").read_text(encoding="utf-8")],
        without_script=(
            "JavaScript is off: all numbers are here, the buttons are not. You can write decisions into the "
            "CSV file of suspects instead (--suspects)."
        ),
    )


# Sections


def _summary(review: Review) -> str:
    return cards(summary.key_numbers(review)) + "\n" + findings(summary.findings(review))


def _map(review: Review, shown: Sequence[Suspect]) -> str:
    table = review.table
    drawn = make_map(table.Z, table.features, [suspect.row for suspect in shown])
    marks = [(s.row, s.rival, anchor(s.row), _sentence(review, s)) for s in shown]
    x_axis, y_axis = map(visible, drawn.axes)
    label = f"Map of the samples; {len(shown)} suspects are marked"
    sizes = np.bincount(review.codes, minlength=len(review.classes))
    legend = "".join(f"<li>{chip(review, code)} {sizes[code]}</li>" for code in range(len(sizes))[:LISTED])
    legend += f"<li>and {len(sizes) - LISTED} more</li>" if len(sizes) > LISTED else ""
    caption = (
        f"Across: {x_axis}. Up: {y_axis}. A suspect has the colour of its given class inside, "
        "and that of the best other class around it; it leads to its place on the page."
    )
    if drawn.is_thinned:
        caption += f" {len(drawn.rows) - len(shown)} of the other samples are drawn, at random."
    if drawn.is_cut:
        caption += " Samples at the edge lie farther out."
    places = dict(zip(drawn.rows.tolist(), drawn.xy.tolist(), strict=True))
    numbers = scrolling_table(
        "All suspects in one table, with their places on the map",
        heads(["Sample", "Given", "Best other", "Score", "Across", "Up"], ["Given", "Best other"]),
        (
            f'<th scope="row">{link(s.row, table.where(s.row), [s.row])}</th>'
            + cell(chip(review, s.given), "word")
            + cell(chip(review, s.rival), "word")
            + "".join(cell(number(value)) for value in (s.score, *places[s.row]))
            for s in shown
        ),
    )
    more = f"<details><summary>The suspects as a table</summary>\n{numbers}\n</details>" if shown else ""
    return (
        f'<figure>\n<ul class="legend">{legend}</ul>\n{map_svg(drawn, review.codes, marks, label)}\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>\n{more}"
    )


def _sentence(review: Review, suspect: Suspect) -> str:
    given, rival = (visible(review.classes[code]) for code in (suspect.given, suspect.rival))
    where = review.table.where(suspect.row)
    return f"{where}: given {given}, best other class {rival}, score {number(suspect.score)}"


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
        heads(["Given", "Fits better", "Samples", "Of the class", "Suspects"], ["Fits better"]),
        (
            f'<th scope="row">{chip(review, pair.given)}</th>{cell(chip(review, pair.better), "word")}'
            f"{cell(str(pair.count))}{cell(summary.percent(pair.share))}{cell(str(pair.suspects))}"
            for pair in pairs[:LISTED]
        ),
    )


def _groups(review: Review, groups: Sequence[np.ndarray], title: str, shown: Collection[int]) -> str:
    if not groups:
        return ""
    rows = []
    for group in groups[:LISTED]:
        first = group[:LISTED].tolist()
        samples = ", ".join(link(row, review.table.where(row), shown) for row in first)
        samples += f" and {len(group) - len(first)} more" if len(group) > len(first) else ""
        chips = " ".join(chip(review, code) for code in np.unique(review.codes[group]).tolist())
        rows.append(f'<th scope="row">{len(group)}</th>{cell(chips, "word")}{cell(samples, "word wrap")}')
    return _first_of(len(groups), "groups") + scrolling_table(
        title, heads(["Size", "Labels", "Samples"], ["Labels", "Samples"]), rows
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
        heads(["Sample", "Label", "Outlier score"], ["Label"]),
        (
            f'<th scope="row">{link(row, review.table.where(row), shown)}</th>'
            f"{cell(chip(review, int(review.codes[row])), 'word')}{cell(number(score[row]))}"
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
        ("Table", visible(table.name)),
        ("Samples", f"{len(review.codes)} with {len(table.features)} features"),
        ("Labels", visible(table.label)),
        ("Fingerprint", table.fingerprint),
        ("Method", f"{review.issues.method}, {review.issues.n_conquerors} conquerors; {settings}"),
        ("Software", f"pathforest {__version__}"),
    ]
    return (
        paragraph(text)
        + commands("The command that applies the decisions", escape_controls(command))
        + facts(values)
    )
