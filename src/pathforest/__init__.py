"""Optimum-Path Forest learning: supervised, fuzzy and unsupervised, as scikit-learn estimators."""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.fuzzy import FuzzyOPFClassifier, TrainingErrorWarning
from pathforest.outlier import OPFOutlierDetector
from pathforest.pruning import OPFPruner

if TYPE_CHECKING:
    from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

__version__ = _version("pathforest")

__all__ = [
    "FuzzyOPFClassifier",
    "FuzzyOPFClassifierCV",
    "OPFClassifier",
    "OPFClustering",
    "OPFOutlierDetector",
    "OPFPruner",
    "TrainingErrorWarning",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Import the search when it is asked for: it needs parts of scikit-learn that are slow to import."""
    if name == "FuzzyOPFClassifierCV":
        from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

        return FuzzyOPFClassifierCV
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the search as well, which is not imported yet."""
    return sorted({*globals(), *__all__})
