"""What the estimators over samples share: checked settings, kept training samples, engines on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from pathforest import _core
from pathforest._engines.build import EngineFactory, build_engine
from pathforest._engines.gower import with_categories
from pathforest._engines.matrix import (
    as_metric_takes,
    blocks,
    check_distances,
    complete_metric,
    distance_blocks,
    pairwise,
)
from pathforest._engines.metric import (
    ALIASES,
    NONNEGATIVE,
    SPARSE_METRICS,
    WITH_GAPS,
    Metric,
    array_options,
    check_sparse,
)
from pathforest._engines.protocol import Engine
from pathforest._engines.ranges import Reach, check_features, check_training_values, magnitude
from pathforest._models.labels import Labels, check_labels, on_host, remember_label, require_labels
from pathforest._models.parameters import check_parameters, checked_metric
from pathforest._models.state import SavableEstimator
from pathforest._utils.progress import SILENCE, progress
from pathforest._utils.samples import validated
from pathforest._utils.sparse import SparseSamples, is_sparse
from pathforest._utils.tables import as_table, code_table
from pathforest._utils.threads import thread_count
from pathforest._utils.timers import StageTimer
from pathforest.persistence.checks import check_samples

T = TypeVar("T")


class MetricEstimator(SavableEstimator):
    """Base of all estimators with a metric: it decides which samples they take."""

    @property
    def _device(self) -> str:
        """Where distances are computed; models pickled before they had the parameter use the CPU."""
        return getattr(self, "device", "cpu")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        name = self.metric if isinstance(self.metric, str) else ""
        tags.input_tags.pairwise = name == "precomputed"
        tags.input_tags.positive_only = name in NONNEGATIVE
        tags.input_tags.allow_nan = name in WITH_GAPS
        tags.input_tags.string = name == "gower"
        is_default = self.algorithm == "auto" and self._device == "cpu"
        tags.input_tags.sparse = is_default and ALIASES.get(name, name) in SPARSE_METRICS
        return tags

    def _read_samples(
        self, X: Any, metric: Metric, reset: bool = True, copy: bool = False
    ) -> tuple[np.ndarray, Metric]:
        """Check samples; where the metric takes categories, turn a table with text into numbers.

        With `reset` the categories are learned, and the metric returned knows which features they are.
        """
        X = on_host(X)
        if is_sparse(X):
            return self._read_sparse(X, metric, reset, copy), metric
        table = as_table(X) if metric.name == "gower" else None
        known = None if reset else vars(self).get("categories_")
        if table is None:
            X = validated(self, X, reset=reset, copy=copy, **array_options(metric))
            if known is not None:
                code_table(X, known)  # refuses numbers in the place of text
            return X, metric
        validate_data(self, table, reset=reset, skip_check_array=True)
        coded = code_table(table, known if reset or known else [None] * table.shape[1])
        if reset:
            self.categories_ = coded.categories
            metric = with_categories(metric, coded, getattr(table, "columns", None))
        return check_array(coded.values, input_name="X", estimator=self, **array_options(metric)), metric

    def _read_sparse(self, X: Any, metric: Metric, reset: bool, copy: bool) -> SparseSamples:
        """Check a sparse matrix of SciPy, or what a search has made of one."""
        if reset:
            check_sparse(metric, self.algorithm, self._device)
        if isinstance(X, SparseSamples):
            X = validate_data(self, X, reset=reset, skip_check_array=True)
            return X[:] if copy else X
        X = validated(self, X, reset=reset, accept_sparse="csr", **array_options(metric))
        return SparseSamples.of(X, copy)


class OPFEstimator(MetricEstimator):
    """Base of those that are one model: fitted state is plain arrays, from which engines are rebuilt."""

    @property
    def _squares(self) -> bool:
        """Whether a density will square the distances."""
        return False

    def _make_engine(
        self,
        timed: StageTimer,
        X: np.ndarray,
        metric: Metric,
        n_threads: int,
        make_engine: EngineFactory = build_engine,
    ) -> Engine:
        """Build the engine of the training samples, on the device that the parameters name."""
        return timed(make_engine, X, metric, self.algorithm, n_threads, self.verbose, device=self._device)

    def _check_fitted_state(self) -> int:
        self._check_settings()
        return check_samples(self)

    def _check_settings(self) -> tuple[Metric, int]:
        """Check every parameter before any work; return the metric and the number of threads."""
        check_parameters(self)
        return checked_metric(self), thread_count(self.n_jobs)

    def _check_samples(self, X: Any, metric: Metric, squares: bool) -> tuple[np.ndarray, Metric]:
        """Check the training samples and fix what the metric takes from them."""
        # A copy, because later engines are built from it: the user may change X in the meantime.
        # A distance matrix is not kept, hence not copied.
        X, metric = self._read_samples(X, metric, copy=metric.kind != "precomputed")
        metric = complete_metric(metric, X)
        check_training_values(X, metric, squares)
        return X, metric

    def _keep_samples(self, X: np.ndarray, metric: Metric, engine: Engine) -> None:
        """Keep what predictions need: the samples, but no matrix of distances between them."""
        self._fit_X = None if metric.kind == "precomputed" else X
        self._fit_metric = tuple(metric)
        self._fit_algorithm = engine.name
        self._fit_cache = {}

    def _derived_names(self) -> set[str]:
        return {"_fit_cache"}

    def _derive_state(self) -> None:
        self._fit_cache = {}

    def _cached(self, key: Any, build: Callable[[], T]) -> T:
        """Return the cached value of `key`, building it at first use.

        Threads that share a model may build it twice; the first one stays, and both are equal.
        """
        if key not in self._fit_cache:
            self._fit_cache.setdefault(key, build())
        return self._fit_cache[key]

    def _build_engine(self, dtype: np.dtype, members: np.ndarray, keep_order: bool = True) -> Engine:
        """Build an engine over some of the training samples, for queries of the given dtype.

        `keep_order` suits members whose first are the likeliest answers.
        """
        metric = Metric(*self._fit_metric)
        if metric.kind != "features":
            return _core.Engine.rows(len(members), dtype.name)
        X = self._fit_X[members].astype(dtype, copy=False)
        return build_engine(
            X,
            metric,
            self._fit_algorithm,
            thread_count(self.n_jobs),
            keep_order=keep_order,
            device=self._device,
        )

    def _without_spare_copies(self, members: np.ndarray, most: int) -> np.ndarray:
        """Leave out samples that have the same features as `most` others before them in `members`.

        Those others are as near to any query; so of the `most` that come first by distance, or by cost that
        ascends with `members`, a spare copy is never one.
        """
        if Metric(*self._fit_metric).kind != "features":
            return members
        return members[_core.copy_numbers(self._fit_X[members]) < most]

    def _most_copies(self) -> int:
        """Count the samples with the commonest features: as many copies as can ever be asked for."""
        if Metric(*self._fit_metric).kind != "features":
            return 1
        return 1 + int(_core.copy_numbers(self._fit_X).max())

    def _check_query(self, X: Any) -> np.ndarray:
        """Check new samples and give them a dtype that loses nothing."""
        check_is_fitted(self)
        check_parameters(self, ("n_jobs", "device"))
        metric = Metric(*self._fit_metric)
        if is_sparse(X) and not isinstance(self._fit_X, SparseSamples):
            raise ValueError(
                "this model was fitted to a dense array and takes no sparse matrix; pass X.toarray(), or fit "
                "it to a sparse matrix"
            )
        Q, _ = self._read_samples(X, metric, reset=False)
        if metric.kind == "precomputed":
            check_distances(Q, square=False)
        if metric.kind != "features":
            return Q
        reach = Reach(self._fit_X, self._cached("magnitude", lambda: magnitude(self._fit_X)))
        check_features(Q, metric, known=reach)
        if isinstance(self._fit_X, SparseSamples) and not isinstance(Q, SparseSamples):
            Q = SparseSamples.of(Q)
        return _lossless(Q, self._fit_X.dtype)

    def _progress(self, Q: np.ndarray) -> AbstractContextManager[Any]:
        """Show how many of some queries are answered."""
        return progress(len(Q), f"{type(self).__name__}: predict", "samples")

    def _nearest(
        self, Q: np.ndarray, k: int, n: int, bar: Any = SILENCE
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of queries with the distances and indices of their `k` nearest of `n` samples."""
        n_threads = thread_count(self.n_jobs)

        def gather() -> tuple[Engine, np.ndarray]:
            members = self._without_spare_copies(np.arange(n), max(k, 1))
            return self._build_engine(Q.dtype, members), members

        engine, members = self._cached((Q.dtype.char, k, self._device), gather)
        for rows, block in bar.over(self._query_blocks(Q, width=k)):
            distances, positions = engine.query(block, k, n_threads)
            yield rows, distances, members[positions]

    def _query_blocks(self, Q: np.ndarray, width: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield queries in blocks that bound memory and time: features, or distances to all training samples.

        `width` is the length of the answer to one query of features.
        """
        metric = Metric(*self._fit_metric)
        if metric.kind == "matrix":
            Q, X = as_metric_takes(Q, metric), as_metric_takes(self._fit_X, metric)
            for rows in distance_blocks(len(Q), X, metric):
                yield rows, pairwise(Q[rows], X, metric, rows.start)
        else:
            for rows in blocks(len(Q), Q.shape[1] if metric.kind == "precomputed" else width):
                yield rows, Q[rows]


class LabelledEstimator(ClassifierMixin, OPFEstimator):
    """Base of the classifiers: training samples come with labels."""

    def _check_training(
        self, X: Any, y: Any, metric: Metric, squares: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Metric]:
        """Check samples and labels; return both, the labels' codes and the completed metric."""
        require_labels(self, y)
        X, metric = self._check_samples(X, metric, squares)
        labels = check_labels(y)
        check_consistent_length(X, labels)
        remember_label(self, y)
        self.classes_, codes = Labels.of(labels)
        return X, labels, codes, metric


def _lossless(Q: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Give queries the dtype of the model if that keeps every value, else float64."""
    if isinstance(Q, SparseSamples):
        return Q.astype(_lossless(Q.data, dtype).dtype, copy=False)
    if Q.dtype == dtype or dtype == np.float64:
        return Q.astype(dtype, copy=False)
    with np.errstate(over="ignore"):
        narrow = Q.astype(dtype)
    return narrow if np.array_equal(narrow, Q, equal_nan=True) else Q
