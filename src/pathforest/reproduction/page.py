"""The report: one HTML file with everything in it, which asks for nothing from outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from pathforest._page.document import Section, cards, commands, document, facts, paragraph
from pathforest._page.document import findings as findings_list
from pathforest._utils.files import replace_file
from pathforest.reproduction import findings, provenance, published, statistics, tables
from pathforest.reproduction.experiment import Experiment, classifier_title, dataset_title, in_order
from pathforest.reproduction.figures.agreement import agreement_figure
from pathforest.reproduction.figures.gains import gain_figure
from pathforest.reproduction.figures.ranks import rank_figure
from pathforest.reproduction.figures.samples import (
    MOST_POINTS,
    dataset_figure,
    flat_datasets,
    membership_datasets,
    membership_figure,
)
from pathforest.reproduction.figures.search import landscape_figure, sensitivity_figure
from pathforest.reproduction.figures.ties import tie_figure
from pathforest.reproduction.formats import duration, listed
from pathforest.reproduction.layout import html_table

if TYPE_CHECKING:
    import plotly.graph_objects as go


def write_report(experiment: Experiment, path: str | os.PathLike[str]) -> None:
    """Write the report of an experiment as one self-contained HTML file.

    Parameters
    ----------
    experiment : Experiment
        Any subset of datasets, classifiers and runs; what has no data is left out.
    path : path-like
        The file; it is replaced at once when the new one is complete, or not at all.
    """
    replace_file(path, report_html(experiment).encode())


def report_html(experiment: Experiment) -> str:
    """Return the text of the page."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the report needs plotly; run pip install 'pathforest[reproduce]'") from None

    here = files("pathforest.reproduction")
    return document(
        "Fuzzy OPF, measured again",
        _lead(experiment),
        (Section(name, title, "\n".join(filter(None, make(experiment)))) for name, title, make in SECTIONS),
        style=(here / "style.css").read_text(encoding="utf-8"),
        scripts=[get_plotlyjs(), (here / "script.js").read_text(encoding="utf-8")],
        without_script="JavaScript is off: the tables are all here, the figures are not.",
    )


def _lead(experiment: Experiment) -> str:
    runs, sets = experiment.n_runs, len(experiment.datasets)
    return (
        "The tables and figures of “A Novel Approach for Optimum-Path Forest Classification Using Fuzzy "
        "Logic” (de Souza et al., IEEE Transactions on Fuzzy Systems, 2019), made by pathforest. "
        f"{sets} dataset{'s' * (sets != 1)}, {runs} run{'s' * (runs != 1)}, "
        f"preset “{experiment.settings.preset}”, seed {experiment.settings.seed}; "
        f"written on {datetime.now(UTC):%d %B %Y}."
    )


def _summary(experiment: Experiment) -> list[str]:
    points = [
        ("Does it reproduce?", findings.agreement_sentence(experiment), findings.bold_sentence(experiment)),
        ("What does not?", findings.disagreement_sentence(experiment)),
        ("More runs.", findings.changed_sentence(experiment)),
        ("Does Fuzzy OPF help?", findings.gain_sentence(experiment)),
        ("And along the tree?", findings.gain_sentence(experiment, "fuzzy_opf_tree")),
        ("How much do σ and k_max matter?", findings.sensitivity_sentence(experiment)),
        ("Ties.", findings.tie_sentence(experiment)),
        ("Speed.", findings.speed_sentence(experiment)),
    ]
    return [
        cards(findings.key_numbers(experiment)),
        findings_list((question, " ".join(filter(None, answers))) for question, *answers in points),
    ]


def _scores(experiment: Experiment) -> list[str]:
    compared = not statistics.agreement(experiment.results).empty
    hint = ""
    if compared and experiment.is_repeated:
        hint = (
            "Under each score stands the paper’s; ≠ marks those that differ by more than two standard errors."
        )
    elif compared:
        hint = "Under each score stands the paper’s."
    first, *others = tables.score_grids(experiment)
    more = "With the classifiers that the paper does not have."
    if experiment.has_marks:
        more = more.replace(".", "; here all of them compete for the bold marks.")
    return [
        paragraph(findings.about(experiment), hint),
        html_table(first),
        paragraph(more) if others else "",
        *map(html_table, others),
    ]


def _agreement(experiment: Experiment) -> list[str]:
    caption = (
        "Each mark is one score of Table I. Inside the band ours and the published one agree within two "
        "standard errors of both; marks at the edge are farther out, and say how far."
    )
    return [
        paragraph(findings.agreement_sentence(experiment), findings.bold_sentence(experiment)),
        figure_html("agreement-figure", caption, [("", agreement_figure(experiment))]),
        html_table(tables.agreement_grid(experiment)),
    ]


def _differences(experiment: Experiment) -> list[str]:
    if statistics.agreement(experiment.results).empty:
        return []
    grid = tables.agreement_grid(experiment)
    flagged = tuple(row for row in grid.rows if any(cell.flagged for cell in row.cells))
    private = (
        f"{listed(map(dataset_title, published.PRIVATE))} are private: their rows stay in the tables, and "
        "cannot be measured outside."
    )
    if not experiment.is_repeated:
        return [paragraph("One run cannot tell chance from a difference; repeat with more.", private)]
    none = "" if flagged else "No score and no bold mark of the paper is contradicted here."
    changed = findings.changed_sentence(experiment)
    return [
        paragraph(findings.disagreement_sentence(experiment), none),
        html_table(grid._replace(title="Scores or bold marks that differ", rows=flagged)),
        paragraph(changed),
        html_table(tables.changed_grid(experiment)) if changed else "",
        paragraph(
            "A bold mark hangs on a test near its threshold, so it can change while the score agrees.",
            private,
        ),
    ]


def _gains(experiment: Experiment) -> list[str]:
    if statistics.gains(experiment.results).empty:
        return []
    caption = (
        "Every mark is one run: its accuracy minus that of plain OPF on the same split. Marks on the dotted "
        "line are runs in which the membership changed nothing; where they straddle it, it helped as often "
        "as it harmed."
    )
    return [
        paragraph(findings.gain_sentence(experiment)),
        paragraph(findings.gain_sentence(experiment, "fuzzy_opf_tree")),
        figure_html("gains-figure", caption, [("", gain_figure(experiment))]),
        html_table(tables.gain_grid(experiment)),
    ]


def _ranks(experiment: Experiment) -> list[str]:
    caption = (
        "Mean rank of each classifier over the datasets. The bars on the right join classifiers whose ranks "
        "are nearer than the critical difference (Nemenyi, 0.05): these datasets do not tell them apart."
    )
    return [figure_html("ranks-figure", caption, [("", rank_figure(experiment))])]


def _landscapes(experiment: Experiment) -> list[str]:
    if experiment.landscapes.empty:
        return []
    claim = (
        "The paper finds that “a random selection of such hyperparameters would probably provide "
        "satisfactory results in many cases”. A flat map agrees with that; dark stripes do not."
    )
    maps = [
        (dataset_title(name), landscape_figure(experiment, name))
        for name in in_order(experiment.landscapes["dataset"])
    ]
    map_caption = (
        "Mean held-out accuracy over the runs for every σ and k_max, the brighter the better. Both "
        "competitions of a dataset share their colours, which cover at least two points; each dataset has "
        "its own. Dots mark the cells that tie with the best."
    )
    bar_caption = (
        "Share of the cells that lose more than a point of accuracy against the best cell of both "
        "competitions: the shorter, the less σ and k_max matter."
    )
    return [
        paragraph(claim, findings.sensitivity_sentence(experiment)),
        figure_html("sensitivity-figure", bar_caption, [("", sensitivity_figure(experiment))]),
        html_table(tables.sensitivity_grid(experiment)),
        figure_html("landscapes-figure", map_caption, maps),
    ]


def _ties(experiment: Experiment) -> list[str]:
    focus = findings.tie_focus(experiment)
    if focus is None:
        return []
    story = (
        "Equal distances are common where features are whole numbers; so this is with features as they come, "
        "not scaled, in five orders of each training part, the worst of them shown, on sets of up to 2000 "
        "samples. The textbook algorithm then lets one "
        "class conquer another; ours orders equal arcs by their ends, as if all were distinct."
    )
    caption = (
        f"Training labels that the forest loses on {dataset_title(focus)}, run by run; theory promises none."
    )
    return [
        paragraph(findings.tie_sentence(experiment), story),
        figure_html("ties-figure", caption, [("", tie_figure(experiment))]),
        html_table(tables.tie_grid(experiment)),
    ]


def _membership(experiment: Experiment) -> list[str]:
    caption = (
        "Membership F of every sample: the more a point stands out from the page, the higher (in the paper, "
        "the darker). High values sit in the middle of dense regions, and one class can have many of those."
    )
    panels = [
        (dataset_title(name), membership_figure(experiment, name)) for name in membership_datasets(experiment)
    ]
    return [figure_html("membership-figure", caption, panels)]


def _datasets(experiment: Experiment) -> list[str]:
    panels = [
        (dataset_title(name), dataset_figure(experiment.samples[name])) for name in flat_datasets(experiment)
    ]
    caption = (
        "The datasets with two features, by class; where classes overlap, no classifier is right everywhere. "
        f"Of larger sets {MOST_POINTS} samples are drawn."
    )
    return [figure_html("datasets-figure", caption, panels)]


def _times(experiment: Experiment) -> list[str]:
    hint = (
        "Seconds compare machines as much as methods, so ratios come first: how much longer training takes "
        "than that of OPF, or of the linear SVM, in the same measurement."
    )
    speed = findings.speed_sentence(experiment)
    return [paragraph(speed, hint), *map(html_table, tables.time_grids(experiment))]


def _repeat(experiment: Experiment) -> list[str]:
    settings = experiment.settings
    values = {
        "Datasets": ", ".join(dataset_title(name) for name in settings.datasets),
        "Classifiers": ", ".join(classifier_title(name) for name in settings.classifiers),
        "Runs": str(settings.runs),
        "Seed": str(settings.seed),
        "Preset": {
            "paper": "paper: features scaled on all samples before the split, as the paper’s numbers imply",
            "clean": "clean: scaling and search keep to the training part, which is 80 % of the samples; the "
            "paper trained on 60 %",
        }.get(settings.preset, settings.preset),
        "Time": duration(experiment.seconds),
        "Software": ", ".join(f"{name} {number}" for name, number in provenance.versions().items()),
        "Machine": provenance.machine(),
        "Written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }
    install = f"pip install 'pathforest[reproduce]=={provenance.versions()['pathforest']}'"
    return [
        facts(values.items()),
        paragraph("To repeat it:"),
        commands("Commands that repeat this experiment", f"{install}\n{settings.command}"),
    ]


# The parts of the page, with their names in links and in the navigation; those without data are left out.
SECTIONS: tuple[tuple[str, str, Callable[[Experiment], list[str]]], ...] = (
    ("summary", "Summary", _summary),
    ("scores", "Table I: accuracy", _scores),
    ("agreement", "Agreement with the paper", _agreement),
    ("differences", "What does not reproduce", _differences),
    ("gains", "Does Fuzzy OPF help?", _gains),
    ("ranks", "Ranks", _ranks),
    ("landscapes", "The search over σ and k_max", _landscapes),
    ("ties", "Ties", _ties),
    ("membership", "Membership", _membership),
    ("datasets", "Datasets", _datasets),
    ("times", "Table II: training time", _times),
    ("repeat", "Settings, and how to repeat this", _repeat),
)


def figure_html(name: str, caption: str, panels: Sequence[tuple[str, go.Figure | None]]) -> str:
    """Write a figure of one or more panels, each with the data that the script draws.

    Nothing where there is nothing to draw.
    """
    drawn = [(title, panel) for title, panel in panels if panel is not None]
    if not drawn:
        return ""
    # Few panels get more room each.
    kind = "single" if not drawn[0][0] else "panels few" if len(drawn) <= 2 else "panels"
    parts = [_panel_html(title or caption, title, panel) for title, panel in drawn]
    note = '<noscript><p class="note">This figure needs JavaScript; the tables do not.</p></noscript>'
    return (
        f'<figure id="{escape(name)}">\n{note}\n<div class="{kind}">\n{"".join(parts)}</div>\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>"
    )


def _panel_html(label: str, title: str, panel: go.Figure) -> str:
    heading = f"<h4>{escape(title)}</h4>" if title else ""
    # plotly writes <, > and / as escapes, so that no text of the data can end the element.
    return (
        f'<div class="panel">{heading}'
        f'<div class="plot" role="img" aria-label="{escape(label)}" '
        f'style="height:{panel.layout.height}px"></div>'
        f'<script type="application/json">{panel.to_json()}</script></div>\n'
    )
