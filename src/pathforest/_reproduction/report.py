"""The report: one HTML file with everything in it, and sentences that are computed from the numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from pathforest._pages.page import render
from pathforest._reproduction import figures, statistics, tables
from pathforest._reproduction.experiment import CLASSIFIERS, FEWEST, Experiment, dataset_title
from pathforest._reproduction.run import machine, versions
from pathforest._reproduction.statistics import Summary
from pathforest._reproduction.tables import listed, percent, signed, times

TEMPLATE = Path(__file__).with_name("report.html")
PACKAGES = ("pathforest", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")
CHANCE = 0.0455  # of |z| > 2 when nothing differs
PRESETS = {
    "paper": "paper: features scaled on all samples before the split, as the paper’s numbers imply",
    "clean": "clean: scaling and search keep to the training part, which is 80 % of the samples; the paper "
    "trained on 60 %",
}


def report_html(summary: Summary) -> str:
    """Return the text of the page; what has no data is left out."""
    experiment = summary.experiment
    shown = {
        "summary": ("Summary", True),
        "scores": ("Table I: accuracy", True),
        "agreement": ("Agreement with the paper", len(summary.agreement)),
        "gains": ("Does Fuzzy OPF help?", len(summary.gains)),
        "search": ("The search over σ and k_max", len(experiment.landscapes)),
        "times": ("Table II: training time", True),
        "repeat": ("Settings, and how to repeat this", True),
    }
    return render(
        TEMPLATE,
        title="Fuzzy OPF, measured again",
        sections=[(name, title) for name, (title, there) in shown.items() if there],
        experiment=experiment,
        summary=summary,
        date=f"{datetime.now(UTC):%d %B %Y}",
        fewest=FEWEST,
        tables=tables,
        figure=lambda name, *which: figures.svg(name, summary, *which),
        title_of=dataset_title,
        points=points(summary),
        facts=_facts(experiment),
        install=f"pip install 'pathforest[reproduce]=={versions(PACKAGES)['pathforest']}'",
    )


def points(summary: Summary) -> dict[str, str]:
    """Answer each question of a reader in a sentence or two; empty where there is no data."""
    return {
        "Does it reproduce?": agreement_sentence(summary),
        "What does not?": disagreement_sentence(summary),
        "Does Fuzzy OPF help?": gain_sentence(summary, "fuzzy_opf"),
        "And along the tree?": gain_sentence(summary, "fuzzy_opf_tree"),
        "How much do σ and k_max matter?": sensitivity_sentence(summary),
        "How fast is training?": speed_sentence(summary),
    }


def agreement_sentence(summary: Summary) -> str:
    """Count the scores within two standard errors, for each classifier, and the bold marks as published."""
    table, experiment = summary.agreement, summary.experiment
    if table.empty:
        return "The paper has none of these scores, so there is nothing to agree with."
    if not experiment.is_repeated:
        return "One run has no spread: differences from the paper are shown, but get no z and no verdict."
    told = [f"for {CLASSIFIERS[name]} on {agreed} of {n}" for name, agreed, n in summary.counts.itertuples()]
    told[0] += " public sets"
    total = f"{table['agrees'].sum()} of {len(table)} published scores are within two standard errors of ours"
    bold = f" The bold mark is as published in {table['bold_agrees'].sum()} of {len(table)} cells."
    return f"{total}: |z| <= {statistics.AGREES:g} {', '.join(told)}.{bold if experiment.has_marks else ''}"


def disagreement_sentence(summary: Summary) -> str:
    """Name what does not reproduce, beside what chance alone would give."""
    table = summary.agreement
    if table.empty or not summary.experiment.is_repeated:
        return ""
    expected = (
        f"Chance alone would put about {CHANCE * len(table):.1f} of {len(table)} beyond two standard errors"
    )
    out = table[~table["agrees"]].sort_values("z", key=np.abs, ascending=False)
    if out.empty:
        return f"Every score is within two standard errors of the published one. {expected}."
    told = [
        f"{CLASSIFIERS[line.classifier]} on {dataset_title(line.dataset)} (z = {signed(line.z, 1)})"
        for line in out.itertuples()
    ]
    return f"Not reproduced: {listed(told)}. {expected}."


def gain_sentence(summary: Summary, classifier: str) -> str:
    """Say where a Fuzzy OPF helps, where it does not differ from OPF, and where it harms."""
    table, name = summary.gains[summary.gains["classifier"] == classifier], CLASSIFIERS[classifier]
    if table.empty:
        return ""
    mean = f"{signed(100 * table['gain'].mean())} points"
    if not summary.experiment.is_repeated:
        return f"In the one run {name} gains {mean} over OPF on average."

    def where(verdict: str) -> str:
        names = table.loc[table["verdict"] == verdict, "dataset"].map(dataset_title)
        return f"{len(names)} of {len(table)}{f' ({listed(names)})' if len(names) else ''}"

    return (
        f"{name} is significantly better than OPF on {where('better')}, does not differ significantly on "
        f"{where('no significant difference')} and is significantly worse on {where('worse')}. On average it "
        f"gains {mean}."
    )


def sensitivity_sentence(summary: Summary) -> str:
    """Say how much of the grid loses, for each competition."""
    told = []
    for competition, where in (("complete", "over the complete graph"), ("tree", "along the tree")):
        here = summary.sensitivity[summary.sensitivity["competition"] == competition]
        if here.empty:
            continue
        share, worst = here["losing"].sum() / here["cells"].sum(), here.loc[here["worst"].idxmax()]
        told.append(f"{where}, {percent(share)} of the cells of the search lose more than a point")
        if share:
            told[-1] += f", the worst {100 * worst['worst']:.1f} on {dataset_title(worst['dataset'])}"
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def speed_sentence(summary: Summary) -> str:
    """Say how much faster training is than in the paper."""
    told = [
        f"{times(summary.speedups[name])} for {CLASSIFIERS[name]}"
        for name in ("opf", "fuzzy_opf")
        if name in summary.speedups
    ]
    if not told:
        return ""
    return (
        f"Speed-up of training over the paper: {listed(told)} (medians over the datasets; another machine)."
    )


def _facts(experiment: Experiment) -> dict[str, str]:
    settings = experiment.settings
    return {
        "Datasets": ", ".join(map(dataset_title, settings.datasets)),
        "Classifiers": ", ".join(CLASSIFIERS[name] for name in settings.classifiers),
        "Runs": str(settings.runs),
        "Seed": str(settings.seed),
        "Preset": PRESETS[settings.preset],
        "Time": tables.duration(experiment.seconds),
        "Software": ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items()),
        "Machine": machine(),
    }
