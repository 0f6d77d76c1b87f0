"""The tables of the report as cells of text, before they become Markdown, a terminal or HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pathforest.reproduction import published, statistics
from pathforest.reproduction.names import (
    COMPETITIONS,
    classifier_title,
    classifiers_of,
    dataset_title,
    datasets_of,
    duration,
    fixed,
    has_marks,
    in_order,
    is_repeated,
    p_text,
    percent,
    ratio,
    signed,
)
from pathforest.reproduction.types import CLASSIFIERS, Experiment

UNAVAILABLE = "private, not available"


class Cell(NamedTuple):
    """What stands in one place of a table."""

    text: str
    bold: bool = False
    extra: str = ""  # less important, after the text
    note: str = ""  # on hover
    flagged: bool = False  # does not reproduce


class Row(NamedTuple):
    """A line of a table, with the paper's line where there is one."""

    heading: str
    cells: tuple[Cell, ...]
    paper: tuple[Cell, ...] = ()
    remark: str = ""


class Grid(NamedTuple):
    """A table: what each column holds, the heading of the rows first."""

    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()  # columns that hold words, not numbers


MISSING = Cell("–")


def score_grids(experiment: Experiment) -> list[Grid]:
    """Table I, bold marks among the paper's classifiers; then all classifiers, where there are others."""
    measured = classifiers_of(experiment)
    shared = [name for name in measured if name in published.CLASSIFIERS]
    first = _score_grid(experiment, "Table I: accuracy on the test part", shared or measured)
    if not shared or shared == measured:
        return [first]
    return [first, _score_grid(experiment, "All classifiers, beyond the paper", measured, with_paper=False)]


def _score_grid(
    experiment: Experiment, title: str, classifiers: Sequence[str], with_paper: bool = True
) -> Grid:
    repeated, marked = is_repeated(experiment), has_marks(experiment)
    scores = statistics.summarise(experiment.results, classifiers)
    judged = statistics.agreement(experiment.results).set_index(["dataset", "classifier"])

    def ours(dataset: str, classifier: str) -> Cell:
        if (dataset, classifier) not in scores.index:
            return MISSING
        score = scores.loc[dataset, classifier]
        extra = f"F1 {fixed(score['f1'])}"
        if not repeated:
            return Cell(fixed(score["mean"]), extra=extra)
        text = f"{fixed(score['mean'])} ± {fixed(score['std'])}"
        if not with_paper or (dataset, classifier) not in judged.index:
            return Cell(text, marked and bool(score["bold"]), extra)
        verdict = judged.loc[dataset, classifier]
        note = (
            f"z = {signed(verdict['z'])}: {'agrees with' if verdict['agrees'] else 'differs from'} the paper"
        )
        return Cell(text, marked and bool(score["bold"]), extra, note, flagged=not verdict["agrees"])

    def paper(dataset: str, classifier: str) -> Cell:
        theirs = published.score(dataset, classifier)
        if theirs is None:
            return MISSING
        return Cell(f"{fixed(theirs.mean)} ± {fixed(theirs.std)}", theirs.bold, f"F1 {fixed(theirs.f1)}")

    header = ("Dataset", *map(classifier_title, classifiers))
    return Grid(title, header, _rows(experiment, classifiers, ours, paper if with_paper else None))


def time_grids(experiment: Experiment) -> list[Grid]:
    """Table II: training time as a ratio to OPF and to the linear SVM, then seconds and the speed-up."""
    classifiers = classifiers_of(experiment)
    table = statistics.training_seconds(experiment.results).set_index(["dataset", "classifier"])
    grids = []
    for peer in ("opf", "svm_linear"):
        others = [name for name in classifiers if name != peer]
        if peer not in classifiers or not others:
            continue

        def ours(dataset: str, classifier: str, column: str = f"to_{peer}") -> Cell:
            if (dataset, classifier) not in table.index:
                return MISSING
            return Cell(_times(table.loc[dataset, classifier][column]))

        def paper(dataset: str, classifier: str, peer: str = peer) -> Cell:
            own, base = published.seconds(dataset, classifier), published.seconds(dataset, peer)
            return MISSING if own is None or base is None else Cell(_times(own / base))

        title = f"Table II: training time as a multiple of {classifier_title(peer)}"
        header = ("Dataset", *map(classifier_title, others))
        grids.append(Grid(title, header, _rows(experiment, others, ours, paper)))

    def seconds(dataset: str, classifier: str) -> Cell:
        if (dataset, classifier) not in table.index:
            return MISSING
        times = table.loc[dataset, classifier]
        faster = "" if np.isnan(times["speedup"]) else f"speed-up {_times(times['speedup'])}"
        return Cell(duration(times["seconds"]), extra=faster)

    def paper_seconds(dataset: str, classifier: str) -> Cell:
        theirs = published.seconds(dataset, classifier)
        return MISSING if theirs is None else Cell(duration(theirs))

    title = "Table II: mean training time, and the speed-up over the paper"
    header = ("Dataset", *map(classifier_title, classifiers))
    return [*grids, Grid(title, header, _rows(experiment, classifiers, seconds, paper_seconds))]


def _times(value: float) -> str:
    return f"{ratio(value)} ×" if np.isfinite(value) else "–"


def _rows(experiment: Experiment, classifiers: Sequence[str], ours, paper) -> tuple[Row, ...]:
    """Give each dataset a row, the paper's beside it; its private sets belong to every comparison with it."""
    measured = datasets_of(experiment)
    compared = paper is not None and any(name in published.PUBLIC for name in measured)
    names = in_order([*measured, *(published.PRIVATE if compared else ())], tuple(published.TITLES))
    rows = []
    for name in names:
        has_paper = paper is not None and name in published.TITLES
        theirs = tuple(paper(name, classifier) for classifier in classifiers) if has_paper else ()
        remark = UNAVAILABLE if name in published.PRIVATE and name not in measured else ""
        rows.append(
            Row(
                dataset_title(name),
                tuple(ours(name, classifier) for classifier in classifiers),
                theirs if any(cell != MISSING for cell in theirs) else (),
                remark,
            )
        )
    return tuple(rows)


def agreement_grid(experiment: Experiment) -> Grid:
    """Every published score beside ours; with one run there is no z, and no verdict."""
    table = _by_dataset(statistics.agreement(experiment.results))
    repeated, marked = is_repeated(experiment), has_marks(experiment)
    header = ("Dataset", "Classifier", "Published", "Ours", "Difference", "z", "Verdict", "Bold marks")
    rows = []
    for line in table.itertuples():
        verdict = "agrees" if line.agrees else "differs"
        bold = "both" if line.bold and line.published_bold else "neither"
        if not line.bold_agrees:
            bold = "only ours" if line.bold else "only the paper’s"
        cells = (
            Cell(classifier_title(line.classifier)),
            Cell(fixed(line.published, 5)),
            Cell(fixed(line.ours, 5)),
            Cell(signed(line.difference, 5)),
            Cell(signed(line.z) if repeated else "–"),
            Cell(verdict if repeated else "–", flagged=repeated and not line.agrees),
            Cell(bold if marked else "–", flagged=marked and not line.bold_agrees),
        )
        rows.append(Row(dataset_title(line.dataset), cells))
    words = ("Classifier", "Verdict", "Bold marks")
    return Grid("Agreement with the published scores", header, tuple(rows), words)


def changed_grid(experiment: Experiment) -> Grid:
    """Verdicts that change when runs beyond the paper's number count."""
    table = _by_dataset(statistics.changed_verdicts(experiment.results))
    first, runs = f"z of {published.RUNS} runs", experiment.results["run"].nunique()
    header = ("Dataset", "Classifier", first, f"z of {runs} runs", "Verdict now")
    rows = [
        Row(
            dataset_title(line.dataset),
            (
                Cell(classifier_title(line.classifier)),
                Cell(signed(line.z_first)),
                Cell(signed(line.z_all)),
                Cell("agrees" if line.agrees_all else "differs", flagged=not line.agrees_all),
            ),
        )
        for line in table.itertuples()
    ]
    return Grid("Verdicts that more runs change", header, tuple(rows), ("Classifier", "Verdict now"))


def gain_grid(experiment: Experiment) -> Grid:
    """Fuzzy OPF against OPF: points gained, bold where the runs tell them apart."""
    table = _by_dataset(statistics.gains(experiment.results))

    def cell(line) -> Cell:
        if np.isnan(line.p_value):
            return Cell(signed(100 * line.gain))
        told_apart = line.p_value < published.SIGNIFICANCE
        verdict = ("better" if line.gain > 0 else "worse") if told_apart else "not told apart"
        return Cell(signed(100 * line.gain), told_apart, f"p {p_text(line.p_value)}, {verdict}")

    return _side_by_side("Points gained over OPF", table, "classifier", CLASSIFIERS, cell)


def sensitivity_grid(experiment: Experiment) -> Grid:
    """How many cells of the search lose more than a point against the best."""
    table = _by_dataset(statistics.sensitivity(experiment.landscapes))

    def cell(line) -> Cell:
        worst = f"the worst {100 * line.worst:.1f} points"
        return Cell(percent(line.losing / line.cells), extra=f"{line.losing} of {line.cells}, {worst}")

    title = "Cells of the search that lose more than a point"
    return _side_by_side(title, table, "competition", COMPETITIONS, cell)


def _side_by_side(title: str, table: pd.DataFrame, column: str, titles: Mapping[str, str], cell) -> Grid:
    """Give each value of a column a column of its own, and each dataset a row."""
    values = in_order(table[column].unique(), tuple(titles))
    cells = {(line.dataset, getattr(line, column)): cell(line) for line in table.itertuples()}
    rows = tuple(
        Row(dataset_title(name), tuple(cells.get((name, value), MISSING) for value in values))
        for name in table["dataset"].unique()
    )
    return Grid(title, ("Dataset", *(titles.get(value, value) for value in values)), rows)


def tie_grid(experiment: Experiment) -> Grid:
    """Training labels lost to ties, by the textbook algorithm and by ours."""
    header = ("Dataset", "Runs with losses", "Textbook, mean", "Textbook, worst run", "Ours, worst run")
    rows = []
    for name in in_order(experiment.ties["dataset"].unique(), tuple(published.TITLES)):
        here = experiment.ties[experiment.ties["dataset"] == name]
        lost = here["textbook_error"]
        cells = (
            Cell(f"{int((lost > 0).sum())} of {len(here)}"),
            Cell(percent(lost.mean())),
            Cell(percent(lost.max())),
            Cell(percent(here["training_error"].max())),
        )
        rows.append(Row(dataset_title(name), cells))
    return Grid("Training labels lost to ties", header, tuple(rows))


def _by_dataset(table: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by dataset, as the paper does; within one they stay as they are."""
    order = in_order(table["dataset"].unique(), tuple(published.TITLES))
    return table.sort_values("dataset", key=lambda names: names.map(order.index), kind="stable")
