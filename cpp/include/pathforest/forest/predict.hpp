// Question 4: which training samples conquer new ones.
#pragma once

#include "pathforest/distances/engines/any.hpp"

#include <span>

namespace pathforest {

// For each query the n_conquerors smallest offers max{cost(q), d(q, t)}, ascending; of equal offers the one
// whose sample comes first in `order`, which must list the samples by ascending cost.
template <class T>
void conquer(const AnyEngine& engine, Rows<T> queries, std::span<const double> cost,
             std::span<const Index> order, Index n_conquerors, std::span<double> offers,
             std::span<Index> conquerors, Control& control);

}  // namespace pathforest
