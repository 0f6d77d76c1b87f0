"""Every build of the kernels gives the same bits as the one this machine would choose."""

import os
import subprocess
import sys
from functools import cache

import pytest

from pathforest import _core

pytestmark = pytest.mark.kernel

LEVELS = ["baseline", "avx2", "avx512"]

# Widths and sizes on both sides of every vector length; each result goes into one digest.
DIGEST = """
import hashlib
import numpy as np
from pathforest import _core

digest = hashlib.sha256()
for metric in _core.METRICS_BRUTE:
    for dtype in (np.float32, np.float64):
        for d in (1, 2, 7, 16, 33):
            X = np.abs(np.random.default_rng(d).normal(size=(150, d))).astype(dtype)
            makers = [_core.Engine.brute] + [_core.Engine.kd_tree] * (metric in _core.METRICS_KD_TREE)
            for make in makers:
                engine = make(X, metric, 2.5)
                lists = engine.knn(12)
                tree = engine.spanning_tree(lists)
                forest = engine.compete(*lists, np.array([3, 77], np.int32), np.linspace(0.3, 1, 150), False)
                offers = engine.conquer(X[::-1].copy(), forest[0], forest[3], 3)
                density = _core.density(lists[0], 11, False)
                for array in (*lists, *tree, *forest, *offers, density):
                    digest.update(array.tobytes())
for k in (1, 3, 8, 17, 130):
    distances = 30 * np.random.default_rng(k).random((21, k))
    for squared in (False, True):
        digest.update(_core.query_density(distances, 4.0, squared).tobytes())
print(_core.simd_level(), digest.hexdigest())
"""


@cache
def level_and_digest(level):
    """Run the kernels in a process of their own: the choice is made once, at first use."""
    environment = {**os.environ, "PATHFOREST_SIMD": level}
    run = subprocess.run(
        [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_core.simd_level()) + 1])
def test_every_instruction_set_gives_the_same_bits(level):
    chosen, digest = level_and_digest(level)
    assert chosen == level
    assert digest == level_and_digest(_core.simd_level())[1]
