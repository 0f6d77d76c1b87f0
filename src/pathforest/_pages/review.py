"""The review of labels: the findings of an audit in numbers and sentences, and as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples, check_array

from pathforest._pages.decisions import CELLS, COLUMNS, checksum, fingerprint, read_kept
from pathforest._pages.images import Show
from pathforest._pages.map import HEIGHT, WIDTH, class_kind, dot, layers, make_map
from pathforest._pages.page import number as written
from pathforest._pages.page import part, render, visible
from pathforest._tables.batches import Batch, Layout
from pathforest._tables.columns import (
    CATEGORY,
    default_names,
    is_gap,
    is_number,
    is_table,
    kind_of,
    named_columns,
    texts,
)
from pathforest._utils.files import replace_file
from pathforest._utils.text import counted, escape, shorten
from pathforest.preprocessing import TablePreprocessor

HERE = Path(__file__).parent
SCORES = {
    "fast": "the cost of the best other class, divided by the sum of both costs",
    "learned": "the mean of two: the cost of the best other class, divided by the sum of both costs, and the "
    "share of the given class among both in trees that have not seen the label",
    "thorough": "the probability of the given label, by models that have not seen it",
}
MOST, ROOM = 500, 4_000_000  # suspects in full, and their bytes, unless a number is asked for
CONQUERORS = 3  # of each class beside a suspect
FEATURES = 8  # of a suspect that are shown
ABOUT = 8  # columns that are not features
LISTED = 50  # rows of the other tables
PAIRS = 3  # of classes in a sentence


class Features(NamedTuple):
    """Columns as they are in a file, and as numbers."""

    columns: Mapping[str, np.ndarray]
    Z: np.ndarray  # what the audit compared
    names: list[str]  # of its columns
    sources: np.ndarray  # the column of the file that each of these comes from

    @classmethod
    def of(cls, columns: Mapping[str, np.ndarray], table: TablePreprocessor | None) -> Features:
        """Take columns of numbers as they are, or as a table that was fitted to them makes them."""
        if table is None:
            return cls(columns, np.column_stack([*columns.values()]), [*columns], np.arange(len(columns)))
        used, sources = np.unique(table._sources(), return_inverse=True)
        names = [name for j, name in enumerate(columns) if j in used]
        found = table.get_feature_names_out([*columns]).tolist()
        return cls({name: columns[name] for name in names}, table.transform(columns), found, sources)


class Table(NamedTuple):
    """A table as the page shows it."""

    name: str  # of the file
    place: str  # what its places count: line or row
    places: Sequence[int]  # of the samples in the file
    features: Features
    label: str  # the column of labels
    others: Mapping[str, Sequence[str]]  # cells of the columns that are neither
    fingerprint: str
    rows: Sequence[int]  # of the samples in the file, from 0
    checksum: Callable[[int], str]  # of the cells of a sample

    def where(self, row: int) -> str:
        """Say where a sample is in the file."""
        return f"{self.place} {self.places[row]}"


Witness = tuple[int, float]  # the row of a conqueror of a suspect, and its distance


class Suspect(NamedTuple):
    """A sample whose label deserves a second look."""

    row: int
    given: int  # classes by their codes
    rival: int  # the best other class
    rival_fits_better: bool
    score: float
    costs: tuple[float, float]  # of both classes
    witnesses: tuple[list[Witness], list[Witness]]  # nearest conquerors of both classes
    remarks: list[str]


class Pair(NamedTuple):
    """Two classes that mix, by their codes."""

    given: int
    better: int
    count: int  # samples of the one that the other fits better
    share: float  # of all samples of the one
    suspects: int  # labels among them that are probably wrong


class Review(NamedTuple):
    """Everything that the page, the terminal and the CSV show; the largest groups come first."""

    table: Table
    issues: Any  # Issues, whose module imports this one
    classes: list[str]
    codes: np.ndarray  # of the given labels
    suspects: list[Suspect]  # all of them, the worst first, but for those kept before
    n_kept: int
    mixing: list[Pair]  # those with the most samples first
    conflicts: list[np.ndarray]  # equal rows with different labels
    duplicates: list[np.ndarray]  # equal rows with the same label
    islands: list[np.ndarray]  # samples of a class, apart from its rest


def make_review(table: Table, issues: Any, kept: Set[str] = frozenset()) -> Review:
    """Rank the suspects: labels that are probably wrong, then other equal rows with different labels."""
    # Those whose checksum is among `kept` are left out.
    codes, rivals, better = (
        np.searchsorted(issues.classes, labels) for labels in (issues.given, issues.rival, issues.suggested)
    )
    others = np.flatnonzero(issues.is_conflict & ~issues.is_label_issue)
    others = others[np.argsort(issues.score[others], kind="stable")]
    rows = [*issues.suspects.tolist(), *others.tolist()]
    left = [row for row in rows if not kept or table.checksum(row) not in kept]
    suspects = [
        Suspect(
            row,
            int(codes[row]),
            int(rivals[row]),
            bool(better[row] != codes[row]),
            float(issues.score[row]),
            (float(issues.cost[row]), float(issues.rival_cost[row])),
            (
                _witnesses(issues.conquerors[row], issues.distances[row]),
                _witnesses(issues.rival_conquerors[row], issues.rival_distances[row]),
            ),
            _remarks(issues, row),
        )
        for row in left
    ]
    flagged, sizes = np.zeros_like(issues.confusion), issues.confusion.sum(axis=1)
    np.add.at(flagged, (codes[issues.suspects], better[issues.suspects]), 1)
    pairs = [
        Pair(i, j, int(issues.confusion[i, j]), issues.confusion[i, j] / sizes[i], int(flagged[i, j]))
        for i, j in np.argwhere(issues.confusion).tolist()
        if i != j
    ]
    return Review(
        table,
        issues,
        list(map(str, issues.classes.tolist())),
        codes,
        suspects,
        len(rows) - len(left),
        sorted(pairs, key=lambda pair: -pair.count),
        _groups(np.where(issues.is_conflict, issues.duplicate_group, -1)),
        _groups(np.where(issues.is_conflict, -1, issues.duplicate_group)),
        _groups(issues.island),
    )


def _witnesses(rows: np.ndarray, distances: np.ndarray) -> list[Witness]:
    found = zip(rows[:CONQUERORS].tolist(), distances[:CONQUERORS].tolist(), strict=True)
    return [witness for witness in found if witness[0] >= 0]


def _remarks(issues: Any, row: int) -> list[str]:
    remarks = {
        "an equal row has another label": issues.is_conflict[row],
        "has copies": issues.duplicate_group[row] >= 0 and not issues.is_conflict[row],
        "outlier": issues.is_outlier[row],
        "part of an island": issues.island[row] >= 0,
    }
    return [remark for remark, holds in remarks.items() if holds]


def _groups(number: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(number, kind="stable")[np.count_nonzero(number < 0) :]
    groups = np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []
    return sorted(groups, key=lambda group: -len(group))


# Numbers and sentences


def percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.1f} %"


def _points(review: Review) -> dict[str, str]:
    """Return questions and their answers."""
    issues, names = review.issues, [shorten(name) for name in review.classes]
    pairs = ", ".join(
        f"class {names[given]} where class {names[better]} fits better ({counted(count, 'sample')})"
        for given, better, count, *_ in review.mixing[:PAIRS]
    )
    border, near = int(issues.is_border.sum()), int(issues.is_near_duplicate.sum())
    border_count, near_count = counted(border, "sample"), counted(near, "sample has", "samples have")
    copies = (
        f"{near_count} a copy or nearly one; a model that is tested on copies of its training samples looks "
        "better than it is."
    )
    return {
        "Which classes mix?": f"Most often {pairs}." if pairs else "None.",
        "How clear is the rest?": f"{border_count} at a border, where two classes fit about equally well.",
        "Are there copies?": copies if near else "",
    }


# The page


def review_html(
    review: Review,
    *,
    command: str | Sequence[str],
    settings: str,
    show: Show | None = None,
    most: int | None = None,
) -> str:
    """Return the text of the page, which asks for nothing from outside."""
    # `command` applies the decisions, as do lines of Python; `settings` say how samples were compared; `most`
    # suspects are shown in full, by default 500, and fewer if they take much room.
    table, issues, codes = review.table, review.issues, review.codes
    sizes = np.bincount(codes, minlength=len(review.classes)).tolist()
    classes = [
        {"name": visible(name), "kind": class_kind(code), "size": sizes[code]}
        for code, name in enumerate(review.classes)
    ]
    items = _items(review, classes, show, most)
    suspects = review.suspects[: len(items)]
    rows = [suspect.row for suspect in suspects]
    drawn = make_map(table.features.Z, table.features.names, rows)
    places = dict(zip(drawn.rows.tolist(), zip(drawn.places, drawn.xy, strict=True), strict=True))
    outliers = np.flatnonzero(issues.is_outlier)
    outliers = outliers[np.argsort(-issues.outlier_score[outliers], kind="stable")].tolist()
    sections = {
        "summary": ("Summary", True),
        "map": ("Map of the samples", True),
        "suspects": ("Suspects", True),
        "mixing": ("Classes that mix", review.mixing),
        "conflicts": ("Conflicts", review.conflicts),
        "duplicates": ("Duplicates", review.duplicates),
        "islands": ("Islands", review.islands),
        "outliers": ("Outliers", outliers),
        "apply": ("Apply the decisions", True),
    }
    return render(
        HERE / "review.html",
        title=f"Review of the labels in {visible(table.name)}",
        sections=[(name, title) for name, (title, there) in sections.items() if there],
        scripts=[(HERE / name).read_text(encoding="utf-8") for name in ("common.js", "review.js")],
        review=review,
        counted=counted,
        points=_points(review),
        classes=classes,
        where=table.where,
        percent=percent,
        listed=LISTED,
        shown=set(rows),
        suspects=suspects,
        items=items,
        show=show,
        score=SCORES[issues.method.partition(",")[0]],
        drawn=drawn,
        layers=layers(drawn, codes, rows),
        marks=[(s, dot(places[s.row][0]), places[s.row][1]) for s in suspects],
        width=WIDTH,
        height=HEIGHT,
        labels_of=lambda group: np.unique(codes[group]).tolist(),
        outliers=[(row, int(codes[row]), issues.outlier_score[row]) for row in outliers],
        data={
            "table": table.fingerprint,
            "label": table.label,
            "columns": (*COLUMNS, CELLS),
            "classes": review.classes,
            "suspects": [(s.row, s.given, s.rival, s.score, s.rival_fits_better) for s in suspects],
            "rows": [(table.rows[s.row], table.checksum(s.row)) for s in suspects],
        },
        command="\n".join(map(escape, [command] if isinstance(command, str) else command)),
        settings=settings,
    )


# Decisions of a page that Python wrote.
APPLIED = """import numpy, pandas
texts = {"change_to": str}
found = pandas.read_csv("decisions.csv", dtype=texts, keep_default_na=False).set_index("row")
changed = found[found["decision"] == "change"]["change_to"]
y = numpy.array(y)
labels = {str(label): label for label in y.tolist()}
y[changed.index] = [labels[text] for text in changed]
kept = numpy.setdiff1d(numpy.arange(len(y)), found.index[found["decision"] == "drop"])
X, y = X[kept], y[kept]  # X.iloc[kept] of a data frame"""


def write_review(
    issues: Any, path: str | PathLike[str], X: Any, kept: str | PathLike[str] | None = None
) -> None:
    """Write the page for samples in memory."""
    if not is_table(X):
        names = getattr(X, "columns", None)
        X = check_array(X, dtype=[np.float64, np.float32])
        columns = zip(default_names(X.shape[1]) if names is None else map(str, names), X.T, strict=True)
    else:
        columns = ((str(name), column) for name, column in named_columns(X))
    columns, n = dict(columns), len(issues.given)
    if any(len(column) != n for column in columns.values()):
        raise ValueError(f"X has {_num_samples(X)} samples and the issues are those of {n}; pass the same X")
    is_scaled = not issues.method.startswith("fast") or "standardised" in issues.method
    fitted = TablePreprocessor().fit(columns) if is_scaled or is_table(X) else None
    rows = Batch(Layout([*columns, "y"]), range(n), columns | {"y": issues.given})
    shown = Table(
        name="samples",
        place="sample",
        places=range(n),
        features=Features.of(columns, fitted),
        label="y",
        others={},
        fingerprint=fingerprint(rows),
        rows=range(n),
        checksum=partial(checksum, rows),
    )
    settings = "features standardised" if is_scaled else "features as they are"
    review = make_review(shown, issues, read_kept(fspath(kept)) if kept else frozenset())
    page = review_html(review, command=APPLIED.splitlines(), settings=settings)
    replace_file(path, page.encode("utf-8", "backslashreplace"))


def _items(review: Review, classes: list[dict], show: Show | None, most: int | None) -> list[str]:
    """Write suspects in full, the worst first: `most`, or by default as many as keep the page small."""
    table, items, size = review.table, [], 0
    columns, Z, _, sources = table.features
    place = dict(zip(columns, np.unique(sources, return_index=True)[1].tolist(), strict=True))
    is_text = {name: kind_of(column) == CATEGORY for name, column in columns.items()}
    spread = spread_of(table.features)
    for rank, suspect in enumerate(review.suspects[: most or MOST], 1):
        if most is None and size > ROOM:
            break
        sides = list(zip((suspect.given, suspect.rival), suspect.witnesses, strict=True))
        rows = [suspect.row, *(row for _, side in sides for row, _ in side)]
        names = [[*columns][j] for j in telling_columns(table.features, suspect, spread).tolist()]
        kinds = ["this", *("first" if i == 0 else "" for _, side in sides for i in range(len(side)))]
        colours = ["this", *(class_kind(code) for code, side in sides for _ in side)]
        items.append(
            part(
                HERE / "suspect.html",
                s=suspect,
                rank=rank,
                sides=sides,
                classes=classes,
                where=table.where,
                about=[(name, cells[suspect.row]) for name, cells in islice(table.others.items(), ABOUT)],
                features=[
                    (
                        name,
                        () if is_text[name] else _marks(Z[rows, place[name]], colours),
                        list(zip(_cells(columns[name][rows]), kinds, strict=True)),
                    )
                    for name in names
                ],
                more=len(columns) - len(names),
                show=show,
                has_images=show is not None and any(map(show, rows)),
            )
        )
        size += len(items[-1])
    return items


def spread_of(features: Features) -> np.ndarray:
    """Return the standard deviation of each column; that of a category is of all its columns together."""
    spread = np.sqrt(np.bincount(features.sources, features.Z.var(axis=0)))
    return np.where(spread > 0, spread, 1)


def telling_columns(features: Features, suspect: Suspect, spread: np.ndarray) -> np.ndarray:
    """Return the columns that speak most against the given label, first those that do so most.

    A column speaks against it by how much farther, in standard deviations, the sample is from the mean of
    its conquerors of the given class than from that of its rival's.
    """
    Z = features.Z
    own, other = ([row for row, _ in witnesses] for witnesses in suspect.witnesses)
    distance = [np.abs(Z[suspect.row] - Z[rows].mean(axis=0)) if rows else 0 for rows in (own, other)]
    against = np.broadcast_to(distance[0] - distance[1], Z.shape[1:])
    return np.argsort(-np.bincount(features.sources, against) / spread, kind="stable")[:FEATURES]


def _cells(column: np.ndarray) -> list[str]:
    """Write values as the table has them, numbers shortened."""
    return [
        "missing" if is_gap(value) else written(value) if is_number(value) else visible(text)
        for value, text in zip(column.tolist(), texts(column), strict=True)
    ]


def _marks(values: np.ndarray, colours: Sequence[str]) -> list[tuple[str, str]]:
    """Place values on a line in per cent, from the smallest to the largest, the sample's own on top."""
    low, high = values.min(), values.max()
    shares = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return list(zip(colours, [f"{100 * share:.0f}" for share in shares.tolist()], strict=True))[::-1]
