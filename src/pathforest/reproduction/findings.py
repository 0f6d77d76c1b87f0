"""What the numbers say, in sentences that are computed from them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pathforest.reproduction import published, statistics
from pathforest.reproduction.experiment import (
    FEWEST,
    Experiment,
    classifier_title,
    dataset_title,
    in_order,
)
from pathforest.reproduction.formats import listed, percent, ratio, signed

UNMARKED = f"No bold marks of ours: the test behind them needs {FEWEST} runs or more."
CHANCE = 0.0455  # of |z| > 2 when nothing differs
KNOWN = ("breast_tissue", "naive_bayes")  # does not reproduce under any reading we tried


def about(experiment: Experiment) -> str:
    """Say how many runs there are, under which preset, and what a bold mark means."""
    preset = f"preset “{experiment.settings.preset}”"
    if not experiment.is_repeated:
        return f"One run, {preset}: no spread, no test, no bold marks."
    marks = (
        "Bold: the best mean, or not significantly different from it (Wilcoxon signed-rank test, 0.05), as "
        "in the paper."
    )
    return (
        f"{experiment.n_runs} runs, {preset}. Mean ± standard deviation of the accuracy over the runs, and "
        f"the weighted F1. {marks if experiment.has_marks else UNMARKED}"
    )


def agreement_sentence(experiment: Experiment) -> str:
    """Count the scores within two standard errors, for OPF and Fuzzy OPF, then for the others."""
    table = statistics.agreement(experiment.results)
    if table.empty:
        return "The paper has none of these scores, so there is nothing to agree with."
    if not experiment.is_repeated:
        return "One run has no spread: differences from the paper are shown, but get no z and no verdict."
    counts = table.groupby("classifier")["agrees"].agg(["sum", "size"])
    names = in_order(counts.index, published.CLASSIFIERS)
    told = [
        f"for {classifier_title(name)} on {counts.loc[name, 'sum']} of {counts.loc[name, 'size']}"
        + (" public sets" if place == 0 else "")
        for place, name in enumerate(names)
    ]
    total = f"{table['agrees'].sum()} of {len(table)} published scores are within two standard errors of ours"
    return f"{total}: |z| <= {statistics.AGREES:g} {', '.join(told)}."


def bold_sentence(experiment: Experiment) -> str:
    """Count the bold marks that are as published."""
    table = statistics.agreement(experiment.results)
    if table.empty or not experiment.has_marks:
        return ""
    return f"The bold mark is as published in {table['bold_agrees'].sum()} of {len(table)} cells."


def disagreement_sentence(experiment: Experiment) -> str:
    """Name what does not reproduce, beside what chance alone would give."""
    table = statistics.agreement(experiment.results)
    if table.empty or not experiment.is_repeated:
        return ""
    expected = (
        f"Chance alone would put about {CHANCE * len(table):.1f} of {len(table)} beyond two standard errors"
    )
    out = table[~table["agrees"]]
    if out.empty:
        return f"Every score is within two standard errors of the published one. {expected}."
    told = [
        f"{classifier_title(line.classifier)} on {dataset_title(line.dataset)} (z = {signed(line.z, 1)})"
        for line in out.sort_values("z", key=np.abs, ascending=False).itertuples()
    ]
    known = KNOWN in set(zip(out["dataset"], out["classifier"], strict=True))
    remark = " Naive Bayes on Breast Tissue is known not to reproduce: the paper has .708." if known else ""
    return f"Not reproduced: {listed(told)}. {expected}.{remark}"


def changed_sentence(experiment: Experiment) -> str:
    """Say whether the runs beyond the paper's number change a verdict."""
    runs = experiment.n_runs
    if runs <= published.RUNS or statistics.agreement(experiment.results).empty:
        return ""
    changed = statistics.changed_verdicts(experiment.results)
    if changed.empty:
        return f"All {runs} runs give the same verdicts as the first {published.RUNS}."
    told = [
        f"{classifier_title(line.classifier)} on {dataset_title(line.dataset)} now "
        + ("agrees" if line.agrees_all else "differs")
        for line in changed.itertuples()
    ]
    return f"With {runs} runs, verdicts change against the first {published.RUNS}: {listed(told)}."


def gain_sentence(experiment: Experiment, classifier: str = "fuzzy_opf") -> str:
    """Say where a Fuzzy OPF helps, where it does not differ from OPF, and where it harms."""
    table = statistics.gains(experiment.results)
    table = table[table["classifier"] == classifier]
    if table.empty:
        return ""
    name = classifier_title(classifier)
    if not experiment.is_repeated:
        return f"In the one run {name} gains {signed(100 * table['gain'].mean())} points over OPF on average."
    apart = table["p_value"] < published.SIGNIFICANCE
    better = table[apart & (table["gain"] > 0)]
    worse = table[apart & (table["gain"] < 0)]
    rest = table[~apart]
    told = [f"{name} is significantly better than OPF on {_named(better, len(table))}"]
    if len(rest):
        told.append(f"does not differ significantly on {_named(rest, len(table))}")
    told.append(f"is significantly worse on {_named(worse, len(table))}")
    mean = f"On average it gains {signed(100 * table['gain'].mean())} points."
    return f"{listed(told)}. {mean}"


def _named(table: pd.DataFrame, of: int) -> str:
    if table.empty:
        return "none"
    names = listed(dataset_title(name) for name in in_order(table["dataset"]))
    return f"{len(table)} of {of} ({names})"


def sensitivity_sentence(experiment: Experiment) -> str:
    """Say how much of the grid loses, for each competition."""
    table = statistics.sensitivity(experiment.landscapes)
    if table.empty:
        return ""
    told = []
    for competition, where in (("complete", "over the complete graph"), ("tree", "along the tree")):
        here = table[table["competition"] == competition]
        if here.empty:
            continue
        share = here["losing"].sum() / here["cells"].sum()
        worst = here.loc[here["worst"].idxmax()]
        deepest = (
            f", the worst {100 * worst['worst']:.1f} on {dataset_title(worst['dataset'])}" if share else ""
        )
        told.append(f"{where}, {percent(share)} of the cells of the search lose more than a point{deepest}")
    if not told:
        return ""
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def tie_focus(experiment: Experiment) -> str | None:
    """Choose the dataset that tells the story of ties: data1, or the one that loses most."""
    names = set(experiment.ties["dataset"])
    if not names:
        return None
    return (
        "data1" if "data1" in names else experiment.ties.groupby("dataset")["textbook_error"].max().idxmax()
    )


def tie_sentence(experiment: Experiment) -> str:
    """Say what ties cost the textbook algorithm, and what they cost ours."""
    focus = tie_focus(experiment)
    if focus is None:
        return ""
    here = experiment.ties[experiment.ties["dataset"] == focus]
    ours, lost = experiment.ties["training_error"].max(), here["textbook_error"].max()
    if not lost:
        return f"Ties cost the textbook algorithm no training label on {dataset_title(focus)}."
    end = "ours loses none on any set" if ours == 0 else f"ours loses up to {percent(ours)}"
    return (
        f"On {dataset_title(focus)} ties cost the textbook algorithm up to {percent(lost)} of its training "
        f"labels, though theory promises none; {end}."
    )


def speed_sentence(experiment: Experiment) -> str:
    """Say how much faster training is than in the paper."""
    table = statistics.training_seconds(experiment.results).dropna(subset="speedup")
    medians = table.groupby("classifier")["speedup"].median()
    told = [
        f"{ratio(medians[name])} × for {classifier_title(name)}"
        for name in ("opf", "fuzzy_opf")
        if name in medians
    ]
    if not told:
        return ""
    return (
        f"Speed-up of training over the paper: {listed(told)} (medians over the datasets; another machine)."
    )


def key_numbers(experiment: Experiment) -> list[tuple[str, str]]:
    """Give the few numbers a reader should see first, each with what it counts."""
    numbers = []
    judged = statistics.agreement(experiment.results)
    if len(judged) and experiment.is_repeated:
        for name, label in (("opf", "OPF"), ("fuzzy_opf", "Fuzzy OPF")):
            here = judged[judged["classifier"] == name]
            if len(here):
                label = f"published {label} scores within two standard errors of ours"
                numbers.append((f"{here['agrees'].sum()} of {len(here)}", label))
    gained = statistics.gains(experiment.results)
    gained = gained[gained["classifier"] == "fuzzy_opf"]
    if len(gained) and experiment.has_marks:
        better = (gained["p_value"] < published.SIGNIFICANCE) & (gained["gain"] > 0)
        numbers.append((f"{better.sum()} of {len(gained)}", "sets where Fuzzy OPF beats OPF significantly"))
    times = statistics.training_seconds(experiment.results)
    speedup = times.loc[times["classifier"] == "fuzzy_opf", "speedup"].dropna()
    if len(speedup):
        numbers.append(
            (f"{ratio(speedup.median())} ×", "speed-up of Fuzzy OPF training over the paper (median)")
        )
    return numbers
