"""Make one small file per estimator, and a table of each model's answers, in the current format.

Existing files stay as they are: the tests read them to see that they still can, whatever machine made them.
Run this after the format has changed, or for a new model below, from this folder: python make_models.py
"""

import json
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pathforest import (
    FuzzyOPFClassifier,
    FuzzyOPFClassifierCV,
    OPFClassifier,
    OPFClustering,
    OPFKNNClassifier,
    OPFOutlierDetector,
    OPFPruner,
    OPFSemiSupervisedClassifier,
)
from pathforest._persistence.file import FILE_FORMAT
from pathforest._search.transformers import JointFeatures, KernelDiscriminant

HERE = Path(__file__).parent
SMALL = {"k_max": 5, "cv": 2}
ONE = {**SMALL, "sigmas": 0.5, "n_conquerors": 3}
PARTS = [
    None,
    make_pipeline(StandardScaler(), KernelDiscriminant(0.5, n_landmarks=9)),
    JointFeatures(3, n_trees=3),
    PCA(1),
]


def samples():
    """Thirty points on a grid in two classes, one of them inside the other; and queries between them."""
    rng = np.random.default_rng(0)
    cells = rng.choice(121, size=30, replace=False)
    X = np.column_stack([cells // 11, cells % 11]).astype(float)
    return X, (np.abs(X - 5).max(axis=1) < 4).astype(int), X[:12] + [0.25, 0.4]


def models():
    """Models of every estimator, fitted, with labels of several types."""
    X, y, _ = samples()
    text = np.array(["out", "inside"])[y]
    return {
        "plain": OPFClassifier(n_conquerors=2).fit(X, text),
        "plain_float32": OPFClassifier(metric="minkowski", metric_params={"p": 3}).fit(X.astype("f4"), y > 0),
        "plain_matrix": OPFClassifier(metric="seuclidean").fit(X, text.astype(object)),
        "fuzzy": FuzzyOPFClassifier(competition="tree", sigma=0.3).fit(X, y),
        "clustering": OPFClustering(n_neighbors=3).fit(X),
        "clustering_domes": OPFClustering(n_neighbors=3, measure="area", threshold=3).fit(X),
        "nearest": OPFKNNClassifier(k_max=5).fit(X, text),
        "semi_supervised": OPFSemiSupervisedClassifier(unlabeled="").fit(X, np.where(y == y[::-1], "", text)),
        "outliers": OPFOutlierDetector(contamination=0.5, n_neighbors=3).fit(X),
        "pruner": OPFPruner(max_loss=0.1).fit(X, text),
        "pruner_fuzzy": OPFPruner(FuzzyOPFClassifier(competition="tree", sigma=0.3), max_loss=0.1).fit(X, y),
        "search": FuzzyOPFClassifierCV(transforms=None, **SMALL, sigmas=(0.5, 1.0), n_conquerors=(1, 3)).fit(
            X, y
        ),
        "search_of_parts": FuzzyOPFClassifierCV(**ONE, transforms=PARTS).fit(X, text),
    }


def answers(model, Q):
    """The answers of a model to queries, in types of JSON."""
    methods = ("predict", "class_costs", "predict_proba", "score_samples")
    answer = {method: getattr(model, method)(Q).tolist() for method in methods if hasattr(model, method)}
    best = getattr(model, "best_estimator_", model)  # a search explains the first cell that agrees with it
    if hasattr(best, "steps"):
        best, Q = best[-1], best[:-1].transform(Q)
    if hasattr(best, "explain"):
        answer["paths"] = [explanation.path for explanation in best.explain(Q)]
    return answer


def main():
    """Write the files of this format that are missing, and their answers."""
    _, _, Q = samples()
    table = HERE / f"v{FILE_FORMAT}_answers.json"
    found = json.loads(table.read_text()) if table.exists() else {}
    for name, model in models().items():
        if name not in found:
            model.save(HERE / f"v{FILE_FORMAT}_{name}.opf")
            found[name] = answers(model, Q)
    table.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
