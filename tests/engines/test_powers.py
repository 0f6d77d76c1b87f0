"""The core's own powers and logarithms are the doubles nearest to the exact values."""

import numpy as np
import pytest
import reference

from pathforest import _core

pytestmark = pytest.mark.kernel

EXPONENTS = [3.0, 1.5, 2.5, 1.0, 5.0, 17.0, 100.5, 1e4, 2.0**40, 0.5, 0.25, 0.1, 2.0**-30]
LARGEST, SMALLEST = np.finfo(np.float64).max, 5e-324


def roots(x, y):
    """x^y by the step from a sum of powers to a distance."""
    p = 1 / y
    assert 1 / p == y
    return _core.distances_of_sums("minkowski", np.asarray(x, dtype=np.float64), p)


def bases(y):
    """Numbers whose powers are ordinary, close to 1, subnormal or overflow, and those in between."""
    rng = np.random.default_rng(int(y))
    edge = np.log(LARGEST) / y
    logarithms = [
        rng.uniform(-3, 3, 300),
        rng.uniform(-edge, edge, 300),
        rng.uniform(-1e-9, 1e-9, 100),
        -edge * rng.uniform(0.99, 1.06, 200),
        edge * rng.uniform(0.99, 1.01, 100),
    ]
    with np.errstate(over="ignore"):
        x = np.exp(np.clip(np.concatenate(logarithms), -745, 709.7))
    special = [0, 1, 2, 3, 0.5, 1 + 2.0**-52, 1 - 2.0**-53, SMALLEST, 3 * SMALLEST, 2.0**-1022, LARGEST]
    odd = np.arange(
        2**17 + 1, 2**18, 100.0
    )  # cubes of these, and powers of 1.5 of their squares, have 54 bits
    return np.concatenate([x, rng.integers(1, 2**20, 100), special, odd, odd * odd])


@pytest.mark.parametrize("y", EXPONENTS)
def test_powers_are_rounded_correctly(y):
    x = bases(y)
    np.testing.assert_array_equal(roots(x, y), reference.power(x, y))


EDGES = [SMALLEST, 1e-320, 1e-300, 1e-200, 1e-108, 1e-107, 1.0, 0.0, 1e102, 1e103, 1e200, LARGEST]


# Below 1, the p-th root that follows the sum is a power that spreads errors, so a wrong last digit shows.
@pytest.mark.parametrize("p", [0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_powers_are_rounded_correctly_in_every_lane(p, dtype):
    rng = np.random.default_rng(3)
    x = np.concatenate([np.exp(rng.uniform(-60, 60, 800)), np.exp(rng.uniform(-1, 1, 800)), np.zeros(50)])
    edges = np.tile(EDGES, 7) if dtype == np.float64 else []
    x = np.concatenate([rng.permutation(x), edges]).astype(dtype)
    engine = _core.Engine.brute(x[:, None], "minkowski", p)
    found = engine.distances(np.zeros((1, 1), dtype=dtype))[0]
    np.testing.assert_array_equal(found, reference.power(reference.power(x, p), 1 / p))


def test_logarithms_are_rounded_correctly():
    rng = np.random.default_rng(4)
    wide, middle, near = 10 ** rng.uniform(-320, 308, 800), 10 ** rng.uniform(-9, 4, 1500), 2.0**-8
    edges = near * (1 + rng.uniform(-1e-3, 1e-3, 100))
    x = np.concatenate([wide, middle, edges, [0, SMALLEST, 1, LARGEST, near, np.nextafter(near, 0)]])
    expected = 1e5 * reference.log_of_one_plus(x)
    np.testing.assert_array_equal(_core.distances_of_sums("log_sqeuclidean", x), expected)
