"""Samples on which searches are compared, and representations that are quick to make."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_limits

from pathforest._search.transformers import ImportanceScaler, TreeShares
from pathforest.noise import flip_labels


@pytest.fixture(scope="module", autouse=True)
def little_work():
    """Tests of the search need no good forest, and their small matrices no threads."""
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1, user_api="blas"):
        for kind in (TreeShares, ImportanceScaler):
            patch.setattr(kind.__init__, "__defaults__", (10, 0))
        yield


@pytest.fixture(scope="session")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["red", "white", "rose"], dtype=object)[flip_labels(y, 0.1, 0)]
