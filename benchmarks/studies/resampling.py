"""Our samplers beside others: python -m benchmarks.studies.resampling.

Unbalanced sets are split in halves, stratified, ten times; features are standardised on the training half,
which is then resampled until classes are balanced. A classifier is fitted to it and scored by the balanced
accuracy on the other half, which is left as it is. All samplers have their defaults. PATHFOREST_DATA may name
a folder with thyroid.csv.gz, thyroid_ad.csv.gz and landsat_ad.csv.gz, of which 3,000 samples are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.under_sampling import RandomUnderSampler
from sklearn.datasets import load_breast_cancer, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import study
from benchmarks.studies.problems import Data, load, problems
from benchmarks.tables import gain, markdown
from pathforest import O2PFSampler, OPFClassifier, OPFUnderSampler

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
    "resampling": OPFClassifier,
    "resampling_logistic": lambda: LogisticRegression(max_iter=2000),
}
PAIRS = (("OPF-US", "random under"), ("O2PF", "SMOTE"))


def _rare_malignant() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    rare = np.random.default_rng(0).choice(np.flatnonzero(y == 0), 40, replace=False)
    rows = np.concatenate([np.flatnonzero(y == 1), rare])
    return Data(X[rows], y[rows])


SETS: dict[str, Callable[[], Data]] = {
    "moons": lambda: Data(*make_moons((1000, 80), noise=0.3, random_state=0)),
    "classification": lambda: Data(
        *make_classification(
            1500, n_features=10, n_informative=6, n_classes=3, weights=[0.85, 0.1, 0.05], random_state=0
        )
    ),
    "breast_cancer": _rare_malignant,
}
LOCAL = ("thyroid", "thyroid_ad", "landsat_ad")


def units(repeats: int) -> Iterator[study.Unit]:
    """List every set with each split."""
    here = [*SETS, *(name for name in LOCAL if name in problems())]
    yield from ((name, seed) for name in here for seed in range(repeats))


def measure(name: str, seed: int) -> list[study.Row]:
    """Score each sampler and classifier by the balanced accuracy on the half that was set aside, in %."""
    X, y = SETS[name]() if name in SETS else load(name)
    if len(X) > LARGEST:
        X, _, y, _ = train_test_split(X, y, train_size=LARGEST, stratify=y, random_state=0)
    X, Q, y, answers = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, Q, rows = scaler.transform(X), scaler.transform(Q), []
    for sampler, make in SAMPLERS.items():
        resample = make(seed)
        samples = (X, y) if resample is None else resample.fit_resample(X, y)
        for classifier, model in CLASSIFIERS.items():
            score = 100 * balanced_accuracy_score(answers, model().fit(*samples).predict(Q))
            rows.append({"set": name, "seed": seed, "sampler": sampler, "model": classifier, "score": score})
    return rows


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write a table per classifier: means, and the standard errors of the differences to the peer."""
    found = {}
    for classifier in CLASSIFIERS:
        rows = []
        for name, here in table[table.model == classifier].groupby("set", sort=False):
            scores = here.pivot(index="seed", columns="sampler", values="score")
            gains = [gain((scores[ours] - scores[theirs]).to_numpy(), 1) for ours, theirs in PAIRS]
            rows.append([name, *(f"{scores[sampler].mean():.1f}" for sampler in SAMPLERS), *gains])
        found[classifier] = markdown(["set", *SAMPLERS, *(" - ".join(pair) for pair in PAIRS)], rows)
    return found


if __name__ == "__main__":
    study.main("resampling", __doc__, units, measure, report, repeats=10)
