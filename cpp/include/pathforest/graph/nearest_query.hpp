// The question of the lists turned round: which new sample is the nearest to each training sample?
#pragma once

#include "pathforest/distances/engines/any.hpp"

#include <span>

namespace pathforest {

// Per training sample, the nearest query no farther than its reach, the first of equally near ones; infinity
// and none if there is none. Meant for few queries and many samples: those out of reach are hardly looked at.
template <class T>
void nearest_query(const AnyEngine& engine, Rows<T> queries, std::span<const double> reach,
                   std::span<double> distances, std::span<Index> indices, Control& control);

}  // namespace pathforest
