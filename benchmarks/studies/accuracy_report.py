"""From the results of the accuracy experiment to its table, tests and critical-difference diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.studies.classifiers import SVM_COSTS, SVM_GAMMAS

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

# (dataset, noise) -> classifier -> measure -> one value per repeat
Results = dict[tuple[str, float], dict[str, dict[str, np.ndarray]]]


def report(lines: list[dict[str, Any]], out: Path) -> str:
    """Write table.md and critical_difference.png into `out`, and return the text."""
    results, classifiers = gather(lines)
    if not results:
        return "no results yet"
    noises = sorted({noise for _, noise in results})
    datasets = sorted({dataset for dataset, _ in results})
    n_runs = min(len(runs[classifiers[0]]["accuracy"]) for runs in results.values())
    text = [
        f"{len(datasets)} datasets, at least {n_runs} repeats each: {', '.join(datasets)}.",
        "",
        *overview(results, classifiers, noises),
        "",
        *NOTES,
        "",
        *bars(results, classifiers, datasets, noises),
        "",
        *(line for noise in noises for line in per_dataset(results, classifiers, datasets, noise)),
    ]
    (out / "table.md").write_text("\n".join(text) + "\n")
    draw(results, classifiers, noises, out / "critical_difference.png")
    return "\n".join([*text, f"written: {out / 'table.md'}, {out / 'critical_difference.png'}"])


def gather(lines: list[dict[str, Any]]) -> tuple[Results, list[str]]:
    """Sort results by dataset and noise, keeping the repeats that every classifier has finished."""
    classifiers = list(dict.fromkeys(line["classifier"] for line in lines))
    runs: dict[tuple[str, float, int], dict[str, dict[str, Any]]] = {}
    for line in lines:
        runs.setdefault((line["dataset"], line["noise"], line["repeat"]), {})[line["classifier"]] = line
    complete = {key: run for key, run in runs.items() if len(run) == len(classifiers)}
    results: Results = {}
    for dataset, noise, _ in sorted(complete):
        results.setdefault((dataset, noise), {})
    for dataset, noise in results:
        chosen = [run for key, run in sorted(complete.items()) if key[:2] == (dataset, noise)]
        results[dataset, noise] = {
            name: {measure: np.array([run[name][measure] for run in chosen]) for measure in MEASURES}
            for name in classifiers
        }
    levels = {noise for _, noise in results}
    whole = {dataset for dataset, _ in results if all((dataset, noise) in results for noise in levels)}
    return {key: value for key, value in results.items() if key[0] in whole}, classifiers


def means(results: Results, noise: float, measure: str, classifiers: list[str]) -> np.ndarray:
    """Mean over repeats: a row per dataset, a column per classifier."""
    return np.array(
        [
            [runs[name][measure].mean() for name in classifiers]
            for (_, level), runs in sorted(results.items())
            if level == noise
        ]
    )


def ranks(values: np.ndarray) -> np.ndarray:
    """Average rank of each column, 1 for the largest."""
    return np.mean([rankdata(-row.round(12)) for row in values], axis=0)


def compare(results: Results, noise: float, one: str, other: str) -> float:
    """Wilcoxon signed-rank test over datasets, two-sided; 1 if all means are equal."""
    first, second = means(results, noise, "accuracy", [one, other]).T
    return float(wilcoxon(first, second).pvalue) if np.any(first != second) else 1.0


def overview(results: Results, classifiers: list[str], noises: list[float]) -> list[str]:
    """Means over datasets, average ranks, and p-values against the plain call and the kernel preset."""
    lines = []
    ours = {label: name for label, name in (("plain call", PLAIN), ("kernel", KERNEL)) if name in classifiers}
    for noise in noises:
        columns = {measure: means(results, noise, measure, classifiers).mean(axis=0) for measure in MEASURES}
        rank = ranks(means(results, noise, "accuracy", classifiers))
        tested = [f"uncorrected p, {label}" for label in ours]
        head = [f"{noise:.0%} wrong labels", *MEASURES.values(), "mean rank", *tested]
        lines += ["", row(head), row(["---"] + ["---:"] * (len(head) - 1))]
        for i, name in enumerate(classifiers):
            tests = [compare(results, noise, mine, name) if mine != name else None for mine in ours.values()]
            cells = [
                name,
                f"{100 * columns['accuracy'][i]:.2f}",
                f"{100 * columns['balanced'][i]:.2f}",
                f"{columns['log_loss'][i]:.3f}",
                f"{columns['seconds'][i]:.2f}",
                f"{rank[i]:.2f}",
                *("" if p is None else f"{p:.3f}" for p in tests),
            ]
            lines.append(row(cells))
    return lines


def row(cells: list[str]) -> str:
    """Lay out a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def bars(results: Results, classifiers: list[str], datasets: list[str], noises: list[float]) -> list[str]:
    """Compare with what was asked for, as far as the classifiers it is about were run."""
    lines = [row(["bar", "measured", "met"]), row(["---", "---", "---"])]

    def add(text: str, measured: str, met: bool) -> None:
        lines.append(row([text, measured, "yes" if met else "no"]))

    def mean(measure: str, noise: float, *names: str) -> np.ndarray | None:
        return means(results, noise, measure, list(names)).mean(axis=0) if have >= set(names) else None

    have = set(classifiers)
    for noise in noises:
        if (accuracy := mean("accuracy", noise, PLAIN, KNN)) is not None:
            gap, wish = 100 * (accuracy[0] - accuracy[1]), 0.0 if noise == 0 else 0.8
            add(f"plain call over kNN at {noise:.0%}: at least {wish:+.1f}", f"{gap:+.2f}", gap >= wish)
            ours, theirs = mean("log_loss", noise, PLAIN, KNN)
            text = f"log loss of the plain call below kNN's at {noise:.0%}"
            add(text, f"{ours:.3f}, {theirs:.3f}", ours < theirs)
        if (accuracy := mean("accuracy", noise, KERNEL, SVM)) is not None:
            gap = 100 * (accuracy[0] - accuracy[1])
            add(f"kernel over SVM at {noise:.0%}: at least -0.3", f"{gap:+.2f}", gap >= -0.3)
            ours, theirs = mean("seconds", noise, KERNEL, SVM)
            text = f"kernel cheaper to tune than SVM ({SVM_GRID}) at {noise:.0%}"
            add(text, f"{ours:.2f} s, {theirs:.2f} s", ours < theirs)
    for name in (PLAIN, LINEAR, KERNEL):
        if have >= {name, OPF}:
            worse = [
                f"{dataset} at {noise:.0%} (p = {p:.3f})"
                for dataset in datasets
                for noise in noises
                if (p := worse_than_opf(results[dataset, noise], name)) < 0.05
            ]
            text = f"{name} significantly worse than OPF (uncorrected p < 0.05): on no set"
            add(text, ", ".join(worse) or "none", not worse)
    return lines


def worse_than_opf(runs: dict[str, dict[str, np.ndarray]], name: str) -> float:
    """Give the p-value of one of ours being worse, over repeats, one-sided; 1 where it is not worse."""
    ours, theirs = runs[name]["accuracy"], runs[OPF]["accuracy"]
    if ours.mean() >= theirs.mean():
        return 1.0
    return float(wilcoxon(ours, theirs, alternative="less").pvalue)


def per_dataset(results: Results, classifiers: list[str], datasets: list[str], noise: float) -> list[str]:
    """Mean accuracy on every dataset."""
    lines = [
        "",
        row([f"accuracy, {noise:.0%} wrong labels", *classifiers]),
        row(["---"] + ["---:"] * len(classifiers)),
    ]
    for dataset, values in zip(datasets, means(results, noise, "accuracy", classifiers), strict=True):
        best = values.max()
        lines.append(
            row([dataset, *(f"**{100 * v:.1f}**" if v == best else f"{100 * v:.1f}" for v in values)])
        )
    return lines


def draw(results: Results, classifiers: list[str], noises: list[float], path: Path) -> None:
    """Draw average ranks; bars join what Wilcoxon's test with Holm's correction cannot tell apart."""
    import pandas as pd
    import scikit_posthocs as posthocs
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.1 * len(noises)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, noise in zip(np.atleast_1d(figure.subplots(len(noises), 1)), noises, strict=True):
        values = means(results, noise, "accuracy", classifiers)
        if min(values.shape) < 2:
            continue
        long = pd.DataFrame(
            [
                (i, name, v)
                for i, line in enumerate(values)
                for name, v in zip(classifiers, line, strict=True)
            ],
            columns=["dataset", "classifier", "accuracy"],
        )
        tests = posthocs.posthoc_wilcoxon(
            long,
            val_col="accuracy",
            group_col="classifier",
            p_adjust="holm",
            sort=False,
            zero_method="zsplit",
        )
        average = pd.Series(ranks(values), index=classifiers)
        posthocs.critical_difference_diagram(
            average, tests, ax=axes, text_h_margin=0.02,
            label_fmt_left="{label}  {rank:.2f}", label_fmt_right="{rank:.2f}  {label}",
        )  # fmt: skip
        axes.set_title(
            f"{noise:.0%} wrong training labels: mean rank over {len(values)} datasets, best on the left",
            loc="left", fontsize=10,
        )  # fmt: skip
    figure.savefig(path, dpi=130)
