"""Squared distances by a float32 matrix product, with a bound on their error: fit to discard, not to decide.

Samples are centred and scaled by a power of two so that the farthest is no farther than 1 from the centre.
The squared distance of q and x is |q|^2 + (|x|^2 - 2 q.x). The bracket is one matrix product; its d + 1 terms
and as many sums are rounded, and so were samples and norms: with u = 2^-24 that makes less than
(d + 24) u (|q| + |x|)^2, whatever the order of the sums. Five percent more are for the comparisons that
follow, and for distances that differ in exact arithmetic and not in float64. Where squares are so small that
float64 has lost their digits, the scale stays below what would show them: all samples look equally near.

Tensor cores compute the product several times faster from shortened values (TF32), which keep 10 bits behind
the leading one: that adds 2^-9 of |q| |x| to the error of q.x, and their sums are rounded less carefully.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

from pathforest._engines.torch.devices import pieces, require_torch

ROUNDING = 2.0**-24
CONVERTED = 2**24  # values that are converted at a time
MAX_EXPONENT = 500  # of the scale: its square is finite, and squares that underflow are far below the error

_precision = Lock()  # held while the precision of products, which all threads share, is ours


class Estimates(NamedTuple):
    """Squared distances in parts: those of a query to all samples, and what to add for each query."""

    brackets: Any  # (m, padded n) |x|^2 - 2 q.x
    norms: Any  # (m,) |q|^2
    error: Any  # (m,) how far a sum of both may be off


class Scaling:
    """Centres samples, and scales them by a power of two so that the farthest has a length of at most 1."""

    def __init__(self, X: Any) -> None:
        n, d = X.shape
        step = max(1, CONVERTED // d)
        mean = sum((X[rows].double() / n).sum(0) for rows in pieces(n, step))
        # A mean may be rounded beyond the values; constant features are to vanish, however large.
        self._centre = mean.clamp(X.amin(0).double(), X.amax(0).double())
        farthest = max((X[rows].double() - self._centre).norm(dim=1).max() for rows in pieces(n, step))
        # A power of two changes no digit.
        self.scale = 2.0 ** min(MAX_EXPONENT, -float(farthest.log2().ceil())) if farthest > 0 else 1.0

    def __call__(self, rows: Any) -> Any:
        """Return scaled rows, in float64."""
        return (rows.double() - self._centre) * self.scale


class Estimator:
    """Squared distances of queries to samples, in units of the scale."""

    def __init__(self, X: Any, scaling: Scaling, group: int) -> None:
        torch = require_torch()
        n, d = X.shape
        self._scaling, self.scale = scaling, scaling.scale
        self._rate = (d + 24) * ROUNDING * 1.05
        # Padding fills the last group up; its rows are infinitely far.
        self.n_padded = -(-n // group) * group
        self._samples = torch.zeros((self.n_padded, d), dtype=torch.float32, device=X.device)
        self._norms = torch.full((self.n_padded,), torch.inf, dtype=torch.float32, device=X.device)
        for rows in pieces(n, max(1, CONVERTED // d)):
            self._samples[rows] = scaling(X[rows])
            self._norms[rows] = _squared_norms(self._samples[rows])

    def estimate(self, Q: Any, shortened: bool) -> Estimates:
        """Estimate the squared distances of queries to all samples, from shortened values if asked."""
        torch = require_torch()
        scaled = self._scaling(Q).float()
        norms = _squared_norms(scaled)
        lengths = norms.double().sqrt()
        error = self._rate * (lengths + 1) ** 2
        if shortened:
            error = 4 * error + 2.1 * 2.0**-9 * lengths
        samples = self._samples
        if shortened and not samples.is_cuda:  # what tensor cores would do, for tests
            scaled, samples = _shorten(scaled), _shorten(samples)
        with _products(Q.device, shortened):
            brackets = torch.addmm(self._norms, scaled, samples.T, alpha=-2)
        return Estimates(brackets, norms, error.float())


def _squared_norms(rows: Any) -> Any:
    return rows.double().square().sum(1).float()


def _shorten(values: Any) -> Any:
    torch = require_torch()
    return (values.view(torch.int32) & ~0x1FFF).view(torch.float32)


@contextmanager
def _products(device: Any, shortened: bool) -> Iterator[None]:
    """Set the precision of products while it lasts, whatever users and other threads want for theirs."""
    torch = require_torch()
    matmul = torch.backends.cuda.matmul
    # From 2.9 on torch refuses to report the older setting where the newer one has been used.
    is_new = hasattr(matmul, "fp32_precision")
    name, wanted = (
        ("fp32_precision", "tf32" if shortened else "ieee") if is_new else ("allow_tf32", shortened)
    )
    with _precision, torch.autocast(device.type, enabled=False):
        before = getattr(matmul, name)
        setattr(matmul, name, wanted)
        try:
            yield
        finally:
            setattr(matmul, name, before)
