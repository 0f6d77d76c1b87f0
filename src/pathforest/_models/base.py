"""The base of all estimators: checked settings, the door of `fit`, the training samples that are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pathforest import _core
from pathforest._engines.build import build_engine
from pathforest._engines.engine import Engine
from pathforest._engines.matrix import as_metric_takes, distance_blocks, pairwise
from pathforest._engines.metric import (
    ALIASES,
    NONNEGATIVE,
    SPARSE_METRICS,
    WITH_GAPS,
    Metric,
    complete_metric,
)
from pathforest._engines.samples import (
    SparseSamples,
    blocks,
    check_distances,
    check_features,
    check_training_values,
    is_sparse,
    magnitude,
    read_samples,
)
from pathforest._models import parameters as rules
from pathforest._models.labels import Labels, read_labels
from pathforest._persistence import save
from pathforest._persistence.checks import SAMPLES, Saved
from pathforest._tables.columns import default_names
from pathforest._utils.checks import map_threads, thread_count
from pathforest._utils.progress import SILENCE, CallbackSupportMixin, Stages, is_first, progress, stages_of
from pathforest._utils.text import show, warn

T = TypeVar("T")

# Metrics to which a feature in large units counts more. Others weigh features themselves, compare what has
# one unit, such as histograms, or are known to the user alone.
IN_UNITS = {"euclidean", "sqeuclidean", "log_sqeuclidean", "nan_euclidean"}
IN_UNITS |= {"manhattan", "chebyshev", "minkowski"}
SCALES = "features differ in scale"
UNITS = 30  # ranges of features that differ by more than this factor are reported
ROUNDING = 1e-12  # ranges that are smaller parts of the values are those of constants


class Settings(NamedTuple):
    """What the parameters come to, after they have been checked."""

    metric: Metric
    n_threads: int
    squares: bool  # whether a density will square the distances


class OPFEstimator(CallbackSupportMixin, BaseEstimator):
    """An estimator with a metric: parameters in `_rules`, files in `_saved`, stages in ``_fit(data)``."""

    _rules: ClassVar[rules.Rules]
    _saved: ClassVar[Saved] = SAMPLES
    _squares = False  # whether a density will square the distances

    def __init__(
        self, metric: Any, metric_params: Any, algorithm: str, n_jobs: int | None, device: str, verbose: int
    ) -> None:
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def save(self, path: str | os.PathLike[str], *, growable: bool = False) -> None:
        """Write the fitted model to one file, to be read by :func:`pathforest.load`.

        The file contains parameters, fitted attributes and a checksum, but no code, so that a file from
        anyone is safe to open. Other machines and later versions of pathforest can read it. It is written
        beside `path` and moved there when complete, so a failure leaves an earlier file as it was.

        Parameters
        ----------
        path : str or path-like
            The file.
        growable : bool, default=False
            Whether the loaded model can grow, for a model that can. The file is then larger: it contains the
            neighbour lists, the spanning tree and the labels as given.

        Raises
        ------
        ValueError
            If the model contains something that cannot be stored that way: a metric, membership or scorer
            that is a function, a transformer of the user's own, an object in `cv` other than a plain k-fold
            splitter. Use joblib or skops for such models. Also if the estimator is not fitted
            (`NotFittedError`), or has not kept what `growable` asks for.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> import pathforest
        >>> model = pathforest.OPFClustering(n_neighbors=2).fit([[0.0], [1.0], [1.5], [9.0], [9.5], [11.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "clusters.opf"))
        ...     loaded = pathforest.load(os.path.join(folder, "clusters.opf"))
        >>> loaded.predict([[3.0], [7.0]]).tolist()
        [0, 1]
        """
        save(self, path, growable=growable)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if "metric" not in self._rules:  # it is that of another estimator
            return tags
        name = self.metric if isinstance(self.metric, str) else ""
        tags.input_tags.pairwise = name == "precomputed"
        tags.input_tags.positive_only = name in NONNEGATIVE
        tags.input_tags.allow_nan = name in WITH_GAPS
        tags.input_tags.string = name == "gower"
        is_default = self.algorithm == "auto" and self.device == "cpu"
        tags.input_tags.sparse = is_default and ALIASES.get(name, name) in SPARSE_METRICS
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return {**state, "_fit_cache": {}} if "_fit_cache" in state else state

    @property
    def _samples(self) -> KeptSamples:
        """The training samples, as every answer about new ones needs them."""
        return KeptSamples(
            self._fit_X,
            Metric(*self._fit_metric),
            self._fit_algorithm,
            thread_count(self.n_jobs),
            self.device,
            self._fit_cache,
        )

    def _settings(self) -> Settings:
        """Check every parameter before any work."""
        rules.check_parameters(self)
        return Settings(rules.checked_metric(self), thread_count(self.n_jobs), self._squares)


class FitData:
    """What `_fit` gets, all checked and nothing computed; `grown` is of a model that can grow, or None."""

    def __init__(
        self, model: Any, X: np.ndarray | SparseSamples, settings: Settings, labels: Labels | None = None
    ) -> None:
        self.X, self.labels = X, labels
        self.metric, self.n_threads, self.squares = settings
        self.grown: dict[str, Any] | None = {} if labels is None else {**labels._asdict(), "named": None}
        self.stage: Stages = stages_of(model)
        self._model, self._engine = model, None

    @property
    def engine(self) -> Engine:
        """The engine of the training samples, built when it is first asked for; growth sets its own."""
        if self._engine is None:  # a cached_property would come between a warning and the user's line
            model = self._model
            options = model.algorithm, self.n_threads, model.verbose
            self._engine = self.stage(build_engine, self.X, self.metric, *options, device=model.device)
        return self._engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self._engine = engine


def open_fit(
    model: OPFEstimator, X: Any, y: Any = None, *, labelled: bool = False, as_given: bool = True
) -> FitData:
    """Check parameters, samples and labels, once, before any work; warn of units of features `as_given`."""
    settings = model._settings()
    X, metric = check_training(model, X, settings)
    labels = read_labels(model, y) if labelled else None
    if labels is not None:
        check_consistent_length(X, labels.codes)
    if as_given:
        warn_of_units(model, X, metric)
    return FitData(model, X, settings._replace(metric=metric), labels)


def check_training(model: OPFEstimator, X: Any, settings: Settings) -> tuple[np.ndarray, Metric]:
    """Check the training samples and fix what the metric takes from them."""
    # A copy, because later engines are built from it: the user may change X in the meantime.
    # A distance matrix is not kept, hence not copied.
    X, metric = read_samples(model, X, settings.metric, copy=settings.metric.kind != "precomputed")
    metric = complete_metric(metric, X)
    check_training_values(X, metric, settings.squares)
    return X, metric


def warn_of_units(model: OPFEstimator, X: Any, metric: Metric) -> None:
    """Warn, once in the outermost fit, if features are as given and units make one count far more."""
    names = vars(model).get("feature_names_in_")
    n_threads = thread_count(getattr(model, "n_jobs", None))
    said = differing_units(X, names, metric.name, n_threads) if isinstance(X, np.ndarray) else None
    if said and is_first("units"):
        warn(said)


def differing_units(
    X: np.ndarray, names: Sequence[str] | None, metric: Any, n_threads: int = 1
) -> str | None:
    """Say that a feature's range is far wider than another's; None if it is not, or units mean nothing."""
    if metric not in IN_UNITS:
        return None

    def extremes(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        return np.fmin.reduce(X[rows]), np.fmax.reduce(X[rows])

    lows, highs = zip(*map_threads(extremes, n_threads, blocks(*X.shape)), strict=True)
    low, high = np.fmin.reduce(lows).astype(np.float64), np.fmax.reduce(highs).astype(np.float64)
    spans = high - low
    varies = np.flatnonzero(spans > ROUNDING * np.maximum(np.abs(low), np.abs(high)))
    if not len(varies) or spans[varies].max() <= UNITS * spans[varies].min():
        return None
    names = default_names(X.shape[1]) if names is None else names
    narrow, wide = names[varies[spans[varies].argmin()]], names[varies[spans[varies].argmax()]]
    return (
        f"{SCALES}: the range of {show(wide)} is more than {UNITS} times that of {show(narrow)}, which "
        "hardly counts; standardise them, for example with make_pipeline(TablePreprocessor(), model) "
        "(--scale in the shell), or use FuzzyOPFClassifierCV, which does so by default"
    )


def keep_samples(model: OPFEstimator, data: FitData) -> None:
    """Keep what predictions need: the samples, but no matrix of distances between them."""
    model._fit_X = None if data.metric.kind == "precomputed" else data.X
    model._fit_metric = tuple(data.metric)
    model._fit_algorithm = data.engine.name
    model._fit_cache = {}
    if data.grown is not None and hasattr(model, "forget"):
        model._fit_grown = data.grown


class KeptSamples(NamedTuple):
    """The training samples of a model, from which engines are built when queries ask for them."""

    X: np.ndarray | SparseSamples | None  # None if queries are distances to them
    metric: Metric
    algorithm: str
    n_threads: int
    device: str
    cache: dict[Any, Any]  # what answers have built; other processes build it anew

    def cached(self, key: Any, build: Callable[[], T]) -> T:
        """Return the cached value of `key`; of two threads that build it the first one's stays."""
        key = key, self.device
        if key not in self.cache:
            self.cache.setdefault(key, build())
        return self.cache[key]

    def engine(self, members: np.ndarray, dtype: np.dtype, keep_order: bool = True) -> Engine:
        """Build an engine over some samples; `keep_order` suits those with the likeliest answers first."""
        if self.metric.kind != "features":
            return _core.Engine.rows(len(members), dtype.name)
        X = self.X[members].astype(dtype, copy=False)
        options = self.algorithm, self.n_threads
        return build_engine(X, self.metric, *options, keep_order=keep_order, device=self.device)

    def take(self, block: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Turn queries into those of an engine over some of the samples."""
        return block if self.metric.kind == "features" else np.ascontiguousarray(block[:, members])

    def without_spare_copies(self, members: np.ndarray, most: int, code: np.ndarray) -> np.ndarray:
        """Leave out samples with the features and the `code` of `most` others before them in `members`."""
        # Those are as near to any query, so a spare copy is never among the first `most` of its code.
        if self.metric.kind != "features":
            return members
        return members[_core.copy_numbers(self.X[members], code[members].astype(np.int32)) < most]

    def most_copies(self) -> int:
        """Count the samples with the commonest features: as many copies as can ever be asked for."""
        if self.metric.kind != "features":
            return 1
        return self.cached("most copies", lambda: 1 + int(_core.copy_numbers(self.X).max()))

    def blocks(self, Q: np.ndarray, width: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of queries: features, with answers of length `width`, or distances to all samples."""
        if self.metric.kind == "matrix":
            Q, X = as_metric_takes(Q, self.metric), as_metric_takes(self.X, self.metric)
            for rows in distance_blocks(len(Q), X, self.metric):
                yield rows, pairwise(Q[rows], X, self.metric, rows.start)
        else:
            for rows in blocks(len(Q), Q.shape[1] if self.metric.kind == "precomputed" else width):
                yield rows, Q[rows]

    def nearest(
        self, Q: np.ndarray, k: int, n: int, bar: Any = SILENCE
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of queries with the distances and indices of their `k` nearest of `n` samples."""

        def gather() -> tuple[Engine, np.ndarray]:
            members = self.without_spare_copies(np.arange(n), max(k, 1), np.zeros(n, dtype=np.int32))
            return self.engine(members, Q.dtype), members

        engine, members = self.cached(("nearest", Q.dtype.char, k), gather)
        for rows, block in bar.over(self.blocks(Q, width=k)):
            distances, positions = engine.query(block, k, self.n_threads)
            yield rows, distances, members[positions]


def check_queries(model: OPFEstimator, X: Any, kept: KeptSamples | None = None) -> np.ndarray:
    """Check queries against the samples `kept`, or the model's; give them a dtype that loses nothing."""
    check_is_fitted(model)
    rules.check_parameters(model, rules.AT_PREDICTION)
    kept = model._samples if kept is None else kept
    if is_sparse(X) and not isinstance(kept.X, SparseSamples):
        raise ValueError(
            "this model was fitted to a dense array and takes no sparse matrix; pass X.toarray(), or fit "
            "it to a sparse matrix"
        )
    Q, _ = read_samples(model, X, kept.metric, reset=False)
    if kept.metric.kind == "precomputed":
        check_distances(Q, square=False)
    if kept.metric.kind != "features":
        return Q
    largest = kept.cached("magnitude", lambda: magnitude(kept.X))
    check_features(Q, kept.metric, known=kept.X, largest=largest)
    if isinstance(kept.X, SparseSamples) and not isinstance(Q, SparseSamples):
        Q = SparseSamples.of(Q)
    return _lossless(Q, kept.X.dtype)


def answering(model: OPFEstimator, Q: np.ndarray) -> AbstractContextManager[Any]:
    """Show how many of some queries are answered."""
    return progress(len(Q), f"{type(model).__name__}: predict", "samples")


def _lossless(Q: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Give queries the dtype of the model if that keeps every value, else float64."""
    if isinstance(Q, SparseSamples):
        return Q.astype(_lossless(Q.data, dtype).dtype, copy=False)
    if Q.dtype == dtype or dtype == np.float64:
        return Q.astype(dtype, copy=False)
    with np.errstate(over="ignore"):
        narrow = Q.astype(dtype)
    return narrow if np.array_equal(narrow, Q, equal_nan=True) else Q
