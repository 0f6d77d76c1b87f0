// What a pass over all pairs of samples may find beside what each sample looks for.
#pragma once

#include "pathforest/types.hpp"

#include <functional>
#include <vector>

namespace pathforest {

// Pairs of samples of two parts that are no farther apart than the limit of these. Who joins the parts lowers
// the limits as pairs are found.
struct PairsOfParts {
    struct Pair {
        Index first, second;  // positions
        double least;         // the reduced distance is no smaller
    };

    Index n_parts = 0;
    std::vector<Index> part;     // per position
    std::vector<double> limits;  // per pair of parts, as a distance; negative: none matters
    // Takes the pairs found since the last time, in no particular order.
    std::function<void(std::vector<Pair>&)> take;
    // Whether all have been seen: not if so many distances tie that they are too many.
    bool is_complete = false;
};

}  // namespace pathforest
