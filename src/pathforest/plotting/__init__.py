"""Pictures of fitted models; they need ``pathforest[plot]``, and import matplotlib when one is drawn."""

from pathforest.plotting._draw import Display
from pathforest.plotting.clusters import plot_cluster_tree, plot_clusters
from pathforest.plotting.explanation import plot_explanation
from pathforest.plotting.forest import plot_forest
from pathforest.plotting.landscape import plot_landscape
from pathforest.plotting.regions import plot_decision_regions

__all__ = [
    "Display",
    "plot_cluster_tree",
    "plot_clusters",
    "plot_decision_regions",
    "plot_explanation",
    "plot_forest",
    "plot_landscape",
]
