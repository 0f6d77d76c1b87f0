from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_moons

from pathforest import FuzzyOPFClassifier, OPFClassifier
from pathforest._reproduction import contestants
from pathforest._reproduction.data import PRESETS
from pathforest._reproduction.experiment import CLASSIFIERS, RESULT_COLUMNS, Samples

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

# With these, training on the evaluation part too would change the scores on the test part.
SAMPLES = Samples(*make_moons(110, noise=0.35, random_state=2))


def parts(preset="paper"):
    return PRESETS[preset](SAMPLES, np.random.default_rng(3))


@pytest.fixture(scope="module")
def outcomes():
    return dict(contestants.run(list(CLASSIFIERS), parts()))


@cache
def naive_search(competition):
    """The paper's words: every cell trained alone, the first best with k_max, then sigma ascending."""
    share = parts()
    [(_, rows)] = share.folds
    X, y = share.search.X[rows], share.search.y[rows]
    cells = {}
    for k_max in contestants.K_MAX:
        for sigma in contestants.SIGMAS:
            if competition == "tree" and sigma > 1:
                continue
            model = FuzzyOPFClassifier(
                k_max=k_max, sigma=sigma, competition=competition, metric="log_sqeuclidean"
            )
            cells[k_max, sigma] = model.fit(*share.train).score(X, y)
    return cells


@pytest.mark.parametrize(("name", "competition"), contestants.COMPETITION_OF.items())
def test_fuzzy_opf_takes_the_first_best_cell_of_the_papers_grid(outcomes, name, competition):
    cells = naive_search(competition)
    result, landscape = outcomes[name]
    assert {(k_max, sigma): score for k_max, sigma, score in landscape} == cells
    assert (result["k_max"], result["sigma"]) == max(cells, key=cells.get)  # the first of equals


def test_models_are_trained_without_the_evaluation_part(outcomes):
    share, result = parts(), outcomes["fuzzy_opf"].result
    fuzzy = FuzzyOPFClassifier(k_max=result["k_max"], sigma=result["sigma"], metric="log_sqeuclidean")
    plain = OPFClassifier(metric="log_sqeuclidean")
    for model, found in ((fuzzy, result), (plain, outcomes["opf"].result)):
        assert model.fit(*share.search).score(*share.test) != found["accuracy"]
        assert model.fit(*share.train).score(*share.test) == found["accuracy"]
        assert found["training_error"] == model.training_error_
    assert result["best_k"] == fuzzy.best_k_


def test_every_classifier_fills_the_columns_that_apply_to_it(outcomes):
    assert outcomes.keys() == CLASSIFIERS.keys()
    scores = set(RESULT_COLUMNS[3:9])
    for name, outcome in outcomes.items():
        assert scores <= outcome.result.keys(), name
        assert outcome.result.keys() <= set(RESULT_COLUMNS)
        assert ("tune_seconds" in outcome.result) == (name not in ("opf", "naive_bayes", "knn1"))


def test_classifiers_asked_for_one_by_one_answer_the_same(outcomes):
    for name, together in outcomes.items():
        alone = dict(contestants.run([name], parts()))[name]
        assert alone.result["accuracy"] == together.result["accuracy"]
        assert alone.landscape == together.landscape


def test_the_clean_preset_trains_on_all_that_is_not_test():
    share = parts("clean")
    [(_, (result, _))] = contestants.run(["fuzzy_opf"], share)
    model = FuzzyOPFClassifier(k_max=result["k_max"], sigma=result["sigma"], metric="log_sqeuclidean").fit(
        *share.search
    )
    assert result["accuracy"] == model.score(*share.test)
