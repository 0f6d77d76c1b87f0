// Rows that are equal in every feature.
#pragma once

#include "pathforest/distances/sparse_rows.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

// Per row, how many rows before it are the same, bit by bit, and of the same group if there are any.
template <class T>
std::vector<Index> copy_numbers(const T* X, Index n_rows, Index n_features, std::span<const Index> groups);
template <class T>
std::vector<Index> copy_numbers(std::span<const SparseRow<T>> rows, std::span<const Index> groups);

}  // namespace pathforest
