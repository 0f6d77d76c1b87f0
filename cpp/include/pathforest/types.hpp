// The words every stage shares: the index type, and one struct of arrays per stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pathforest {

using Index = std::int32_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr Index none = -1;

// An Index where a container wants a size; never negative.
constexpr std::size_t as_size(Index i) { return static_cast<std::size_t>(i); }

// Offsets into n x k arrays outgrow Index long before the sample count does.
constexpr std::size_t at(Index row, Index width, Index column = 0) {
    return as_size(row) * as_size(width) + as_size(column);
}

// The k nearest others of every sample, row by row, each row ascending by (distance, index).
struct KnnGraph {
    std::span<const double> distances;
    std::span<const Index> indices;
    Index n_samples;
    Index k;

    double distance(Index row, Index column) const { return distances[at(row, k, column)]; }
    Index index(Index row, Index column) const { return indices[at(row, k, column)]; }
};

struct Forest {
    std::vector<double> cost;
    std::vector<Index> predecessor;  // none at a prototype
    std::vector<Index> root;
    std::vector<Index> order;  // samples by (cost, the arc that set it, index)
};

struct Clustering {
    std::vector<Index> label;  // clusters are numbered in order of birth
    std::vector<Index> predecessor;
    std::vector<Index> root;
    std::vector<double> cost;
};

}  // namespace pathforest
