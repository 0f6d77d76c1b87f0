// The minimum spanning tree of the complete graph, unique under the tie rule.
#pragma once

#include "pathforest/engines/any.hpp"

#include <vector>

namespace pathforest {

// Its n - 1 arcs in ascending order. `graph` holds neighbour lists of the same engine, of any length k >= 1.
std::vector<Arc> spanning_tree(const AnyEngine& engine, const KnnGraph& graph, Control& control);

}  // namespace pathforest
