"""The number of threads for scikit-learn's `n_jobs`."""

from __future__ import annotations

import joblib

from pathforest import _core


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's `n_jobs`, within what OpenMP allows here.

    The second limit keeps each worker of a parallel grid search from starting a full set of threads:
    joblib sets it for them through OpenMP's own setting.
    """
    # threadpoolctl refuses a numpy integer, which joblib returns as given.
    return max(1, min(int(joblib.effective_n_jobs(n_jobs)), _core.max_threads()))
