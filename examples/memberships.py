"""Memberships from other methods: do other measures of density help Fuzzy OPF?

The paper mentions this as future work. Five scores of how typical a sample is (LocalOutlierFactor,
IsolationForest, GaussianMixture, HDBSCAN, fuzzy c-means) replace its density. They are tuned and compared on
equal terms, with clean and with wrong training labels, and with plain OPF with a tuned number of conquerors.
Run with: python examples/memberships.py [--repeats 5]
"""

import argparse
import warnings

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from pathforest import FuzzyOPFClassifierCV, TrainingErrorWarning
from pathforest.noise import flip_labels

DATASETS = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "moons": make_moons(300, noise=0.3, random_state=0),
}


def to_unit(values):
    """Ranks from 0 for the least typical to 1: the scores have no common scale."""
    return np.argsort(np.argsort(values, kind="stable")) / max(1, len(values) - 1)


def local_outlier_factor(X, y):
    return to_unit(LocalOutlierFactor(min(20, len(X) - 1)).fit(X).negative_outlier_factor_)


def isolation_forest(X, y):
    return to_unit(IsolationForest(random_state=0).fit(X).score_samples(X))


def gaussian_mixture(X, y):
    """Log density under three Gaussians per class."""
    n_components = min(3 * len(np.unique(y)), len(X) // 10)
    return to_unit(GaussianMixture(n_components, reg_covar=1e-3, random_state=0).fit(X).score_samples(X))


def hdbscan(X, y):
    """How strongly a sample belongs to its cluster; 0 for noise."""
    return np.clip(HDBSCAN(min_cluster_size=10, copy=True).fit(X).probabilities_, 0, 1)


def fuzzy_c_means(X, y, fuzziness=2.0, n_iter=50):
    """Largest membership in any cluster, with as many clusters as classes."""
    n_clusters = len(np.unique(y))
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(n_clusters), len(X))
    for _ in range(n_iter):
        weights = U**fuzziness
        centres = weights.T @ X / weights.sum(axis=0)[:, None]
        distance = np.linalg.norm(X[:, None] - centres, axis=2) + 1e-12
        U = distance ** (-2 / (fuzziness - 1))
        U /= U.sum(axis=1, keepdims=True)
    return U.max(axis=1)


MEMBERSHIPS = {
    "density (paper)": "density",
    "local outlier factor": local_outlier_factor,
    "isolation forest": isolation_forest,
    "Gaussian mixture": gaussian_mixture,
    "HDBSCAN": hdbscan,
    "fuzzy c-means": fuzzy_c_means,
}


TUNED = {"sigmas": (0.2, 0.4, 0.6, 0.8), "competitions": ("tree", "complete"), "n_conquerors": 1}
PLAIN = {"sigmas": 1.0, "n_conquerors": 1}  # sigma 1 is plain OPF
ROWS = {
    "none (plain OPF)": PLAIN,
    **{name: {**TUNED, "membership": membership} for name, membership in MEMBERSHIPS.items()},
    "none, n_conquerors": {"sigmas": 1.0, "n_conquerors": (1, 2, 3, 5, 8, 13, 21, 34)},
}


def score(params, X, y, seed, share):
    """Test accuracy in %, with the parameters tuned inside the training part."""
    X, Q, y, answers = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    y = flip_labels(y, share, seed)
    scaler = StandardScaler().fit(X)
    model = FuzzyOPFClassifierCV(transforms=None, n_best=1, **params).fit(scaler.transform(X), y)
    return 100 * np.mean(model.predict(scaler.transform(Q)) == answers)


def conclude(scores):
    """Print the gain of each row over plain OPF, with its standard error over all splits."""
    plain = scores["none (plain OPF)"]
    for name, values in scores.items():
        if name != "none (plain OPF)":
            gain = values - plain
            error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else np.inf
            word = "better" if gain.mean() > 2 * error else "worse" if gain.mean() < -2 * error else "level"
            print(f"  {name:22}{gain.mean():+6.1f} +- {error:.1f} points: {word}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--repeats", type=int, default=5)
    n_repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", TrainingErrorWarning)
    for share in (0.0, 0.2):
        print(f"\nMean test accuracy in %, {share:.0%} of the training labels wrong, {n_repeats} splits")
        print(f"{'membership':22}" + "".join(f"{name:>15}" for name in DATASETS) + f"{'mean':>8}")
        scores = {}
        for name, params in ROWS.items():
            scores[name] = np.array(
                [
                    [score(params, *data, seed, share) for seed in range(n_repeats)]
                    for data in DATASETS.values()
                ]
            )
            means = scores[name].mean(axis=1)
            print(f"{name:22}" + "".join(f"{value:15.1f}" for value in means) + f"{means.mean():8.1f}")
        print("\nAgainst plain OPF, over all datasets and splits (level: within two standard errors):")
        conclude(scores)


if __name__ == "__main__":
    main()
