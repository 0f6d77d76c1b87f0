"""Record what OPFython says: all its distances in opfython_distances.json, answers in opfython_models.json.

Run from this folder with an environment that has OPFython 2.0 (pip install opfython): python make_opfython.py
"""

import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

# Positive, as many of the distances need; the first two add up to 1, the others do not.
VECTORS = [[0.125, 0.25, 0.5, 0.125], [0.4, 0.3, 0.1, 0.2], [0.5, 1.25, 2.0, 0.75], [1.0, 0.5, 3.0, 0.25]]


def samples():
    """Three overlapping classes far from ties: training samples, their labels, and queries."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(3, 3))
    y = np.arange(60) % 3
    X, Q = (rng.normal(size=(n, 3)) + centres[y[:n]] for n in (60, 40))
    return X.round(3), y, Q.round(3)


def tied_samples():
    """Thirty points of an 8 x 8 grid in three classes, one per nearest centre."""
    rng = np.random.default_rng(17)  # the first of a few dozen seeds where four samples lose their labels
    cells = rng.choice(64, size=30, replace=False)
    X = np.column_stack([cells // 8, cells % 8]).astype(float)
    return X, np.abs(X[:, None] - rng.integers(0, 8, size=(3, 2))).sum(axis=2).argmin(axis=1)


def distances():
    """Every distance of every ordered pair of different vectors."""
    from opfython.math.distance import DISTANCES

    vectors = np.array(VECTORS)
    pairs = [(i, j) for i in range(len(vectors)) for j in range(len(vectors)) if i != j]
    found = {name: [float(f(vectors[i], vectors[j])) for i, j in pairs] for name, f in DISTANCES.items()}
    return {"opfython": version("opfython"), "vectors": VECTORS, "pairs": pairs, "distances": found}


def models():
    """Labels that three models give with OPFython's default distance, and what one makes of ties."""
    from opfython.models import KNNSupervisedOPF, SupervisedOPF, UnsupervisedOPF

    X, y, Q = samples()
    supervised, clusters, nearest = SupervisedOPF(), UnsupervisedOPF(max_k=8), KNNSupervisedOPF(max_k=8)
    supervised.fit(X, y)
    clusters.fit(X)
    nearest.fit(X[:40], y[:40], X[40:], y[40:])
    grid, classes = tied_samples()
    ties = SupervisedOPF()
    ties.fit(grid, classes)
    return {
        "opfython": version("opfython"),
        "samples": [X.tolist(), y.tolist(), Q.tolist()],
        "SupervisedOPF": {"predict": [int(label) for label in supervised.predict(Q)]},
        "UnsupervisedOPF": {
            "labels": [int(node.cluster_label) for node in clusters.subgraph.nodes],
            "best_k": int(clusters.subgraph.best_k),
        },
        "KNNSupervisedOPF": {
            "predict": [int(label) for label in nearest.predict(Q)],
            "best_k": int(nearest.subgraph.best_k),
        },
        "ties": {
            "samples": [grid.tolist(), classes.tolist()],
            "labels": [int(node.predicted_label) for node in ties.subgraph.nodes],
        },
    }


def main():
    """Write both files."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # OPFython writes a log file where it runs
        found = {"opfython_distances.json": distances(), "opfython_models.json": models()}
        os.chdir(HERE)
    for name, content in found.items():
        (HERE / name).write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
