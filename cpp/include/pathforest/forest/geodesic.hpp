// Paths over neighbour lists that cost the sum of their arcs.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/graph/adjacency.hpp"

#include <span>
#include <vector>

namespace pathforest {

struct GeodesicPaths {
    std::vector<double> cost;        // infinity where no path leads
    std::vector<Index> predecessor;  // none at a seed, and where no path leads
    std::vector<Index> root;         // none where no path leads
};

// The cheapest paths from the seeds over the undirected graph of the lists: an arc if either end lists the
// other. Arcs are added along the path from its seed, each times the factor of that seed; there is one factor
// per seed. Of paths that cost the same, the one whose last arc comes first wins; samples leave the queue by
// (cost, index), and one that has left is never updated again.
GeodesicPaths geodesic_paths(const KnnGraph& graph, std::span<const Index> seeds,
                             std::span<const double> factors, Control& control);

// The same, given who has whom in its list, where arcs in both lists may be left out.
GeodesicPaths geodesic_paths(const KnnGraph& graph, const Adjacency& listed_by, std::span<const Index> seeds,
                             std::span<const double> factors, Control& control);

// A factor per class that makes its paths dearer if it would win more than its share of the samples. `codes`:
// the classes of the labelled samples.
//
// The paths of each class alone reach a sample at cost C_c. It counts for class c by its share in the sum
// over classes of (smallest cost / C_c)^4. The factor of a class is the fourth root of its mean share, over
// the unlabelled samples that a path reaches, divided by its share of the labels; 1 if it has none of the
// samples.
std::vector<double> balancing_factors(const KnnGraph& graph, std::span<const Index> labelled,
                                      std::span<const Index> codes, Index n_classes, Control& control);

// The same from C_c, one after another, and the labelled samples of each class.
std::vector<double> balancing_factors(std::span<const std::span<const double>> costs,
                                      std::span<const std::vector<Index>> seeds);

}  // namespace pathforest
