"""What unlabelled samples add when labels are few: python -m benchmarks.studies.semi_supervised.

Ordinary tables of at most 1,500 rows, standardised, a fifth set aside for testing; of the rest a small
share of every class is labelled, one sample at least. Every method sees the same labels. Accuracy is measured
on the unlabelled training samples and on the test samples. Thin structures have a few labels per class.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from benchmarks import study
from benchmarks.studies.problems import REPORT, THIN, load, split
from benchmarks.tables import markdown
from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

AMOUNTS = {"report": (0.02, 0.05, 0.1), "shapes": (2, 5)}  # shares, or per class
METHODS = {
    '`"balanced"`': OPFSemiSupervisedClassifier(),
    '`"mst"`': OPFSemiSupervisedClassifier(method="mst"),
    '`"opfsemi"`': OPFSemiSupervisedClassifier(method="opfsemi"),
    "`OPFClassifier`, labelled only": OPFClassifier(),
    '`LabelSpreading(kernel="knn")`': LabelSpreading(kernel="knn"),
    "`SVC`, labelled only": SVC(),
}


def units(repeats: int) -> Iterator[study.Unit]:
    """List every table with each draw of labels, then shapes with twice as many."""
    yield from ((name, "report", i) for name in REPORT for i in range(repeats))
    yield from ((name, "shapes", i) for name in THIN for i in range(2 * repeats))


def draw(y: np.ndarray, counts: Callable[[int], int], seed: list[int]) -> np.ndarray:
    """Choose samples of every class, as many as its size says, but one at least; return their indices."""
    rng = np.random.default_rng(seed)
    of_classes = [rng.permutation(np.flatnonzero(y == c)) for c in np.unique(y)]
    return np.sort(np.concatenate([rows[: max(1, counts(len(rows)))] for rows in of_classes]))


def measure(name: str, part: str, repeat: int) -> list[study.Row]:
    """Fit every method to a few labels of the training samples."""
    X, y, Q, answers, _ = split(THIN[name]() if part == "shapes" else load(name), name, repeat)
    rows = []
    for i, amount in enumerate(AMOUNTS[part]):
        count = int(amount) if part == "shapes" else None
        labelled = draw(y, lambda n, a=amount, c=count: c or round(a * n), [repeat, i])
        hidden = np.setdiff1d(np.arange(len(y)), labelled)
        known = np.full(len(y), -1)
        known[labelled] = y[labelled]
        for title, method in METHODS.items():
            chosen = labelled if "only" in title else slice(None)
            model = clone(method).fit(X[chosen], known[chosen])
            spread = model.predict(X) if "only" in title else model.transduction_
            scores = np.mean(spread[hidden] == y[hidden]), np.mean(model.predict(Q) == answers)
            about = {"set": name, "part": part, "amount": amount, "method": title}
            rows.append(about | dict(zip(("unlabelled", "test"), scores, strict=True)))
    return rows


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write the mean over the sets of every method, and how often the first one is better."""
    return {
        "few_labels": summary(table[table.part == "report"]),
        "few_labels_shapes": shapes(table[table.part == "shapes"]),
    }


def summary(table: pd.DataFrame) -> str:
    """Write the means by share of labels, and Wilcoxon's test of the first method against each."""
    if table.empty:
        return ""
    means = table.groupby(["set", "method", "amount"])[["unlabelled", "test"]].mean()
    every = 100 * means.groupby(["method", "amount"]).mean()
    each = means.groupby(["set", "method"]).mean().mean(axis=1).unstack()
    shares, rows = sorted(table.amount.unique()), []
    for method in METHODS:
        gains, ahead = each[next(iter(METHODS))] - each[method], ["", ""]
        if gains.any():
            p = wilcoxon(gains).pvalue
            ahead = [f"{np.sum(gains > 0)} of {np.sum(gains != 0)}", f"{p:.3f}" if p >= 0.001 else "< .001"]
        values = [every[part][method, share] for part in ("unlabelled", "test") for share in shares]
        rows.append([method, *(f"{value:.1f}" for value in values), *ahead])
    columns = [f"{100 * share:.0f} % {part}" for part in ("unlabelled", "test") for share in shares]
    return markdown([f"{len(each)} tables", *columns, "first better", "p"], rows)


def shapes(table: pd.DataFrame) -> str:
    """Write the accuracy on thin structures, for each number of labels per class."""
    names, parts = table.set.unique(), ("unlabelled", "test")
    means = 100 * table.groupby(["method", "set", "amount"])[list(parts)].mean()
    rows = [
        [f"{name}, {part}", *(" / ".join(f"{v:.1f}" for v in means[part][m, name]) for m in METHODS)]
        for name in names
        for part in parts
    ]
    return markdown(["shape, 2 / 5 labels", *METHODS], rows) if len(names) else ""


if __name__ == "__main__":
    study.main("semi_supervised", __doc__, units, measure, report, repeats=5)
