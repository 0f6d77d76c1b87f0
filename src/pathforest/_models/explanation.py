"""Why a sample got its label: what its class and the next one cost, and who made which offers.

First what explanations say, then how features compare, then explanations of models, pipelines and searches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape as escape_html
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from pathforest._engines.metric import Metric, gower_terms
from pathforest._engines.samples import SparseSamples, is_sparse
from pathforest._models.offers import KeptForest, bids, decide, mean_offers
from pathforest._tables.columns import default_names
from pathforest._utils.text import shorten
from pathforest.forest import path_to_root

MOST_FEATURES = 10  # rows of a table, those that matter most; more could not be read
MOST_STEPS = 6  # of a path in a line
LONGEST = 40  # characters of a label or a name
MOST_TABLES = 5  # of a list of explanations in a notebook

# What each feature adds to a distance; metrics that are not sums over features have no such shares.
TERMS: dict[Any, Callable[[np.ndarray, np.ndarray, Metric], np.ndarray]] = {
    **dict.fromkeys(
        ("euclidean", "sqeuclidean", "log_sqeuclidean", "nan_euclidean"), lambda a, b, metric: (a - b) ** 2
    ),
    **dict.fromkeys(("manhattan", "braycurtis"), lambda a, b, metric: np.abs(a - b)),
    "seuclidean": lambda a, b, metric: (a - b) ** 2 / np.asarray(metric.params["V"]),
    "minkowski": lambda a, b, metric: np.abs(a - b) ** metric.p,
    "canberra": lambda a, b, metric: np.abs(a - b) / np.maximum(np.abs(a) + np.abs(b), TINY),
    "chi2": lambda a, b, metric: (a - b) ** 2 / np.maximum(a + b, TINY),
    "gower": lambda a, b, metric: gower_terms(a, b, metric.params),
    # The feature that differs most decides alone.
    "chebyshev": lambda a, b, metric: np.arange(len(a)) == np.abs(a - b).argmax(),
}
TINY = np.finfo(np.float64).tiny
ROUNDING = 1e-12  # of a value that was scaled and scaled back


class Feature(NamedTuple):
    """One feature, compared with the rival on which another answer would rest, else with the conqueror."""

    name: str
    column: int  # its position
    value: float  # of the sample
    conqueror: float  # of the sample that conquered it
    rival: float | None  # of the next class's cheapest bidder, None if there is no other class
    scale: float  # standard deviation among the training samples, 1 if that is 0
    share: float | None = None  # of the distance to the conqueror; None if that is not a sum over features
    rival_share: float | None = None  # of the distance to the rival
    texts: tuple[str | None, ...] | None = None  # of sample, conqueror and rival, if values are codes or days
    is_category: bool = False  # whether values are only equal or not, none is more than another

    @property
    def difference(self) -> float:
        """Value less that of the rival, 0 if only rounding makes them differ; of categories 0 or 1."""
        if self.texts is not None and self.is_category:
            return float(self.texts[0] != self.texts[1 if self.rival is None else 2])
        difference = self.value - (self.conqueror if self.rival is None else self.rival)
        differs = abs(difference) > ROUNDING * abs(self.value)
        return float(differs) if self.is_category or not differs else difference

    @property
    def part(self) -> float | None:
        """Share of the distance to the rival."""
        return self.share if self.rival is None else self.rival_share

    @property
    def weight(self) -> float:
        """How much the feature matters: that share, or the difference in standard deviations."""
        return abs(self.difference) / self.scale if self.part is None else self.part

    @property
    def shown(self) -> tuple[str | None, ...]:
        """What sample, conqueror and rival have, as tables print it."""
        values = self.value, self.conqueror, self.rival
        return self.texts or tuple(None if value is None else number(value) for value in values)


class Rival(NamedTuple):
    """The class that came second."""

    label: Any
    cost: float  # of the class: the mean of `offers`
    conquerors: list[int]  # training samples that made them
    offers: list[float]  # ascending
    distance: float  # from the sample to the first of them


class Explanation(NamedTuple):
    """Why a sample got its label.

    The cost of a class is the mean of its `n_conquerors` cheapest offers, as `class_costs` returns it; the
    class with the lowest cost wins. An offer is the larger of a training sample's own cost and its distance
    (their sum along neighbour lists).
    """

    label: Any  # predicted class
    cost: float  # of that class: the mean of `offers`
    conquerors: list[int]  # training samples that made them, the cheapest first
    offers: list[float]  # ascending
    distance: float  # from the sample to the first of them
    path: list[int]  # training samples from the first conqueror to its prototype
    costs: list[float]  # their costs, down to 0 at the prototype
    rival: Rival | None = None  # the next class, None if no other class made an offer
    features: list[Feature] | None = None  # those that matter most first; None if samples have none
    transform: str = "as given"  # of a search: the representation that distances are measured in,
    cell: int = 0  # and which of its `estimators_` is explained
    memberships: list[float] | None = None  # what each step of the path was multiplied by; None if by 1
    density: float | None = None  # of the sample, if paths are worth their lowest density, not costs

    @property
    def conqueror(self) -> int:
        """The training sample that made the cheapest offer."""
        return self.conquerors[0]

    @property
    def offer(self) -> float:
        """That offer."""
        return self.offers[0]

    @property
    def headline(self) -> str:
        """The answer, its cost, and the class that came second."""
        what, form = ("cost", ".3g") if self.density is None else ("value", ".4g")
        rival = "" if self.rival is None else f" (next: {text(self.rival.label)}, {self.rival.cost:{form}})"
        return f"Predicted {text(self.label)}, {what} {self.cost:{form}}{rival}"

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._table(), strict=True)]
        line = "  ".join(f"{{:{'>' if i else '<'}{width}}}" for i, width in enumerate(widths))
        rows = (line.format(*row).rstrip() for row in self._table())
        return "\n".join([self.headline, *self.sentences(), *rows])

    def _repr_html_(self) -> str:
        header, *rows = [list(map(escape_html, row)) for row in self._table()] or [[]]
        head = f"<tr><th>{'</th><th>'.join(header)}</th></tr>"
        body = "".join(f"<tr><th>{name}</th><td>{'</td><td>'.join(cells)}</td></tr>" for name, *cells in rows)
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>" if rows else ""
        notes = "<br>".join(map(escape_html, self.sentences()))
        return f"<div><p><b>{escape_html(self.headline)}</b><br>{notes}</p>{table}</div>"

    def sentences(self) -> list[str]:
        """Say who decided, and along which path."""
        path = [str(i) for i in self.path]
        if len(path) > MOST_STEPS:
            path = [*path[: MOST_STEPS - 2], f"... {len(path) - MOST_STEPS + 1} more ...", path[-1]]
        worth = f"costs {self.costs[0]:.3g}" if self.density is None else f"is worth {self.costs[0]:.4g}"
        lines = [
            f"Conquered by training sample {self.conqueror} at distance {self.distance:.3g}, "
            f"whose path {worth}: {' -> '.join(path)}"
        ]
        if self.density is not None:
            scale = f"from 1 to 1000; that of the sample is {self.density:.4g}"
            lines.append(f"Paths are worth their lowest density, {scale}")
        if self.memberships is not None:
            pairs = zip(self.costs, self.memberships, strict=False)
            costs = [f"{cost:.3g} (times {value:.3g})" for cost, value in pairs][:MOST_STEPS]
            more = ", ..." * (len(self.memberships) > MOST_STEPS)
            lines.append(f"Memberships multiply the costs along the path: {', '.join(costs)}{more}")
        if len(self.offers) > 1:
            made = [f"{i} ({offer:.3g})" for i, offer in zip(self.conquerors, self.offers, strict=True)]
            offers = ", ".join(made[:MOST_STEPS])
            more = f" and {len(made) - MOST_STEPS} more" if len(made) > MOST_STEPS else ""
            lines.append(f"The cost is the mean of {len(self.offers)} offers: {offers}{more}")
        if self.transform != "as given":
            lines.append(f"Distances are measured in the representation {text(self.transform)}")
        if self.features and len(self.features) > MOST_FEATURES:
            shown = f"The table has {MOST_FEATURES} of {len(self.features)} features, those that differ most"
            lines.append(f"{shown} from the {'conqueror' if self.rival is None else 'rival'}")
        return lines

    def _table(self) -> list[tuple[str, ...]]:
        """Lay the features out as rows of cells, the header first; no rows if there are no features."""
        if not self.features:
            return []
        features = self.features[:MOST_FEATURES]
        values, near, far = zip(*(feature.shown for feature in features), strict=True)
        table = {"feature": [text(feature.name) for feature in features], "sample": values}
        table[f"conqueror {self.conqueror} ({text(self.label)})"] = near
        if self.rival:
            table[f"rival {self.rival.conquerors[0]} ({text(self.rival.label)})"] = far
        table["difference"] = [number(feature.difference) for feature in features]
        if features[0].part is not None:
            table["share of distance"] = [f"{feature.part:.0%}" for feature in features]
        return list(zip(*([name, *column] for name, column in table.items()), strict=True))


class Explanations(list[Explanation]):
    """Explanations of several samples, which a notebook shows as tables."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        shown = "".join(explanation._repr_html_() for explanation in self[:MOST_TABLES])
        more = len(self) - MOST_TABLES
        return shown + (f"<p>and {more} more</p>" if more > 0 else "")


# Features


class Shown(NamedTuple):
    """What is shown of all features, in the fields of :class:`Feature`."""

    name: Sequence[str]
    value: np.ndarray
    conqueror: np.ndarray
    rival: np.ndarray | None
    scale: np.ndarray  # as `feature_scales` returns it

    def of_each(self) -> list[dict[str, Any]]:
        """Return the fields of each feature."""
        columns = ([None] * len(self.name) if one is None else np.asarray(one).tolist() for one in self[1:])
        rows = zip(map(str, self.name), *columns, strict=True)
        return [dict(zip(self._fields, row, strict=True)) for row in rows]


def compare_features(shown: Shown, metric: Metric | None = None) -> list[Feature]:
    """Set a sample beside conqueror and rival, what separates most first; shares only with a `metric`."""
    is_gower = metric is not None and metric.name == "gower"
    categories = metric.params["categorical"].tolist() if is_gower else [False] * len(shown.name)
    shares = (distance_shares(shown.value, other, metric) for other in (shown.conqueror, shown.rival))
    found = enumerate(zip(shown.of_each(), *shares, categories, strict=True))
    features = [
        Feature(column=j, share=share, rival_share=of_rival, is_category=is_category, **fields)
        for j, (fields, share, of_rival, is_category) in found
    ]
    return sorted(features, key=lambda feature: -feature.weight)


def in_units_of(features: Sequence[Feature], shown: Shown) -> list[Feature]:
    """Show features by other names and values, such as those before they were scaled; shares stay."""
    fields = shown.of_each()
    return [feature._replace(**fields[feature.column]) for feature in features]


def distance_shares(a: np.ndarray, b: np.ndarray | None, metric: Metric | None) -> list[float | None]:
    """Return the share of each feature in a distance, all 0 if they are equal and None if it is not a sum."""
    if b is None or metric is None or metric.name not in TERMS:
        return [None] * len(a)
    a, b = a.astype(np.float64), b.astype(np.float64)
    unit = 1.0 if metric.name == "gower" else np.fmax.reduce(np.abs(a - b), initial=0.0)
    if unit == 0:
        return [0.0] * len(a)
    with np.errstate(over="ignore", invalid="ignore"):  # of the features' size, where differences are tiny
        terms = np.nan_to_num(TERMS[metric.name](a / unit, b / unit, metric) * 1.0)
    return (terms / max(terms.sum(), TINY)).tolist()


def with_texts(features: Sequence[Feature], categories: Sequence[np.ndarray | None]) -> list[Feature]:
    """Let features whose values are codes show texts or booleans; a text that `fit` did not see is "new"."""

    def find(code: float | None, known: np.ndarray) -> str | None:
        if code is None:
            return None
        if known.dtype == object and code < 0:
            return "new"
        return text(known[int(code)]) if code in range(len(known)) else number(code)

    def name(feature: Feature) -> Feature:
        known, values = categories[feature.column], (feature.value, feature.conqueror, feature.rival)
        return feature._replace(texts=None if known is None else tuple(find(one, known) for one in values))

    return list(map(name, features))


def feature_scales(X: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each feature, 1 if that is 0 or too large for a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(X, SparseSamples):
            scale = np.sqrt(mean_variance_axis(X.astype(np.float64).tocsr(), axis=0)[1])
        else:
            scale = X.std(axis=0, dtype=np.float64)
    return np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)


def text(value: Any) -> str:
    """Return a label or a name as a line prints it, cut if it is long."""
    return shorten(str(value), LONGEST)


def number(value: float) -> str:
    """Return a value of a feature in a few digits, without an exponent where it can do without."""
    return "missing" if np.isnan(value) else f"{value:.4g}"


# Explanations of classifiers


def explain_queries(model: Any, forest: KeptForest, Q: np.ndarray) -> Explanations:
    """Explain the answers of a classifier, given its forest and queries that have been checked."""
    explanations = Explanations()
    offered: list[list[tuple[int, Rival]]] = [[] for _ in Q]  # by the classes that make offers
    for rows, code, offers, indices in bids(forest, Q):
        costs = mean_offers(offers, forest.r).tolist()
        counts = np.isfinite(offers[:, : forest.r]).sum(axis=1).tolist()
        for i, count in enumerate(counts):
            if count:
                made = indices[i, :count].tolist(), offers[i, :count].tolist()
                bidder = Rival(model.classes_.item(code), costs[i], *made, np.nan)
                offered[rows.start + i].append((code, bidder))
    for query, code, made in zip(Q, decide(forest, Q).code, offered, strict=True):
        made = sorted(made, key=lambda pair: (pair[0] != code, pair[1].cost))
        winner, rival = (
            one and one._replace(distance=_distance(forest, query, one.conquerors[0]))
            for one in (*(rival for _, rival in made[:2]), None)[:2]
        )
        path = path_to_root(model.predecessor_, winner.conquerors[0])
        features = compare_samples(model, query, winner, rival)
        shrunk, costs = _memberships(model, path), model.cost_[path].tolist()
        explanations.append(Explanation(*winner, path, costs, rival, features, memberships=shrunk))
    return explanations


def _memberships(model: Any, path: list[int]) -> list[float] | None:
    """Return what the cost of each sample but the last of a path was multiplied by, None if only by 1."""
    if "membership_" not in vars(model):
        return None
    ends = path[1:] if model.membership_side == "source" else path[:-1]
    found = model.membership_[ends].tolist()
    return found if any(value != 1 for value in found) else None


def _distance(forest: KeptForest, query: np.ndarray, member: int) -> float:
    """Return the distance from a query to a training sample."""
    samples = forest.samples
    ((_, block),) = samples.blocks(query if isinstance(query, SparseSamples) else query[None], width=1)
    if samples.metric.kind != "features":
        return float(block[0, member])
    return float(samples.engine(np.array([member]), query.dtype).query(block, 1, 1)[0][0, 0])


def compare_samples(model: Any, query: Any, winner: Rival, rival: Rival | None) -> list[Feature] | None:
    """Set the features of a query beside those of the samples that made the cheapest offers."""
    samples = model._samples
    if samples.X is None:
        return None
    rows = [query, samples.X[winner.conquerors[0]], None if rival is None else samples.X[rival.conquerors[0]]]
    scale = samples.cached("scale", lambda: feature_scales(samples.X))
    names = getattr(model, "feature_names_in_", None)
    if not isinstance(query, SparseSamples):
        names = default_names(len(query)) if names is None else names
        features = compare_features(Shown(names, *rows, scale), samples.metric)
        return with_texts(features, model.categories_) if "categories_" in vars(model) else features
    # Without the features that all of them lack.
    columns = np.unique(np.concatenate([row.indices for row in rows if row is not None]))
    rows = [None if row is None else row.tocsr()[:, columns].toarray()[0] for row in rows]
    names = [f"x{j}" for j in columns] if names is None else names[columns]
    features = compare_features(Shown(names, *rows, scale[columns]), samples.metric)
    return [feature._replace(column=int(columns[feature.column])) for feature in features]


# Explanations of pipelines and searches

# Transformers that change features one by one, so that what holds of scaled features holds of them.
SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)


class Opened(NamedTuple):
    """The model inside pipelines and searches, and what samples go through before they reach it."""

    model: Any
    steps: list[Any]  # transformers, those that do something

    def represent(self, X: Any) -> Any:
        """Give samples the representation of the model."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def in_units_of(
        self, samples: Any, explanations: Iterable[Explanation], names: Sequence[str] | None = None
    ) -> Explanations:
        """Name features, show their values before scaling; `samples` are those before all steps, or None."""
        scaled, queries, found = bool(self.steps) and only_scales(self.steps), repeat(None), Explanations()
        if scaled and not (samples is None or is_sparse(samples)):
            queries = np.asarray(samples, dtype=np.float64)
        scaled = scaled or (len(self.steps) == 1 and hasattr(self.steps[0], "_scaling_out"))
        try:
            for step in self.steps:
                names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):  # some transformers do not know
            names = None
        for one, query in zip(explanations, queries, strict=False):
            features = one.features
            if features and names is not None:
                features = [feature._replace(name=str(names[feature.column])) for feature in features]
            if features and scaled:
                features = _before_scaling(features, self, query)
            found.append(one._replace(features=features))
        return found


def open_up(estimator: Any, explains: bool = False) -> Opened:
    """Look inside pipelines and searches for the model, or for the first that explains its predictions."""
    check_is_fitted(estimator)
    steps = []
    while not (explains and hasattr(estimator, "explain")):
        if isinstance(estimator, Pipeline):
            steps += _working(estimator[:-1])
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif not explains:
            break
        else:
            raise TypeError(
                f"{type(estimator).__name__} explains no predictions; pass a fitted classifier of pathforest "
                "with a method explain, alone, at the end of a pipeline or in a search with refit=True"
            )
    return Opened(estimator, steps)


def explain(estimator: Any, X: Any) -> Explanations:
    """Explain the predictions of any model that has one of our classifiers inside.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with a method `explain`, alone, at the end of a pipeline, or as the best estimator
        of a search such as :class:`sklearn.model_selection.GridSearchCV`.
    X : array-like of shape (n_queries, n_features)
        New samples, as `predict` takes them.

    Returns
    -------
    explanations : list of Explanation
        As from :meth:`pathforest.OPFClassifier.explain`. If all transformers of a pipeline are scalers of
        scikit-learn, or one TablePreprocessor, `features` has the values before they were scaled, else those
        that the classifier sees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pathforest import OPFClassifier, explain
    >>> iris = load_iris(as_frame=True)
    >>> model = make_pipeline(StandardScaler(), OPFClassifier()).fit(iris.data[1:], iris.target[1:])
    >>> print(explain(model, iris.data[:1])[0])
    Predicted 0, cost 1.39 (next: 1, 2.44)
    Conquered by training sample 0 at distance 1.18, whose path costs 1.39: 0 -> 33 -> 29 -> 2 -> ... -> 40
    feature            sample  conqueror 0 (0)  rival 63 (1)  difference  share of distance
    petal width (cm)      0.2              0.2           1.3        -1.1                35%
    sepal width (cm)      3.5                3           2.9         0.6                32%
    petal length (cm)     1.4              1.4           3.6        -2.2                26%
    sepal length (cm)     5.1              4.9           5.6        -0.5                 6%
    """
    opened = open_up(estimator, explains=True)
    return opened.in_units_of(X, opened.model.explain(opened.represent(X)))


def only_scales(steps: Iterable[Any]) -> bool:
    """Say whether all steps of a pipeline change features one by one."""
    return all(isinstance(step, SCALERS) for step in _working(steps))


def _working(steps: Iterable[Any]) -> list[Any]:
    """List the steps of a pipeline that do something."""
    return [step for step in steps if step not in (None, "passthrough")]


def _before_scaling(features: Sequence[Feature], opened: Opened, query: np.ndarray | None) -> list[Feature]:
    """Show features as they were before they were scaled; a query as it was given has no rounding."""
    columns = [feature.column for feature in features]
    value, near, rival, scale = np.array([feature[2:6] for feature in features], dtype=np.float64).T
    rows = np.zeros((4, opened.model.n_features_in_))  # features of a sparse sample are not all of them
    rows[:, columns] = value, near, rival, near + scale
    for step in reversed(opened.steps):
        if isinstance(step, SCALERS):
            rows = step.inverse_transform(rows)
        else:  # what a preprocessor of tables did to numbers
            mean, scale = step._scaling_out()
            rows = rows * scale + mean
    value, near, rival, beyond = np.asarray(rows)[:, columns]
    value = value if query is None else query[columns]
    shown = zip(features, *(a.tolist() for a in (value, near, rival, np.abs(beyond - near))), strict=True)
    return [
        one._replace(value=value, conqueror=near, rival=None if one.rival is None else rival, scale=scale)
        for one, value, near, rival, scale in shown
    ]
