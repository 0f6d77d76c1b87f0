"""What a metric may take: samples as users pass them, checked, and refused with the way out.

Dense arrays go through scikit-learn's checks; sparse matrices become :class:`SparseSamples`. Then the values
must suit the metric: not negative, too large, too small or missing where it cannot compute with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, validate_data

from pathforest._engines.metric import NONNEGATIVE, SPARSE_METRICS, Metric, array_options, with_categories
from pathforest._tables.columns import as_table, code_table, is_gap, named_columns
from pathforest._utils.checks import map_threads, thread_count
from pathforest._utils.text import show

LARGE = 2**22  # values that are worth threads
LARGEST = 2**31 - 1024  # number of features that the core has room for

# As they come; others become the first. scikit-learn adds the repeated entries of "coo" in no certain order.
SPARSE_FORMATS = ["csr", "coo"]

SVD = (
    "reduce the features first: make_pipeline(TruncatedSVD(100), Normalizer(), model), with TruncatedSVD "
    "from sklearn.decomposition, needs no dense copy of X"
)
GAPS = (
    "metric='gower' and metric='nan_euclidean' take missing values; or fill them in, for example with "
    "make_pipeline(TablePreprocessor(), model)."
)
DENSE = (
    "Pass X.toarray(), or X.sparse.to_coo() of a DataFrame if the estimator takes sparse matrices; for text, "
    f"{SVD}."
)

NAT = -(2.0**63)  # what NaT becomes

BLOCK_BYTES = 2**26  # rows of distances held at once, beside a full matrix
BLOCK_WORK = 5 * 10**7  # feature values read in one call, well under a second: Ctrl-C waits for its end
TINY = float(np.finfo(np.float64).tiny)  # smaller numbers have lost digits, or all of them
SYMMETRY = 1e-10  # accepted |D - D^T|, as a share of the largest distance

# Rounding adds a little to each sum; half the largest float64 leaves ample room for it.
LIMIT = np.finfo(np.float64).max / 2
FIRST = 100  # samples that almost always show that the ranges are large enough


class SparseSamples:
    """The values that are not 0, row by row, features ascending, with what stages use of an array."""

    ndim = 2

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_features: int) -> None:
        self.indptr, self.indices, self.data, self.n_features = indptr, indices, data, n_features

    @classmethod
    def of(cls, X: Any, copy: bool = False) -> Self:
        """Take an array, or a matrix of SciPy that may have repeated entries, in any order, and zeros."""
        if X.shape[1] > LARGEST:
            raise ValueError(f"X has {X.shape[1]} features, and at most {LARGEST} are counted; {SVD}")
        X = _sorted(X) if issparse(X) and X.format == "coo" else csr_array(X)
        if not X.has_canonical_format:
            X = _sorted(X)
            X.sum_duplicates()
            assert_all_finite(X.data, input_name="X")
        if not X.data.all():
            X = X.copy()
            X.eliminate_zeros()
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=copy)
        return cls(indptr, indices, X.data.copy() if copy else X.data, X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return len(self), self.n_features

    @property
    def dtype(self) -> np.dtype:
        """Type of the values."""
        return self.data.dtype

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: Any) -> Self:
        """Return some rows, chosen as those of an array; one row alone is a matrix too."""
        if isinstance(rows, tuple) and rows[1:] == (...,):  # as scikit-learn chooses rows
            rows = rows[0]
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        size = np.diff(self.indptr)[chosen]
        indptr = np.concatenate([[0], np.cumsum(size)])
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], size)
        return type(self)(indptr, self.indices[entries], self.data[entries], self.n_features)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(f"sparse samples are not supported here; pass X.toarray(), or {SVD}")

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """Return them with values of another type."""
        return type(self)(self.indptr, self.indices, self.data.astype(dtype, copy=copy), self.n_features)

    def tocsr(self) -> csr_array:
        """Return a copy of them as a sparse array of SciPy."""
        return csr_array((self.data, self.indices, self.indptr), shape=self.shape, copy=True)

    def toarray(self) -> np.ndarray:
        """Return them as an array."""
        return self.tocsr().toarray()


def _sorted(X: Any) -> csr_array:
    """Sort entries by row, then feature; repeated ones keep their order, in which toarray adds them."""
    X = coo_array(X)
    order = np.lexsort([X.col, X.row])
    indptr = np.searchsorted(X.row, np.arange(X.shape[0] + 1), sorter=order)
    return csr_array((X.data[order], X.col[order], indptr), shape=X.shape)


def is_sparse(X: Any) -> bool:
    """Say whether samples are sparse, in SciPy's form or in ours."""
    return isinstance(X, SparseSamples) or issparse(X)


def check_sparse(metric: Metric, algorithm: str, device: str = "cpu") -> None:
    """Refuse what the engine of sparse samples does not do."""
    if metric.name not in SPARSE_METRICS:
        raise ValueError(
            f"metric={show(metric.name)} takes no sparse matrix; use one of {', '.join(SPARSE_METRICS)}, "
            f"pass X.toarray(), or {SVD}"
        )
    if algorithm != "auto":
        raise ValueError(
            f"algorithm={show(algorithm)} needs a dense array; use algorithm='auto' for a sparse matrix, or "
            "pass X.toarray()"
        )
    if device != "cpu":
        raise ValueError(f"device={show(device)} takes no sparse matrix; use device='cpu', or {SVD}")


# Reading


def from_torch(X: Any) -> Any:
    """Return a tensor on any device as an array, half precision as float32; anything else as it is."""
    if type(X).__module__.partition(".")[0] == "torch":
        is_half = X.is_floating_point() and X.element_size() == 2
        X = (X.detach().float() if is_half else X.detach()).cpu().numpy()
    return X.astype(np.float32) if isinstance(X, np.ndarray) and X.dtype == np.float16 else X


def read_samples(
    model: Any, X: Any, metric: Metric, reset: bool = True, copy: bool = False
) -> tuple[np.ndarray | SparseSamples, Metric]:
    """Check samples; for Gower turn a table into numbers, by categories that are learned with `reset`."""
    given, X = X, from_torch(X)
    if X is not given and getattr(given, "data_ptr", int)() != X.ctypes.data:
        copy = False  # it is one: of other type, or from the memory of a device
    if is_sparse(X):
        return read_sparse(model, X, metric, reset, copy), metric
    table = as_table(X) if metric.name == "gower" else None
    known = None if reset else vars(model).get("categories_")
    if table is None:
        X = _in_parts(model, X, reset=reset, copy=copy, **array_options(metric))
        if known is not None:
            code_table(X, known)  # refuses numbers instead of text
        return X, metric
    validate_data(model, table, reset=reset, skip_check_array=True)
    coded = code_table(table, known if reset or known else [None] * table.shape[1])
    if reset:
        model.categories_ = coded.categories
        metric = with_categories(metric, coded, getattr(table, "columns", None))
    return check_array(coded.values, input_name="X", estimator=model, **array_options(metric)), metric


def read_sparse(model: Any, X: Any, metric: Metric, reset: bool, copy: bool) -> SparseSamples:
    """Check a sparse matrix of SciPy, or what a search has made of one."""
    if reset:
        check_sparse(metric, model.algorithm, model.device)
    if isinstance(X, SparseSamples):
        X = validate_data(model, X, reset=reset, skip_check_array=True)
        return X[:] if copy else X
    X = validated(model, X, reset=reset, accept_sparse=SPARSE_FORMATS, **array_options(metric))
    return SparseSamples.of(X, copy)


def validated(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Check samples as ``validate_data`` does, refuse missing dates; messages end with the way out."""
    try:
        values = validate_data(estimator, X, **options)
    except (TypeError, ValueError) as error:
        columns = [(show(name), column, column.tolist()) for name, column in named_columns(X)]
        for name, column, values in columns:
            text = next((value for value in values if isinstance(value, str)), None)
            if column.dtype.kind not in "biufcmM" and text is not None:
                raise ValueError(
                    f"column {name} holds text, such as {show(text)}, and distances need numbers; encode "
                    "it with make_pipeline(TablePreprocessor(), model) or "
                    "TablePreprocessor().fit_transform(X), or pass metric='gower'"
                ) from None
        if "Input X contains NaN" in str(error):
            counts = ((name, sum(map(is_gap, values))) for name, _, values in columns)
            name, n = next((each for each in counts if each[1]), ("", 0))
            where = f": column {name} has {n} missing value{'s' * (n > 1)}" if n else ""
            raise ValueError(f"Input X contains NaN{where}.\n{GAPS}") from None
        if "Sparse data was passed" in str(error):
            raise type(error)(f"{error}\n{DENSE}") from None
        raise
    refuse_missing_dates(X, values)
    return values


def _in_parts(model: Any, X: Any, *, copy: bool, ensure_all_finite: bool | str, **options: Any) -> np.ndarray:
    """Do what `validated` does; large arrays are copied and looked through by several threads."""
    given = {"copy": copy, "ensure_all_finite": ensure_all_finite}
    if not isinstance(X, np.ndarray) or X.size < LARGE or ensure_all_finite is not True:
        return validated(model, X, **given, **options)
    values = validated(model, X, ensure_all_finite=False, **options)
    kept = np.empty_like(values) if copy and np.may_share_memory(values, X) else values

    def is_finite(rows: slice) -> bool:
        if kept is not values:
            kept[rows] = values[rows]
        with np.errstate(all="ignore"):
            return bool(np.isfinite(kept[rows].sum()))

    n_threads = thread_count(getattr(model, "n_jobs", None))
    is_fine = all(list(map_threads(is_finite, n_threads, blocks(*values.shape))))
    return kept if is_fine else validated(model, X, **given, **options)  # which says what is wrong, if it is


def refuse_missing_dates(given: Any, values: np.ndarray) -> None:
    """Raise if samples that were given as dates or durations, and are now `values`, have a NaT among them."""
    kind = getattr(getattr(given, "dtype", None), "kind", "?")
    if kind in "biuf" or values.min() > NAT:
        return
    dates = np.asarray(given)
    if dates.dtype.kind in "mM" and (missing := np.isnat(dates)).any():
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"X contains {missing.sum()} missing date(s) (NaT), the first in row {row}, column {column}; "
            "drop those rows or fill in their dates"
        )


def blocks(n_rows: int, row_length: int, row_work: int = 1) -> Iterator[slice]:
    """Slices of rows that stay within `BLOCK_BYTES` of float64 and `BLOCK_WORK` operations, or of one row."""
    step = max(1, min(BLOCK_BYTES // (8 * max(1, row_length)), BLOCK_WORK // row_work))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def rows_of(X: np.ndarray | SparseSamples, rows: np.ndarray, n_threads: int) -> np.ndarray | SparseSamples:
    """Copy some rows, on several threads."""
    if n_threads == 1 or not isinstance(X, np.ndarray):
        return X[rows]
    found = np.empty((len(rows), X.shape[1]), X.dtype)

    def copy(part: slice) -> None:
        np.take(X, rows[part], axis=0, out=found[part], mode="clip")

    list(map_threads(copy, n_threads, blocks(len(rows), 8 * X.shape[1])))
    return found


def without_self(
    distances: np.ndarray, indices: np.ndarray, samples: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Leave each sample out of its own list, which loses its last entry if the sample is not in it."""
    own = indices == samples[:, None]
    own[:, -1] |= ~own.any(axis=1)
    shape = len(samples), indices.shape[1] - 1
    return distances[~own].reshape(shape), indices[~own].reshape(shape)


# Ranges


def check_training_values(X: np.ndarray | SparseSamples, metric: Metric, squares: bool = False) -> None:
    """Refuse values the metric cannot take; `squares` says that a density will square its distances."""
    if metric.kind == "precomputed":
        check_distances(X, square=True, squares=squares)
    elif metric.kind == "features":
        check_features(X, metric, squares)
        check_spread(X, metric, squares)


def check_features(
    X: np.ndarray | SparseSamples,
    metric: Metric,
    squares: bool = False,
    known: np.ndarray | SparseSamples | None = None,
    largest: float = 0.0,
) -> None:
    """Raise if a feature's sign or range, or what is missing, does not suit the metric."""
    # `squares`: a density will square distances. Queries are compared with `known`, of magnitude `largest`.
    if metric.name in NONNEGATIVE:
        _refuse_negative(X, metric.name, "features", "shift or clip them, or choose another metric")
    arrays = [X] if known is None else [X, known]
    if metric.name == "nan_euclidean":
        _check_in_common(X, arrays[-1])
    # Three tests, from free to thorough: the range of the dtype, the largest magnitude, each feature.
    n_used = X.shape[1]
    if all(isinstance(array, SparseSamples) for array in arrays):  # of which many may be 0 everywhere
        n_used = max(1, min(n_used, sum(len(array.data) for array in arrays)))
    if _fits(metric, squares, n_used, max(float(np.finfo(array.dtype).max) for array in arrays)):
        return
    if _fits(metric, squares, n_used, max(magnitude(X), largest)):
        return
    lows, highs = zip(*map(_feature_extremes, arrays), strict=True)
    low, high = np.fmin.reduce(lows).astype(np.float64), np.fmax.reduce(highs).astype(np.float64)
    low, high = np.where(np.isnan(low), 0.0, [low, high])
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low
        bound = _largest_term(metric, squares, width, np.maximum(np.abs(low), np.abs(high)))
    if not bound <= LIMIT:
        widest = int(np.argmax(width))
        raise ValueError(
            f"metric={metric.name!r} could overflow: feature {widest} ranges from {low[widest]:.3g} to "
            f"{high[widest]:.3g}; rescale X, for example with sklearn.preprocessing.MaxAbsScaler"
        )


def check_spread(X: np.ndarray | SparseSamples, metric: Metric, squares: bool = False) -> None:
    """Refuse training samples that differ, but in no feature by so much that powers keep their digits."""
    powers = {"minkowski": max(metric.p, 2 * squares), "manhattan": 2 * squares, "chebyshev": 2 * squares}
    power = powers.get(metric.name, 2 * (metric.name in SQUARES))  # 0 if units cancel
    least = TINY ** (1 / power) if power else 0.0
    # From free to thorough: the smallest number of the dtype, a few samples, all of them.
    if np.finfo(X.dtype).smallest_subnormal >= least or _widest_range(X[:FIRST]) >= least:
        return
    widest = _widest_range(X)
    if 0 < widest < least and not (metric.name == "cosine" and magnitude(X) >= least):
        raise ValueError(
            f"metric={metric.name!r} would underflow: no feature ranges over more than {widest:.3g}, and "
            f"powers of such differences are lost; {enlarge(widest)}"
        )


def check_distances(D: np.ndarray, square: bool, squares: bool = False) -> None:
    """Raise unless `D` can be distances, between training samples if `square`, to be squared if `squares`."""
    if square and D.shape[0] != D.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs the square matrix of distances between training samples, got shape "
            f"{D.shape}; pass all of them, or choose another metric for features"
        )
    _refuse_negative(D, "precomputed", "distances", "clip rounding errors with np.maximum(X, 0)")
    if not square:
        return
    largest = float(D.max())
    for rows in blocks(*D.shape):
        gap = np.abs(D[rows] - D[:, rows].T)
        if gap.max() > SYMMETRY * largest:
            row, column = np.unravel_index(np.argmax(gap), gap.shape)
            raise ValueError(
                f"metric='precomputed' needs a symmetric matrix, but X[{row + rows.start}, {column}] and its "
                f"mirror image differ by {gap[row, column]:.3g}; symmetrise it, for example (X + X.T) / 2"
            )
    if squares:
        check_squares(largest, least=TINY)


def _refuse_negative(X: np.ndarray, metric: str, what: str, way_out: str) -> None:
    if X.min() < 0:
        row, column = np.unravel_index(np.argmin(X), X.shape)
        raise ValueError(
            f"Negative values in data passed to metric={metric!r}, which needs {what} >= 0: "
            f"X[{row}, {column}] is {X[row, column]:.6g}; {way_out}"
        )


def check_squares(longest: float, least: float) -> None:
    """Raise if the longest distance has a square, which Eq. 3 takes, that overflows or is below `least`."""
    if longest > np.sqrt(np.finfo(np.float64).max):
        raise ValueError(f"distances up to {longest:.3g} overflow when the density squares them; rescale X")
    if longest > 0 and longest * longest < least:
        raise ValueError(
            f"distances up to {longest:.3g} underflow when the density squares them; {enlarge(longest)}"
        )


def enlarge(size: float) -> str:
    """Say by what to multiply samples so small."""
    return f"multiply X by {10.0 ** min(300, int(-np.log10(size))):.0e}"


def magnitude(X: np.ndarray | SparseSamples) -> float:
    """Largest absolute value in `X`, gaps apart, without a copy of it."""
    if isinstance(X, SparseSamples):
        return float(np.abs(X.data).max(initial=0.0))
    return max(0.0, float(np.fmax.reduce(X, axis=None)), -float(np.fmin.reduce(X, axis=None)))


def _feature_extremes(X: np.ndarray | SparseSamples) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of each feature, gaps apart."""
    if isinstance(X, SparseSamples):
        rows = X.tocsr()
        return rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)


def _widest_range(X: np.ndarray | SparseSamples) -> float:
    """Return the largest range of a feature; 0 if none has a value."""
    if isinstance(X, SparseSamples):  # without the features that are 0 everywhere
        used, indices = np.unique(X.indices, return_inverse=True)
        X = SparseSamples(X.indptr, indices, X.data, max(1, len(used)))
    low, high = _feature_extremes(X)
    with np.errstate(over="ignore"):
        return float(np.fmax.reduce(high.astype(np.float64) - low, initial=0.0))


def _check_in_common(X: np.ndarray, known: np.ndarray) -> None:
    """Refuse samples that share no feature with one of the known: their distance would be undefined."""
    has, known_has = ~np.isnan(X), ~np.isnan(known)
    fewest = has.sum(axis=1).min() + known_has.sum(axis=1).min()
    if (has.all(axis=0) & known_has.all(axis=0)).any() or fewest > X.shape[1]:
        return
    # One sample stands for all with gaps in the same places.
    (has, first), (known_has, known_first) = (
        np.unique(array, axis=0, return_index=True) for array in (has, known_has)
    )
    columns = known_has.T.astype(np.float32)
    for rows in blocks(len(has), len(known_has), has.shape[1] * len(known_has)):
        n_common = has[rows].astype(np.float32) @ columns
        if not n_common.all():
            row, column = np.argwhere(n_common == 0)[0]
            j = known_first[column]
            other = f"row {j} of X" if known is X else f"training sample {j}"
            raise ValueError(
                f"metric='nan_euclidean' is undefined between row {first[rows.start + row]} of X and "
                f"{other}, which have no feature in common; fill in missing values, drop "
                "such rows, or use metric='gower', where their distance is 1"
            )


def _fits(metric: Metric, squares: bool, n_features: int, magnitude: float) -> bool:
    """Say whether no distance can overflow as long as no feature exceeds `magnitude`."""
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.full(n_features, 2 * np.float64(magnitude))
        return bool(_largest_term(metric, squares, width, width / 2) <= LIMIT)


def _largest_term(metric: Metric, squares: bool, width: np.ndarray, size: np.ndarray) -> float:
    """Bound what computing a distance can reach, for features of these widths and magnitudes."""
    distance, reached = BOUNDS[metric.name](metric, width, size)
    return max(reached, distance * distance if squares else distance)


def _bound_gower(metric: Metric, width: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    ranges = metric.params["ranges"]
    is_scaled = (ranges > 0) & ~metric.params["categorical"]
    terms = np.divide(width, ranges, out=np.ones_like(width), where=is_scaled)
    return np.max(terms), np.maximum(np.max(width), metric.params["weights"] @ terms)


# Metrics that square features, or their differences.
SQUARES = ("euclidean", "sqeuclidean", "log_sqeuclidean", "nan_euclidean", "cosine", "chi2")

# Bounds of a distance, 0 where another one covers it, and of what computing it reaches besides, for features
# of these widths and magnitudes.
BOUNDS: dict[Any, Callable[[Metric, np.ndarray, np.ndarray], tuple[float, float]]] = {
    **dict.fromkeys(SQUARES[:3], lambda metric, width, size: (0.0, np.sum(width * width))),
    "nan_euclidean": lambda metric, width, size: (0.0, len(width) * np.sum(width * width)),
    "gower": _bound_gower,
    "manhattan": lambda metric, width, size: (np.sum(width), 0.0),
    "chebyshev": lambda metric, width, size: (np.max(width), 0.0),
    "minkowski": lambda metric, width, size: (np.sum(width), np.sum(width**metric.p)),
    "cosine": lambda metric, width, size: (2.0, np.sum(size * size)),
    "chi2": lambda metric, width, size: (2 * np.sum(size), np.sum(width * width)),
    "canberra": lambda metric, width, size: (float(len(width)), 2 * np.max(size)),
    "braycurtis": lambda metric, width, size: (1.0, 2 * np.sum(size)),
}
