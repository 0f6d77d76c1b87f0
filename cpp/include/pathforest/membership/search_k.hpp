// The search for k*, the neighbourhood whose clustering has the smallest normalised cut.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <vector>

namespace pathforest {

// The cut of every k from 1 to k_max, up to and including the first that is 0. Needs graph.k >= k_max.
std::vector<double> search_k(const KnnGraph& graph, Index k_max, bool squared, Control& control);

}  // namespace pathforest
