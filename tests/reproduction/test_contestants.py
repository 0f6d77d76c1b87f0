from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from pathforest import FuzzyOPFClassifier, OPFClassifier
from pathforest._reproduction import contestants
from pathforest._reproduction.data import PRESETS
from pathforest._reproduction.experiment import CLASSIFIERS, Samples

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

# With these, training on the evaluation part too would change the scores on the test part.
SAMPLES = Samples(*make_moons(110, noise=0.35, random_state=2))


def parts(preset="paper"):
    return PRESETS[preset](SAMPLES, np.random.default_rng(3))


@pytest.fixture(scope="module")
def outcomes():
    return dict(contestants.run(list(CLASSIFIERS), parts()))


def trained(result, samples):
    """Fuzzy OPF with the parameters that a search chose."""
    model = FuzzyOPFClassifier(k_max=result["k_max"], sigma=result["sigma"], metric="log_sqeuclidean")
    return model.fit(*samples)


@cache
def naive_search(competition):
    """The paper's words: every cell trained alone, the first best with k_max, then sigma ascending."""
    share, options = parts(), {"competition": competition, "metric": "log_sqeuclidean"}
    [(_, rows)] = share.folds
    X, y = share.search.X[rows], share.search.y[rows]
    sigmas = contestants.SIGMAS[: 5 if competition == "tree" else 6]
    return {
        (k_max, sigma): FuzzyOPFClassifier(k_max=k_max, sigma=sigma, **options).fit(*share.train).score(X, y)
        for k_max, sigma in product(contestants.K_MAX, sigmas)
    }


@pytest.mark.parametrize(("name", "competition"), contestants.COMPETITION_OF.items())
def test_fuzzy_opf_takes_the_first_best_cell_of_the_papers_grid(outcomes, name, competition):
    cells = naive_search(competition)
    result, landscape = outcomes[name]
    assert {(k_max, sigma): score for k_max, sigma, score in landscape} == cells
    assert (result["k_max"], result["sigma"]) == max(cells, key=cells.get)  # the first of equals


def test_models_are_trained_without_the_evaluation_part_and_cleanly_on_all_that_is_not_test(outcomes):
    share, result = parts(), outcomes["fuzzy_opf"].result
    plain = OPFClassifier(metric="log_sqeuclidean").fit(*share.train)
    for model, found in ((trained(result, share.train), result), (plain, outcomes["opf"].result)):
        assert found["accuracy"] == model.score(*share.test)
        assert found["training_error"] == model.training_error_
        assert found["accuracy"] != clone(model).fit(*share.search).score(*share.test)
    assert result["best_k"] == trained(result, share.train).best_k_
    share = parts("clean")
    [(_, (result, _))] = contestants.run(["fuzzy_opf"], share)
    assert result["accuracy"] == trained(result, share.search).score(*share.test)
