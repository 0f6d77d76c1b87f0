// Paths over neighbour lists that cost the sum of their arcs.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

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

}  // namespace pathforest
