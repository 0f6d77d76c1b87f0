// Question 1: the k nearest others of every training sample; and the k nearest training samples of new ones.
#pragma once

#include "pathforest/distances/engines/any.hpp"
#include "pathforest/distances/engines/pairs_of_parts.hpp"

#include <span>

namespace pathforest {

// Of the samples from start to before stop. Rows ascend by (distance, index). k <= n_samples - 1.
void knn(const AnyEngine& engine, Index start, Index stop, Index k, std::span<double> distances,
         std::span<Index> indices, Control& control);

// The same of all samples, named by where the engine keeps them: neighbours in space are then neighbours in
// memory. Rows ascend as above, by the samples' own indices. If each pair of samples is looked at, so are the
// pairs of parts, if there are any.
void knn_by_position(const AnyEngine& engine, Index k, PairsOfParts* parts, std::span<double> distances,
                     std::span<Index> positions, Control& control);

// k <= n_samples. With a reach per query, none for all, samples farther away are left out: rows that are then
// too short end in infinity and none.
template <class T>
void query_knn(const AnyEngine& engine, Rows<T> queries, Index k, std::span<const double> reach,
               std::span<double> distances, std::span<Index> indices, Control& control);

}  // namespace pathforest
