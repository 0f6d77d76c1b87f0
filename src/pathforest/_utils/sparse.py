"""Sparse samples: SciPy's matrices in, and rows that the stages take in the place of an array."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from sklearn.utils import assert_all_finite

LARGEST = 2**31 - 1024  # number of features that the core has room for

# As they come; others become the first. scikit-learn adds the repeated entries of "coo" in no certain order.
SPARSE_FORMATS = ["csr", "coo"]

SVD = (
    "reduce the features first: make_pipeline(TruncatedSVD(100), Normalizer(), model), with TruncatedSVD "
    "from sklearn.decomposition, needs no dense copy of X"
)


class SparseSamples:
    """Samples of which only the values that are not 0 are stored, row by row.

    It has what stages use of an array of samples: length, shape, dtype, and rows by index. `indices` has the
    features of each row in ascending order, from ``indptr[i]`` to ``indptr[i + 1]``, and `data` their values.
    """

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

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self.indptr.nbytes + self.indices.nbytes + self.data.nbytes

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

    def row_keys(self) -> list[bytes]:
        """Return the contents of each row: equal rows have equal keys."""
        parts = zip(self.indptr[:-1], self.indptr[1:], strict=True)
        return [self.indices[a:b].tobytes() + self.data[a:b].tobytes() for a, b in parts]


def _sorted(X: Any) -> csr_array:
    """Sort entries by row, then feature; repeated ones keep their order, in which toarray adds them."""
    X = coo_array(X)
    order = np.lexsort([X.col, X.row])
    indptr = np.searchsorted(X.row, np.arange(X.shape[0] + 1), sorter=order)
    return csr_array((X.data[order], X.col[order], indptr), shape=X.shape)


def is_sparse(X: Any) -> bool:
    """Say whether samples are sparse, in SciPy's form or in ours."""
    return isinstance(X, SparseSamples) or issparse(X)
