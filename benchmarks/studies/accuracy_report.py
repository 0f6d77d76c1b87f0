"""From the results of the accuracy experiment to its table, tests and critical-difference diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from benchmarks.studies.classifiers import SVM_COSTS, SVM_GAMMAS
from benchmarks.tables import markdown

MEASURES = {
    "accuracy": "accuracy, %",
    "balanced": "balanced, %",
    "log_loss": "log loss",
    "seconds": "tuning, s",
}
PLAIN, LINEAR, KERNEL = (f"FuzzyOPFClassifierCV{preset}" for preset in ("", " linear", " kernel"))
KNN, SVM, OPF = "kNN, tuned", "SVM-RBF, tuned", "OPF"

SVM_GRID = (
    f"{len(SVM_COSTS) * len(SVM_GAMMAS)} cells, C {SVM_COSTS[0]:g} to {SVM_COSTS[-1]:g}, gamma "
    f"{SVM_GAMMAS[0]:g}/d to {SVM_GAMMAS[-1]:g}/d"
)
NOTES = (
    "How to read this:",
    "",
    "- The presets of FuzzyOPFClassifierCV were chosen on some of these datasets, which favours them there.",
    f"- Seconds are those of tuning on one thread: SVM-RBF searches {SVM_GRID}; calibrating it for "
    "probabilities is not counted.",
    "- Log loss clips probabilities at 2.2e-16: where no neighbour has the right class, kNN gives it 0 and "
    "pays 36 for that sample: its log loss measures clipped zeros more than anything else.",
    "- p-values in the tables are of Wilcoxon's test and not corrected for the number of comparisons; those "
    "behind the diagram are, by Holm's method.",
)


def report(lines: list[dict[str, Any]], out: Path) -> str:
    """Write table.md and critical_difference.png into `out`, and return the text."""
    if not lines or (runs := gather(lines)).empty:
        return "no results yet"
    datasets, noises = (sorted(runs.index.unique(level)) for level in ("dataset", "noise"))
    n_runs = runs.groupby(["dataset", "noise"]).size().min()
    text = [
        f"{len(datasets)} datasets, at least {n_runs} repeats each: {', '.join(datasets)}.",
        *(f"\n{overview(runs, noise)}" for noise in noises),
        "",
        *NOTES,
        f"\n{bars(runs, datasets, noises)}\n",
        *(f"\n{per_dataset(runs, noise)}" for noise in noises),
    ]
    (out / "table.md").write_text("\n".join(text) + "\n")
    draw(runs, noises, out / "critical_difference.png")
    return "\n".join([*text, f"written: {out / 'table.md'}, {out / 'critical_difference.png'}"])


def gather(lines: list[dict[str, Any]]) -> pd.DataFrame:
    """Give each repeat that every classifier has finished a row, and each measure of a classifier a column.

    Only datasets that have every level of noise are kept.
    """
    table = pd.DataFrame(lines, columns=["dataset", "noise", "repeat", "classifier", *MEASURES])
    runs = table.pivot(index=["dataset", "noise", "repeat"], columns="classifier", values=list(MEASURES))
    runs = runs.reindex(columns=table["classifier"].unique(), level="classifier").dropna()
    n_levels = runs.index.to_frame(index=False).groupby("dataset")["noise"].nunique()
    whole = n_levels.index[n_levels == len(runs.index.unique("noise"))]
    return runs[runs.index.isin(whole, level="dataset")]


def means(runs: pd.DataFrame, noise: float, measure: str) -> pd.DataFrame:
    """Mean over repeats, a row per dataset, a column per classifier; rounded, so that equal means tie."""
    return runs.xs(noise, level="noise")[measure].groupby("dataset").mean().round(12)


def ranks(values: pd.DataFrame) -> pd.Series:
    """Average rank of each column, 1 for the largest."""
    return values.rank(axis="columns", ascending=False).mean()


def compare(values: pd.DataFrame, one: str, other: str) -> float:
    """Wilcoxon signed-rank test over datasets, two-sided; 1 if all means are equal."""
    difference = (values[one] - values[other]).round(12)
    return float(wilcoxon(difference).pvalue) if difference.any() else 1.0


def overview(runs: pd.DataFrame, noise: float) -> str:
    """Means over datasets, average ranks, and p-values against the plain call and the kernel preset."""
    mean = {measure: means(runs, noise, measure).mean() for measure in MEASURES}
    accuracy = means(runs, noise, "accuracy")
    rank = ranks(accuracy)
    ours = {label: name for label, name in (("plain call", PLAIN), ("kernel", KERNEL)) if name in accuracy}
    tested = [f"uncorrected p, {label}" for label in ours]
    rows = [
        [
            name,
            f"{100 * mean['accuracy'][name]:.2f}",
            f"{100 * mean['balanced'][name]:.2f}",
            f"{mean['log_loss'][name]:.3f}",
            f"{mean['seconds'][name]:.2f}",
            f"{rank[name]:.2f}",
            *("" if mine == name else f"{compare(accuracy, mine, name):.3f}" for mine in ours.values()),
        ]
        for name in accuracy
    ]
    return markdown([f"{noise:.0%} wrong labels", *MEASURES.values(), "mean rank", *tested], rows)


def bars(runs: pd.DataFrame, datasets: list[str], noises: list[float]) -> str:
    """Compare with what was asked for, as far as the classifiers it is about were run."""
    rows = []
    have = set(runs["accuracy"])

    def add(text: str, measured: str, met: bool) -> None:
        rows.append([text, measured, "yes" if met else "no"])

    for noise in noises:
        accuracy, loss, seconds = (
            means(runs, noise, measure).mean() for measure in ("accuracy", "log_loss", "seconds")
        )
        if have >= {PLAIN, KNN}:
            gap, wish = 100 * (accuracy[PLAIN] - accuracy[KNN]), 0.0 if noise == 0 else 0.8
            add(f"plain call over kNN at {noise:.0%}: at least {wish:+.1f}", f"{gap:+.2f}", gap >= wish)
            text = f"log loss of the plain call below kNN's at {noise:.0%}"
            add(text, f"{loss[PLAIN]:.3f}, {loss[KNN]:.3f}", loss[PLAIN] < loss[KNN])
        if have >= {KERNEL, SVM}:
            gap = 100 * (accuracy[KERNEL] - accuracy[SVM])
            add(f"kernel over SVM at {noise:.0%}: at least -0.3", f"{gap:+.2f}", gap >= -0.3)
            text = f"kernel cheaper to tune than SVM ({SVM_GRID}) at {noise:.0%}"
            add(text, f"{seconds[KERNEL]:.2f} s, {seconds[SVM]:.2f} s", seconds[KERNEL] < seconds[SVM])
    for name in (PLAIN, LINEAR, KERNEL):
        if have >= {name, OPF}:
            worse = [
                f"{dataset} at {noise:.0%} (p = {p:.3f})"
                for dataset in datasets
                for noise in noises
                if (p := worse_than_opf(runs.loc[dataset, noise]["accuracy"], name)) < 0.05
            ]
            text = f"{name} significantly worse than OPF (uncorrected p < 0.05): on no set"
            add(text, ", ".join(worse) or "none", not worse)
    return markdown(["bar", "measured", "met"], rows, n_words=3)


def worse_than_opf(runs: pd.DataFrame, name: str) -> float:
    """Give the p-value of one of ours being worse, over repeats, one-sided; 1 if it is not worse."""
    if runs[name].mean() >= runs[OPF].mean():
        return 1.0
    return float(wilcoxon(runs[name], runs[OPF], alternative="less").pvalue)


def per_dataset(runs: pd.DataFrame, noise: float) -> str:
    """Mean accuracy on every dataset."""
    accuracy = means(runs, noise, "accuracy")
    rows = [
        [dataset, *(f"**{100 * v:.1f}**" if v == values.max() else f"{100 * v:.1f}" for v in values)]
        for dataset, values in accuracy.iterrows()
    ]
    return markdown([f"accuracy, {noise:.0%} wrong labels", *accuracy], rows)


def draw(runs: pd.DataFrame, noises: list[float], path: Path) -> None:
    """Draw average ranks; bars join what Wilcoxon's test with Holm's correction cannot distinguish."""
    import scikit_posthocs as posthocs
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.1 * len(noises)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, noise in zip(np.atleast_1d(figure.subplots(len(noises), 1)), noises, strict=True):
        values = means(runs, noise, "accuracy")
        if min(values.shape) < 2:
            continue
        tests = posthocs.posthoc_wilcoxon(
            values.melt(var_name="classifier", value_name="accuracy"), val_col="accuracy",
            group_col="classifier", p_adjust="holm", sort=False, zero_method="zsplit",
        )  # fmt: skip
        posthocs.critical_difference_diagram(
            ranks(values), tests, ax=axes, text_h_margin=0.02,
            label_fmt_left="{label}  {rank:.2f}", label_fmt_right="{rank:.2f}  {label}",
        )  # fmt: skip
        axes.set_title(
            f"{noise:.0%} wrong training labels: mean rank over {len(values)} datasets, best on the left",
            loc="left", fontsize=10,
        )  # fmt: skip
    figure.savefig(path, dpi=130)
