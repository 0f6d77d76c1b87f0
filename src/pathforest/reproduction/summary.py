"""The report without a page: all its tables as Markdown, and Table I for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathforest.reproduction import findings, layout, tables
from pathforest.reproduction.experiment import Experiment
from pathforest.reproduction.layout import markdown_table

if TYPE_CHECKING:
    from rich.table import Table


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
    first, *others = tables.score_grids(experiment)
    *ratios, seconds = tables.time_grids(experiment)
    parts = [
        "# The paper's tables, measured again",
        markdown_table(first, findings.about(experiment)),
        *map(markdown_table, others),
        *map(markdown_table, ratios),
        markdown_table(seconds, findings.speed_sentence(experiment)),
        markdown_table(
            tables.agreement_grid(experiment),
            findings.agreement_sentence(experiment),
            findings.bold_sentence(experiment),
            findings.disagreement_sentence(experiment),
        ),
        markdown_table(tables.changed_grid(experiment), changed) if changed else "",
        markdown_table(tables.gain_grid(experiment), *gains),
        markdown_table(tables.sensitivity_grid(experiment), findings.sensitivity_sentence(experiment)),
        markdown_table(tables.tie_grid(experiment), findings.tie_sentence(experiment)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def terminal_table(experiment: Experiment) -> Table:
    """Lay out Table I for the terminal, the paper's values under ours; print it with `rich.print`."""
    grid = tables.score_grids(experiment)[0]
    captions = ["below each score: the paper's"] if grid.has_paper else []
    return layout.terminal_table(grid, *captions, *([] if experiment.has_marks else [findings.UNMARKED]))
