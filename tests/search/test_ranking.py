"""Which of a search's cells is the best, which are averaged, and what the table says of them."""

from itertools import pairwise

import numpy as np
import pytest
from naive import tied

from pathforest import FuzzyOPFClassifierCV
from pathforest._search.scoring import Cell, Scores, choose_cells, rank, table

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


@pytest.mark.parametrize(
    ("losses", "transforms", "ranks", "n_best", "by_score", "expected"),
    [
        (
            [0.9, 0.2, 0.1, 0.3, 0.5],
            "abbca",
            [1, 2, 3, 4, 5],
            4,
            False,
            [0, 2, 3, 4],
        ),  # the best score, b, c, a
        ([0.9, 0.2, 0.1, 0.3, 0.5], "abbca", [1, 2, 3, 4, 5], 9, False, [0, 2, 3, 4, 1]),
        ([0.1, 0.2, 0.15], "aab", [2, 1, 3], 3, False, [1, 2, 0]),  # a has had its turn
        ([0.1, 0.2, 0.3, 0.4], "aabc", [4, 3, 2, 1], 3, False, [3, 0, 2]),
        ([0.1, 0.2, 0.3, 0.4], "aabc", [4, 3, 2, 1], 3, True, [3, 2, 1]),
        ([0.3, 0.1, 0.2], "aaa", [1, 2, 3], 3, False, [0, 1, 2]),
    ],
)
def test_representations_take_turns_by_their_best_cells(
    losses, transforms, ranks, n_best, by_score, expected
):
    results = {
        "params": [{"transform": name} for name in transforms],
        "mean_test_log_loss": np.array(losses),
        "rank_test_score": np.array(ranks),
    }
    assert choose_cells(results, n_best, by_score).tolist() == expected


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


def test_a_search_follows_the_rule():
    # Two far clusters: every cell is right everywhere. Infinite sharpness makes every log loss 0.
    y = np.arange(40) % 2
    X = np.random.default_rng(0).random((40, 2)) + 50 * y[:, None]
    search = FuzzyOPFClassifierCV(
        k_max=(9, 2), sigmas=(1.0, 0.2), competitions=("complete", "tree"), n_conquerors=(3, 1), cv=2,
        betas=1e3, transforms=None,
    )  # fmt: skip
    expected = {"k_max": 2, "sigma": 1.0, "competition": "tree", "n_conquerors": 1}
    assert search.fit(X, y).best_params_ == expected
