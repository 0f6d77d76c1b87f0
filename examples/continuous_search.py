"""Grid or random trials: how many models does each need to reach the same score?

The script compares the paper's grid of 96 cells with Optuna's TPE and evolutionary samplers, on the same
folds and over the same ranges. It prints the number of different models scored until the best score of the
grid is reached, for several seeds. A trial that draws the same model again costs nothing and is not counted.
Run with: python examples/continuous_search.py
"""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV, TrainingErrorWarning

DATASETS = {
    "moons": make_moons(400, noise=0.3, random_state=0),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
}
GRID = {"k_max": (1, *range(10, 151, 10)), "sigmas": (0.2, 0.4, 0.6, 0.8, 1.0, 1.2)}
COMMON = {"transforms": None, "competitions": "complete", "n_conquerors": 1, "refit": False, "cv": 5}
TRIALS, SEEDS = 96, range(5)


def models_until(scores, wanted):
    """Number of the first model that reaches a score, or None if no model does."""
    reached = np.flatnonzero(np.asarray(scores) >= wanted - 1e-12)
    return int(reached[0]) + 1 if reached.size else None


def main():
    warnings.simplefilter("ignore", TrainingErrorWarning)
    print(f"{'dataset':14} {'search':14} {'best score':>10}  models until the grid's best, by seed")
    for name, (X, y) in DATASETS.items():
        X = StandardScaler().fit_transform(X)
        grid = FuzzyOPFClassifierCV(**GRID, **COMMON).fit(X, y)
        share = np.mean(grid.cv_results_["mean_test_score"] >= grid.best_score_ - 1e-12)
        print(f"{name:14} {'grid':14} {grid.best_score_:10.4f}  96 cells, {share:.0%} of them share the best")
        for sampler in ("tpe", "evolutionary"):
            best, counts = [], []
            for seed in SEEDS:
                found = FuzzyOPFClassifierCV(
                    k_max=(1, 150), sigmas=(0.2, 1.2), search="optuna", sampler=sampler, n_trials=TRIALS,
                    random_state=seed, **COMMON,
                ).fit(X, y)  # fmt: skip
                best.append(found.best_score_)
                counts.append(models_until(found.cv_results_["mean_test_score"], grid.best_score_))
            print(f"{'':14} {sampler:14} {np.max(best):10.4f}  {counts}")


if __name__ == "__main__":
    main()
