"""The classes whose objects can be in a file: our estimators and the parts they are made of.

A file names a class, and the name is looked up here; nothing is imported because a file says so. A new
estimator joins by a line in `ESTIMATORS` and a method `_check_fitted_state`, a new transformer of ours by a
line in `PARTS` and a method `_check_fitted`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from pathforest.persistence.checks import check_array, check_whole

# Name of each estimator, and its module, imported when a file asks for it.
ESTIMATORS = {
    "FuzzyOPFClassifier": "pathforest.fuzzy",
    "FuzzyOPFClassifierCV": "pathforest.fuzzy_cv",
    "OPFClassifier": "pathforest.classifier",
    "OPFClustering": "pathforest.clustering",
    "OPFKNNClassifier": "pathforest.knn_classifier",
    "OPFOutlierDetector": "pathforest.outlier",
    "OPFPruner": "pathforest.pruning",
    "OPFSemiSupervisedClassifier": "pathforest.semi_supervised",
}


class Part(NamedTuple):
    """A class that models contain objects of: transformers and splitters."""

    module: str
    params: tuple[str, ...]  # passed to the constructor
    fitted: tuple[str, ...] = ()  # set afterwards, those that exist
    check: Callable[[Any, int], int] | None = None  # of a transformer that does not bring its own


def is_fitted_name(name: str) -> bool:
    """Say whether an attribute of this name is fitted state: a public result, or data for predictions."""
    return name.startswith("_fit_") or (name.endswith("_") and not name.startswith("_"))


def check_transformer(transformer: Any, n_features: int) -> int:
    """Raise ValueError unless a transformer takes samples of `n_features`; return how many it gives."""
    if transformer is None or transformer == "passthrough":
        return n_features
    name = type(transformer).__name__
    if hasattr(transformer, "_check_fitted"):
        return transformer._check_fitted(n_features)
    if name not in PARTS or PARTS[name].check is None:
        raise ValueError(f"a {name} is not a transformer")
    return PARTS[name].check(transformer, n_features)


def check_steps(pipeline: Any) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline, after checking their form."""
    steps = pipeline.steps
    if type(steps) is not list or not steps:
        raise ValueError("a pipeline has no steps")
    if not all(type(step) is tuple and len(step) == 2 and type(step[0]) is str for step in steps):
        raise ValueError("the steps of a pipeline are not pairs of name and transformer")
    return steps


def _check_pipeline(pipeline: Any, n_features: int) -> int:
    for _, step in check_steps(pipeline):
        n_features = check_transformer(step, n_features)
    return n_features


def _check_scaler(scaler: Any, n_features: int) -> int:
    for name, attribute in (("with_mean", "mean_"), ("with_std", "scale_")):
        if type(getattr(scaler, name)) is not bool:
            raise ValueError(f"{name} is neither True nor False")
        if getattr(scaler, name):
            check_array(scaler, attribute, (n_features,))
    return check_whole(scaler, "n_features_in_", n_features, n_features)


SHUFFLED = ("n_splits", "shuffle", "random_state")
SCALED = ("mean_", "var_", "scale_", "n_samples_seen_", "n_features_in_", "feature_names_in_")
DISCRIMINANTS = "pathforest._search.discriminants"
LANDMARKS = ("landmarks_", "root_", "discriminant_")
TREES = ("feature_", "threshold_", "left_", "right_", "roots_", "shares_")
# The `memory` of a pipeline is left out on purpose: it would make scikit-learn unpickle files of a folder.
PARTS = {
    "Pipeline": Part("sklearn.pipeline", ("steps", "verbose"), check=_check_pipeline),
    "StandardScaler": Part("sklearn.preprocessing", ("copy", "with_mean", "with_std"), SCALED, _check_scaler),
    "RidgeDiscriminant": Part(DISCRIMINANTS, (), ("mean_", "ridge_", "scalings_")),
    "KernelDiscriminant": Part(DISCRIMINANTS, ("gamma_scale", "n_landmarks", "random_state"), LANDMARKS),
    "QuadraticDiscriminant": Part(DISCRIMINANTS, ("n_landmarks", "random_state"), LANDMARKS),
    "RandomTrees": Part("pathforest._search.trees", (), TREES),
    "TreeShares": Part("pathforest._search.tree_features", ("n_trees", "random_state"), ("trees_",)),
    "ImportanceScaler": Part("pathforest._search.tree_features", ("n_trees", "random_state"), ("scale_",)),
    "KFold": Part("sklearn.model_selection", SHUFFLED),
    "StratifiedKFold": Part("sklearn.model_selection", SHUFFLED),
    "StratifiedGroupKFold": Part("sklearn.model_selection", SHUFFLED),
}
INNER = {*PARTS, "OPFClassifier", "FuzzyOPFClassifier"}  # those that other objects may contain


def _find_class(name: str) -> type | None:
    """Return the class that a name stands for, if it is in one of the two tables."""
    module = ESTIMATORS.get(name) or (PARTS[name].module if name in PARTS else None)
    return module and getattr(import_module(module), name)


def object_state(value: Any) -> dict[str, Any]:
    """Return the state of an object that has to be stored; raise TypeError if it cannot be."""
    name = type(value).__name__
    if type(value) is not _find_class(name):  # nor may it be of a class derived from ours
        raise TypeError("a file that is safe to open has no place for such an object")
    if name in ESTIMATORS:
        return value._state_to_save()
    known = PARTS[name].params + PARTS[name].fitted
    state = vars(value)
    if unknown := [key for key in state if key not in known and state[key] is not None]:
        raise TypeError(f"a file has no place for its {unknown[0]}")
    return {key: state[key] for key in known if key in state}


def build_object(name: str, state: dict[str, Any]) -> Any:
    """Make the object that a file describes; a parameter that an older file lacks has its default."""
    kind = _find_class(name)
    if name in PARTS:
        params, fitted = PARTS[name].params, PARTS[name].fitted
        value = kind(**{key: state[key] for key in params})
    else:
        params, value = kind._get_param_names(), kind()
        fitted = (k for k in state if is_fitted_name(k) and k != "_fit_cache" and not hasattr(kind, k))
    if unknown := state.keys() - {*params, *fitted}:
        raise ValueError(f"{name} has no attribute {min(unknown)!r}; it may need a later pathforest")
    for key, item in state.items():
        setattr(value, key, item)
    if name in ESTIMATORS:
        value._check_fitted_state()
        value._derive_state()
    return value
