"""Our accuracy beside that of others, labels clean and wrong: python -m benchmarks.studies.accuracy.

Each dataset is split 80 to 20, stratified, several times; features are standardised on the training part;
0, 10 and 20 % of the training labels are changed to another class, uniformly; test labels stay clean. All
tuning happens inside the training part. The datasets of `REPORT`, which nothing was chosen on, are apart.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from benchmarks import study
from benchmarks.speed.ours import PAPER_GRID
from benchmarks.studies.problems import CHOICE, REPORT, load, problems, split
from benchmarks.tables import head, line, markdown
from pathforest import FuzzyOPFClassifier, FuzzyOPFClassifierCV, OPFClassifier

NOISE = (0.0, 0.1, 0.2)
LARGEST = 800  # samples of a dataset in each repeat
MEASURES = {
    "accuracy": ("accuracy, %", ".2f"),
    "balanced": ("balanced, %", ".2f"),
    "log_loss": ("log loss", ".3f"),
    "seconds": ("tuning, s", ".2f"),
}

Model = Any
Fit = Callable[[np.ndarray, np.ndarray, int], Model]  # (X, y, seed) -> fitted

FOLDS = 5  # of the searches of others
KNN_SIZES = (1, 3, 5, 7, 9, 11, 15, 21, 31, 45, 61, 91)
SVM_COSTS = (0.1, 1, 10, 100, 1000)
SVM_GAMMAS = (1 / 16, 1 / 4, 1, 4, 16)  # times 1 / n_features


# The classifiers: each tunes itself inside the training part, on one thread.


def _folds(seed: int, n: int = FOLDS) -> StratifiedKFold:
    return StratifiedKFold(n, shuffle=True, random_state=seed)


def _paper(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    """Search the paper's grid on a quarter of the samples held out, and take the first best cell."""
    rows = np.arange(len(X))
    smallest = np.unique(y, return_counts=True)[1].min()
    pair = train_test_split(rows, test_size=0.25, random_state=seed, stratify=y if smallest > 1 else None)
    search = FuzzyOPFClassifierCV(**PAPER_GRID, refit=False, metric="log_sqeuclidean", cv=[tuple(pair)]).fit(
        X, y
    )
    first = search.cv_results_["params"][int(search.cv_results_["mean_test_score"].argmax())]
    return FuzzyOPFClassifier(**first, metric="log_sqeuclidean").fit(X, y)


def _ours(transforms: str | None, X: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> Model:
    return FuzzyOPFClassifierCV(transforms=transforms, random_state=seed, **options).fit(X, y)


def _tuned_knn(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    largest = len(X) * (FOLDS - 1) // FOLDS - 1
    sizes = [k for k in KNN_SIZES if k <= largest]
    grid = {"n_neighbors": sizes, "weights": ["uniform", "distance"]}
    return GridSearchCV(KNeighborsClassifier(), grid, cv=_folds(seed)).fit(X, y)


def _tuned_svm(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    grid = {"C": SVM_COSTS, "gamma": [factor / X.shape[1] for factor in SVM_GAMMAS]}
    return GridSearchCV(SVC(), grid, cv=_folds(seed)).fit(X, y)


def _lightgbm(X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    from lightgbm import LGBMClassifier  # of use for this alone

    return LGBMClassifier(random_state=seed, n_jobs=1, verbosity=-1).fit(X, y)


def _calibrated(method: str, X: np.ndarray, y: np.ndarray, seed: int) -> Model:
    folds = _folds(seed, max(2, min(FOLDS, np.unique(y, return_counts=True)[1].min())))
    forest = RandomForestClassifier(200, random_state=seed)
    return CalibratedClassifierCV(forest, method=method, cv=folds).fit(X, y)


CLASSIFIERS: dict[str, Fit] = {
    "OPF": lambda X, y, seed: OPFClassifier().fit(X, y),
    "Fuzzy OPF (paper)": _paper,
    "**FuzzyOPFClassifierCV**, default": partial(_ours, "auto"),
    "**FuzzyOPFClassifierCV**, `None`": partial(_ours, None),
    "1-NN": lambda X, y, seed: KNeighborsClassifier(1).fit(X, y),
    "kNN, tuned": _tuned_knn,
    "SVM-RBF, tuned": _tuned_svm,
    "random forest": lambda X, y, seed: RandomForestClassifier(200, random_state=seed).fit(X, y),
    "LightGBM": _lightgbm,
    "random forest, isotonic": partial(_calibrated, "isotonic"),
    "random forest, Platt": partial(_calibrated, "sigmoid"),
    "**FuzzyOPFClassifierCV**, `label_noise=0.0`": partial(_ours, "auto", label_noise=0.0),
}
# The mean of the probabilities of others: what averaging alone gains.
AVERAGES = {"mean of SVM and random forest": ("SVM-RBF, tuned", "random forest")}


def probabilities(model: Model, X: np.ndarray, y: np.ndarray, seed: int, Q: np.ndarray) -> np.ndarray:
    """Return probabilities; calibrate a support vector machine on the training part first."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(Q)
    folds = _folds(seed, max(2, min(FOLDS, np.unique(y, return_counts=True)[1].min())))
    best = model.best_estimator_
    return CalibratedClassifierCV(best, cv=folds, ensemble=False).fit(X, y).predict_proba(Q)


def log_loss(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> float:
    """Mean of -log of the probability of the right class; one the model does not know has probability 0."""
    column = np.minimum(np.searchsorted(classes, answers), len(classes) - 1)
    right = np.where(classes[column] == answers, given[np.arange(len(answers)), column], 0)
    return float(-np.log(np.maximum(right, np.finfo(np.float64).eps)).mean())


def calibration(given: np.ndarray, classes: np.ndarray, answers: np.ndarray) -> dict[str, float]:
    """Give the Brier score, and how far confidences in ten bins are from the shares of right answers."""
    confidence, is_right = given.max(axis=1), classes[given.argmax(axis=1)] == answers
    gaps = np.bincount(np.minimum(10 * confidence, 9).astype(int), confidence - is_right)
    brier = ((given - (answers[:, None] == classes)) ** 2).sum(axis=1).mean()
    return {"brier": float(brier), "ece": float(np.abs(gaps).sum() / len(answers))}


# The study


def units(repeats: int) -> Iterator[study.Unit]:
    """List what the classifiers are compared on, repeats before datasets: a short run covers all of these."""
    for repeat, name, noise in product(range(repeats), REPORT, NOISE):
        yield name, noise, repeat
    for repeat, name, noise in product(range((repeats + 2) // 3), (*CHOICE, *problems()), NOISE):
        yield name, noise, repeat


def measure(name: str, noise: float, repeat: int) -> list[study.Row]:
    """Split, spoil labels, fit and score every classifier, all decided by the arguments alone."""
    X, y, Q, answers, seed = split(load(name), name, repeat, noise, LARGEST)
    classes, found = np.unique(y), {}
    for classifier, fit in CLASSIFIERS.items():
        start = time.perf_counter()
        model = fit(X, y, seed)
        seconds = time.perf_counter() - start
        found[classifier] = model.predict(Q), probabilities(model, X, y, seed, Q), seconds
    for average, parts in AVERAGES.items():
        mean = np.mean([found[part][1] for part in parts], axis=0)
        found[average] = classes[mean.argmax(axis=1)], mean, sum(found[part][2] for part in parts)
    return [
        {
            "set": name, "noise": noise, "repeat": repeat, "classifier": classifier,
            "accuracy": 100 * float(accuracy_score(answers, predicted)),
            "balanced": 100 * float(balanced_accuracy_score(answers, predicted)),
            "log_loss": log_loss(p, classes, answers), "seconds": seconds,
            **calibration(p, classes, answers),
        }
        for classifier, (predicted, p, seconds) in found.items()
    ]  # fmt: skip


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write means and ranks for both groups of datasets, and how good probabilities are on the first."""
    groups = {"accuracy": table[table.set.isin(REPORT)], "accuracy_chosen": table[~table.set.isin(REPORT)]}
    files = {name: overview(means_of(group)) for name, group in groups.items() if len(group)}
    means = (
        table[table.set.isin(REPORT)].groupby(["classifier", "noise"])[["log_loss", "brier", "ece"]].mean()
    )
    rows = [
        [name, *(" / ".join(f"{v:.3f}" for v in means.loc[name, noise]) for noise in NOISE)]
        for name in CLASSIFIERS
    ]
    header = ["log loss / Brier / ECE", *(f"{noise:.0%} wrong" for noise in NOISE)]
    return files | {"calibration": markdown(header, rows)}


def means_of(table: pd.DataFrame) -> pd.DataFrame:
    """Mean over repeats; rounded, so that equal means tie."""
    return table.groupby(["set", "noise", "classifier"])[[*MEASURES]].mean().round(12)


def accuracies(means: pd.DataFrame, noise: float) -> pd.DataFrame:
    """Accuracy at one share of wrong labels, a row per dataset, a column per classifier."""
    return means.xs(noise, level="noise").accuracy.unstack()


def overview(means: pd.DataFrame) -> str:
    """Means over datasets and average ranks of every classifier, for each share of wrong labels."""
    blank = [""] * (len(NOISE) - 1)
    names = [cell for title, _ in MEASURES.values() for cell in (title, *blank)]
    mean = means.groupby(["classifier", "noise"]).mean()
    ranks = {noise: accuracies(means, noise).rank(axis="columns", ascending=False).mean() for noise in NOISE}
    shares = [f"{100 * noise:.0f} %" for noise in NOISE] * (len(MEASURES) + 1)
    rows = [
        [
            name,
            *(format(mean[m][name, noise], form) for m, (_, form) in MEASURES.items() for noise in NOISE),
            *(f"{ranks[noise][name]:.2f}" for noise in NOISE),
        ]
        for name in (*CLASSIFIERS, *AVERAGES)
    ]
    return "\n".join(
        [head(["", *names, "mean rank", *blank]), line(["wrong training labels", *shares]), *map(line, rows)]
    )


if __name__ == "__main__":
    study.main("accuracy", __doc__, units, measure, report, repeats=6)
