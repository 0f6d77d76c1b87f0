"""Distances: one feature after the other, every operation in the order in which the core rounds it."""

import decimal
import functools

import numpy as np


def distance_matrix(A, B, metric="euclidean", p=2.0):
    """All distances between the rows of A and of B."""
    if metric == "gower":
        return gower_matrix(A, B)
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    columns = [(A[:, j, None], B[None, :, j]) for j in range(A.shape[1])]

    def add(term):
        total = np.zeros((len(A), len(B)))
        for a, b in columns:
            total = total + term(a, b)
        return total

    match metric:
        case "euclidean":
            return np.sqrt(add(square))
        case "sqeuclidean":
            return add(square)
        case "log_sqeuclidean":
            return 1e5 * log_of_one_plus(add(square))
        case "manhattan":
            return add(gap)
        case "chebyshev":
            return functools.reduce(np.maximum, (gap(a, b) for a, b in columns))
        case "minkowski":
            return power(add(lambda a, b: power(gap(a, b), p)), 1.0 / p)
        case "chi2":
            return add(lambda a, b: share(square(a, b), a + b))
        case "canberra":
            return add(lambda a, b: share(gap(a, b), np.abs(a) + np.abs(b)))
        case "braycurtis":
            return share(add(gap), add(np.add))
        case "cosine":
            dot, na, nb = add(np.multiply), add(lambda a, b: a * a + 0 * b), add(lambda a, b: 0 * a + b * b)
            with np.errstate(divide="ignore", invalid="ignore"):
                in_range = (na * nb > 1e-290) & (na * nb < 1e290)
                norms = np.where(in_range, np.sqrt(na * nb), np.sqrt(na) * np.sqrt(nb))
                angle = np.maximum(0.0, 1.0 - dot / norms)
            return np.where((na == 0) | (nb == 0), np.where(na == nb, 0.0, 1.0), angle)
        case "nan_euclidean":
            present = add(lambda a, b: ~(np.isnan(a) | np.isnan(b)))
            total = add(lambda a, b: np.nan_to_num(square(a, b), nan=0.0, posinf=np.inf))
            return np.sqrt(np.where(present > 0, share(total, present / A.shape[1]), np.inf))
    raise ValueError(metric)


def gap(a, b):
    return np.abs(a - b)


def square(a, b):
    return (a - b) * (a - b)


def share(part, whole):
    """0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def gower(a, b, categorical=None, ranges=None, weights=None):
    """Gower's distance of two samples: no categories, and ranges and weights of 1, unless they are given."""
    total = present = 0.0
    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        x, y, weight = float(x), float(y), 1.0 if weights is None else float(weights[j])
        if x != x or y != y:
            continue
        if categorical is not None and categorical[j]:
            term = float(x != y)
        else:
            width = 1.0 if ranges is None else float(ranges[j])
            term = abs(x - y) / width if width else 0.0
        total += term * weight
        present += weight
    return total / present if present else 1.0


def gower_matrix(A, B, categorical=None, ranges=None, weights=None):
    """All of Gower's distances between the rows of A and of B."""
    return np.array([[gower(a, b, categorical, ranges, weights) for b in B] for a in A]).reshape(
        len(A), len(B)
    )


def power(x, y):
    """The double nearest to x^y, for each x >= 0."""
    return _nearest(x, lambda wide: np.power(wide, np.longdouble(y)), lambda v: exact_power(v, y))


def log_of_one_plus(x):
    """The double nearest to log(1 + x), for each x >= 0."""
    return _nearest(x, np.log1p, exact_log_of_one_plus)


def exact_power(x, y):
    """The same for one number and by decimal digits alone."""
    return float(DIGITS.power(decimal.Decimal(x), decimal.Decimal(y))) if x else 0.0


def exact_log_of_one_plus(x):
    """The same for one number and by decimal digits alone."""
    return float(DIGITS.ln(DIGITS.add(1, decimal.Decimal(x)))) if x > 1e-16 else x


DIGITS = decimal.Context(prec=100, Emin=-(10**6), Emax=10**6)


def _nearest(x, wide_function, exact_function):
    """Round values that long doubles have computed; where these lie too near the middle, decimals decide."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        wide = wide_function(x.astype(np.longdouble))
        doubt = 8 * np.finfo(np.longdouble).eps
        low, high = (np.asarray(wide * (1 + d), dtype=np.float64) for d in (-doubt, doubt))
    for place in np.argwhere(low != high):
        low[tuple(place)] = exact_function(x[tuple(place)].item())
    return low
