"""Our outlier detector beside scikit-learn's: python -m benchmarks.studies.outliers.

The detectors see normal samples and a few outliers, without labels, and are compared by the area under the
ROC curve of their scores of the same samples. All run with their defaults, isolation forests with ten seeds.
Features are standardised. A second table says what each calls outliers by a threshold of its own choice.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks import study
from benchmarks.studies.problems import Data, load, problems
from benchmarks.tables import bold_best, markdown
from pathforest import OPFOutlierDetector

MALIGNANT = 20  # outliers drawn from the malignant samples of breast_cancer: 5 % of the set


class MeanDistance(OutlierMixin, BaseEstimator):
    """The mean distance to a sample's 20 nearest others, with Tukey's outer fence as the threshold."""

    def fit(self, X: np.ndarray, y: None = None) -> "MeanDistance":
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


DETECTORS: dict[str, Callable[[int], BaseEstimator]] = {
    "OPF": lambda seed: OPFOutlierDetector(),
    "OPF, k_max=100": lambda seed: OPFOutlierDetector(k_max=100),
    "mean distance": lambda seed: MeanDistance(),
    "isolation forest": lambda seed: IsolationForest(random_state=seed),
    "LOF": lambda seed: LocalOutlierFactor(),
}


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
    # Outliers of the same centre and of larger spread, in twenty dimensions.
    "wide": lambda rng: _mix(rng.normal(size=(1000, 20)), 1.7 * rng.normal(size=(50, 20))),
    # Outliers that keep together: more of them than a neighbourhood holds.
    "clump": lambda rng: _mix(rng.normal(size=(1000, 2)), rng.normal([6, 6], 0.2, (40, 2))),
    "unlike": _unlike,
    "breast_cancer, 20 malignant": _breast_cancer,
}
FIXED = ("landsat_ad", "thyroid_ad")


def units(repeats: int) -> Iterator[study.Unit]:
    """List every set and detector with each seed; the same samples have one answer of most detectors."""
    here = [*DRAWN, *(name for name in FIXED if name in problems())]
    for name in here:
        for detector in DETECTORS:
            is_one = name in FIXED and detector != "isolation forest"
            yield from ((name, detector, seed) for seed in range(1 if is_one else repeats))


def measure(name: str, detector: str, seed: int) -> list[study.Row]:
    """Fit a detector and ask for the scores of the samples it was fitted to."""
    data = DRAWN[name](np.random.default_rng(seed)) if name in DRAWN else load(name)
    X, model = StandardScaler().fit_transform(data.X), DETECTORS[detector](seed)
    flag, is_outlier = model.fit_predict(X) == -1, data.y == 1
    score = getattr(model, "negative_outlier_factor_", None)  # the local outlier factor's
    area = roc_auc_score(is_outlier, -(model.score_samples(X) if score is None else score))
    return [
        {
            "set": name, "size": f"{len(X):,} x {X.shape[1]}", "outliers": f"{100 * is_outlier.mean():.1f} %",
            "detector": detector, "area": area, "flagged": flag.mean(), "found": flag[is_outlier].mean(),
        }
    ]  # fmt: skip


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write the areas, then what each detector calls outliers by itself."""
    areas, calls = [], []
    for (name, size, share), here in table.groupby(["set", "size", "outliers"], sort=False):
        mean = here.groupby("detector")[["area", "flagged", "found"]].mean().loc[[*DETECTORS]]
        areas.append([name, size, share, *(text.replace("0.", ".") for text in bold_best(mean.area, ".3f"))])
        shares = (f"{100 * one.flagged:.1f} % / {100 * one.found:.0f} %" for one in mean.itertuples())
        calls.append([name.partition(",")[0], share, *shares])
    return {
        "outliers": markdown(["set", "size", "outliers", *DETECTORS], areas, 2),
        "outliers_flagged": markdown(["set", "outliers", *DETECTORS], calls),
    }


if __name__ == "__main__":
    study.main("outliers", __doc__, units, measure, report, repeats=10)
