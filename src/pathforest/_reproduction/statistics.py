"""The numbers of the report, each computed once: means, bold marks, agreement with the paper."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from pathforest._reproduction import published
from pathforest._reproduction.experiment import COMPETITION_OF, Experiment

AGREES = 2.0  # a difference of at most this many standard errors
EXACT = 10  # runs up to which Wilcoxon's test is exact; more have the approximation that the paper's have
LOSS = 0.01  # a cell of the grid loses if it is this far below the best


class Summary(NamedTuple):
    """What a report says of an experiment; all tables are in its order of datasets and classifiers."""

    experiment: Experiment
    scores: pd.DataFrame  # of the paper's classifiers, by dataset and classifier
    all_scores: pd.DataFrame  # of all classifiers, which then compete for the bold marks
    agreement: pd.DataFrame
    counts: pd.DataFrame  # scores that agree, and all that the paper has, by classifier
    speedups: pd.Series  # medians by classifier
    sensitivity: pd.DataFrame
    gained: pd.Series  # by each Fuzzy OPF over OPF, run by run
    gains: pd.DataFrame


def summary(experiment: Experiment) -> Summary:
    """Compute everything that a report says."""
    results = experiment.results
    scores, all_scores = summarise(results, published.CLASSIFIERS), summarise(results)
    judged, gained = agreement(scores), gains_of_runs(results)
    return Summary(
        experiment, scores, all_scores, judged,
        judged.groupby("classifier", sort=False)["agrees"].agg(["sum", "size"]),
        all_scores.groupby("classifier")["speedup"].median().dropna(),
        sensitivity(experiment.landscapes), gained, gains(gained),
    )  # fmt: skip


def summarise(results: pd.DataFrame, classifiers: Sequence[str] | None = None) -> pd.DataFrame:
    """Give mean, deviation and F1 of each dataset and classifier, the speed-up and the bold mark."""
    # As in the paper: the best mean accuracy, and those not significantly different by Wilcoxon's signed-rank
    # test over the runs, among the classifiers asked for. The speed-up is over seconds of another machine.
    chosen = results if classifiers is None else results[results["classifier"].isin(classifiers)]
    groups = chosen.groupby(["dataset", "classifier"], sort=False)
    table = groups.agg(
        mean=("accuracy", "mean"),
        std=("accuracy", lambda values: values.std(ddof=0)),
        f1=("f1_weighted", "mean"),
        runs=("accuracy", "size"),
        seconds=("fit_seconds", "mean"),
    )
    bold = chosen.groupby("dataset", sort=False).apply(_bold_marks, include_groups=False)
    return table.assign(
        bold=[bool(bold[dataset][classifier]) for dataset, classifier in table.index],
        speedup=published.TABLE["seconds"].reindex(table.index) / table["seconds"],
    )


def _bold_marks(results: pd.DataFrame) -> dict[str, bool]:
    runs = results.pivot(index="run", columns="classifier", values="accuracy")
    best = runs.mean().idxmax()
    return {name: p_value(runs[best] - runs[name]) >= published.SIGNIFICANCE for name in runs}


def p_value(differences: pd.Series) -> float:
    """Wilcoxon signed-rank test on differences of paired scores; those that are missing are left out."""
    difference = differences.dropna().to_numpy()
    difference = np.where(np.abs(difference) < 1e-12, 0, difference)  # equal scores, summed differently
    if not difference.any():
        return 1.0
    if len(difference) > EXACT:
        return float(stats.wilcoxon(difference, method="approx").pvalue)
    # Every way to give the ranks signs is as likely as any other.
    difference = difference[difference != 0]
    ranks = stats.rankdata(np.abs(difference))
    signs = np.array(list(itertools.product((-1, 1), repeat=len(ranks))))
    return float(np.mean(np.abs(signs @ ranks) >= abs(np.sign(difference) @ ranks)))


def agreement(scores: pd.DataFrame) -> pd.DataFrame:
    """Put scores beside the published ones; they agree within two standard errors of the difference."""
    both = scores.join(published.TABLE.add_suffix("_published"), how="inner").reset_index()
    error = np.hypot(both["std_published"] / np.sqrt(published.RUNS), both["std"] / np.sqrt(both["runs"]))
    difference = both["mean"] - both["mean_published"]
    z = (difference / error).where(difference != 0, 0.0)  # infinite if neither has a deviation
    return both[["dataset", "classifier"]].assign(
        published=both["mean_published"],
        ours=both["mean"],
        difference=difference,
        z=z,
        agrees=z.abs() <= AGREES,
        published_bold=both["bold_published"],
        bold=both["bold"],
        bold_agrees=both["bold"] == both["bold_published"],
    )


def sensitivity(landscapes: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of the grid, averaged over runs, that lose more than a point against the best one."""
    cells = landscapes.groupby(["dataset", "competition", "k_max", "sigma"], sort=False)["accuracy"].mean()
    # The best of both competitions: a landscape that is flat because it is low does not help.
    best = cells.groupby("dataset").transform("max")
    table = pd.DataFrame({"losing": cells < best - LOSS, "loss": best - cells})
    groups = table.groupby(["dataset", "competition"], sort=False)
    return groups.agg(cells=("loss", "size"), losing=("losing", "sum"), worst=("loss", "max")).reset_index()


def gains_of_runs(results: pd.DataFrame) -> pd.Series:
    """Subtract the accuracy of plain OPF from that of each Fuzzy OPF, where there are both."""
    runs = results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    runs = runs.reindex(results["dataset"].unique(), level="dataset")
    fuzzy = runs.reindex(columns=list(COMPETITION_OF)).sub(runs.get("opf", np.nan), axis="index")
    return fuzzy.stack(future_stack=True).dropna()


def gains(gained: pd.Series) -> pd.DataFrame:
    """Give the mean gain of each Fuzzy OPF, its p-value, if there are several runs, and the verdict."""
    groups = gained.groupby(["dataset", "classifier"], sort=False)
    table = groups.agg(gain="mean", p_value=lambda runs: p_value(runs) if len(runs) > 1 else np.nan)
    verdict = np.where(table["gain"] > 0, "better", "worse")
    verdict = np.where(table["p_value"] < published.SIGNIFICANCE, verdict, "no significant difference")
    return table.assign(verdict=verdict).reset_index()
