"""Tables of numbers, text, truth values and gaps, turned into samples that distances can compare."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from pathforest._models.parameters import Rules, boolean, check_parameters, integer, where
from pathforest._persistence.checks import PARTS, TABLE, array, demand, indices, is_texts, saved, whole
from pathforest._persistence.checks import number as finite
from pathforest._tables.columns import (
    AMOUNT,
    CATEGORY,
    DATE,
    NOTHING,
    NUMBER,
    Columns,
    categories,
    columns_of,
    days,
    is_frame,
    is_gap,
    is_truth,
    kind_of,
    number,
    numbers,
    reads_as,
)
from pathforest._utils.progress import CallbackSupportMixin, fitting
from pathforest._utils.text import listed, show, warn

DROP = "drop"
KINDS = NUMBER, CATEGORY, DATE, DROP
SHOWN = 6  # categories listed for a column
TRUTH = {"1": "True", "1.0": "True", "0": "False", "0.0": "False"}  # as files write it, besides words
MISSING, OTHER = " (missing)", " (other)"  # shown behind the name of a column, as "=text" is


def _check_columns(table: TablePreprocessor, sizes: dict[str, int]) -> None:
    """Raise ValueError unless what was learned of the columns fits together."""
    check_parameters(table)
    table._asked_kinds()
    shape, kinds, groups = (sizes["features"],), table.kinds_, table.categories_
    is_named = type(kinds) is np.ndarray and kinds.shape == shape and {*kinds.tolist()} <= {*KINDS}
    demand(is_named, "kinds_ does not name the kind of each column")
    is_positive = table.category_value_ != 0 and (table.scale_ > 0).all()
    demand(is_positive, "category_value_ or scale_ has values that are not positive")
    indices("features", "counts")(table, "n_gaps_", sizes | {"counts": table.n_samples_seen_ + 1})
    is_list = type(groups) is list and len(groups) == shape[0]
    is_list = is_list and all(is_texts(texts) and len({*texts}) == len(texts) for texts in groups)
    demand(is_list, "categories_ is not a list of texts for each column")
    is_known = type(table._texts_seen) is list and len(table._texts_seen) == shape[0]
    demand(is_known and all(map(is_texts, table._texts_seen)), "_texts_seen is not a list of texts")
    sizes["outputs"] = sum(len(table._groups(j)) for j in range(shape[0]))


@saved(PARTS)
class TablePreprocessor(CallbackSupportMixin, TransformerMixin, BaseEstimator):
    """Turn a table of numbers, dates, text, truth values and gaps into numbers for distances.

    Numbers are standardised; a gap gets the median of its column. Text and truth values become one column of
    0 and 1 per category, so that two samples of different categories are as far apart as two samples are on
    average in a column of numbers. A column of text in which no text occurs twice, such as a name, is left
    out, as is a column without values. A column of numbers with a word in it is a category, with a warning.
    Dates are days since 1970-01-01, and treated as numbers.

    Everything is learned by `fit`, from the training samples alone. A text that `fit` has not seen counts as
    "other" if there were rare texts, and is equally far from all categories if there were none. A gap in text
    is a category of its own if there were gaps in training, and counts as a new text if there were none.

    Parameters
    ----------
    kinds : dict, default=None
        Columns to treat otherwise than their contents suggest: their names, or positions, and ``"number"``,
        ``"category"``, ``"date"`` or ``"drop"``. Use ``{"zip": "category"}`` for numbers that are only
        names, and ``{"id": "drop"}`` to leave a column out.
    max_categories : int, default=30
        Largest number of categories of a column: the most frequent ones. All others, and texts that occur
        once, are one category together, "other".
    scale : bool, default=True
        Whether numbers are standardised, for estimators that take features as given. False leaves them in
        their units, for estimators that scale features themselves, such as :class:`FuzzyOPFClassifierCV`; see
        `category_value_`.

    Attributes
    ----------
    kinds_ : ndarray of shape (n_features,)
        What each column is treated as: ``"number"``, ``"category"``, ``"date"`` or ``"drop"``.
    fill_, mean_, scale_ : ndarray of shape (n_features,)
        For columns of numbers and dates: the value for gaps, and what is subtracted and divided by; 0 and 1
        with ``scale=False``.
    categories_ : list of ndarray
        The categories of each column, none for columns of numbers.
    category_value_ : float
        What columns of a category have instead of 1: with ``scale=False`` the median standard deviation of
        the columns of numbers that vary, else 1.
    has_missing_, has_other_ : ndarray of shape (n_features,)
        Whether gaps, and rare texts, are a category of a column.
    n_gaps_ : ndarray of shape (n_features,)
        Missing values of each column in training.
    n_samples_seen_ : int
        Number of training samples.
    n_features_in_, feature_names_in_
        Number of columns of the table, and their names, if it has any.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Any transformer for any column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from pathforest import OPFClassifier, TablePreprocessor
    >>> X = np.array([[22, "S"], [38, "C"], [None, "S"], [35, "C"], [29, "Q"]], dtype=object)
    >>> model = make_pipeline(TablePreprocessor(), OPFClassifier()).fit(X, [0, 1, 0, 1, 0])
    >>> model.predict(np.array([[36, "C"], [None, "X"]], dtype=object)).tolist()
    [1, 0]
    >>> print(model[0].describe())
    x0: number, mean 31.2, standard deviation 5.492, 1 gap filled with 32
    x1: category, C, S, (other)
    """

    _saved = TABLE.extended(
        {
            "kinds_": None,
            **dict.fromkeys(("fill_", "mean_", "scale_"), array("features")),
            **dict.fromkeys(("has_missing_", "has_other_"), array("features", (np.dtype(bool),))),
            "category_value_": finite(),
            "n_samples_seen_": whole(1),
            "n_gaps_": None,
            "categories_": None,
            "_texts_seen": None,
        },
        None,
        _check_columns,
        derive=lambda table: table.set_params(kinds=dict(table.kinds) or None),
        pack=lambda table, state: state | {"kinds": list((table.kinds or {}).items())},  # keys may be numbers
    )
    _rules: ClassVar[Rules] = {
        "kinds": where(
            lambda value: value is None or isinstance(value, dict),
            "must be None or a dict, such as {'zip': 'category'}",
            TypeError,
        ),
        "max_categories": integer(1, "30 is the default"),
        "scale": boolean,
    }

    def __init__(
        self, kinds: dict[Any, str] | None = None, *, max_categories: int = 30, scale: bool = True
    ) -> None:
        self.kinds = kinds
        self.max_categories = max_categories
        self.scale = scale

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    @fitting
    def fit(self, X: Any, y: Any = None) -> TablePreprocessor:
        """Learn what to do with each column.

        Parameters
        ----------
        X : data frame, dict or array-like of shape (n_samples, n_features)
            The table: a data frame of pandas or polars, a dict of columns by name, an array, or a list of
            rows.
        y : None
            Ignored.

        Returns
        -------
        self : TablePreprocessor
            The fitted transformer.
        """
        check_parameters(self)
        X = self._check(X, reset=True)
        asked = self._asked_kinds()
        n = X.shape[1]
        self.kinds_ = np.full(n, DROP, dtype=object)
        self.fill_, self.mean_, self.scale_ = np.zeros(n), np.zeros(n), np.ones(n)
        self.categories_ = [np.empty(0, dtype=object) for _ in range(n)]
        self._texts_seen = list(self.categories_)  # rare ones too
        self.has_missing_, self.has_other_ = np.zeros((2, n), dtype=bool)
        self.n_gaps_ = np.zeros(n, dtype=np.int64)
        self.n_samples_seen_ = int(X.shape[0])
        deviations = []  # of the columns of numbers that vary
        for j, column in enumerate(columns_of(X)):
            kind = asked.get(j) or self._kind(column, j)
            if kind == CATEGORY:
                self._learn_categories(column, j)
            elif kind == NOTHING:
                self.n_gaps_[j] = self.n_samples_seen_
            elif kind != DROP:
                deviations += self._learn_numbers(column, j, kind)
        if (self.kinds_ == DROP).all():
            raise ValueError(
                f"none of the {n} columns is left: each is empty, or text in which nothing repeats; pass "
                "other columns, or make numbers of the text"
            )
        self.category_value_ = 1.0 if self.scale or not deviations else float(np.median(deviations))
        return self

    def _learn_numbers(self, column: np.ndarray, j: int, kind: str) -> list[float]:
        """Learn a column of numbers or dates; return its standard deviation, nothing if it does not vary."""
        values = self._numbers(column, j, kind)
        gaps = np.isnan(values)
        self.n_gaps_[j] = gaps.sum()
        if gaps.all():
            return []
        self.kinds_[j] = kind
        self.fill_[j] = np.median(values[~gaps])
        values[gaps] = self.fill_[j]
        scaler = StandardScaler().fit(values[:, None])
        if self.scale:
            self.mean_[j], self.scale_[j] = scaler.mean_[0], scaler.scale_[0]
        deviation = np.sqrt(scaler.var_[0])
        return [deviation] if deviation == scaler.scale_[0] < np.inf else []  # 1 if only rounding differs

    def _learn_categories(self, column: np.ndarray, j: int) -> None:
        texts = self._texts(column, j)
        counts = Counter(text for text in texts if text is not None)
        self.n_gaps_[j] = len(texts) - counts.total()
        common = sorted((-n, text) for text, n in counts.items() if n > 1)[: self.max_categories]
        if not common:
            return
        self.kinds_[j] = CATEGORY
        self.categories_[j] = np.array(sorted(text for _, text in common), dtype=object)
        self._texts_seen[j] = np.array(sorted(counts), dtype=object)
        self.has_missing_[j] = self.n_gaps_[j] > 0
        self.has_other_[j] = len(counts) > len(common)

    def transform(self, X: Any) -> np.ndarray:
        """Turn a table into numbers, as learned.

        Parameters
        ----------
        X : data frame, dict or array-like of shape (n_samples, n_features)
            A table with the columns of the training table.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_out)
            float64, without gaps. `get_feature_names_out` names its columns.
        """
        check_is_fitted(self)
        X = self._check(X, reset=False)
        parts = []
        for j, column in enumerate(columns_of(X)):
            if self.kinds_[j] == CATEGORY:
                parts.append(self._one_hot(self._texts(column, j), j))
            elif self.kinds_[j] != DROP:
                values = np.nan_to_num(self._numbers(column, j, self.kinds_[j]), nan=self.fill_[j])
                parts.append((values - self.mean_[j])[:, None] / self.scale_[j])
        return np.hstack(parts)

    def _one_hot(self, texts: list[str | None], j: int) -> np.ndarray:
        """Return a column per category, then one for gaps and one for other texts, if `fit` saw any."""
        groups = {group: place for place, group in enumerate(self._groups(j))}
        found = [MISSING if text is None else f"={text}" for text in texts]
        # What has no column gets one more, which is cut off.
        places = [groups.get(group, groups.get(OTHER, len(groups))) for group in found]
        return self.category_value_ * np.eye(len(groups) + 1)[places, : len(groups)]

    def _codes(self, X: Any, scaled: bool = False) -> np.ndarray:
        """Return numbers, or places of texts, -1 for unseen ones; NaN for gaps and columns left out."""
        X = self._check(X, reset=False)
        values = np.full(X.shape, np.nan)
        for j, column in enumerate(columns_of(X)):
            if self.kinds_[j] == CATEGORY:
                place = {text: code for code, text in enumerate(self._texts_seen[j])} | {None: np.nan}
                values[:, j] = [place.get(text, -1) for text in self._texts(column, j)]
            elif self.kinds_[j] != DROP:
                values[:, j] = self._numbers(column, j, self.kinds_[j])
        return (values - self.mean_) / self.scale_ if scaled else values

    def _sources(self) -> np.ndarray:
        """Return the column of the table that each column of the result was made from."""
        n = self.n_features_in_
        return np.repeat(np.arange(n), [len(self._groups(j)) for j in range(n)])

    def _groups(self, j: int) -> list[str]:
        """Return what is added to the name of a column in the names of the columns it becomes."""
        if self.kinds_[j] != CATEGORY:
            return [""] * (self.kinds_[j] != DROP)
        extra = [MISSING] * bool(self.has_missing_[j]) + [OTHER] * bool(self.has_other_[j])
        return [f"={text}" for text in self.categories_[j].tolist()] + extra

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the table's columns if the training table had none.

        Returns
        -------
        names : ndarray of str objects
            The names of the columns of numbers, and ``"column=text"`` for each category.
        """
        check_is_fitted(self)
        names = enumerate(_check_feature_names_in(self, input_features))
        return np.array([name + group for j, name in names for group in self._groups(j)], dtype=object)

    def _scaling_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what was subtracted from each column of the result, and what it was divided by."""
        scale = np.where(self.kinds_ == CATEGORY, 1 / self.category_value_, self.scale_)
        return self.mean_[self._sources()], scale[self._sources()]

    def describe(self) -> str:
        """Say what is done to each column, a line for each.

        Returns
        -------
        text : str
            Lines such as ``age: number, mean 29.7, standard deviation 13, 177 gaps filled with 28``.
        """
        return "\n".join("{column}: {kind}, {treatment}".format(**rule) for rule in self.column_rules())

    def column_rules(self) -> list[dict[str, str]]:
        """Return what `describe` says of each column.

        Returns
        -------
        rules : list of dict
            With the keys ``"column"``, ``"kind"`` and ``"treatment"``.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, None)
        kinds = ["left out" if kind == DROP else kind for kind in self.kinds_.tolist()]
        rules = zip(map(str, names), kinds, map(self._treatment, range(len(kinds))), strict=True)
        return [dict(zip(("column", "kind", "treatment"), rule, strict=True)) for rule in rules]

    def _treatment(self, j: int) -> str:
        gaps = int(self.n_gaps_[j])
        if self.kinds_[j] in (NUMBER, DATE):
            unit, digits = ("in days", 7) if self.kinds_[j] == DATE else ("in its own unit", 4)
            scaled = f"mean {self.mean_[j]:.{digits}g}, standard deviation {self.scale_[j]:.4g}"
            filled = f", {gaps} gap{'s' * (gaps > 1)} filled with {self.fill_[j]:.{digits}g}"
            return (scaled if self.scale else unit) + filled * (gaps > 0)
        if self.kinds_[j] == CATEGORY:
            names = [group[1:] for group in self._groups(j)]
            return ", ".join(names[:SHOWN]) + f", {len(names) - SHOWN} more" * (len(names) > SHOWN)
        if self._asked_kinds().get(j) == DROP:
            return "as asked"
        return "no values" if gaps == self.n_samples_seen_ else "no text occurs twice"

    # Columns

    def _check(self, X: Any, reset: bool) -> Any:
        """Return a data frame as it is, and anything else as an array; check names and number of columns."""
        if isinstance(X, dict):
            return self._check_dict(X, reset)
        if issparse(X):
            raise TypeError("a sparse matrix is not a table; pass X.toarray(), or scale it with MaxAbsScaler")
        if not is_frame(X):
            if not hasattr(X, "dtype"):
                X = np.array(X, dtype=object)  # numbers beside text would become text
            X = check_array(X, dtype=None, ensure_all_finite=False)
        elif 0 in X.shape:
            raise ValueError(f"a table of shape {X.shape} has no samples; it needs a row and a column")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _check_dict(self, X: dict[str, Any], reset: bool) -> Columns:
        """Take a table as columns by name, which needs no package for data frames."""
        if reset:
            self.feature_names_in_ = np.array([str(name) for name in X], dtype=object)
            self.n_features_in_ = len(X)
        names = getattr(self, "feature_names_in_", ())
        missing = [name for name in names if name not in X]
        if missing or not len(names):
            raise ValueError(f"the table has no column {show(missing[0] if missing else 0)}; add it")
        table = Columns([np.asarray(X[name]) for name in names])
        if 0 in table.shape or any(column.shape != table.shape[:1] for column in table):
            raise ValueError("the columns of a table are empty, or not of the same length")
        return table

    def _asked_kinds(self) -> dict[int, str]:
        """Return the kinds that `kinds` asks for, by position."""
        names = list(getattr(self, "feature_names_in_", ()))
        found = {}
        for column, kind in (self.kinds or {}).items():
            is_place = type(column) is int and 0 <= column < self.n_features_in_
            if column not in names and not is_place:
                known = listed(names) or f"0 to {self.n_features_in_ - 1}"
                raise ValueError(f"kinds names the column {show(column)}, which is not one of {known}")
            if kind not in KINDS:
                raise ValueError(f"kinds[{show(column)}]={show(kind)} should be one of {', '.join(KINDS)}")
            found[names.index(column) if column in names else column] = kind
        return found

    def _kind(self, column: np.ndarray, j: int) -> str:
        """Return what a column is; warn if most values are numbers: the others are probably mistakes."""
        kind = kind_of(column)
        if kind != CATEGORY:
            return kind
        present = [str(value) for value in column.tolist() if not (is_gap(value) or is_truth(value))]
        others = [text for text in present if not reads_as(text.replace(",", "."), number)]
        amounts = [text for text in others if AMOUNT.fullmatch(text)]
        n_numbers, found, way_out = len(present) - len(others), None, "correct it"
        if others and 2 * n_numbers > len(present):
            found = f"{n_numbers} of {len(present)} values are numbers, {show(others[0])} is not"
        elif 2 * len(amounts) > len(present):
            found = f"{show(amounts[0])} is not a plain number"
            way_out = "write it without signs and separators of thousands"
        if found:
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            warn(
                f"{self._name(j)} is taken as a category: {found}; {way_out}, or pass "
                f"kinds={{{names[j]!r}: {CATEGORY!r}}} (--columns {names[j]}={CATEGORY})"
            )
        return kind

    def _numbers(self, column: np.ndarray, j: int, kind: str) -> np.ndarray:
        """Return a column as new float64 numbers, those of dates in days, NaN for gaps."""
        try:
            values = days(column) if kind == DATE else numbers(column, gaps=True).astype(np.float64)
        except ValueError as error:
            raise ValueError(
                f"{self._name(j)} is a column of {kind}s, and {error}; correct it, or fit with this column "
                "as a category"
            ) from None
        if np.isinf(values).any():
            raise ValueError(f"{self._name(j)} has infinite values; replace them, by NaN if they are missing")
        return values

    def _texts(self, column: np.ndarray, j: int) -> list[str | None]:
        """Return a column as text, None for gaps; 1 and 0 are truth values if those were learned."""
        learned = {*self.categories_[j].tolist()}
        as_truth = TRUTH if learned and learned <= {*TRUTH.values()} else {}
        try:
            texts = [None if value is None else str(value) for value in categories(column).tolist()]
            return [as_truth.get(text, text) for text in texts]
        except (ValueError, TypeError) as error:
            raise type(error)(f"{self._name(j)}: {error}") from None

    def _name(self, j: int) -> str:
        names = vars(self).get("feature_names_in_")
        return f"column {j if names is None else show(str(names[j]))}"
