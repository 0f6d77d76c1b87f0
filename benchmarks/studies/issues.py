"""Planted wrong labels, found by find_issues and by cleanlab: python -m benchmarks.studies.issues.

Up to 1,000 samples of each dataset, standardised, get 5, 10 or 20 % wrong labels: symmetric (any other class,
equally likely) or dependent on the class (one other class for each, some classes more than others). Methods
are compared by average precision and by the area under the ROC curve of their scores, and flags by precision
and recall. cleanlab gets out-of-fold probabilities of four classifiers.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import study
from benchmarks.studies.problems import IMBALANCED, REPORT, Data, load
from benchmarks.tables import markdown
from pathforest import find_issues
from pathforest.noise import flip_labels

LARGEST = 1000  # samples of a dataset
FEWEST = 5  # samples of a class: smaller ones are left out, because every fold needs one
SHARES = (0.05, 0.1, 0.2)
KINDS = ("symmetric", "class-dependent")
METHODS = ("fast", "learned", "thorough")
# What cleanlab gets probabilities from; its own choice, given features only, is the first.
PROBABILITIES: dict[str, Callable[[], Any]] = {
    "10 nearest neighbours": lambda: KNeighborsClassifier(10),
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "SVM": lambda: CalibratedClassifierCV(SVC(), ensemble=False),
    "random forest": lambda: RandomForestClassifier(300, random_state=0),
}


def prepare(X: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> Data:
    """Draw the samples of a repeat, and leave out tiny classes and constant features."""
    chosen = rng.permutation(len(codes))[:LARGEST]
    X, codes = X[chosen], codes[chosen]
    kept = np.bincount(codes)[codes] >= FEWEST
    X, codes = X[kept], np.unique(codes[kept], return_inverse=True)[1]
    return Data(X[:, X.std(axis=0) > 0], codes)


def plant(codes: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Change a share of the labels."""
    if kind == "symmetric":
        return flip_labels(codes, share, np.random.RandomState(rng.bit_generator))
    n_classes = int(codes.max()) + 1
    order = rng.permutation(n_classes)
    partner = np.empty(n_classes, dtype=int)
    partner[order] = np.roll(order, 1)
    weight = rng.uniform(size=n_classes)[codes]
    chosen = rng.choice(len(codes), round(share * len(codes)), replace=False, p=weight / weight.sum())
    noisy = codes.copy()
    noisy[chosen] = partner[codes[chosen]]
    return noisy


def units(repeats: int) -> Iterator[study.Unit]:
    """List all units, repeats outermost: a short run covers every dataset."""
    names = (*REPORT, *IMBALANCED)
    for repeat in range(repeats):
        yield from ((name, kind, share, repeat) for share in SHARES for kind in KINDS for name in names)


def measure(name: str, kind: str, share: float, repeat: int) -> list[study.Row]:
    """Compare scores and flags of every method with the labels that were changed, in %."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    rng = np.random.default_rng([repeat, *name.encode()])
    X, codes = prepare(*load(name), rng)
    X, given = StandardScaler().fit_transform(X), plant(codes, kind, share, rng)
    wrong, opinions = given != codes, {}
    for method in METHODS:
        issues = find_issues(X, given, method=method)
        opinions[f'`"{method}"`'] = issues.score, issues.is_label_issue
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for source, make in PROBABILITIES.items():
        p = cross_val_predict(make(), X, given, cv=folds, method="predict_proba")
        flag = find_label_issues(given, p, n_jobs=1)
        opinions[f"cleanlab, {source}"] = get_label_quality_scores(given, p), flag
    return [
        {
            "set": name, "kind": kind, "share": share, "method": method,
            "AP": 100 * average_precision_score(wrong, -score), "AUROC": 100 * roc_auc_score(wrong, -score),
            "precision": 100 * (flag & wrong).sum() / max(1, flag.sum()),
            "recall": 100 * (flag & wrong).sum() / wrong.sum(),
        }
        for method, (score, flag) in opinions.items()
    ]  # fmt: skip


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write scores, then flags, by kind and share of wrong labels."""
    means, texts = table.groupby(["method", "kind", "share"]).mean(numeric_only=True), []
    for columns in (["AP", "AUROC"], ["precision", "recall"]):
        cells = means[columns].apply(lambda row: " / ".join(f"{v:.1f}" for v in row), axis=1)
        cells = cells.unstack(["kind", "share"]).loc[table.method.unique()]
        names = (f"{kind}, {share:.0%}" for kind, share in cells)
        texts.append(markdown([" / ".join(columns), *names], cells.itertuples(name=None)))
    return {"issues": "\n\n".join(texts)}


if __name__ == "__main__":
    study.main("issues", __doc__, units, measure, report, repeats=2)
