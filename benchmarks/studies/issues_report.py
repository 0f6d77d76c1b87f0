"""Tables and tests of the study of wrong labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from scipy.stats import wilcoxon
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.studies.issues import METHODS, PROBABILITIES, Unit
from benchmarks.tables import markdown


def report(files: list[tuple[Unit, Path]]) -> str:
    """Lay out everything that the files of these units say."""
    found, trained = [], []
    for unit, path in files:
        if path.exists():
            with np.load(path) as arrays:
                lines = {name: arrays[name] for name in arrays.files}
            (trained if unit[1] == "train" else found).extend(
                training(unit, lines) if unit[1] == "train" else judge(unit, lines)
            )
    found, trained = pd.DataFrame(found), pd.DataFrame(trained)
    return "\n\n".join([ranking(found), tests(found), flags(found), gains(trained)])


def judge(unit: Unit, lines: dict[str, np.ndarray]) -> list[dict]:
    """Score every method on one unit."""
    given, wrong = lines["given"], lines["given"] != lines["right"]
    opinions = {method: (lines[f"{method} score"], lines[f"{method} flag"]) for method in METHODS}
    for source in PROBABILITIES:
        probability = lines[source] / lines[source].sum(axis=1, keepdims=True)
        opinions[f"cleanlab, {source}"] = (
            get_label_quality_scores(given, probability),
            find_label_issues(given, probability, n_jobs=1),
        )
    name, kind, share, repeat = unit
    table = []
    for method, (score, flag) in opinions.items():
        hits, estimate = (flag & wrong).sum(), lines.get(f"{method} share", flag.mean())
        table.append(
            {
                "dataset": name, "kind": kind, "share": share, "repeat": repeat, "method": method,
                "AP": 100 * average_precision_score(wrong, -score),
                "AUROC": 100 * roc_auc_score(wrong, -score),
                "precision": 100 * hits / max(1, flag.sum()), "recall": 100 * hits / wrong.sum(),
                "flagged": 100 * flag.mean(), "error": 100 * abs(float(estimate) - share),
                "seconds": float(lines.get(f"{method} seconds", np.nan)),
            }
        )  # fmt: skip
    return table


def training(unit: Unit, lines: dict[str, np.ndarray]) -> list[dict]:
    """List the accuracies of one unit."""
    name, _, share, repeat = unit
    table = []
    for key, accuracy in lines.items():
        model, part = key.split(", ")
        table.append(
            {"dataset": name, "share": share, "repeat": repeat, "model": model, "part": part,
             "accuracy": 100 * float(accuracy)}
        )  # fmt: skip
    return table


def ranking(found: pd.DataFrame) -> str:
    """Average precision and AUROC of every method, by kind and share of wrong labels."""
    cells = found.groupby(["method", "kind", "share"])[["AP", "AUROC"]].mean()
    mean = found.groupby("method")[["AP", "AUROC"]].mean()
    columns = list(found.groupby(["kind", "share"]).groups)
    rows = [
        [
            method,
            *(
                f"{cells.AP[method, kind, share]:.1f} / {cells.AUROC[method, kind, share]:.1f}"
                for kind, share in columns
            ),
            f"{mean.AP[method]:.1f} / {mean.AUROC[method]:.1f}",
        ]
        for method in found.method.unique()
    ]
    n_sets = found.dataset.nunique()
    head = ["AP / AUROC", *(f"{kind}, {share:.0%}" for kind, share in columns), "mean"]
    return f"{n_sets} datasets\n\n" + markdown(head, rows)


def tests(found: pd.DataFrame) -> str:
    """Differences of our methods to the others, a mean per dataset each, with Wilcoxon's p values."""
    rows = []
    for measure in ("AP", "AUROC"):
        wide = found.pivot_table(values=measure, index="dataset", columns="method")
        for method in METHODS:
            for other in wide.columns:
                if other != method:
                    gap = wide[method] - wide[other]
                    wins, p = int((gap > 0).sum()), wilcoxon(gap).pvalue
                    rows.append(
                        [measure, method, other, f"{gap.mean():+.2f}", f"{wins} of {len(gap)}", f"{p:.2g}"]
                    )
    return markdown(["measure", "method", "against", "gain", "wins", "p"], rows, 3)


def flags(found: pd.DataFrame) -> str:
    """Precision, recall and share of the flags, and the mean error of the estimated share."""
    groups = found.groupby(["method", "share"])[["precision", "recall", "flagged", "error"]].mean()
    rows = []
    for method in found.method.unique():
        cells = [
            f"{line.precision:.0f} / {line.recall:.0f} / {line.flagged:.1f} ± {line.error:.1f}"
            for line in groups.loc[method].itertuples()
        ]
        rows.append([method, *cells])
    shares = [f"{share:.0%}" for share in sorted(found.share.unique())]
    return markdown(["precision / recall / flagged ± error, %", *shares], rows)


def gains(trained: pd.DataFrame) -> str:
    """Accuracy on clean labels without the flagged samples, and what that gains."""
    wide = trained.pivot_table(values="accuracy", index=["model", "share", "dataset"], columns="part")
    rows = []
    for (model, share), part in wide.groupby(level=[0, 1]):
        cells = [f"{part['all'].mean():.2f}"]
        for method in METHODS:
            gap = part[method] - part["all"]
            p = wilcoxon(gap).pvalue if gap.any() else 1.0
            cells.append(f"{part[method].mean():.2f} ({gap.mean():+.2f}, p = {p:.2g})")
        rows.append([model, f"{share:.0%}", *cells])
    return markdown(
        ["trained", "wrong labels", "on all", *(f"without those of {m}" for m in METHODS)], rows, 2
    )
