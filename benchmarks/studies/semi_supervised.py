"""What unlabelled samples add when labels are few: python -m benchmarks.studies.semi_supervised.

Digits, a fifth set aside for testing; of the rest a small share is labelled. Every method sees the same
labels. Accuracy is measured on the unlabelled training samples and on the test samples.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from benchmarks.tables import head, line, parser
from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

SHARES = (0.02, 0.05, 0.1)


def probable_svc() -> Any:
    """Give an SVC probabilities, which self-training asks for; two folds, because classes are small."""
    return CalibratedClassifierCV(SVC(), cv=2, ensemble=False)


# Each with scikit-learn's defaults, but the kernel: the default one is far too narrow for these features.
METHODS: dict[str, Callable[[], Any]] = {
    'OPFSemiSupervisedClassifier("mst")': OPFSemiSupervisedClassifier,
    'OPFSemiSupervisedClassifier("opfsemi")': lambda: OPFSemiSupervisedClassifier(method="opfsemi"),
    "OPFClassifier, labelled only": OPFClassifier,
    "SVC, labelled only": SVC,
    'LabelSpreading(kernel="knn")': lambda: LabelSpreading(kernel="knn"),
    "SelfTraining(SVC)": lambda: SelfTrainingClassifier(probable_svc()),
    "SelfTraining(kNN, 3)": lambda: SelfTrainingClassifier(KNeighborsClassifier(3)),
}


def measure(name: str, share: float, repeat: int) -> tuple[float, float, float]:
    """Accuracy on unlabelled and on test samples, and seconds of training."""
    X, y = load_digits(return_X_y=True)
    X, Q, y, answers = train_test_split(X, y, test_size=0.2, stratify=y, random_state=repeat)
    rows = np.arange(len(y))
    labelled, hidden = train_test_split(rows, train_size=share, stratify=y, random_state=repeat)
    known = y.copy()
    known[hidden] = -1
    if name.endswith("labelled only"):
        samples, known = X[labelled], y[labelled]
    else:
        samples = X
    model = METHODS[name]()
    start = time.perf_counter()
    model.fit(samples, known)
    seconds = time.perf_counter() - start
    spread = getattr(model, "transduction_", None)
    if spread is None or len(spread) != len(y) or (spread[hidden] == -1).any():
        spread = model.predict(X)  # self-training leaves samples it is not sure of without a label
    return float(np.mean(spread[hidden] == y[hidden])), model.score(Q, answers), seconds


def main() -> None:
    """Measure and print one table."""
    options = parser("benchmarks.studies.semi_supervised", __doc__)
    options.add_argument("--repeats", type=int, default=10, help="splits and draws of labels")
    options.add_argument("--only", metavar="TEXT", default="", help="methods whose name contains this")
    args = options.parse_args()
    columns = [f"{share:.0%} {part}" for share in SHARES for part in ("unlabelled", "test")]
    print(head(["method", *columns, "fit, s"]))
    # Of classes with fewer samples than folds, and of samples that no label reaches in LabelSpreading.
    warnings.simplefilter("ignore")
    for name in (name for name in METHODS if args.only in name):
        scores = [[measure(name, share, repeat) for repeat in range(args.repeats)] for share in SHARES]
        found = np.array(scores)  # share, repeat, measure
        cells = [
            f"{100 * values.mean():.1f} ± {100 * values.std():.1f}" for part in found for values in part.T[:2]
        ]
        print(line([name, *cells, f"{np.median(found[..., 2]):.3f}"]), flush=True)


if __name__ == "__main__":
    main()
