"""The classes whose objects can be in a file: our estimators, and what they are made of.

A file names a class, and the name is looked up here; nothing is imported because a file says so. A new
estimator joins by a line in `ESTIMATORS` and a method `_check_fitted_state`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from pathforest._models.state import SavableEstimator, is_fitted_name
from pathforest._utils.checks import check_positive
from pathforest.persistence.checks import check_array, check_whole

# Name of each estimator, and the module that has it, imported when a file asks for it.
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
    """A class that models hold objects of: transformers and splitters."""

    module: str
    params: tuple[str, ...]  # passed to the constructor
    fitted: tuple[str, ...] = ()  # set afterwards, those that are there


SHUFFLED = ("n_splits", "shuffle", "random_state")
# A pipeline's `memory` is left out on purpose: it would make scikit-learn unpickle what lies in a folder.
PARTS = {
    "Pipeline": Part("sklearn.pipeline", ("steps", "verbose")),
    "StandardScaler": Part(
        "sklearn.preprocessing",
        ("copy", "with_mean", "with_std"),
        ("mean_", "var_", "scale_", "n_samples_seen_", "n_features_in_", "feature_names_in_"),
    ),
    "RidgeDiscriminant": Part("pathforest._search.representations", (), ("mean_", "ridge_", "scalings_")),
    "KernelDiscriminant": Part(
        "pathforest._search.representations",
        ("gamma_scale", "n_landmarks", "random_state"),
        ("landmarks_", "root_", "discriminant_"),
    ),
    "KFold": Part("sklearn.model_selection", SHUFFLED),
    "StratifiedKFold": Part("sklearn.model_selection", SHUFFLED),
    "StratifiedGroupKFold": Part("sklearn.model_selection", SHUFFLED),
}


def is_estimator(value: Any) -> bool:
    """Tell whether a value is one of our estimators, and not of a class derived from one."""
    name = type(value).__name__
    return name in ESTIMATORS and type(value) is _find_class(name)


def _find_class(name: str) -> type:
    """Return the class of a name in one of the two tables."""
    module = ESTIMATORS[name] if name in ESTIMATORS else PARTS[name].module
    return getattr(import_module(module), name)


def object_state(value: Any) -> dict[str, Any]:
    """Return what has to be stored of an object; raise TypeError if it cannot be."""
    name = type(value).__name__
    if is_estimator(value):
        return value._state_to_save()
    if name not in PARTS or type(value) is not _find_class(name):
        raise TypeError("a file that is safe to open has no place for such an object")
    params, fitted = PARTS[name].params, PARTS[name].fitted
    state = vars(value)
    unknown = [key for key in state if key not in params + fitted and state[key] is not None]
    if unknown:
        raise TypeError(f"a file has no place for its {unknown[0]}")
    return {key: state[key] for key in params + fitted if key in state}


def build_object(name: Any, state: dict[str, Any]) -> Any:
    """Make the object that a file describes, checked if it is an estimator."""
    if name in ESTIMATORS:
        return _build_estimator(_find_class(name), state)
    if name not in PARTS:
        raise ValueError(f"the class {name!r} is unknown; it may need a later pathforest")
    part = PARTS[name]
    if unknown := state.keys() - {*part.params, *part.fitted}:
        raise ValueError(f"{name} has no attribute {min(unknown)!r}")
    value = _find_class(name)(**{key: state[key] for key in part.params})
    for key in state.keys() - set(part.params):
        setattr(value, key, state[key])
    return value


def _build_estimator(kind: type[SavableEstimator], state: dict[str, Any]) -> SavableEstimator:
    """Make an estimator; a parameter that an older file lacks has its default."""
    model = kind()
    params = kind._get_param_names()
    for key, value in state.items():
        if key not in params and (not is_fitted_name(key) or key == "_fit_cache" or hasattr(kind, key)):
            raise ValueError(f"{kind.__name__} has no attribute {key!r}; it may need a later pathforest")
        setattr(model, key, value)
    model._check_fitted_state()
    model._derive_state()
    return model


def check_transformer(transformer: Any, n_features: int) -> int:
    """Raise ValueError unless a transformer takes samples of `n_features`; return how many it gives."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from pathforest._search.representations import KernelDiscriminant, RidgeDiscriminant

    match transformer:
        case None | "passthrough":
            return n_features
        case Pipeline():
            for _, step in check_steps(transformer):
                n_features = check_transformer(step, n_features)
            return n_features
        case StandardScaler():
            return _check_scaler(transformer, n_features)
        case RidgeDiscriminant():
            check_array(transformer, "mean_", (n_features,))
            return check_array(transformer, "scalings_", (n_features, None)).shape[1]
        case KernelDiscriminant():
            check_positive("gamma_scale", transformer.gamma_scale, "1 is the default")
            landmarks = check_array(transformer, "landmarks_", (None, n_features))
            root = check_array(transformer, "root_", (len(landmarks), len(landmarks)))
            if not root.diagonal().all():
                raise ValueError("root_ is singular")
            return check_transformer(transformer.discriminant_, len(landmarks))
    raise ValueError(f"a {type(transformer).__name__} is no transformer")


def check_steps(pipeline: Any) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline, after a look at their form."""
    steps = pipeline.steps
    if type(steps) is not list or not steps:
        raise ValueError("a pipeline has no steps")
    if not all(type(step) is tuple and len(step) == 2 and type(step[0]) is str for step in steps):
        raise ValueError("the steps of a pipeline are no pairs of name and transformer")
    return steps


def _check_scaler(scaler: Any, n_features: int) -> int:
    for name, attribute in (("with_mean", "mean_"), ("with_std", "scale_")):
        if type(getattr(scaler, name)) is not bool:
            raise ValueError(f"{name} is neither True nor False")
        if getattr(scaler, name):
            check_array(scaler, attribute, (n_features,))
    if check_whole(scaler, "n_features_in_", 1) != n_features:
        raise ValueError("a StandardScaler takes another number of features")
    return n_features
