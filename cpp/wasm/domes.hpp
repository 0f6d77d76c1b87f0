// Which maxima of the density count as clusters: `min_height` of OPFClustering, whose own code is
// src/pathforest/_models/dome_tree.py. cpp/wasm/check.py holds the two equal.
#pragma once

#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest::wasm {

// Joins clusters whose dome is lower than min_height to the neighbour across their highest arc, in the graph
// cut down to its k nearest neighbours. Rewrites label and root; returns the roots that are left.
std::vector<Index> merge_low_domes(const KnnGraph& graph, Index k, std::span<const double> scaled,
                                   double min_height, Clustering& clusters);

}  // namespace pathforest::wasm
