"""Planted wrong labels, found by find_issues and by cleanlab: python -m benchmarks.studies.issues.

Up to 1,000 samples of each dataset, standardised, get 5, 10 or 20 % wrong labels: symmetric (any other class,
equally likely) or dependent on the class (one other class for each, some classes more than others). Methods
are compared by average precision and by the area under the ROC curve of their scores, and flags by precision
and recall. cleanlab gets out-of-fold probabilities of four classifiers. Then classifiers are trained on 70 %
of the samples, with and without those that are flagged, and tested on clean labels of the rest.

Datasets are those of `keel.REPORT` and `keel.IMBALANCED`; with --choice those that were used for choosing.
Results are files in a folder, one per unit: a run that was stopped resumes.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.tables import parser
from pathforest import find_issues
from pathforest.noise import flip_labels

LARGEST = 1000  # samples of a dataset
FEWEST = 5  # samples of a class: smaller ones are left out, because every fold needs one
SHARES = (0.05, 0.1, 0.2)
KINDS = ("symmetric", "class-dependent")
TRAINED = (0.0, 0.1, 0.2)  # shares of wrong labels that classifiers are trained with
METHODS = ("fast", "thorough")

# What cleanlab gets probabilities from; its own choice, given features only, is the first.
PROBABILITIES: dict[str, Callable[[], Any]] = {
    "kNN": lambda: KNeighborsClassifier(10),
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "SVM": lambda: CalibratedClassifierCV(SVC(), ensemble=False),
    "random forest": lambda: RandomForestClassifier(300, random_state=0),
}

Unit = tuple[str, str, float, int]  # dataset, kind of noise or "train", share, repeat
Data = tuple[np.ndarray, np.ndarray]


def tables(choice: bool) -> dict[str, Callable[[], Data]]:
    """Map the names of the datasets to the functions that load them."""
    from benchmarks.studies import keel, problems

    names = keel.CHOICE if choice else keel.REPORT + keel.IMBALANCED
    loaders: dict[str, Callable[[], Data]] = {name: lambda name=name: keel.load(name) for name in names}
    return loaders | problems.problems() if choice else loaders


def prepare(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Data:
    """Draw the samples of a repeat, and leave out tiny classes and constant features."""
    codes = np.unique(y, return_inverse=True)[1]
    chosen = rng.permutation(len(codes))[:LARGEST]
    X, codes = X[chosen], codes[chosen]
    kept = np.bincount(codes)[codes] >= FEWEST
    X, codes = X[kept], np.unique(codes[kept], return_inverse=True)[1]
    return X[:, X.std(axis=0) > 0], codes


def plant(codes: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Change a share of the labels."""
    if kind == "symmetric":
        return flip_labels(codes, share, rng)
    n_classes = int(codes.max()) + 1
    order = rng.permutation(n_classes)
    partner = np.empty(n_classes, dtype=int)
    partner[order] = np.roll(order, 1)
    weight = rng.uniform(size=n_classes)[codes]
    chosen = rng.choice(len(codes), round(share * len(codes)), replace=False, p=weight / weight.sum())
    noisy = codes.copy()
    noisy[chosen] = partner[codes[chosen]]
    return noisy


def measure(unit: Unit, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return all that a report needs of a unit; decided by the arguments alone."""
    warnings.simplefilter("ignore")  # of classes with fewer samples than folds, and fits that end early
    name, kind, share, repeat = unit
    rng = np.random.default_rng([repeat, *name.encode()])
    X, codes = prepare(X, y, rng)
    if kind == "train":
        return train(X, codes, share, rng)
    X, noisy = StandardScaler().fit_transform(X), plant(codes, kind, share, rng)
    found = {"right": codes, "given": noisy}
    for method in METHODS:
        start = time.perf_counter()
        issues = find_issues(X, noisy, method=method)
        found |= {
            f"{method} score": issues.score,
            f"{method} flag": issues.is_label_issue,
            f"{method} suggested": issues.suggested,
            f"{method} share": np.array(issues.noise_share),
            f"{method} seconds": np.array(time.perf_counter() - start),
        }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for source, make in PROBABILITIES.items():
        probability = cross_val_predict(make(), X, noisy, cv=folds, method="predict_proba")
        found[source] = probability.astype(np.float32)
    return found


def train(X: np.ndarray, codes: np.ndarray, share: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Test accuracy of classifiers trained on all samples, and on those left by each method."""
    from lightgbm import LGBMClassifier

    seed = int(rng.integers(2**31))
    X, Q, y, answers = train_test_split(X, codes, test_size=0.3, stratify=codes, random_state=seed)
    noisy = flip_labels(y, share, rng)
    parts = {"all": (X, noisy)}
    for method in METHODS:
        parts[method] = find_issues(StandardScaler().fit_transform(X), noisy, method=method).drop(X)
    models = {
        "random forest": RandomForestClassifier(300, random_state=0),
        "LightGBM": LGBMClassifier(n_jobs=1, random_state=0, verbose=-1),
    }
    return {
        f"{name}, {part}": np.array(model.fit(*samples).score(Q, answers))
        for name, model in models.items()
        for part, samples in parts.items()
    }


def units(names: list[str], n_repeats: int) -> Iterator[Unit]:
    """List all units, repeats outermost: a short run covers every dataset."""
    for repeat in range(n_repeats):
        for share in SHARES:
            yield from ((name, kind, share, repeat) for kind in KINDS for name in names)
        for share in TRAINED:
            yield from ((name, "train", share, repeat) for name in names)


def path_of(folder: Path, unit: Unit) -> Path:
    """Name the file of a unit."""
    name, kind, share, repeat = unit
    return folder / f"{name}-{kind}-{share:g}-{repeat}.npz"


def run(data: dict[str, Data], folder: Path, n_repeats: int, n_processes: int, seconds: float) -> None:
    """Measure the units that are missing, as many as can be started in time."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    missing = [unit for unit in units(list(data), n_repeats) if not path_of(folder, unit).exists()]
    with ProcessPoolExecutor(n_processes) as pool:
        jobs = {pool.submit(measure, unit, *data[unit[0]]): unit for unit in missing}
        for done, job in enumerate(as_completed(jobs), 1):
            if not job.cancelled():
                np.savez_compressed(path_of(folder, jobs[job]), **job.result())
                print(f"{done} of {len(missing)}: {jobs[job]}", file=sys.stderr, flush=True)
            if time.monotonic() > end:
                pool.shutdown(wait=False, cancel_futures=True)


def main() -> None:
    """Measure what is missing, then report."""
    options = parser("benchmarks.studies.issues", __doc__)
    options.add_argument("--out", type=Path, default=Path("build/issues"), help="folder for the results")
    options.add_argument("--choice", action="store_true", help="the datasets that were used for choosing")
    options.add_argument("--only", metavar="TEXT", default="", help="datasets whose name contains this")
    options.add_argument("--repeats", type=int, default=2, help="draws of samples and wrong labels")
    options.add_argument("--processes", type=int, default=1, help="processes of one thread each")
    options.add_argument("--report", action="store_true", help="report what there is, without measuring")
    args = options.parse_args()
    names = [name for name in tables(args.choice) if args.only in name]
    if not args.report:
        data = {name: load() for name, load in tables(args.choice).items() if name in names}
        run(data, args.out, args.repeats, args.processes, float("inf"))
    from benchmarks.studies.issues_report import report

    print(report([(unit, path_of(args.out, unit)) for unit in units(names, args.repeats)]))


if __name__ == "__main__":
    main()
