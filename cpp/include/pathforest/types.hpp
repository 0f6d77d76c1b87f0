// The words every stage shares: the index type, arcs with their total order, and one struct of arrays per
// stage.
#pragma once

#include <bit>
#include <compare>
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

// The tie rule: arcs compare by weight, then lower endpoint, then higher endpoint.
struct Arc {
    double weight = infinity;
    Index low = none;
    Index high = none;

    static Arc between(double weight, Index a, Index b) {
        return a < b ? Arc{weight, a, b} : Arc{weight, b, a};
    }
    friend auto operator<=>(const Arc&, const Arc&) = default;
};

// What a path costs: a value, and the arc that set it. Memberships multiply the value; the arc keeps its own
// weight, which settles ties between values.
struct PathCost {
    double value = infinity;
    Arc arc;

    // Of a path that is this arc alone.
    static PathCost of(const Arc& arc) { return {arc.weight, arc}; }
    friend auto operator<=>(const PathCost&, const PathCost&) = default;
};

// A sample seen from somewhere else; neighbour lists are sorted by this order.
struct Neighbour {
    double distance;
    Index sample;

    friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
    // As above; but that one minds NaNs, which takes time where neighbours are compared by the billion.
    friend bool operator<(const Neighbour& a, const Neighbour& b) {
        return a.distance < b.distance || (a.distance == b.distance && a.sample < b.sample);
    }
};

// The largest distance below the given one, as a policy's limit: negative if there is none.
inline double strictly_below(double distance) {
    // The bits of positive doubles count up like integers; nextafter is a call too slow for the inner loops.
    return distance > 0 ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(distance) - 1) : -1.0;
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
