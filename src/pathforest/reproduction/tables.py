"""The tables of an experiment as Markdown, and Table I for the terminal."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from pathforest.reproduction import cells, findings
from pathforest.reproduction.cells import Cell, Grid, Row
from pathforest.reproduction.names import FEWEST, has_marks, is_repeated
from pathforest.reproduction.types import Experiment

if TYPE_CHECKING:
    from rich.table import Table


UNMARKED = f"No bold marks of ours: the test behind them needs {FEWEST} runs or more."


def tables_markdown(experiment: Experiment) -> str:
    """Write every table of the report as Markdown, each under the sentence that sums it up.

    Parameters
    ----------
    experiment : Experiment
        Any subset of datasets, classifiers and runs; tables without a row are left out.

    Returns
    -------
    text : str
        Ours and the paper's values are on lines of their own.
    """
    gains = [findings.gain_sentence(experiment, name) for name in ("fuzzy_opf", "fuzzy_opf_tree")]
    changed = findings.changed_sentence(experiment)
    first, *others = cells.score_grids(experiment)
    *ratios, seconds = cells.time_grids(experiment)
    parts = [
        "# The paper's tables, measured again",
        markdown(first, about(experiment)),
        *map(markdown, others),
        *map(markdown, ratios),
        markdown(seconds, findings.speed_sentence(experiment)),
        markdown(
            cells.agreement_grid(experiment),
            findings.agreement_sentence(experiment),
            findings.bold_sentence(experiment),
            findings.disagreement_sentence(experiment),
        ),
        markdown(cells.changed_grid(experiment), changed) if changed else "",
        markdown(cells.gain_grid(experiment), *gains),
        markdown(cells.sensitivity_grid(experiment), findings.sensitivity_sentence(experiment)),
        markdown(cells.tie_grid(experiment), findings.tie_sentence(experiment)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def about(experiment: Experiment) -> str:
    """Say how many runs there are, under which preset, and what a bold mark means."""
    runs = experiment.results["run"].nunique()
    if not is_repeated(experiment):
        return f"One run, preset “{experiment.settings.preset}”: no spread, no test, no bold marks."
    marks = (
        "Bold: the best mean, or not significantly different from it (Wilcoxon signed-rank test, 0.05), as "
        "in the paper."
    )
    return (
        f"{runs} runs, preset “{experiment.settings.preset}”. Mean ± standard deviation of the accuracy over "
        f"the runs, and the weighted F1. {marks if has_marks(experiment) else UNMARKED}"
    )


def markdown(grid: Grid, *sentences: str) -> str:
    """Write a table under its title and the sentences about it; nothing if there is neither."""
    text = _escape(" ".join(sentence for sentence in sentences if sentence))
    if not grid.rows:
        return f"## {grid.title}\n\n{text}" if text else ""
    compared = _has_paper(grid)
    header = [grid.header[0], *([""] if compared else []), *grid.header[1:]]
    lines = [header, ["---"] * len(header)]
    for row in grid.rows:
        heading = _in_cell(f"{row.heading} ({row.remark})" if row.remark else row.heading)
        lines.append([heading, *(["ours"] if compared else []), *map(_cell, row.cells)])
        if row.paper:
            lines.append(["", "paper", *map(_cell, row.paper)])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join(part for part in (f"## {grid.title}", text, table) if part)


def _cell(cell: Cell) -> str:
    text = f"**{_in_cell(cell.text)}**" if cell.bold else _in_cell(cell.text)
    return f"{text}, {_in_cell(cell.extra)}" if cell.extra else text


def _in_cell(text: str) -> str:
    return _escape(text).replace("|", r"\|")


def _escape(text: str) -> str:
    """Take their meaning from the characters that have one in Markdown or HTML."""
    text = re.sub(r"([\\`*_\[\]~])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", text.replace("&", "&amp;"))


def terminal_table(experiment: Experiment) -> Table:
    """Lay out Table I for the terminal, the paper's values under ours.

    Parameters
    ----------
    experiment : Experiment
        Any subset of datasets, classifiers and runs.

    Returns
    -------
    table : rich.table.Table
        Print it with `rich.print`.
    """
    try:
        from rich import box
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        raise ImportError("the table needs rich; run pip install 'pathforest[reproduce]'") from None

    grid = cells.score_grids(experiment)[0]
    captions = ["below each score: the paper's"] if _has_paper(grid) else []
    if not has_marks(experiment):
        captions.append(UNMARKED)
    caption = "\n".join(captions) or None
    # Little around the columns: four of them and a name are to fit 80 characters.
    table = Table(title=grid.title, caption=caption, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(grid.header):
        table.add_column(Text(name), justify="right" if place else "left", no_wrap=place > 0)
    for row in grid.rows:
        heading = Text.assemble(row.heading, (f"\n{row.remark}" if row.remark else "", "dim"))
        table.add_row(heading, *(Text.assemble(*pieces) for pieces in _terminal_cells(row)))
    return table


def _has_paper(grid: Grid) -> bool:
    return any(row.paper for row in grid.rows)


def _terminal_cells(row: Row) -> list[list[tuple[str, str]]]:
    """Styled pieces of every cell: ours, then the paper's on a line below."""
    pieces = []
    for ours, theirs in zip_longest(row.cells, row.paper):
        here = [(_tight(ours.text), "bold" if ours.bold else "")]
        if ours.flagged:
            here.append((" ≠", "yellow"))
        if theirs is not None:
            here.append((f"\n{_tight(theirs.text)}", "dim bold" if theirs.bold else "dim"))
        pieces.append(here)
    return pieces


def _tight(score: str) -> str:
    return score.replace(" ± ", "±")
