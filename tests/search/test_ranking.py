"""Which of a search's cells is the best: the tie rule, step by step."""

import numpy as np
import pytest

from pathforest import FuzzyOPFClassifierCV
from pathforest._search.scoring import Cell, Scores, rank, table

PLAIN = Cell("as given", 10, 1.0, "tree", 1)


def order(cells, score=None, log_loss=None, transforms=("as given", "a", "b")):
    ones = np.ones(len(cells))
    score, log_loss = (ones if values is None else values for values in (score, log_loss))
    return rank(cells, score, log_loss, transforms)


def test_the_best_mean_score_comes_first():
    cells = [PLAIN, PLAIN._replace(k_max=1), PLAIN._replace(k_max=30)]
    assert order(cells, score=np.array([0.8, 0.7, 0.9])).tolist() == [2, 0, 1]


def test_then_the_smallest_log_loss():
    cells = [PLAIN, PLAIN._replace(sigma=0.2, n_conquerors=34)]
    assert order(cells, log_loss=np.array([0.5, 0.4])).tolist() == [1, 0]


# Each cell is simpler than the next by one step of the rule, and less simple by every later step.
CHAIN = [
    Cell("b", 90, 1.0, "complete", 9),
    Cell("b", 80, 0.8, "tree", 8),
    Cell("b", 70, 0.8, "complete", 2),
    Cell("b", 60, 0.8, "complete", 5),
    Cell("a", 65, 0.8, "complete", 5),
    Cell("a", 10, 0.6, "tree", 1),
]


@pytest.mark.parametrize("step", range(len(CHAIN) - 1))
def test_then_the_simplest(step):
    pair = [CHAIN[step + 1], CHAIN[step]]
    assert order(pair).tolist() == [1, 0]


def test_sigmas_equally_near_1_leave_it_to_the_next_step():
    assert order([PLAIN._replace(sigma=0.8, k_max=30), PLAIN._replace(sigma=1.2, k_max=10)]).tolist() == [
        1,
        0,
    ]


def test_last_the_order_of_the_transforms_whatever_that_of_the_cells():
    cells = [PLAIN._replace(transform="a"), PLAIN._replace(transform="z")]
    assert order(cells, transforms=("z", "a")).tolist() == [1, 0]


def test_rounding_of_a_mean_breaks_no_tie():
    one, other = np.mean([0.1, 0.7, 0.3]), np.mean([0.3, 0.7, 0.1 + 1e-16])
    cells = [PLAIN._replace(sigma=0.2), PLAIN]
    assert order(cells, score=np.array([max(one, other) + 1e-16, one])).tolist() == [1, 0]


def test_scores_that_are_no_numbers_come_last():
    assert order([PLAIN, PLAIN, PLAIN], score=np.array([np.nan, 0.1, 0.2])).tolist() == [2, 1, 0]


def test_beta_has_the_smallest_mean_log_loss():
    """Neither by the worst fold, which would take 0 and 1, nor by the best, which would take 2 and 0."""
    losses = np.array([[[0.3, 0.4, 0.7], [0.3, 0.1, 0.0]], [[0.1, 0.3, 0.5], [0.5, 0.3, 0.5]]])
    results = table([PLAIN] * 2, [0, 1, 2], Scores(losses, losses), [PLAIN.transform], named=False)
    assert results["beta"].tolist() == [1, 0]


def test_the_row_shows_the_score_of_the_chosen_beta():
    scores = Scores(np.array([[[0.1, 0.2], [0.3, 0.4]]]), np.array([[[0.9, 0.5], [0.9, 0.5]]]))
    results = table([PLAIN], [1, 8], scores, [PLAIN.transform], named=False)
    assert (results["mean_test_score"][0], results["beta"][0]) == (pytest.approx(0.3), 8)


def tied_problem():
    """Two far clusters: every cell is right everywhere."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.random((40, 2)) + 50 * y[:, None], y


def test_a_search_follows_the_rule():
    # Infinite sharpness makes every log loss 0: all cells tie to the end.
    search = FuzzyOPFClassifierCV(
        k_max=(9, 2), sigmas=(1.0, 0.2), competitions=("complete", "tree"), n_conquerors=(3, 1), cv=2,
        betas=1e3, transforms=None,
    )  # fmt: skip
    expected = {"k_max": 2, "sigma": 1.0, "competition": "tree", "n_conquerors": 1}
    assert search.fit(*tied_problem()).best_params_ == expected
