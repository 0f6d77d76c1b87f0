#include "pathforest/membership/cut.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace pathforest {
namespace {

// A power of two near the shortest arc with a length. Weighing arcs by it over their length instead of 1
// leaves every ratio of sums as it is, bit for bit, but keeps the weights of very short arcs from
// overflowing.
double unit_of_length(const KnnGraph& graph) {
    double shortest = infinity;
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < graph.k; ++c) {
            if (graph.distance(i, c) == 0) continue;
            shortest = std::min(shortest, graph.distance(i, c));
            break;  // rows ascend
        }
    }
    return shortest == infinity ? 1.0 : std::ldexp(1.0, std::ilogb(shortest));
}

}  // namespace

NormalisedCut::NormalisedCut(const KnnGraph& graph)
    : graph_(graph), unit_(unit_of_length(graph)), labels_(as_size(graph.n_samples), Labels{}) {}

std::vector<double> NormalisedCut::operator()(std::span<const Partition> partitions, const Pause& pause) {
    std::vector<std::vector<double>> total, outside;  // of each cluster of each partition
    for (const Partition& partition : partitions) {
        total.emplace_back(as_size(partition.n_clusters), 0.0);
        outside.emplace_back(as_size(partition.n_clusters), 0.0);
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        for (std::size_t p = 0; p < partitions.size(); ++p) labels_[i][p] = partitions[p].label[i];
    }
    for (Index i = 0; i < graph_.n_samples; ++i) {
        if (i % samples_between_pauses == 0) pause();
        const Weights weights = weigh(i, partitions);
        for (std::size_t p = 0; p < partitions.size(); ++p) {
            const std::size_t own = as_size(partitions[p].label[as_size(i)]);
            total[p][own] += weights.total[p];
            outside[p][own] += weights.outside[p];
        }
    }
    std::vector<double> cuts(partitions.size(), 0.0);
    for (std::size_t p = 0; p < partitions.size(); ++p) {
        for (std::size_t c = 0; c < total[p].size(); ++c) {
            if (total[p][c] > 0) cuts[p] += outside[p][c] / total[p][c];
        }
    }
    return cuts;
}

NormalisedCut::Weights NormalisedCut::weigh(Index i, std::span<const Partition> partitions) const {
    const Labels own = labels_[as_size(i)];
    double total = 0.0;
    Sums outside{};
    // The weight or 0, by a mask: as a choice, compilers make it a branch, which cannot be foreseen.
    const auto add_outside = [&](std::size_t p, double arc, const Labels& other) {
        const auto mask = -static_cast<std::int64_t>(other[p] != own[p]);
        outside[p] += std::bit_cast<double>(mask & std::bit_cast<std::int64_t>(arc));
    };
    const Index shared = partitions.front().k;  // all partitions have the arcs of the smallest k
    const Index next = std::min(i + 1, graph_.n_samples - 1);  // its labels are fetched ahead of time
    for (Index c = 0; c < shared; ++c) {
        const double arc = weight(graph_.distance(i, c));
        const Labels& other = labels_[as_size(graph_.index(i, c))];
        __builtin_prefetch(&labels_[as_size(graph_.index(next, c))]);
        total += arc;
        for (std::size_t p = 0; p < most_together; ++p) add_outside(p, arc, other);
    }
    Sums totals;
    totals.fill(total);
    for (std::size_t p = 0; p < partitions.size(); ++p) {
        for (Index c = shared; c < partitions[p].k; ++c) {
            const double arc = weight(graph_.distance(i, c));
            totals[p] += arc;
            add_outside(p, arc, labels_[as_size(graph_.index(i, c))]);
        }
        for (const PlateauArc& arc : partitions[p].plateaus.of(i)) {
            totals[p] += weight(arc.length);
            add_outside(p, weight(arc.length), labels_[as_size(arc.target)]);
        }
    }
    return {totals, outside};
}

}  // namespace pathforest
