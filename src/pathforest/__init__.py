"""Optimum-Path Forest learning: supervised, fuzzy and unsupervised, as scikit-learn estimators."""

import os
from importlib import import_module
from importlib.metadata import version as _version
from importlib.util import find_spec
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathforest._issues.find import find_issues
    from pathforest._issues.issues import Issues
    from pathforest._models.explaining import explain
    from pathforest._persistence import load, save
    from pathforest.classifier import OPFClassifier
    from pathforest.clustering import OPFClustering
    from pathforest.fuzzy import FuzzyOPFClassifier, TrainingErrorWarning
    from pathforest.fuzzy_cv import FuzzyOPFClassifierCV
    from pathforest.knn_classifier import OPFKNNClassifier
    from pathforest.outlier import OPFOutlierDetector
    from pathforest.preprocessing import TablePreprocessor
    from pathforest.pruning import OPFPruner
    from pathforest.resampling import O2PFSampler, OPFUnderSampler
    from pathforest.semi_supervised import OPFSemiSupervisedClassifier

__version__ = _version("pathforest")

__all__ = [
    "FuzzyOPFClassifier",
    "FuzzyOPFClassifierCV",
    "Issues",
    "O2PFSampler",
    "OPFClassifier",
    "OPFClustering",
    "OPFKNNClassifier",
    "OPFOutlierDetector",
    "OPFPruner",
    "OPFSemiSupervisedClassifier",
    "OPFUnderSampler",
    "TablePreprocessor",
    "TrainingErrorWarning",
    "__version__",
    "explain",
    "find_issues",
    "load",
    "save",
]

# Imported at first use, because they need packages that are slow to import or optional.
_LATER = {
    "FuzzyOPFClassifier": "pathforest.fuzzy",
    "FuzzyOPFClassifierCV": "pathforest.fuzzy_cv",
    "Issues": "pathforest._issues.issues",
    "O2PFSampler": "pathforest.resampling",
    "OPFClassifier": "pathforest.classifier",
    "OPFClustering": "pathforest.clustering",
    "OPFKNNClassifier": "pathforest.knn_classifier",
    "OPFOutlierDetector": "pathforest.outlier",
    "OPFPruner": "pathforest.pruning",
    "OPFSemiSupervisedClassifier": "pathforest.semi_supervised",
    "OPFUnderSampler": "pathforest.resampling",
    "TablePreprocessor": "pathforest.preprocessing",
    "TrainingErrorWarning": "pathforest.fuzzy",
    "explain": "pathforest._models.explaining",
    "find_issues": "pathforest._issues.find",
    "load": "pathforest._persistence",
    "save": "pathforest._persistence",
}

if find_spec("imblearn") is None:  # `from pathforest import *` asks for every name listed
    __all__ = [name for name in __all__ if _LATER.get(name) != "pathforest.resampling"]


# One thread at a time: scikit-learn's modules import one another, and threads that begin with different ones
# get errors. Modules of this package do not import by these names: one thread could wait here for another
# that waits for the module which the first is importing.
_importing = RLock()


def _renew_lock() -> None:
    global _importing
    _importing = RLock()


if hasattr(os, "register_at_fork"):  # a child lacks the thread that may hold the lock
    os.register_at_fork(after_in_child=_renew_lock)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        with _importing:
            return getattr(import_module(_LATER[name]), name)
    # A name with a dot would be looked for in modules that need not exist.
    if name.isidentifier() and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        with _importing:
            return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is not imported yet as well."""
    return sorted({*globals(), *__all__})
