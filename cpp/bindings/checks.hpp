// What is looked at before any work, because kernels trust their inputs and some would never end. Each error
// says what is wrong, why it matters and what to do.
#pragma once

#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/ties.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace pathforest {

inline std::string place(const char* name, std::size_t i) {
    return std::string(name) + "[" + std::to_string(i) + "]";
}

inline void require_indices(std::span<const Index> indices, Index n_samples, const char* what) {
    const bool all_inside =
        std::all_of(indices.begin(), indices.end(), [=](Index i) { return 0 <= i && i < n_samples; });
    if (!all_inside)
        throw std::invalid_argument(std::string(what) +
                                    " contains an index that does not belong to a sample");
}

// A comparison with NaN is false, so these find it too.
inline void require_not_negative(std::span<const double> values, const char* name, const char* way_out,
                                 bool may_be_infinite = false) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] >= 0 && (may_be_infinite || values[i] < infinity)) continue;
        throw std::invalid_argument(place(name, i) + " is " + std::to_string(values[i]) +
                                    ", not a number of at least 0; " + way_out);
    }
}

inline void require_finite(std::span<const double> values, const char* name, const char* way_out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (-infinity < values[i] && values[i] < infinity) continue;
        throw std::invalid_argument(place(name, i) + " is " + std::to_string(values[i]) +
                                    ", not a finite number; " + way_out);
    }
}

// Rows of neighbour lists, one after the other.
inline void require_ascending_rows(std::span<const double> distances, std::size_t width) {
    const auto fails = [&](std::size_t i, double before) {
        return !(before <= distances[i] && distances[i] < infinity);
    };
    for (std::size_t row = 0; row < distances.size(); row += width) {
        bool failed = fails(row, 0.0);
        for (std::size_t i = row + 1; i < row + width; ++i) failed |= fails(i, distances[i - 1]);
        if (!failed) continue;
        std::size_t i = row;
        while (!fails(i, i == row ? 0.0 : distances[i - 1])) ++i;
        throw std::invalid_argument("distances[" + std::to_string(row / width) + ", " +
                                    std::to_string(i - row) + "] is " + std::to_string(distances[i]) +
                                    "; each list must hold finite distances of at least 0 in ascending "
                                    "order; make it with knn_graph");
    }
}

inline void require_lengths(std::span<const Arc> arcs) {
    for (std::size_t i = 0; i < arcs.size(); ++i) {
        if (0 <= arcs[i].weight && arcs[i].weight < infinity) continue;
        throw std::invalid_argument(place("weight", i) + " is " + std::to_string(arcs[i].weight) +
                                    ", not a length of at least 0; make the tree with spanning_tree");
    }
}

// n - 1 arcs between n samples that close no cycle are a tree.
inline void require_tree(std::span<const Arc> arcs) {
    DisjointSets sets(static_cast<Index>(arcs.size()) + 1);
    for (std::size_t i = 0; i < arcs.size(); ++i) {
        if (sets.unite(arcs[i].low, arcs[i].high)) continue;
        throw std::invalid_argument(
            "arc " + std::to_string(i) + " from " + std::to_string(arcs[i].low) + " to " +
            std::to_string(arcs[i].high) +
            " closes a cycle, so the arcs are not a tree; make it with spanning_tree");
    }
}

inline void require_ascending(std::span<const Arc> arcs) {
    const auto wrong = std::is_sorted_until(arcs.begin(), arcs.end());
    if (wrong == arcs.end()) return;
    throw std::invalid_argument(
        "arc " + std::to_string(wrong - arcs.begin()) + " of length " + std::to_string(wrong->weight) +
        " comes before the arc in front of it; sort arcs by (weight, source, target)");
}

inline void require_ascending_costs(std::span<const double> cost, std::span<const Index> order) {
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (cost[as_size(order[i - 1])] <= cost[as_size(order[i])]) continue;
        throw std::invalid_argument(place("order", i) +
                                    " is a sample cheaper than the one before it; order must "
                                    "list all samples by ascending cost");
    }
}

}  // namespace pathforest
