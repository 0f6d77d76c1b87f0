"""What unlabelled samples add when labels are few: python -m benchmarks.studies.semi_supervised.

Ordinary tables of at most 1,500 rows, standardised, a fifth set aside for testing; of the rest a small
share of every class is labelled, one sample at least. Every method sees the same labels. Accuracy is measured
on the unlabelled training samples and on the test samples. `--part choice` has the tables that the defaults
were chosen on, `--variants` what was compared there, and `--part shapes` thin structures with few labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from benchmarks.studies import keel
from benchmarks.studies.paths import THIN
from benchmarks.studies.problems import Data, Split, problems, split
from benchmarks.tables import head, line, parser
from pathforest import OPFClassifier, OPFSemiSupervisedClassifier

SHARES = (0.02, 0.05, 0.1)
LABELS = (2, 5)  # per class, on shapes


class Method(NamedTuple):
    """How labels are learned from."""

    make: Callable[[], Any]
    labelled_only: bool = False
    transform: Callable[[], Any] | None = None  # fitted on all training samples


Semi = partial(partial, OPFSemiSupervisedClassifier)
OURS, ALONE = 'OPFSemiSupervisedClassifier("balanced")', "OPFClassifier, labelled only"
METHODS = {
    OURS: Method(Semi()),
    'OPFSemiSupervisedClassifier("mst")': Method(Semi(method="mst")),
    'OPFSemiSupervisedClassifier("opfsemi")': Method(Semi(method="opfsemi")),
    ALONE: Method(OPFClassifier, labelled_only=True),
    'LabelSpreading(kernel="knn")': Method(partial(LabelSpreading, kernel="knn")),
    "SVC, labelled only": Method(SVC, labelled_only=True),
}
VARIANTS = {
    OURS: METHODS[OURS],
    '"geodesic"': Method(Semi(method="geodesic")),
    '"geodesic", metric="sqeuclidean"': Method(Semi(method="geodesic", metric="sqeuclidean")),
    **{f"n_neighbors={k}": Method(Semi(n_neighbors=k)) for k in (5, 7, 15, 20, 30)},
    **{f"n_conquerors={r}": Method(Semi(n_conquerors=r)) for r in (2, 3, 5)},
    "PCA, 95 %": Method(Semi(), transform=partial(PCA, 0.95, svd_solver="full")),
    "PCA, 95 %, whitened": Method(Semi(), transform=partial(PCA, 0.95, svd_solver="full", whiten=True)),
    "PCA, 80 %, whitened": Method(Semi(), transform=partial(PCA, 0.8, svd_solver="full", whiten=True)),
    ALONE: METHODS[ALONE],
}


class Scores(NamedTuple):
    """Accuracy of one method with one draw of labels."""

    unlabelled: float
    test: float


def tables(part: str) -> Iterator[tuple[str, Data]]:
    """Load the tables to choose on, or those to report on, with whole numbers as labels."""
    for name in keel.CHOICE if part == "choice" else keel.REPORT:
        yield name, Data(*keel.load(name))
    if part == "choice":
        for name, load in problems().items():
            X, y = load()
            yield name, Data(X, np.unique(y, return_inverse=True)[1])


def draw(y: np.ndarray, counts: Callable[[int], int], seed: list[int], by_chance: bool = False) -> np.ndarray:
    """Choose so many samples of every class, given its size, but one at least; return their indices.

    By chance: so many samples of all, given their number, and one of each class that this misses.
    """
    rng = np.random.default_rng(seed)
    if by_chance:
        order = rng.permutation(len(y))
        _, firsts = np.unique(y[order], return_index=True)
        return np.sort(order[np.union1d(np.arange(counts(len(y))), firsts)])
    of_classes = [rng.permutation(np.flatnonzero(y == c)) for c in np.unique(y)]
    return np.sort(np.concatenate([rows[: max(1, counts(len(rows)))] for rows in of_classes]))


def measure(method: Method, part: Split, labelled: np.ndarray) -> Scores:
    """Fit a method to the labels of some training samples."""
    X, Q, y = part.X, part.Q, part.y
    if method.transform is not None:
        transform = method.transform().fit(X)
        X, Q = transform.transform(X), transform.transform(Q)
    hidden = np.setdiff1d(np.arange(len(y)), labelled)
    if method.labelled_only:
        model = method.make().fit(X[labelled], y[labelled])
        spread = model.predict(X)
    else:
        known = np.full(len(y), -1)
        known[labelled] = y[labelled]
        model = method.make().fit(X, known)
        spread = model.transduction_
    return Scores(
        float(np.mean(spread[hidden] == y[hidden])), float(np.mean(model.predict(Q) == part.answers))
    )


def compare(
    names: dict[str, Method], part: str, repeats: int, only: str, by_chance: bool
) -> dict[str, np.ndarray]:
    """Map every table to an array (method, share, repeat, measure), printing each method's mean."""
    found = {}
    print(head(["table", *names]))
    for name, data in tables(part):
        if only not in name:
            continue
        scores = np.empty((len(names), len(SHARES), repeats, 2))
        for repeat in range(repeats):
            parts = split(data, name, repeat)
            for s, share in enumerate(SHARES):
                labelled = draw(parts.y, lambda n, share=share: round(share * n), [repeat, s], by_chance)
                for m, method in enumerate(names.values()):
                    scores[m, s, repeat] = measure(method, parts, labelled)
        found[name] = scores
        print(line([name, *(f"{100 * v:.1f}" for v in scores.mean(axis=(1, 2, 3)))]), flush=True)
    return found


def summarise(names: dict[str, Method], found: dict[str, np.ndarray]) -> None:
    """Print the mean over tables of every method, and how often the first one is better."""
    means = 100 * np.mean(
        [scores.mean(axis=2) for scores in found.values()], axis=0
    )  # method, share, measure
    each = np.array([scores.mean(axis=(1, 2, 3)) for scores in found.values()])  # table, method
    columns = [f"{share:.0%} {part}" for part in ("unlabelled", "test") for share in SHARES]
    print("\n" + head([f"mean of {len(found)} tables", *columns, "first better", "p"]))
    for m, name in enumerate(names):
        ahead, p = "", ""
        if m > 0:
            gains = each[:, 0] - each[:, m]
            ahead = f"{np.sum(gains > 0)} of {np.sum(gains != 0)}"
            p = f"{wilcoxon(gains).pvalue:.3f}" if gains.any() else "1"
        print(line([name, *(f"{v:.1f}" for v in means[m].T.ravel()), ahead, p]))


def shapes(names: dict[str, Method], repeats: int) -> None:
    """Print the accuracy on thin structures with few labels per class."""
    columns = [f"{n} labels {part}" for n in LABELS for part in ("unlabelled", "test")]
    for name, data in THIN.items():
        print("\n" + head([name, *columns]))
        for title, method in names.items():
            scores = np.empty((len(LABELS), repeats, 2))
            for repeat in range(repeats):
                part = split(data, name, repeat)
                for i, n_labels in enumerate(LABELS):
                    labelled = draw(part.y, lambda _, n=n_labels: n, [repeat, i])
                    scores[i, repeat] = measure(method, part, labelled)
            print(line([title, *(f"{100 * v:.2f}" for v in scores.mean(axis=1).ravel())]), flush=True)


def main() -> None:
    """Measure and print tables."""
    options = parser("benchmarks.studies.semi_supervised", __doc__)
    options.add_argument(
        "--part", choices=["report", "choice", "shapes"], default="report", help="which data"
    )
    options.add_argument("--variants", action="store_true", help="settings of one method instead of methods")
    options.add_argument("--repeats", type=int, default=5, help="splits and draws of labels")
    options.add_argument("--by-chance", action="store_true", help="labels that are not stratified")
    options.add_argument("--only", metavar="TEXT", default="", help="tables whose name contains this")
    args = options.parse_args()
    names = VARIANTS if args.variants else METHODS
    warnings.simplefilter("ignore")  # of samples that no label reaches in LabelSpreading
    if args.part == "shapes":
        shapes(names, args.repeats)
        return
    summarise(names, compare(names, args.part, args.repeats, args.only, args.by_chance))


if __name__ == "__main__":
    main()
