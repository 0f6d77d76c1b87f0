"""What pruning and learning give and cost: python -m benchmarks.studies.pruning.

Each set is divided into 60 % for training, 20 % for validation and 20 % for testing, stratified, five times;
features are standardised on the training part. Test samples have no part in any choice. As controls there
are as many training samples as the pruned model has, drawn at random, and plain OPF on both parts together,
which is what one would fit without a use for validation samples. Times are of `predict` on the test samples,
one thread, the best of five.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.speed.data import Spec, load
from benchmarks.studies.problems import Data, problems
from benchmarks.tables import gain, head, line
from pathforest import OPFClassifier
from pathforest.learning import learn
from pathforest.pruning import prune

REPEATS = 5
LOSSES = (0.0, 0.02)


def _mixture() -> Data:
    """Return the overlapping Gaussians of the speed table, 20,000 samples with 8 features."""
    problem = load(Spec("mixture", 20_000, 8))
    return Data(problem.X, problem.y)


SETS: dict[str, Callable[[], Data]] = {
    "digits": lambda: Data(*datasets.load_digits(return_X_y=True)),
    "mixture": _mixture,
    "moons": lambda: Data(*datasets.make_moons(10_000, noise=0.25, random_state=0)),
}


def time_of(model: OPFClassifier, Q: np.ndarray) -> float:
    """Seconds that the model takes to predict, once its search structure is built."""
    model.predict(Q)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        model.predict(Q)
        times.append(time.perf_counter() - start)
    return min(times)


def models(X: np.ndarray, y: np.ndarray, V: np.ndarray, w: np.ndarray, seed: int) -> dict[str, OPFClassifier]:
    """Fit every variant to the training samples X, y with the validation samples V, w."""
    plain = OPFClassifier().fit(X, y)
    fitted = {"training part": plain}
    for loss in LOSSES:
        kept = prune(plain, V, w, max_loss=loss)
        fitted[f"pruned, max_loss={loss}"] = kept.model
        drawn = np.random.default_rng(seed).choice(len(X), len(kept.kept), replace=False)
        fitted[f"as many at random, {loss}"] = OPFClassifier().fit(X[drawn], y[drawn])
    fitted["learned"] = learn(OPFClassifier(), X, y, V, w, random_state=seed).model
    fitted["both parts"] = OPFClassifier().fit(np.concatenate([X, V]), np.concatenate([y, w]))
    return fitted


def run(data: Data, seed: int) -> dict[str, tuple[int, float, float]]:
    """Size, seconds and test accuracy of every variant on one split."""
    X, rest, y, others = train_test_split(data.X, data.y, train_size=0.6, stratify=data.y, random_state=seed)
    V, Q, w, answers = train_test_split(rest, others, test_size=0.5, stratify=others, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, V, Q = (scaler.transform(part) for part in (X, V, Q))
    return {
        name: (len(model.cost_), time_of(model, Q), model.score(Q, answers))
        for name, model in models(X, y, V, w, seed).items()
    }


def main() -> None:
    """Print a table of all sets."""
    chosen = SETS | {name: problem for name, problem in problems().items() if name == "landsat"}
    columns = ["set", "model", "samples", "predict, ms", "speed-up", "accuracy, %", "difference"]
    print(head(columns, n_words=2))
    for name, load_set in chosen.items():
        data = load_set()
        runs = [run(data, seed) for seed in range(REPEATS)]
        _, base_seconds, base = np.array([found["training part"] for found in runs]).T
        for variant in runs[0]:
            size, seconds, accuracy = np.array([found[variant] for found in runs]).T
            cells = [
                name,
                variant,
                f"{size.mean():,.0f}",
                f"{1e3 * np.median(seconds):.1f}",
                f"{np.median(base_seconds / seconds):.1f}",
                f"{100 * accuracy.mean():.2f}",
                gain(100 * (accuracy - base)),
            ]
            print(line(cells), flush=True)


if __name__ == "__main__":
    main()
