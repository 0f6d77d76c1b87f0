"""Pages show what users get: their random forests have all trees, other than those of the other tests."""

import pytest

from pathforest._issues import unseen
from pathforest._issues.unseen import out_of_fold
from pathforest._search.transformers import N_TREES, JointFeatures


@pytest.fixture(scope="module", autouse=True)
def whole_random_forests():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JointFeatures.__init__, "__defaults__", (1, 3.0, N_TREES, 0, None, None))
        patch.setattr(unseen, "N_TREES", 300)
        patch.setattr(unseen, "out_of_fold", out_of_fold)
        yield
