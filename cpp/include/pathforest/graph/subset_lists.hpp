// Neighbour lists of some of the samples among themselves, read from the lists of all.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

// `chosen` ascends; lists name its samples by their places in it, and are cut at k. Returns the places of
// those whose long list has fewer than k of the chosen: their rows are left unfinished.
std::vector<Index> subset_lists(const KnnGraph& all, std::span<const Index> chosen, Index k,
                                std::span<double> distances, std::span<Index> indices, Control& control);

}  // namespace pathforest
