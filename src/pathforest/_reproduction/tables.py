"""The tables of the report: cells of text, the bold ones among them, and how numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pathforest._reproduction import published
from pathforest._reproduction.experiment import CLASSIFIERS, dataset_title
from pathforest._reproduction.statistics import Summary

WIDE = 6  # columns; tables with more are set in smaller type


class Table(NamedTuple):
    """A table with a row for each dataset, and one below it where the paper has values."""

    title: str
    cells: pd.DataFrame  # texts, of one line or two
    bold: pd.DataFrame

    def __html__(self) -> str:
        """Write the table in a region of its own, which scrolls by keyboard if the page is narrow."""
        title = escape(self.title)
        kind = 'class="wide"' if len(self.cells.columns) > WIDE else ""
        styler = self.cells.style.format(escape="html").format_index(escape="html")
        styler = styler.format_index(escape="html", axis="columns").set_caption(f"<span>{title}</span>")
        styler = styler.set_td_classes(self.bold.map({True: "best", False: ""}.get)).set_table_attributes(
            kind
        )
        styler.cell_ids = False
        name = "".join(c if c.isalnum() else "-" for c in self.title)
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{title}">'
            f"{styler.set_uuid(name).to_html()}</div>"
        )


def score_tables(summary: Summary) -> list[Table]:
    """Table I, bold marks among the paper's classifiers; then all classifiers, if there are others."""
    spread, marked = summary.experiment.is_repeated, summary.experiment.has_marks
    judged = summary.agreement.set_index(["dataset", "classifier"])["agrees"]
    title, found = "Table I: accuracy on the test part", []
    if len(summary.scores):
        ours = _scores(summary.scores, spread, marked, judged.index[~judged] if spread else ())
        found.append(_crossed(title, ours, CLASSIFIERS, _scores(published.TABLE)))
        title = "All classifiers, beyond the paper"
    if len(summary.scores) < len(summary.all_scores):
        found.append(_crossed(title, _scores(summary.all_scores, spread, marked), CLASSIFIERS))
    return found


def _scores(
    table: pd.DataFrame, spread: bool = True, marked: bool = True, differ: Iterable[Any] = ()
) -> pd.DataFrame:
    deviation = table["std"].map(" ± {:.4f}".format) if spread else ""
    flag = np.where(table.index.isin(list(differ)), " ≠", "")
    text = table["mean"].map("{:.4f}".format) + deviation + flag + table["f1"].map("\nF1 {:.4f}".format)
    return pd.DataFrame({"text": text, "bold": table["bold"] & marked})


def time_tables(summary: Summary) -> list[Table]:
    """Table II: training time as a multiple of OPF's and of the linear SVM's; seconds, and the speed-up."""
    ours, paper, found = summary.all_scores["seconds"], published.TABLE["seconds"], []
    names = ours.index.unique("classifier")
    for peer in ("opf", "svm_linear"):
        if peer in names and len(names) > 1:
            title = f"Table II: training time as a multiple of {CLASSIFIERS[peer]}"
            multiples = _multiples(ours, peer).drop(peer, level="classifier")
            found.append(_crossed(title, multiples, CLASSIFIERS, _multiples(paper, peer)))
    speed = summary.all_scores["speedup"]
    speed = speed.map(lambda value: "" if np.isnan(value) else f"\nspeed-up {times(value)}")
    ours, paper = (texts.to_frame("text") for texts in (ours.map(duration) + speed, paper.map(duration)))
    title = "Table II: mean training time, and the speed-up over the paper"
    return [*found, _crossed(title, ours, CLASSIFIERS, paper)]


def _multiples(seconds: pd.Series, peer: str) -> pd.DataFrame:
    base = seconds.xs(peer, level="classifier").reindex(seconds.index, level="dataset")
    return (seconds / base).map(times).to_frame("text")


def agreement_table(summary: Summary) -> Table:
    """Every published score beside ours; with one run there is no z, and no verdict."""
    table, experiment = summary.agreement, summary.experiment
    bold = np.select([table["bold"] & table["published_bold"], table["bold"], table["published_bold"]],
                     ["both", "only ours ≠", "only the paper’s ≠"], "neither")  # fmt: skip
    cells = pd.DataFrame(
        {
            "Published": table["published"].map("{:.5f}".format),
            "Ours": table["ours"].map("{:.5f}".format),
            "Difference": [signed(value, 5) for value in table["difference"]],
            "z": table["z"].map(signed) if experiment.is_repeated else "–",
            "Verdict": np.where(table["agrees"], "agrees", "differs ≠") if experiment.is_repeated else "–",
            "Bold marks": bold if experiment.has_marks else "–",
        }
    )
    titles = [table["dataset"].map(dataset_title), table["classifier"].map(CLASSIFIERS)]
    cells.index = pd.MultiIndex.from_arrays(titles, names=[None, None])
    return Table("Agreement with the published scores", cells, cells == "")


def gain_table(summary: Summary) -> Table:
    """Fuzzy OPF against OPF: points gained, bold if the difference is significant."""
    table = summary.gains.set_index(["dataset", "classifier"])
    text = (100 * table["gain"]).map(signed)
    if summary.experiment.is_repeated:
        p = table["p_value"].map(lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}")
        text = text + "\np " + p + ", " + table["verdict"]
    cells = pd.DataFrame({"text": text, "bold": table["p_value"] < published.SIGNIFICANCE})
    return _crossed("Points gained over OPF", cells, CLASSIFIERS)


def _crossed(
    title: str, ours: pd.DataFrame, columns: Mapping[str, str], paper: pd.DataFrame | None = None
) -> Table:
    """Cross datasets with columns; the paper's values come below ours, those of its private sets alone."""
    names, shown = ours.index.unique(0), [name for name in columns if name in ours.index.unique(1)]
    parts = {"ours": ours}
    if paper is not None and any(name in published.PUBLIC for name in names):
        parts["paper"] = paper[paper.index.isin(shown, level=1)]
        names = published.in_order([*names, *published.PRIVATE])
    both = pd.concat(parts, names=["source"])
    text = both["text"].unstack()
    rows = [(source, name) for name in names for source in parts if (source, name) in text.index]
    cells = text.reindex(index=rows, columns=shown).fillna("–")
    bold = cells == ""
    if "bold" in both:
        bold = both["bold"].unstack().reindex(index=rows, columns=shown).eq(True)
    index = pd.MultiIndex.from_tuples((dataset_title(name), source) for source, name in rows)
    for table in (cells, bold):
        table.columns = [columns[name] for name in shown]
        table.index = index if len(parts) > 1 else index.droplevel(1)
    return Table(title, cells, bold)


# How numbers and lists are written


def listed(names: Iterable[str]) -> str:
    """Join names as a sentence would."""
    names = list(names)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign; the minus is as wide as the plus."""
    if not np.isfinite(value):
        return "–" if np.isnan(value) else "+∞" if value > 0 else "−∞"
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text.replace("-", "+")


def times(value: float) -> str:
    """Write a factor with two significant figures."""
    if not np.isfinite(value):
        return "–"
    return f"{np.format_float_positional(value, precision=2, fractional=False, trim='-')} ×"


def duration(seconds: float) -> str:
    """Write seconds of training in the unit that suits them."""
    for limit, factor, unit in ((9.995e-4, 1e6, "µs"), (0.9995, 1e3, "ms"), (119.5, 1, "s")):
        if seconds < limit:
            return f"{factor * seconds:.3g} {unit}"
    return f"{seconds / 60:,.3g} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


def percent(share: float) -> str:
    """Write a share; only an exact 0 is 0 %, and only an exact 1 is 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if share < 0.0995 or share > 0.995 else f"{100 * share:.0f} %"
