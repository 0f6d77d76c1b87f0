"""The classes whose objects can be in a file: our estimators and the parts they are made of.

A file names a class, and the name is looked up here; nothing is imported because a file says so. A new
estimator joins by a line in `ESTIMATORS` and a method `_check_fitted_state`, a new transformer of ours by a
line in `PARTS` and a method `_check_fitted`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pathforest._persistence.checks import check_whole
from pathforest._persistence.transformers import INPUT, TRANSFORMERS, Part
from pathforest._utils.progress import is_fitted_name

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


def check_transformer(transformer: Any, n_features: int) -> int:
    """Raise ValueError unless a transformer takes samples of `n_features`; return how many it gives."""
    if transformer is None or transformer == PASSED:
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


def check_pipeline_model(pipeline: Any) -> None:
    """Check a pipeline of transformers that ends with one of our estimators."""
    *transformers, (_, model) = check_steps(pipeline)
    if type(model).__name__ not in ESTIMATORS:
        raise ValueError("a pipeline does not end with a model of pathforest")
    first = next((step for _, step in transformers if step not in (None, PASSED)), model)
    n_features = check_whole(first, "n_features_in_", 1)
    for _, step in transformers:
        n_features = check_transformer(step, n_features)
    if model.n_features_in_ != n_features:
        raise ValueError(f"a pipeline makes {n_features} features for a model of {model.n_features_in_}")


PIPELINE = "Pipeline"
LABEL_NAME = "label_name_"  # an attribute of models from tables: the column of their labels
PASSED = "passthrough"  # in the place of a transformer
TABLE = ("kinds_", "fill_", "mean_", "scale_", "categories_", "has_missing_", "has_other_", "n_gaps_")
SHUFFLED = ("n_splits", "shuffle", "random_state")
PRESETS = "pathforest._search.transformers"
LANDMARKS = ("landmarks_", "root_", "discriminant_")
TREES = ("feature_", "threshold_", "left_", "right_", "roots_", "shares_")
# The `memory` of a pipeline is left out on purpose: it would make scikit-learn unpickle files of a folder.
PARTS = {
    "Pipeline": Part("sklearn.pipeline", ("steps", "verbose"), check=_check_pipeline),
    **TRANSFORMERS,
    "TablePreprocessor": Part(
        "pathforest.preprocessing",
        ("kinds", "max_categories", "scale"),
        (*TABLE, "category_value_", "n_samples_seen_", *INPUT),
        pack=lambda state: {**state, "kinds": list((state["kinds"] or {}).items())},  # keys may be numbers
        unpack=lambda value: value.set_params(kinds=dict(value.kinds) or None),
    ),
    "RidgeDiscriminant": Part(PRESETS, (), ("mean_", "ridge_", "scalings_")),
    "KernelDiscriminant": Part(PRESETS, ("gamma_scale", "n_landmarks", "random_state"), LANDMARKS),
    "QuadraticDiscriminant": Part(PRESETS, ("n_landmarks", "random_state"), LANDMARKS),
    "RandomTrees": Part(PRESETS, (), TREES),
    "TreeShares": Part(PRESETS, ("n_trees", "random_state"), ("trees_",)),
    "ImportanceScaler": Part(PRESETS, ("n_trees", "random_state"), ("scale_",)),
    "SparseSamples": Part("pathforest._engines.samples", ("indptr", "indices", "data", "n_features")),
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
    part = PARTS[name]
    known = part.params + part.fitted
    state = part.pack(vars(value))
    if unknown := [key for key in state if key not in known + part.derived and state[key] is not None]:
        raise TypeError(f"a file has no place for its {unknown[0]}")
    return {key: state[key] for key in known if key in state}


def build_object(name: str, state: dict[str, Any]) -> Any:
    """Make the object that a file describes; a parameter that an older file lacks has its default."""
    kind = _find_class(name)
    if name in PARTS:
        params, fitted = PARTS[name].params, PARTS[name].fitted
        value = kind(**{key: state[key] for key in params if key in state})
    else:
        params, value = kind._get_param_names(), kind()
        fitted = (k for k in state if is_fitted_name(k) and k != "_fit_cache" and not hasattr(kind, k))
    if unknown := state.keys() - {*params, *fitted}:
        raise ValueError(f"{name} has no attribute {min(unknown)!r}; it may need a later pathforest")
    for key, item in state.items():
        setattr(value, key, item)
    if name in PARTS:
        PARTS[name].unpack(value)
    else:
        if type(state.get(LABEL_NAME, "")) is not str:
            raise ValueError(f"{LABEL_NAME} is not text")
        value._check_fitted_state()
        value._derive_state()
    return value
