// Domes of the density: where they meet, which of them cease to count, and where their samples go.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

// Of domes that meet, only the one with the largest measure counts from there on.
enum class Measure { height, area, volume };

// The domes that others absorb, one entry each in every column.
struct DomeTree {
    std::vector<Index> child;    // sample that founded the dome
    std::vector<Index> parent;   // sample that founded the cluster that its samples go to
    std::vector<double> level;   // density at which it met a larger one, the saddle; 0 if no arc joins them
    std::vector<double> height;  // density of the founder above that level
    std::vector<Index> area;     // samples of the dome above that level
    std::vector<double> volume;  // sum of their densities above that level
};

// In ascending order of the measure, then in descending order of the level, and the later founder first;
// domes that no arc joins come last. The graph is cut down to its k nearest neighbours. `label`: the cluster
// of each sample, a position among `founders`, which come densest first. Scaled densities lie in [1, 1000].
//
// The winner of a meeting may be far away, behind others that still count. So samples go to the neighbour,
// the cluster across the highest arc that leads out; of arcs of equal level across the first in the order of
// arcs.
DomeTree dome_tree(const KnnGraph& graph, Index k, std::span<const double> scaled,
                   std::span<const Index> label, std::span<const Index> founders, Measure measure,
                   const Pause& pause);

struct MergedClusters {
    std::vector<Index> label;  // of each sample, in the order of the founders that are left
    std::vector<Index> roots;  // these founders
};

// Lets the first rows of a tree take effect. `root`: the founder of each sample's path.
MergedClusters merge_domes(std::span<const Index> child, std::span<const Index> parent,
                           std::span<const Index> founders, std::span<const Index> root);

}  // namespace pathforest
