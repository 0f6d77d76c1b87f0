"""The stages joined into models, from a distance matrix."""

from collections import namedtuple

import numpy as np

import reference

# What fitted models hold, with labels as codes of classes: a classifier, one on nearest neighbours, densities
# and the search that led to them, and clusters, with what their predictions need.
Supervised = namedtuple("Supervised", "prototypes cost predecessor root order label")
WithinClasses = namedtuple("WithinClasses", "predecessor root cost density prototypes label")
Density = namedtuple("Density", "density best_k cuts width")
Clusters = namedtuple("Clusters", "labels predecessor root cost cut estimate")


def plain_model(D, codes):
    """Supervised OPF: the forest along the spanning tree."""
    tree = reference.spanning_tree(D)
    prototypes = reference.prototypes(tree, codes)
    forest = reference.compete(D, prototypes, np.ones(len(D)), tree=tree)
    return Supervised(prototypes, *forest, codes[forest[2]])


def estimate_density(D, squared, k_max=20, n_neighbors=None):
    """Density at the best k up to k_max, or at n_neighbors."""
    k = min(k_max, len(D) - 1) if n_neighbors is None else n_neighbors
    distances, indices = reference.knn(D, k)
    best, cuts = (k, np.empty(0)) if n_neighbors else reference.search_k(distances, indices, k, squared)
    near = distances[:, :best]
    width = reference.kernel_width(near, squared)
    return Density(reference.density(near, width, squared), best, cuts, width)


def fuzzy_model(D, codes, F, competition="complete", side="target"):
    """Fuzzy OPF with memberships F; where all are 1 it is the plain model."""
    if np.all(F == 1):
        return plain_model(D, codes)
    tree = reference.spanning_tree(D)
    prototypes = reference.prototypes(tree, codes)
    forest = reference.compete(D, prototypes, F, side, tree if competition == "tree" else None)
    return Supervised(prototypes, *forest, codes[forest[2]])


def class_costs(model, DQ, codes, r):
    """Class costs and winning classes for new samples, given their distances to the training samples."""
    return reference.class_costs(DQ, model.cost, model.order, model.label, codes.max() + 1, r)


def cluster_model(D, squared, k_max=20, n_neighbors=None, logarithmic=False):
    """OPF clustering at the best k."""
    estimate = estimate_density(D, squared, k_max, n_neighbors)
    rho = reference.scale_density(estimate.density, k=estimate.best_k if logarithmic else None)
    return Clusters(*reference.cluster(*reference.knn(D, estimate.best_k), rho), estimate)


def predict_cluster(model, DQ, squared, logarithmic=False):
    """Clusters of new samples, given their distances to the training samples."""
    rho, k, _, width = model.estimate
    known = rho.min(), rho.max(), model.cost, model.labels
    return reference.predict_cluster(DQ, k, squared, width, *known, logarithmic)


def knn_model(D, codes, squared, k):
    """OPF on the k nearest neighbours, classes kept apart; and the density with the width of its kernel."""
    estimate = estimate_density(D, squared, n_neighbors=k)
    rho = reference.scale_density(estimate.density)
    forest = reference.cluster(*reference.knn(D, k), rho, codes)[1:4]
    prototypes = np.flatnonzero(forest[0] == -1)
    return WithinClasses(*forest, estimate.density, prototypes, codes[forest[1]]), estimate


def predict_knn(D, DQ, codes, squared, k):
    """Classes of new samples from the k nearest training samples."""
    model, estimate = knn_model(D, codes, squared, k)
    rho = estimate.density
    extremes = rho.min(), rho.max()
    return reference.predict_cluster(DQ, k, squared, estimate.width, *extremes, model.cost, codes)
