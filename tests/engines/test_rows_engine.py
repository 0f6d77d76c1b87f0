"""The engine whose samples are gone: it answers queries, and says so when asked for more."""

import numpy as np
import pytest

from pathforest import _core

pytestmark = pytest.mark.kernel

NO_LISTS = np.empty((3, 0)), np.empty((3, 0), dtype=np.int32)
SEEDS = np.zeros(1, dtype=np.int32)
QUESTIONS = {
    "knn": lambda engine: engine.knn(1),
    "empty lists": lambda engine: engine.knn(0),
    "spanning tree": lambda engine: engine.spanning_tree(NO_LISTS),
    "competition": lambda engine: engine.compete(*NO_LISTS, SEEDS, np.ones(3), False),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_about_training_samples_are_refused(question, dtype):
    with pytest.raises(ValueError, match="knows no distances between its samples"):
        QUESTIONS[question](_core.Engine.rows(3, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_names_itself(dtype):
    engine = _core.Engine.rows(3, dtype)
    assert (engine.name, engine.dtype, engine.n_samples, engine.n_features) == ("rows", dtype, 3, 3)
