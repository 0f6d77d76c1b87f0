"""Samples on which searches are compared, and representations that are quick to make."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_limits

from pathforest.noise import flip_labels


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small matrices need no threads."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["red", "white", "rose"], dtype=object)[flip_labels(y, 0.1, 0)]
