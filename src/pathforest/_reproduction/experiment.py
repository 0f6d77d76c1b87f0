"""An experiment: its settings, and the tables and samples that come out of it."""

from __future__ import annotations

import shlex
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd

from pathforest._reproduction import published
from pathforest._utils.files import replace_file

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
COMPETITIONS = {"complete": "complete graph", "tree": "spanning tree"}
COMPETITION_OF = {"fuzzy_opf": "complete", "fuzzy_opf_tree": "tree"}  # where the paths of each run

# Columns of the results: what was measured, scores on the test part, seconds, and what the search chose.
RESULT_COLUMNS = (
    "dataset", "run", "classifier",
    "accuracy", "opf_accuracy", "f1_weighted", "fit_seconds",
    "k_max", "best_k", "sigma", "training_error",
)  # fmt: skip
LANDSCAPE_COLUMNS = ("dataset", "run", "competition", "k_max", "sigma", "accuracy")

FEWEST = 6  # runs: with 5, the smallest p-value of the Wilcoxon test is 2 / 2^5 > 0.05


class Settings(NamedTuple):
    """What decides the numbers of an experiment."""

    datasets: tuple[str, ...]
    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)
    runs: int = 20
    seed: int = 0
    preset: str = "paper"  # or "clean"

    @property
    def command(self) -> str:
        """The command line that runs an experiment with these settings again."""
        words = ["pathforest", "reproduce", "--datasets", ",".join(self.datasets)]
        words += ["--classifiers", ",".join(self.classifiers), "--runs", str(self.runs)]
        return shlex.join([*words, "--seed", str(self.seed), "--preset", self.preset])


class Samples(NamedTuple):
    """A dataset: features as they come, and labels."""

    X: np.ndarray
    y: np.ndarray

    @property
    def checksum(self) -> str:
        """Tells datasets apart that have the same name."""
        return joblib.hash(tuple(self))


class Experiment(NamedTuple):
    """The outcome: tidy tables, and the samples that they are about."""

    settings: Settings
    results: pd.DataFrame  # RESULT_COLUMNS, a row per dataset, run and classifier; missing if not chosen
    landscapes: pd.DataFrame  # LANDSCAPE_COLUMNS, accuracy of every cell of the search on the held-out data
    samples: dict[str, Samples]
    seconds: float  # of the whole run on the clock, resumed parts not counted

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return self.results["run"].nunique()

    @property
    def is_repeated(self) -> bool:
        """Whether there are several runs: one has no spread, no test and so no bold marks."""
        return self.n_runs > 1

    @property
    def has_marks(self) -> bool:
        """Whether there are enough runs for bold marks: with fewer, no difference is significant."""
        return self.n_runs >= FEWEST

    def write(self, folder: Path) -> None:
        """Write results.parquet and landscapes.parquet, each whole or not at all."""
        for name in ("results", "landscapes"):
            content = BytesIO()
            getattr(self, name).to_parquet(content, index=False)
            replace_file(folder / f"{name}.parquet", content.getvalue())


def dataset_title(name: str) -> str:
    """Return the paper's name of a dataset, or its own if the paper does not have it."""
    return published.TITLES.get(name, name)
