"""From the results of the accuracy experiment to its table, tests and critical-difference diagram."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from benchmarks.dark import save_both
from benchmarks.studies import keel
from benchmarks.studies.classifiers import SVM_COSTS, SVM_GAMMAS
from benchmarks.tables import markdown

MEASURES = {
    "accuracy": "accuracy, %",
    "balanced": "balanced, %",
    "log_loss": "log loss",
    "seconds": "tuning, s",
}
DEFAULT, PLAIN, LINEAR, FULL = OURS = [
    f"FuzzyOPFClassifierCV{preset}" for preset in ("", " None", " linear", " full")
]
SVM, OPF = "SVM-RBF, tuned", "OPF"
RIVALS = (SVM, "random forest", "LightGBM")

SVM_GRID = (
    f"{len(SVM_COSTS) * len(SVM_GAMMAS)} cells, C {SVM_COSTS[0]:g} to {SVM_COSTS[-1]:g}, gamma "
    f"{SVM_GAMMAS[0]:g}/d to {SVM_GAMMAS[-1]:g}/d"
)
NOTES = (
    "How to read this:",
    "",
    "- The presets of FuzzyOPFClassifierCV and its default were chosen on the second group of datasets, "
    "which favours them there; nothing was chosen on the first.",
    "- With so few samples the default call chooses the preset kernel.",
    f"- Seconds are those of tuning on one thread: SVM-RBF searches {SVM_GRID}; calibrating it for "
    "probabilities is not counted. Random forest (200 trees) and LightGBM have their default parameters.",
    "- The mean of SVM and random forest shows what averaging different models gains without us.",
    "- Log loss clips probabilities at 2.2e-16: where no neighbour has the right class, kNN gives it 0 and "
    "pays 36 for that sample: its log loss measures clipped zeros more than anything else.",
    "- p-values in the tables are of Wilcoxon's test over datasets and not corrected for the number of "
    "comparisons; those of the bars and behind the diagram are, by Holm's method.",
)


def report(measured: list[dict[str, Any]], out: Path) -> str:
    """Write table.md and critical_difference.png, light and dark, into `out`, and return the text."""
    if not measured or (runs := gather(measured)).empty:
        return "no results yet"
    noises = sorted(runs.index.unique("noise"))
    kept = runs.index.get_level_values("dataset").isin(keel.REPORT)
    groups = {"not chosen on": runs[kept], "chosen on": runs[~kept]}
    text = [*sources(measured), "", *NOTES]
    for label, group in groups.items():
        if group.empty:
            continue
        datasets = sorted(group.index.unique("dataset"))
        n_runs = group.groupby(["dataset", "noise"]).size()
        text += [
            f"\n## {len(datasets)} datasets {label}\n",
            f"{n_runs.min()} to {n_runs.max()} repeats each: {', '.join(datasets)}.",
            *(f"\n{overview(group, noise)}" for noise in noises),
            f"\n{bars(group, datasets, noises)}\n",
            *(f"\n{per_dataset(group, noise)}" for noise in noises),
        ]
    (out / "table.md").write_text("\n".join(text) + "\n")
    first = next(group for group in groups.values() if not group.empty)
    draw(first, noises, out / "critical_difference.png")
    return "\n".join([*text, f"written: {out / 'table.md'}, {out / 'critical_difference.png'}"])


def sources(measured: list[dict[str, Any]]) -> list[str]:
    """Say with which versions and where the runs were measured."""
    found = {json.dumps(run["about"], sort_keys=True): run["about"] for run in measured}
    return [
        f"Measured on {about['machine']}, with "
        + ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        + f", code {about['code'][:12]}."
        for about in found.values()
    ]


def gather(measured: list[dict[str, Any]]) -> pd.DataFrame:
    """Give each repeat that every classifier has finished a row, and each measure of a classifier a column.

    Only datasets that have every level of noise are kept.
    """
    latest = {tuple(run["unit"]): run["lines"] for run in measured}
    rows = [
        [*unit, *(line[name] for name in ("classifier", *MEASURES))]
        for unit, lines in latest.items()
        for line in lines
    ]
    table = pd.DataFrame(rows, columns=["dataset", "noise", "repeat", "classifier", *MEASURES])
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


def holm(values: dict[Any, float]) -> dict[Any, float]:
    """Correct p-values by Holm's method."""
    corrected, largest = {}, 0.0
    for place, key in enumerate(sorted(values, key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - place) * values[key]))
        corrected[key] = largest
    return corrected


def overview(runs: pd.DataFrame, noise: float) -> str:
    """Means over datasets, average ranks, and p-values against the default call and the full preset."""
    mean = {measure: means(runs, noise, measure).mean() for measure in MEASURES}
    accuracy = means(runs, noise, "accuracy")
    rank = ranks(accuracy)
    ours = {label: name for label, name in (("default", DEFAULT), ("full", FULL)) if name in accuracy}
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
    rivals = [name for name in RIVALS if name in have]

    def add(text: str, measured: str, met: bool) -> None:
        rows.append([text, measured, "yes" if met else "no"])

    if FULL in have:
        values = {noise: means(runs, noise, "accuracy") for noise in noises}
        tests = {(noise, name): compare(values[noise], FULL, name) for noise in noises for name in rivals}
        for (noise, name), p in holm(tests).items():
            gap = 100 * (values[noise][FULL] - values[noise][name]).mean()
            text = f"full significantly above {name} at {noise:.0%} (Holm over all {len(tests)}, p < 0.05)"
            add(text, f"{gap:+.2f}, p = {p:.4f}", gap > 0 and p < 0.05)
    for noise in noises:
        accuracy, loss, seconds = (
            means(runs, noise, measure).mean() for measure in ("accuracy", "log_loss", "seconds")
        )
        if FULL in have:
            others = loss.drop(labels=[name for name in OURS if name in loss])
            if len(others):
                best = f"{loss[FULL]:.3f}; next {others.idxmin()} {others.min():.3f}"
                add(f"log loss of full the lowest at {noise:.0%}", best, loss[FULL] < others.min())
        if have >= {DEFAULT, SVM}:
            gap = 100 * (accuracy[DEFAULT] - accuracy[SVM])
            add(f"default at least level with SVM at {noise:.0%}", f"{gap:+.2f}", gap >= 0)
            text = f"default cheaper to tune than SVM ({SVM_GRID}) at {noise:.0%}"
            add(text, f"{seconds[DEFAULT]:.2f} s, {seconds[SVM]:.2f} s", seconds[DEFAULT] < seconds[SVM])
    for name in OURS:
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
    save_both(figure, path, dpi=130)
