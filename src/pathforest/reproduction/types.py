"""What an experiment is told, and what comes out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# Every classifier by its name in the results, and what readers call it.
CLASSIFIERS = {
    "opf": "OPF",
    "fuzzy_opf": "Fuzzy OPF",
    "fuzzy_opf_tree": "Fuzzy OPF (tree)",
    "svm_linear": "SVM (linear)",
    "naive_bayes": "Naive Bayes",
    "knn1": "1-NN",
    "svm_rbf": "SVM (RBF)",
}

# Columns of the results: what was measured, scores on the test part, seconds, and what the search chose.
RESULT_COLUMNS = (
    "dataset", "run", "classifier",
    "accuracy", "opf_accuracy", "f1_weighted", "balanced_accuracy",
    "fit_seconds", "predict_seconds", "tune_seconds",
    "k_max", "best_k", "sigma", "training_error",
)  # fmt: skip
LANDSCAPE_COLUMNS = ("dataset", "run", "competition", "k_max", "sigma", "accuracy")
TIE_COLUMNS = ("dataset", "run", "textbook_error", "training_error")


class Settings(NamedTuple):
    """What decides the numbers of an experiment."""

    datasets: tuple[str, ...]
    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)
    runs: int = 20
    seed: int = 0
    preset: str = "paper"  # or "clean"


class Samples(NamedTuple):
    """A dataset: features as they come, and labels."""

    X: np.ndarray
    y: np.ndarray


class Experiment(NamedTuple):
    """The outcome: tidy tables, and the samples they speak of."""

    settings: Settings
    results: pd.DataFrame  # RESULT_COLUMNS, a row per dataset, run and classifier; missing where not chosen
    landscapes: pd.DataFrame  # LANDSCAPE_COLUMNS, accuracy of every cell of the search on the held-out data
    ties: (
        pd.DataFrame
    )  # TIE_COLUMNS, share of training labels that the textbook algorithm and ours lose, worst order
    samples: dict[str, Samples]
    seconds: float  # of the whole run on the clock, resumed parts not counted
