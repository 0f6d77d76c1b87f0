"""From the results of the accuracy experiment to its table, tests and critical-difference diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

MEASURES = {
    "accuracy": "accuracy, %",
    "balanced": "balanced, %",
    "log_loss": "log loss",
    "seconds": "tuning, s",
}
PLAIN, KERNEL = "FuzzyOPFClassifierCV", "FuzzyOPFClassifierCV kernel"
KNN, SVM, OPF = "kNN, tuned", "SVM-RBF, tuned", "OPF"

# (dataset, noise) -> classifier -> measure -> one value per repeat
Results = dict[tuple[str, float], dict[str, dict[str, np.ndarray]]]


def report(lines: list[dict[str, Any]], out: Path) -> str:
    """Write table.md and critical_difference.png into `out`, and return the text."""
    results, classifiers = gather(lines)
    if not results:
        return "no results yet"
    noises = sorted({noise for _, noise in results})
    datasets = sorted({dataset for dataset, _ in results})
    n_runs = min(len(runs[KNN]["accuracy"]) for runs in results.values())
    text = [
        f"{len(datasets)} datasets, at least {n_runs} repeats each: {', '.join(datasets)}.",
        "",
        *overview(results, classifiers, noises),
        "",
        *bars(results, datasets, noises),
        "",
        *(line for noise in noises for line in per_dataset(results, classifiers, datasets, noise)),
    ]
    draw(results, classifiers, noises, out / "critical_difference.png")
    (out / "table.md").write_text("\n".join(text) + "\n")
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
    for noise in noises:
        columns = {measure: means(results, noise, measure, classifiers).mean(axis=0) for measure in MEASURES}
        rank = ranks(means(results, noise, "accuracy", classifiers))
        head = [f"{noise:.0%} wrong labels", *MEASURES.values(), "mean rank", "p, plain call", "p, kernel"]
        lines += ["", row(head), row(["---"] + ["---:"] * (len(head) - 1))]
        for i, name in enumerate(classifiers):
            tests = [
                compare(results, noise, mine, name) if mine != name else None for mine in (PLAIN, KERNEL)
            ]
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


def bars(results: Results, datasets: list[str], noises: list[float]) -> list[str]:
    """Compare with what was asked for."""
    lines = [row(["bar", "measured", "met"]), row(["---", "---", "---"])]

    def add(text: str, measured: str, met: bool) -> None:
        lines.append(row([text, measured, "yes" if met else "no"]))

    for noise in noises:
        plain, kernel, knn, svm = 100 * means(results, noise, "accuracy", [PLAIN, KERNEL, KNN, SVM]).mean(
            axis=0
        )
        wish = 0.0 if noise == 0 else 0.8
        add(
            f"plain call over kNN at {noise:.0%}: at least {wish:+.1f}",
            f"{plain - knn:+.2f}",
            plain - knn >= wish,
        )
        add(f"kernel over SVM at {noise:.0%}: at least -0.3", f"{kernel - svm:+.2f}", kernel - svm >= -0.3)
        loss = means(results, noise, "log_loss", [PLAIN, KNN]).mean(axis=0)
        add(
            f"log loss of the plain call below kNN's at {noise:.0%}",
            f"{loss[0]:.3f}, {loss[1]:.3f}",
            loss[0] < loss[1],
        )
        seconds = means(results, noise, "seconds", [KERNEL, SVM]).mean(axis=0)
        add(
            f"kernel cheaper to tune than SVM at {noise:.0%}",
            f"{seconds[0]:.2f} s, {seconds[1]:.2f} s",
            seconds[0] < seconds[1],
        )
    worse = [
        f"{dataset} at {noise:.0%} (p = {p:.3f})"
        for dataset in datasets
        for noise in noises
        if (p := worse_than_opf(results[dataset, noise])) < 0.05
    ]
    add("plain call significantly worse than OPF: on no set", ", ".join(worse) or "none", not worse)
    return lines


def worse_than_opf(runs: dict[str, dict[str, np.ndarray]]) -> float:
    """Give the p-value of the plain call being worse, over repeats, one-sided; 1 where it is not worse."""
    ours, theirs = runs[PLAIN]["accuracy"], runs[OPF]["accuracy"]
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
        if len(values) < 2:
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
