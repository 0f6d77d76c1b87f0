"""Optimum-Path Forest learning: supervised, fuzzy and unsupervised, as scikit-learn estimators."""

from importlib.metadata import version as _version

from pathforest.classifier import OPFClassifier
from pathforest.clustering import OPFClustering
from pathforest.fuzzy import FuzzyOPFClassifier, TrainingErrorWarning

__version__ = _version("pathforest")

__all__ = ["FuzzyOPFClassifier", "OPFClassifier", "OPFClustering", "TrainingErrorWarning", "__version__"]
