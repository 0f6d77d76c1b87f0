"""Optimum-Path Forest learning: supervised, fuzzy and unsupervised, as scikit-learn estimators."""

import os
from importlib import import_module
from importlib.metadata import version as _version
from importlib.util import find_spec
from pkgutil import iter_modules
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathforest._issues.find import find_issues as find_issues
    from pathforest._issues.issues import Issues as Issues
    from pathforest._models.explanation import explain as explain
    from pathforest._pages.label import label_page as label_page
    from pathforest._persistence import load as load
    from pathforest._persistence import save as save
    from pathforest.classifier import OPFClassifier as OPFClassifier
    from pathforest.clustering import OPFClustering as OPFClustering
    from pathforest.fuzzy import FuzzyOPFClassifier as FuzzyOPFClassifier
    from pathforest.fuzzy import TrainingErrorWarning as TrainingErrorWarning
    from pathforest.fuzzy_cv import FuzzyOPFClassifierCV as FuzzyOPFClassifierCV
    from pathforest.knn_classifier import OPFKNNClassifier as OPFKNNClassifier
    from pathforest.outlier import OPFOutlierDetector as OPFOutlierDetector
    from pathforest.preprocessing import TablePreprocessor as TablePreprocessor
    from pathforest.pruning import OPFPruner as OPFPruner
    from pathforest.resampling import O2PFSampler as O2PFSampler
    from pathforest.resampling import OPFUnderSampler as OPFUnderSampler
    from pathforest.semi_supervised import OPFSemiSupervisedClassifier as OPFSemiSupervisedClassifier

__version__ = _version("pathforest")

# Imported at first use, because they need packages that are slow to import or optional.
_LATER = {
    "FuzzyOPFClassifier": "fuzzy",
    "FuzzyOPFClassifierCV": "fuzzy_cv",
    "Issues": "_issues.issues",
    "O2PFSampler": "resampling",
    "OPFClassifier": "classifier",
    "OPFClustering": "clustering",
    "OPFKNNClassifier": "knn_classifier",
    "OPFOutlierDetector": "outlier",
    "OPFPruner": "pruning",
    "OPFSemiSupervisedClassifier": "semi_supervised",
    "OPFUnderSampler": "resampling",
    "TablePreprocessor": "preprocessing",
    "TrainingErrorWarning": "fuzzy",
    "explain": "_models.explanation",
    "find_issues": "_issues.find",
    "label_page": "_pages.label",
    "load": "_persistence",
    "save": "_persistence",
}
# `from pathforest import *` asks for every name listed.
__all__ = [name for name, home in _LATER.items() if home != "resampling" or find_spec("imblearn")]
__all__ += ["__version__"]

# One thread at a time: scikit-learn's modules import one another, and threads that begin with different ones
# get errors. Modules of this package do not import by these names: one thread could wait here for another
# that waits for the module which the first is importing.
_importing = RLock()
if hasattr(os, "register_at_fork"):  # a child lacks the thread that may hold the lock
    os.register_at_fork(after_in_child=lambda: globals().update(_importing=RLock()))


def __getattr__(name: str) -> Any:
    if name not in _LATER and name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _importing:
        module = import_module(f"{__name__}.{_LATER.get(name, name)}")
        globals()[name] = getattr(module, name) if name in _LATER else module
    return globals()[name]


def __dir__() -> list[str]:
    """List the public names, submodules included."""
    modules = (module.name for module in iter_modules(__path__))
    return sorted({*__all__, *(name for name in modules if not name.startswith("_"))})
