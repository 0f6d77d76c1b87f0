"""Our outlier detector beside scikit-learn's: python -m benchmarks.studies.outliers.

Each set holds normal samples and a few outliers; the detectors see both, without labels, and are compared by
the area under the ROC curve of their scores of the same samples. All run with their defaults, isolation
forests with ten seeds. Features are standardised. A second table says what the threshold of each detector's
own choice calls outliers. The mean distance to 20 neighbours is the plainest of all scores. PATHFOREST_DATA
may name a folder with landsat_ad.csv.gz and thyroid_ad.csv.gz.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.studies.problems import Data, problems
from benchmarks.tables import markdown
from pathforest import OPFOutlierDetector

SEEDS = range(10)
MALIGNANT = 20  # outliers drawn from the malignant samples of breast_cancer: 5 % of the set


class MeanDistance(OutlierMixin, BaseEstimator):
    """The mean distance to a sample's 20 nearest others, with Tukey's outer fence as the threshold."""

    def fit(self, X: np.ndarray, y: None = None) -> MeanDistance:
        """Find the neighbours of all samples."""
        self.distance_ = NearestNeighbors(n_neighbors=20).fit(X).kneighbors()[0].mean(axis=1)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Judge the samples it was fitted to."""
        low, high = np.quantile(self.distance_, [0.25, 0.75])
        return np.where(self.distance_ > high + 3 * (high - low), -1, 1)

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        """Score the samples it was fitted to."""
        return -self.distance_


class Verdict(NamedTuple):
    """What a detector thinks of the samples of a set."""

    abnormality: np.ndarray
    is_outlier: np.ndarray
    seconds: float


def _mix(normal: np.ndarray, outliers: np.ndarray) -> Data:
    return Data(np.concatenate([normal, outliers]), np.repeat([0, 1], [len(normal), len(outliers)]))


def _blobs(rng: np.random.Generator) -> Data:
    """Draw two clouds of unlike width, outliers anywhere around them."""
    clouds = np.concatenate([rng.normal(size=(500, 2)), rng.normal(5, 0.3, size=(300, 2))])
    return _mix(clouds, rng.uniform(-6, 10, size=(40, 2)))


def _ring(rng: np.random.Generator) -> Data:
    """Draw normal samples in a ring, outliers inside it."""
    angle = rng.uniform(0, 2 * np.pi, 1000)
    ring = 5 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.2, (1000, 2))
    return _mix(ring, rng.normal(0, 1, (40, 2)))


def _wide(rng: np.random.Generator) -> Data:
    """Draw outliers of the same centre and of larger spread, in twenty dimensions."""
    return _mix(rng.normal(size=(1000, 20)), 1.7 * rng.normal(size=(50, 20)))


def _clump(rng: np.random.Generator) -> Data:
    """Draw outliers that keep together: more of them than a neighbourhood holds."""
    return _mix(rng.normal(size=(1000, 2)), rng.normal([6, 6], 0.2, (40, 2)))


def _unlike(rng: np.random.Generator) -> Data:
    """Draw outliers beside a dense cloud that are no sparser than a second, sparse one."""
    clouds = np.concatenate([rng.normal(0, 0.1, (500, 2)), rng.normal(8, 2, (500, 2))])
    angle = rng.uniform(0, 2 * np.pi, 30)
    return _mix(clouds, 0.8 * np.column_stack([np.cos(angle), np.sin(angle)]))


def _breast_cancer(rng: np.random.Generator) -> Data:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    malignant = rng.choice(np.flatnonzero(y == 0), MALIGNANT, replace=False)
    return _mix(X[y == 1], X[malignant])


DRAWN: dict[str, Callable[[np.random.Generator], Data]] = {
    "blobs": _blobs,
    "ring": _ring,
    "wide": _wide,
    "clump": _clump,
    "unlike": _unlike,
    "breast_cancer": _breast_cancer,
}
FIXED = ("landsat_ad", "thyroid_ad")


def sets() -> dict[str, list[Data]]:
    """Draw every generated set with each seed, and read the fixed ones that are here."""
    drawn = {name: [draw(np.random.default_rng(seed)) for seed in SEEDS] for name, draw in DRAWN.items()}
    here = problems()
    return drawn | {name: [here[name]()] for name in FIXED if name in here}


def judge(detector: BaseEstimator, X: np.ndarray) -> Verdict:
    """Fit a detector and ask for the scores of the samples it was fitted to."""
    start = time.perf_counter()
    is_outlier = detector.fit_predict(X) == -1
    seconds = time.perf_counter() - start
    if isinstance(detector, LocalOutlierFactor):
        return Verdict(-detector.negative_outlier_factor_, is_outlier, seconds)
    return Verdict(-detector.score_samples(X), is_outlier, seconds)


def detectors(seed: int) -> dict[str, BaseEstimator]:
    """Name the detectors that are compared."""
    return {
        "OPF": OPFOutlierDetector(),
        "OPF, k_max=100": OPFOutlierDetector(k_max=100),
        "mean distance": MeanDistance(),
        "isolation forest": IsolationForest(random_state=seed),
        "LOF": LocalOutlierFactor(),
    }


def main() -> None:
    """Print the areas, then what each detector calls outliers by itself."""
    names = list(detectors(0))
    areas, calls = [], []
    for name, draws in sets().items():
        found = []
        for data, seed in zip(draws if len(draws) > 1 else draws * len(SEEDS), SEEDS, strict=True):
            X = StandardScaler().fit_transform(data.X)
            for detector, model in detectors(seed).items():
                if len(draws) == 1 and seed > 0 and detector != "isolation forest":
                    continue  # the same samples would give the same answer
                verdict = judge(model, X)
                area, is_outlier = roc_auc_score(data.y, verdict.abnormality), verdict.is_outlier
                found.append(
                    (detector, area, is_outlier.mean(), is_outlier[data.y == 1].mean(), verdict.seconds)
                )
        table = pd.DataFrame(found, columns=["detector", "area", "flagged", "found", "seconds"])
        mean, middle = (table.groupby("detector").agg(how).loc[names] for how in ("mean", "median"))
        share = f"{np.mean(draws[0].y):.1%}"
        shape = f"{draws[0].X.shape[0]:,} x {draws[0].X.shape[1]}"
        areas.append([name, shape, share, *(f"{area:.3f}" for area in mean["area"])])
        shares = (f"{line.flagged:.1%} / {line.found:.0%}" for line in mean.itertuples())
        calls.append([name, share, *shares, " / ".join(f"{value:.2f}" for value in middle["seconds"])])
    print(markdown(["set", "size", "outliers", *names], areas), end="\n\n")
    print(markdown(["set", "outliers", *names, "seconds"], calls))


if __name__ == "__main__":
    main()
