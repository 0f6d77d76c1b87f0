"""Optimum-Path Forest learning: supervised, fuzzy and unsupervised, as scikit-learn estimators."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.fuzzy import FuzzyOPFClassifier, TrainingErrorWarning
from pathforest.outlier import OPFOutlierDetector
from pathforest.pruning import OPFPruner

if TYPE_CHECKING:
    from pathforest.fuzzy_cv import FuzzyOPFClassifierCV
    from pathforest.resampling import O2PFSampler, OPFUnderSampler

__version__ = _version("pathforest")

__all__ = [
    "FuzzyOPFClassifier",
    "FuzzyOPFClassifierCV",
    "O2PFSampler",
    "OPFClassifier",
    "OPFClustering",
    "OPFOutlierDetector",
    "OPFPruner",
    "OPFUnderSampler",
    "TrainingErrorWarning",
    "__version__",
]


# Imported when asked for: they need packages that are slow to import, or that not everyone has.
LAZY = {
    "FuzzyOPFClassifierCV": "pathforest.fuzzy_cv",
    "O2PFSampler": "pathforest.resampling",
    "OPFUnderSampler": "pathforest.resampling",
}


def __getattr__(name: str) -> Any:
    """Import the module behind a name that is not imported yet."""
    if name in LAZY:
        return getattr(import_module(LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the names as well that are not imported yet."""
    return sorted({*globals(), *__all__})
