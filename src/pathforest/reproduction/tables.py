"""The tables of the report as cells of text, before they become Markdown, a terminal or HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pathforest.reproduction import published, statistics
from pathforest.reproduction.experiment import (
    CLASSIFIERS,
    COMPETITIONS,
    Experiment,
    classifier_title,
    dataset_title,
    in_order,
)
from pathforest.reproduction.formats import duration, fixed, p_text, percent, ratio, signed

UNAVAILABLE = "private, not available"


class Cell(NamedTuple):
    """What stands in one place of a table."""

    text: str
    bold: bool = False
    extra: str = ""  # less important, after the text
    note: str = ""  # on hover
    flagged: bool = False  # does not reproduce


class Row(NamedTuple):
    """A line of a table, with the paper's line if it has one."""

    heading: str
    cells: tuple[Cell, ...]
    paper: tuple[Cell, ...] = ()
    remark: str = ""


class Grid(NamedTuple):
    """A table: the names of its columns, that of the headings first, and its rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()  # columns of words, not numbers

    @property
    def has_paper(self) -> bool:
        """Whether the paper's values stand beside ours."""
        return any(row.paper for row in self.rows)


MISSING = Cell("–")
Cells = Mapping[tuple[str, str], Cell]  # by dataset and column
NOTHING: Cells = MappingProxyType({})


def score_grids(experiment: Experiment) -> list[Grid]:
    """Table I, bold marks among the paper's classifiers; then all classifiers, if there are others."""
    measured = experiment.classifiers
    shared = [name for name in measured if name in published.CLASSIFIERS]
    judged = statistics.agreement(experiment.results).set_index(["dataset", "classifier"])
    paper = {
        place: Cell(f"{fixed(score.mean)} ± {fixed(score.std)}", score.bold, f"F1 {fixed(score.f1)}")
        for place, score in published.SCORES.items()
    }

    def grid(title: str, classifiers: Sequence[str], *, compared: bool) -> Grid:
        scores = statistics.summarise(experiment.results, classifiers)
        ours = {line.Index: _score_cell(experiment, line) for line in scores.itertuples()}
        if compared and experiment.is_repeated:
            ours |= {line.Index: _judged(ours[line.Index], line) for line in judged.itertuples()}
        return _by_classifier(title, experiment, classifiers, ours, paper if compared else NOTHING)

    first = grid("Table I: accuracy on the test part", shared or measured, compared=True)
    if not shared or shared == measured:
        return [first]
    return [first, grid("All classifiers, beyond the paper", measured, compared=False)]


def _score_cell(experiment: Experiment, score: Any) -> Cell:
    extra = f"F1 {fixed(score.f1)}"
    if not experiment.is_repeated:
        return Cell(fixed(score.mean), extra=extra)
    return Cell(f"{fixed(score.mean)} ± {fixed(score.std)}", experiment.has_marks and score.bold, extra)


def _judged(cell: Cell, verdict: Any) -> Cell:
    words = "agrees with" if verdict.agrees else "differs from"
    return cell._replace(note=f"z = {signed(verdict.z)}: {words} the paper", flagged=not verdict.agrees)


def time_grids(experiment: Experiment) -> list[Grid]:
    """Table II: training time as a ratio to OPF and to the linear SVM, then seconds and the speed-up."""
    classifiers = experiment.classifiers
    table = statistics.training_seconds(experiment.results).set_index(["dataset", "classifier"])
    grids = []
    for peer in ("opf", "svm_linear"):
        others = [name for name in classifiers if name != peer]
        if peer not in classifiers or not others:
            continue
        ours = {place: Cell(_times(value)) for place, value in table[f"to_{peer}"].items()}
        paper = {
            (dataset, name): Cell(_times(score.seconds / published.SCORES[dataset, peer].seconds))
            for (dataset, name), score in published.SCORES.items()
        }
        title = f"Table II: training time as a multiple of {classifier_title(peer)}"
        grids.append(_by_classifier(title, experiment, others, ours, paper))
    ours = {
        line.Index: Cell(
            duration(line.seconds),
            extra="" if np.isnan(line.speedup) else f"speed-up {_times(line.speedup)}",
        )
        for line in table.itertuples()
    }
    paper = {place: Cell(duration(score.seconds)) for place, score in published.SCORES.items()}
    title = "Table II: mean training time, and the speed-up over the paper"
    return [*grids, _by_classifier(title, experiment, classifiers, ours, paper)]


def _times(value: float) -> str:
    return f"{ratio(value)} ×" if np.isfinite(value) else "–"


def _by_classifier(
    title: str, experiment: Experiment, classifiers: Sequence[str], ours: Cells, paper: Cells
) -> Grid:
    """Give each dataset a row; the paper's private sets belong to every comparison with it."""
    names = experiment.datasets
    if paper and any(name in published.PUBLIC for name in names):
        names = in_order([*names, *published.PRIVATE])
    return _crossed(title, names, {name: classifier_title(name) for name in classifiers}, ours, paper)


def agreement_grid(experiment: Experiment) -> Grid:
    """Every published score beside ours; with one run there is no z, and no verdict."""
    table = _by_dataset(statistics.agreement(experiment.results))
    repeated, marked = experiment.is_repeated, experiment.has_marks
    header = ("Classifier", "Published", "Ours", "Difference", "z", "Verdict", "Bold marks")

    def cells(line: Any) -> Iterable[Cell | str]:
        bold = "both" if line.bold and line.published_bold else "neither"
        if not line.bold_agrees:
            bold = "only ours" if line.bold else "only the paper’s"
        return (
            classifier_title(line.classifier),
            fixed(line.published, 5),
            fixed(line.ours, 5),
            signed(line.difference, 5),
            signed(line.z) if repeated else "–",
            _verdict(line.agrees) if repeated else "–",
            Cell(bold, flagged=not line.bold_agrees) if marked else "–",
        )

    words = ("Classifier", "Verdict", "Bold marks")
    return _listing("Agreement with the published scores", table, header, cells, words)


def changed_grid(experiment: Experiment) -> Grid:
    """Verdicts that change when runs beyond the paper's number count."""
    table = _by_dataset(statistics.changed_verdicts(experiment.results))
    runs = (published.RUNS, experiment.n_runs)
    header = ("Classifier", *(f"z of {number} runs" for number in runs), "Verdict now")
    return _listing(
        "Verdicts that more runs change",
        table,
        header,
        lambda line: (
            classifier_title(line.classifier),
            signed(line.z_first),
            signed(line.z_all),
            _verdict(line.agrees_all),
        ),
        ("Classifier", "Verdict now"),
    )


def _verdict(agrees: bool) -> Cell:
    return Cell("agrees" if agrees else "differs", flagged=not agrees)


def gain_grid(experiment: Experiment) -> Grid:
    """Fuzzy OPF against OPF: points gained, bold if the difference is significant."""
    table = _by_dataset(statistics.gains(experiment.results))

    def cell(line: Any) -> Cell:
        if np.isnan(line.p_value):
            return Cell(signed(100 * line.gain))
        differs = line.p_value < published.SIGNIFICANCE
        verdict = ("better" if line.gain > 0 else "worse") if differs else "no significant difference"
        return Cell(signed(100 * line.gain), differs, f"p {p_text(line.p_value)}, {verdict}")

    return _side_by_side("Points gained over OPF", table, "classifier", CLASSIFIERS, cell)


def sensitivity_grid(experiment: Experiment) -> Grid:
    """How many cells of the search lose more than a point against the best."""
    table = _by_dataset(statistics.sensitivity(experiment.landscapes))

    def cell(line: Any) -> Cell:
        worst = f"the worst {100 * line.worst:.1f} points"
        return Cell(percent(line.losing / line.cells), extra=f"{line.losing} of {line.cells}, {worst}")

    title = "Cells of the search that lose more than a point"
    return _side_by_side(title, table, "competition", COMPETITIONS, cell)


def tie_grid(experiment: Experiment) -> Grid:
    """Training labels lost to ties, by the textbook algorithm and by ours."""
    groups = experiment.ties.groupby("dataset", sort=False)
    table = groups.agg(
        runs=("run", "size"),
        losing=("textbook_error", lambda lost: int((lost > 0).sum())),
        mean=("textbook_error", "mean"),
        worst=("textbook_error", "max"),
        ours=("training_error", "max"),
    )
    return _listing(
        "Training labels lost to ties",
        _by_dataset(table.reset_index()),
        ("Runs with losses", "Textbook, mean", "Textbook, worst run", "Ours, worst run"),
        lambda line: (f"{line.losing} of {line.runs}", *map(percent, (line.mean, line.worst, line.ours))),
    )


def _listing(
    title: str,
    table: pd.DataFrame,
    header: Sequence[str],
    cells: Callable[[Any], Iterable[Cell | str]],
    words: tuple[str, ...] = (),
) -> Grid:
    """Give each line of a table a row."""
    rows = (
        Row(
            dataset_title(line.dataset),
            tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells(line)),
        )
        for line in table.itertuples()
    )
    return Grid(title, ("Dataset", *header), tuple(rows), words)


def _side_by_side(
    title: str, table: pd.DataFrame, column: str, titles: Mapping[str, str], cell: Callable[[Any], Cell]
) -> Grid:
    """Give each value of a column a column of its own, and each dataset a row."""
    cells = {(line.dataset, getattr(line, column)): cell(line) for line in table.itertuples()}
    columns = {value: titles.get(value, value) for value in in_order(table[column], titles)}
    return _crossed(title, table["dataset"].unique(), columns, cells)


def _crossed(
    title: str,
    datasets: Iterable[str],
    columns: Mapping[str, str],
    ours: Cells,
    paper: Cells = MappingProxyType({}),
) -> Grid:
    """Cross datasets with columns, which are named with their titles."""
    rows = []
    for name in datasets:
        here, theirs = (tuple(cells.get((name, key), MISSING) for key in columns) for cells in (ours, paper))
        is_there, is_compared = (any(cell != MISSING for cell in cells) for cells in (here, theirs))
        remark = UNAVAILABLE if name in published.PRIVATE and not is_there else ""
        rows.append(Row(dataset_title(name), here, theirs if is_compared else (), remark))
    return Grid(title, ("Dataset", *columns.values()), tuple(rows))


def _by_dataset(table: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by dataset, as the paper does; within one they stay as they are."""
    order = in_order(table["dataset"])
    return table.sort_values("dataset", key=lambda names: names.map(order.index), kind="stable")
