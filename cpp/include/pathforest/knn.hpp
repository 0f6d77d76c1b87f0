// Question 1: the k nearest others of every training sample; and the k nearest training samples of new ones.
#pragma once

#include "pathforest/engines/any.hpp"

#include <span>

namespace pathforest {

// Rows ascend by (distance, index). k <= n_samples - 1.
void knn(const AnyEngine& engine, Index k, std::span<double> distances, std::span<Index> indices,
         Control& control);

// k <= n_samples.
template <class T>
void query_knn(const AnyEngine& engine, Rows<T> queries, Index k, std::span<double> distances,
               std::span<Index> indices, Control& control);

}  // namespace pathforest
