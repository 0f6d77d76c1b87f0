"""Pictures of fitted models; they need ``pathforest[plot]``, and import matplotlib when one is drawn."""

from pathforest.plotting.cluster_tree import ClusterTreeDisplay, plot_cluster_tree
from pathforest.plotting.clusters import ClustersDisplay, plot_clusters
from pathforest.plotting.explanation import ExplanationDisplay, plot_explanation
from pathforest.plotting.forest import ForestDisplay, plot_forest
from pathforest.plotting.landscape import LandscapeDisplay, plot_landscape
from pathforest.plotting.membership import MembershipDisplay, plot_membership
from pathforest.plotting.outliers import OutliersDisplay, plot_outliers
from pathforest.plotting.pruned import PrunedDisplay, plot_pruned
from pathforest.plotting.regions import DecisionRegionsDisplay, plot_decision_regions

__all__ = [
    "ClusterTreeDisplay",
    "ClustersDisplay",
    "DecisionRegionsDisplay",
    "ExplanationDisplay",
    "ForestDisplay",
    "LandscapeDisplay",
    "MembershipDisplay",
    "OutliersDisplay",
    "PrunedDisplay",
    "plot_cluster_tree",
    "plot_clusters",
    "plot_decision_regions",
    "plot_explanation",
    "plot_forest",
    "plot_landscape",
    "plot_membership",
    "plot_outliers",
    "plot_pruned",
]
