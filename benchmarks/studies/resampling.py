"""Our samplers beside others: python -m benchmarks.studies.resampling.

Unbalanced sets are split in halves, stratified, ten times; features are standardised on the training half,
which is then resampled until classes are balanced. A classifier is fitted to it and scored by the balanced
accuracy on the other half, which is left as it is. All samplers have their defaults. PATHFOREST_DATA may name
a folder with thyroid.csv.gz, thyroid_ad.csv.gz and landsat_ad.csv.gz, of which 3,000 samples are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.under_sampling import RandomUnderSampler
from sklearn.datasets import load_breast_cancer, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.studies.problems import Data, problems
from benchmarks.tables import gain, head, line
from pathforest import O2PFSampler, OPFClassifier, OPFUnderSampler

REPEATS = 10
LARGEST = 3000
SAMPLERS: dict[str, Callable[[int], Any]] = {
    "none": lambda seed: None,
    "random under": lambda seed: RandomUnderSampler(random_state=seed),
    "OPF-US": lambda seed: OPFUnderSampler(random_state=seed),
    "random over": lambda seed: RandomOverSampler(random_state=seed),
    "SMOTE": lambda seed: SMOTE(random_state=seed),
    "O2PF": lambda seed: O2PFSampler(random_state=seed),
}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "OPF": OPFClassifier,
    "logistic": lambda: LogisticRegression(max_iter=2000),
}


def _rare_malignant() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    rare = np.random.default_rng(0).choice(np.flatnonzero(y == 0), 40, replace=False)
    rows = np.concatenate([np.flatnonzero(y == 1), rare])
    return Data(X[rows], y[rows])


def _moons() -> Data:
    X, y = make_moons((1000, 80), noise=0.3, random_state=0)
    return Data(X, y)


def _classification() -> Data:
    return Data(
        *make_classification(
            1500, n_features=10, n_informative=6, n_classes=3, weights=[0.85, 0.1, 0.05], random_state=0
        )
    )


SETS: dict[str, Callable[[], Data]] = {
    "moons": _moons,
    "classification": _classification,
    "breast_cancer": _rare_malignant,
}
LOCAL = ("thyroid", "thyroid_ad", "landsat_ad")


def score(data: Data, sampler: Any, classifier: Any, seed: int) -> float:
    """Balanced accuracy of a classifier on the half of the samples that it was not fitted to."""
    X, Q, y, answers = train_test_split(data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, Q = scaler.transform(X), scaler.transform(Q)
    if sampler is not None:
        X, y = sampler.fit_resample(X, y)
    return balanced_accuracy_score(answers, classifier.fit(X, y).predict(Q))


def thinned(data: Data) -> Data:
    """Draw `LARGEST` samples from a set that has more, stratified."""
    if len(data.X) <= LARGEST:
        return data
    X, _, y, _ = train_test_split(data.X, data.y, train_size=LARGEST, stratify=data.y, random_state=0)
    return Data(X, y)


def main() -> None:
    """Print a table per classifier: means, and the standard errors of the differences to the peer."""
    here = problems()
    chosen = SETS | {name: here[name] for name in LOCAL if name in here}
    for name, classifier in CLASSIFIERS.items():
        print(f"\n{name}\n")
        print(head(["set", *SAMPLERS, "OPF-US - random under", "O2PF - SMOTE"]))
        for dataset, load in chosen.items():
            data = thinned(load())
            scores = {
                sampler: 100
                * np.array([score(data, make(seed), classifier(), seed) for seed in range(REPEATS)])
                for sampler, make in SAMPLERS.items()
            }
            cells = [f"{values.mean():.1f}" for values in scores.values()]
            for ours, theirs in (("OPF-US", "random under"), ("O2PF", "SMOTE")):
                cells.append(gain(scores[ours] - scores[theirs], 1))
            print(line([dataset, *cells]), flush=True)


if __name__ == "__main__":
    main()
