"""All that was found about the samples of a training set, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from pathforest._utils.text import shorten, show

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # suspects in a notebook
MIXED = 3  # pairs of classes in a summary
# What other methods would cost: measured with 500 to 5,000 samples.
OTHERS = {
    "fast": "'learned' and 'thorough' find more and take longer",
    "learned": "'thorough' finds a little more, in about 20 times the time",
    "thorough": "'learned' finds a little less, in about a twentieth of the time",
}


@dataclass(frozen=True, eq=False, repr=False)
class Issues:
    """What :func:`find_issues` found: arrays with one entry per sample, in the order of the samples.

    Printed, it is a short summary; in a notebook it also shows the first suspects.

    Attributes
    ----------
    method : str
        ``"fast"``, ``"learned"`` or ``"thorough"``, what ``"auto"`` came to; followed by ``", standardised"``
        if it gave features the same scale first, which ``"learned"`` always does.
    n_conquerors : int
        How many samples speak for each class, at most all there are.
    classes : ndarray of shape (n_classes,)
        The class labels.
    given : ndarray of shape (n_samples,)
        The labels that were checked.
    score : ndarray of shape (n_samples,)
        How well the given label fits, from 0 to 1; the higher, the better.
    suggested : ndarray of shape (n_samples,)
        The class that fits best; the given one if none fits better.
    is_label_issue : ndarray of bool, shape (n_samples,)
        Whether the label is probably wrong.
    noise_share : float
        Estimated share of wrong labels, from 0 to 1; those that are not sure enough to be flagged count too.
    rival : ndarray of shape (n_samples,)
        The class that fits best apart from the given one; the given one if there is only one class.
    cost, rival_cost : ndarray of shape (n_samples,)
        Mean distance of the conquerors of the given class and of the rival; inf for a class without any.
    conquerors, rival_conquerors : ndarray of shape (n_samples, n_conquerors)
        Indices of the samples that speak for the given class and for the rival, the nearest first; behind the
        last one -1.
    distances, rival_distances : ndarray of shape (n_samples, n_conquerors)
        Their distances; behind the last one inf.
    outlier_score : ndarray of shape (n_samples,)
        0 for the sample with the highest density, 1 for that with the lowest, on a logarithmic scale.
    is_outlier : ndarray of bool, shape (n_samples,)
        Whether the density is far below the usual, by the rule of :class:`OPFOutlierDetector`.
    duplicate_group : ndarray of shape (n_samples,)
        Number of the group of equal rows, from 0; -1 for a sample without a copy.
    is_conflict : ndarray of bool, shape (n_samples,)
        Whether an equal row has another label.
    nearest : ndarray of shape (n_samples,)
        Index of the nearest other sample; -1 for a single sample.
    nearest_distance : ndarray of shape (n_samples,)
        Its distance.
    is_near_duplicate : ndarray of bool, shape (n_samples,)
        Whether that distance is at most a tenth of the median one. Copies are included.
    border_score : ndarray of shape (n_samples,)
        The smaller cost of the two classes divided by the larger one: 1 where both fit equally well.
    is_border : ndarray of bool, shape (n_samples,)
        Whether it is 0.9 or more, and the label not an issue.
    island : ndarray of shape (n_samples,)
        Number of the small group of its class, apart from the rest, that the sample is in, from 0; -1 for
        samples in none.
    confusion : ndarray of shape (n_classes, n_classes)
        How many samples of each given class (row) have each suggested class (column).

    See Also
    --------
    find_issues : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pathforest import find_issues
    >>> from pathforest.noise import flip_labels
    >>> data = load_iris()
    >>> X, y = StandardScaler().fit_transform(data.data), data.target_names[data.target]
    >>> issues = find_issues(X, flip_labels(y, 0.1), method="fast")
    >>> X_clean, y_clean = issues.drop(X)
    >>> y_better = issues.relabel()
    >>> issues.to_frame().columns[:3].tolist()
    ['given', 'suggested', 'score']
    """

    method: str
    n_conquerors: int
    classes: np.ndarray
    given: np.ndarray
    score: np.ndarray
    suggested: np.ndarray
    is_label_issue: np.ndarray
    noise_share: float
    rival: np.ndarray
    cost: np.ndarray
    rival_cost: np.ndarray
    conquerors: np.ndarray
    rival_conquerors: np.ndarray
    distances: np.ndarray
    rival_distances: np.ndarray
    outlier_score: np.ndarray
    is_outlier: np.ndarray
    duplicate_group: np.ndarray
    is_conflict: np.ndarray
    nearest: np.ndarray
    nearest_distance: np.ndarray
    is_near_duplicate: np.ndarray
    border_score: np.ndarray
    is_border: np.ndarray
    island: np.ndarray
    confusion: np.ndarray
    _X: Any = None  # the samples, not copied, for `review`

    @property
    def described(self) -> str:
        """The method, and what others would cost."""
        return f"{self.method} ({OTHERS[self.method.partition(',')[0]]})"

    @property
    def suspects(self) -> np.ndarray:
        """Indices of the samples whose label is probably wrong, the least fitting label first."""
        flagged = np.flatnonzero(self.is_label_issue)
        return flagged[np.argsort(self.score[flagged], kind="stable")]

    @property
    def mixed_classes(self) -> list[tuple[Any, Any, int]]:
        """Given class, suggested class and number of samples, where the two differ; the most first."""
        counts = self.confusion * ~np.eye(len(self.classes), dtype=bool)
        order = np.argsort(-counts, axis=None, kind="stable")[: np.count_nonzero(counts)]
        pairs = zip(*np.unravel_index(order, counts.shape), strict=True)
        return [(self.classes.item(i), self.classes.item(j), int(counts[i, j])) for i, j in pairs]

    def drop(self, X: Any, which: Any = None) -> tuple[Any, np.ndarray]:
        """Return the samples and labels that are left without the issues.

        Parameters
        ----------
        X : array-like or DataFrame of n_samples rows
            The samples; the type is kept.
        which : array-like, default=None
            Samples to drop, as indices or as a mask; None for those whose label is probably wrong.

        Returns
        -------
        X : array-like or DataFrame
            Those that are left.
        y : ndarray
            Their labels.
        """
        if (n := _num_samples(X)) != len(self.given):
            raise ValueError(
                f"X has {n} samples and the issues are those of {len(self.given)}; pass the same X"
            )
        kept = np.flatnonzero(~self._mask(which))
        return _safe_indexing(X, kept), self.given[kept]

    def review(
        self, path: str | PathLike[str], X: Any = None, *, kept: str | PathLike[str] | None = None
    ) -> None:
        """Write a page on which a person decides which suspects to keep, change or drop.

        It is one HTML file, as ``pathforest audit`` writes it, and works without a server or a network. The
        decisions are exported as a CSV file; the page says with which lines they change X and y.

        Parameters
        ----------
        path : path-like
            The HTML file.
        X : array-like or DataFrame of n_samples rows, default=None
            The samples as they are to be shown, such as the table that they were made from; None for those
            that :func:`find_issues` had; issues that were pickled have none.
        kept : path-like, default=None
            Decisions of an earlier review: rows that were to be kept are not shown again, as long as all of
            their values and the label are the same.
        """
        from pathforest._pages.review import write_review

        if X is None:
            X = self._X
        if X is None:
            raise ValueError("these issues came without their samples, from a file or a cluster; pass X")
        write_review(self, path, X, kept)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_X": None}

    def relabel(self, which: Any = None) -> np.ndarray:
        """Return the labels, those of the issues changed to the suggested class.

        Parameters
        ----------
        which : array-like, default=None
            Samples to change, as indices or as a mask; None for those whose label is probably wrong.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The new labels.
        """
        return np.where(self._mask(which), self.suggested, self.given)

    def to_frame(self) -> pd.DataFrame:
        """Return everything with one entry per sample as a pandas DataFrame; needs pandas.

        Returns
        -------
        frame : pandas.DataFrame
            One row per sample, in the order of the samples.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_frame needs pandas; install it with pip install pandas, or use the arrays"
            ) from error
        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})

    def _mask(self, which: Any) -> np.ndarray:
        """Return a mask of the samples that a user names."""
        n = len(self.given)
        if which is None:
            return self.is_label_issue
        chosen = np.asarray(which)
        if chosen.dtype == bool and chosen.shape == (n,):
            return chosen
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"which={show(which)} must be indices of samples, or a mask with {n} entries")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < n:
            raise ValueError(f"which={show(which)} has an index that is not from 0 to {n - 1}")
        mask = np.zeros(n, dtype=bool)
        mask[chosen.astype(np.intp)] = True
        return mask

    def _counts(self) -> list[tuple[str, str]]:
        """Name what a summary counts."""
        n, n_wrong = len(self.given), int(self.is_label_issue.sum())
        n_groups = int(self.duplicate_group.max(initial=-1)) + 1
        counts = [
            ("samples", f"{n:,} in {len(self.classes):,} {'class' if len(self.classes) == 1 else 'classes'}"),
            ("method", self.described),
            ("labels probably wrong", f"{n_wrong:,}; estimated share {self.noise_share:.1%}"),
            ("outliers", f"{self.is_outlier.sum():,}"),
            ("samples with copies", f"{(self.duplicate_group >= 0).sum():,} in {n_groups:,} groups"),
            ("copies with another label", f"{self.is_conflict.sum():,}"),
            ("near duplicates", f"{self.is_near_duplicate.sum():,}"),
            ("samples at a border", f"{self.is_border.sum():,}"),
            ("small islands", f"{int(self.island.max(initial=-1)) + 1:,}"),
        ]
        if mixed := self.mixed_classes[:MIXED]:
            pairs = (f"{_text(a)} as {_text(b)} ({count:,})" for a, b, count in mixed)
            counts.append(("classes that mix", ", ".join(pairs)))
        return counts

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._counts()) + 2
        return "\n".join(f"{name:{width}}{value}" for name, value in self._counts())

    def __repr__(self) -> str:
        n, n_wrong = len(self.given), self.is_label_issue.sum()
        worst = ", ".join(map(str, self.suspects[:SHOWN].tolist()))
        worst = f", the worst those of samples {worst}" if worst else ""
        return f"<Issues: {n_wrong} of {n} labels probably wrong{worst}; print() shows more>"

    def _repr_html_(self) -> str:
        summary = "".join(
            f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in self._counts()
        )
        rows = "".join(
            f"<tr><td>{i}</td><td>{escape(_text(self.given[i]))}</td>"
            f"<td>{escape(_text(self.suggested[i]))}</td><td>{self.score[i]:.3f}</td></tr>"
            for i in self.suspects[:SHOWN]
        )
        head = "<tr><th>sample</th><th>given</th><th>suggested</th><th>score</th></tr>"
        return f"<table>{summary}</table>" + (f"<table>{head}{rows}</table>" if rows else "")


# What `to_frame` shows.
COLUMNS = (
    *("given", "suggested", "score", "is_label_issue", "rival", "cost", "rival_cost"),
    *("outlier_score", "is_outlier", "duplicate_group", "is_conflict"),
    *("nearest", "nearest_distance", "is_near_duplicate", "border_score", "is_border", "island"),
)


def _text(label: Any) -> str:
    """Write a label so that it is short and cannot act on a terminal."""
    return shorten(str(label))
