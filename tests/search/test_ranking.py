"""Which of a search's cells is the best, which are averaged, and what the table says of them."""

from itertools import pairwise

import numpy as np
import pytest
from naive import tied

from pathforest import FuzzyOPFClassifierCV
from pathforest._search.scoring import Cell, Scores, average, best_cell, rank, table

pytestmark = pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")

PLAIN = Cell("as given", 10, 1.0, "tree", 1)


def order(cells, score=None, log_loss=None, transforms=("as given", "a", "b")):
    ones = np.ones(len(cells))
    score, log_loss = (ones if values is None else np.array(values) for values in (score, log_loss))
    return rank(cells, score, log_loss, transforms).tolist()


# Each cell is simpler than the next by one step of the rule, and less simple by every later step.
CHAIN = [
    Cell("b", 90, 1.0, "complete", 9),
    Cell("b", 80, 0.8, "tree", 8),
    Cell("b", 70, 0.8, "complete", 2),
    Cell("b", 60, 0.8, "complete", 5),
    Cell("a", 65, 0.8, "complete", 5),
    Cell("a", 10, 0.6, "tree", 1),
]


def test_the_score_decides_then_the_log_loss_then_the_simplest_then_the_order_of_transforms():
    assert order([PLAIN, PLAIN._replace(k_max=1), PLAIN._replace(k_max=30)], [0.8, 0.7, 0.9]) == [2, 0, 1]
    assert order([PLAIN, PLAIN._replace(sigma=0.2, n_conquerors=34)], log_loss=[0.5, 0.4]) == [1, 0]
    for simpler, other in pairwise(CHAIN):
        assert order([other, simpler]) == [1, 0]
    sigmas_equally_near_1 = [PLAIN._replace(sigma=0.8, k_max=30), PLAIN._replace(sigma=1.2, k_max=10)]
    assert order(sigmas_equally_near_1) == [1, 0]
    cells = [PLAIN._replace(transform="a"), PLAIN._replace(transform="z")]
    assert order(cells, transforms=("z", "a")) == [1, 0]


def test_rounding_of_a_mean_breaks_no_tie_and_scores_that_are_no_numbers_come_last():
    one, other = np.mean([0.1, 0.7, 0.3]), np.mean([0.3, 0.7, 0.1 + 1e-16])
    assert order([PLAIN._replace(sigma=0.2), PLAIN], [max(one, other) + 1e-16, one]) == [1, 0]
    assert order([PLAIN, PLAIN, PLAIN], [np.nan, 0.1, 0.2]) == [2, 1, 0]


# Which cells are averaged


def greedy(given, n_best=None):
    """The same, in words: take what makes the mean log loss smallest, twenty times."""
    chosen = []
    for _ in range(20):
        allowed = [i for i in range(len(given)) if len({*chosen, i}) <= (n_best or len(given))]
        losses = [-np.log(np.mean([given[j] for j in (*chosen, i)], axis=0)).mean() for i in allowed]
        chosen.append(allowed[int(np.argmin(np.round(losses, 12)))])
    return [chosen.count(i) / 20 for i in range(len(given))]


@pytest.mark.parametrize("n_best", [None, 1, 2, 9])
def test_the_average_is_chosen_greedily_and_ties_go_to_the_earlier(n_best):
    given = np.random.default_rng(0).beta(2, 1, size=(5, 60))
    weights = average(given, n_best)
    assert weights.tolist() == greedy(given, n_best)
    assert np.count_nonzero(weights) <= (n_best or 5)
    assert average(np.repeat(given[:1], 3, axis=0), n_best).tolist() == [1, 0, 0]
    assert average(np.array([[0.0, 1.0], [0.5, 0.5]]), n_best)[1] > 0.5  # a sure mistake costs much


def test_the_best_cell_of_a_representation_has_the_smallest_log_loss_or_the_best_score():
    cells = [PLAIN, PLAIN._replace(k_max=1), PLAIN._replace(k_max=2)]
    loss = np.array([[[0.9, 0.4]], [[0.3, 0.8]], [[0.3, 0.9]]])  # of one fold, for two betas
    score = np.array([[[0.1, 0.2]], [[0.5, 0.6]], [[0.7, 0.8]]])
    assert best_cell(cells, score, loss, by_score=False) == (2, 0)
    assert best_cell(cells, 1 - score, loss, by_score=False) == (1, 0)
    assert best_cell(cells, score + [[[2]], [[0]], [[0]]], loss, by_score=True) == (0, 1)


# Beta, and the table


def test_beta_has_the_smallest_mean_log_loss_and_the_row_shows_its_score():
    """Neither by the worst fold, which would take 0 and 1, nor by the best, which would take 2 and 0."""
    losses = np.array([[[0.3, 0.4, 0.7], [0.3, 0.1, 0.0]], [[0.1, 0.3, 0.5], [0.5, 0.3, 0.5]]])
    results = table([PLAIN] * 2, [0, 1, 2], Scores(losses / 2, losses), [PLAIN.transform], named=False)
    assert results["beta"].tolist() == [1, 0]
    np.testing.assert_allclose(results["mean_test_score"], [0.125, 0.15])


def test_the_table_has_a_row_for_each_cell_but_along_the_tree_none_with_a_sigma_above_1():
    pandas = pytest.importorskip("pandas")
    search = FuzzyOPFClassifierCV(
        k_max=(1, 90), sigmas=(0.2, 1.2), competitions=("tree", "complete"), n_conquerors=(1, 4),
        betas=(1, 7), cv=2, transforms=None,
    ).fit(*tied())  # fmt: skip
    results = search.cv_results_
    pairs = [("tree", 0.2), ("complete", 0.2), ("complete", 1.2)]
    expected = [(k, sigma, name, r) for k in (1, 90) for name, sigma in pairs for r in (1, 4)]
    assert sorted(tuple(params.values()) for params in results["params"]) == sorted(expected)
    assert {len(column) for column in results.values()} == {12}
    for name in ("k_max", "sigma", "competition", "n_conquerors"):
        assert [params[name] for params in results["params"]] == results[f"param_{name}"].tolist()
    folds = np.array([results["split0_test_score"], results["split1_test_score"]])
    np.testing.assert_allclose(results["mean_test_score"], folds.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], folds.std(axis=0))
    frame = pandas.DataFrame(results)
    assert frame.sort_values("rank_test_score").iloc[0]["params"] == search.best_params_
