"""What pruning and learning give and cost: python -m benchmarks.studies.pruning.

Each set is divided into 60 % for training, 20 % for validation and 20 % for testing, stratified, five times;
features are standardised on the training part. Test samples have no part in any choice. As controls there
are as many training samples as the pruned model has, drawn at random, and plain OPF on both parts together,
which is what one would fit without a use for validation samples. Times are of `predict` on the test samples,
one thread, the best of five.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from operator import attrgetter

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import study
from benchmarks.speed import data
from benchmarks.studies.problems import Data, load, problems
from benchmarks.tables import gain, markdown
from pathforest import OPFClassifier
from pathforest.learning import learn
from pathforest.pruning import prune

LOSSES = (0.0, 0.02)
SETS: dict[str, Callable[[], Data]] = {
    "digits": lambda: load("digits"),
    # The overlapping Gaussians of the speed table.
    "mixture": lambda: Data(*attrgetter("X", "y")(data.load(data.Spec("mixture", 20_000, 8)))),
    "moons": lambda: Data(*datasets.make_moons(10_000, noise=0.25, random_state=0)),
    "landsat": lambda: load("landsat"),
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


def units(repeats: int) -> Iterator[study.Unit]:
    """List every set with each split."""
    here = [name for name in SETS if name != "landsat" or name in problems()]
    yield from ((name, seed) for name in here for seed in range(repeats))


def measure(name: str, seed: int) -> list[study.Row]:
    """Size, seconds and test accuracy of every variant on one split."""
    X, y = SETS[name]()
    X, rest, y, others = train_test_split(X, y, train_size=0.6, stratify=y, random_state=seed)
    V, Q, w, answers = train_test_split(rest, others, test_size=0.5, stratify=others, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, V, Q = (scaler.transform(part) for part in (X, V, Q))
    return [
        {
            "set": name, "seed": seed, "model": variant, "samples": len(model.cost_),
            "seconds": time_of(model, Q), "accuracy": 100 * model.score(Q, answers),
        }
        for variant, model in models(X, y, V, w, seed).items()
    ]  # fmt: skip


def report(table: pd.DataFrame) -> dict[str, str]:
    """Write a row per set and variant."""
    rows = []
    for (name, variant), here in table.groupby(["set", "model"], sort=False):
        here = here.set_index("seed")
        base = table[(table.set == name) & (table.model == "training part")].set_index("seed")
        rows.append(
            [
                name, variant, f"{here.samples.mean():,.0f}", f"{1e3 * here.seconds.median():.1f}",
                f"{(base.seconds / here.seconds).median():.1f}", f"{here.accuracy.mean():.2f}",
                gain((here.accuracy - base.accuracy).to_numpy()),
            ]
        )  # fmt: skip
    return {
        "pruning": markdown(
            ["set", "model", "samples", "predict, ms", "speed-up", "accuracy", "difference"], rows, 2
        )
    }


if __name__ == "__main__":
    study.main("pruning", __doc__, units, measure, report, repeats=5)
