import numpy as np
import pandas as pd
import pytest
from experiments import an_experiment
from scipy import stats

from pathforest._reproduction import published, statistics
from pathforest._reproduction.experiment import LANDSCAPE_COLUMNS


def table(scores, dataset="boat", seconds=1.0):
    """Results of some classifiers, from lists of accuracies."""
    columns = ("dataset", "run", "classifier", "accuracy", "f1_weighted", "fit_seconds")
    rows = [
        (dataset, run, name, value, value / 2, seconds)
        for name, values in scores.items()
        for run, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=columns)


def judged(results):
    """Agreement with the paper, from scores of single runs."""
    return statistics.agreement(statistics.summarise(results, published.CLASSIFIERS))


def test_means_deviations_and_f1_and_bold_marks_of_the_best_and_what_is_as_good():
    rng = np.random.default_rng(0)
    best = rng.uniform(0.8, 0.9, 20)
    equal, worse = best + rng.choice([-0.01, 0.009], 20), best - rng.uniform(0.01, 0.02, 20)
    results = table({"opf": best, "fuzzy_opf": equal, "knn1": worse}, seconds=0.5)
    found = statistics.summarise(results).loc["boat"]
    assert found["bold"].to_list() == [True, True, False]
    expected = [best.mean(), best.std(), best.mean() / 2]
    assert found.loc["opf", ["mean", "std", "f1"]].tolist() == pytest.approx(expected)
    assert found.loc["opf", ["seconds", "speedup"]].tolist() == [0.5, pytest.approx(0.00062 / 0.5)]
    assert statistics.summarise(results, ["knn1"])["bold"].to_list() == [True]  # only these compete


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        ([0.01, 0.02, 0.03, 0.04, 0.05], 2 / 2**5),
        ([0.01, 0.02, 0.03, 0.04, 0], 2 / 2**4),
        ([-0.01, 0.01, 0, 0, 0], 1),
        ([4e-17, 0, 0, 0, 0], 1),  # equal but for rounding
    ],
)
def test_few_runs_have_an_exact_p_value(difference, expected):
    few = pd.Series([0.1, 0.2, 0.3, 0.4, 0.5])
    assert statistics.p_value(few - (few - difference)) == expected


@pytest.mark.parametrize("runs", [9, 10, 11, 20])
def test_p_values_are_those_of_scipy(runs):
    first, second = np.random.default_rng(runs).random((2, runs))
    expected = stats.wilcoxon(first, second, method="exact" if runs <= 10 else "approx").pvalue
    assert statistics.p_value(pd.Series(first - second)) == pytest.approx(expected, rel=1e-12)


def test_agreement_counts_in_standard_errors_of_both(monkeypatch):
    values = np.array([0.95, 1.0] * 10)
    row = judged(table({"opf": values[:10]})).iloc[0]
    theirs = published.TABLE.loc[("boat", "opf")]
    error = np.sqrt(theirs["std"] ** 2 / 20 + values.std() ** 2 / 10)
    assert row["z"] == pytest.approx((0.975 - theirs["mean"]) / error)
    assert row["agrees"] == (abs(row["z"]) <= 2)
    assert judged(table({"knn1": [1.0]})).empty
    monkeypatch.setattr(published, "TABLE", published.TABLE.assign(mean=0.5, std=0.0))  # no deviation at all
    for value, z in ((0.5, 0), (0.25, -np.inf)):
        assert judged(table({"opf": [value] * 20}))["z"].item() == z


def test_gains_are_the_mean_differences_of_runs():
    results = an_experiment().results
    runs = results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    found = statistics.summary(an_experiment()).gains
    assert len(found) == 10
    for line in found.itertuples():
        ours, plain = runs.loc[line.dataset, line.classifier], runs.loc[line.dataset, "opf"]
        assert line.gain == pytest.approx((ours - plain).mean())
        assert line.p_value == statistics.p_value(ours - plain)
    assert statistics.summary(an_experiment(runs=1)).gains["p_value"].isna().all()


def test_sensitivity_counts_cells_a_point_below_the_best_of_both_competitions():
    cells = [("complete", 0.2, 0.9), ("complete", 0.4, 0.985), ("tree", 0.2, 0.991), ("tree", 0.4, 1.0)]
    rows = [
        ("boat", run, competition, 1, sigma, mean) for competition, sigma, mean in cells for run in (0, 1)
    ]
    found = statistics.sensitivity(pd.DataFrame(rows, columns=LANDSCAPE_COLUMNS)).set_index("competition")
    assert found["losing"].to_dict() == {"complete": 2, "tree": 0}
    assert found["cells"].to_dict() == {"complete": 2, "tree": 2}
    assert found.loc["complete", "worst"] == pytest.approx(0.1)
