// The normalised cut of clusterings: how much of the graph's weight joins different clusters.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/membership/plateaus.hpp"
#include "pathforest/types.hpp"

#include <array>
#include <span>
#include <vector>

namespace pathforest {

// A clustering of the graph cut down to its k nearest neighbours.
struct Partition {
    Index k;
    Index n_clusters;
    std::span<const Index> label;
    const Plateaus& plateaus;
};

// Weighs the arcs of one graph; keeps its memory from one call to the next.
class NormalisedCut {
  public:
    explicit NormalisedCut(const KnnGraph& graph);

    // Partitions measured in one pass over the graph, which costs more than adding its weights.
    static constexpr std::size_t most_together = 8;

    // For each of at most that many partitions, the smallest k first: the sum over clusters of ext / (int +
    // ext), where an arc of length w > 0 adds 1/w to its tail's cluster. Weights are added up for each sample
    // first, in the order of its arcs, then for each cluster, in the order of its samples.
    std::vector<double> operator()(std::span<const Partition> partitions, const Pause& pause);

  private:
    using Labels = std::array<Index, most_together>;
    using Sums = std::array<double, most_together>;
    struct Weights {
        Sums total, outside;
    };

    Weights weigh(Index i, std::span<const Partition> partitions) const;
    double weight(double length) const { return length > 0 ? unit_ / length : 0.0; }

    KnnGraph graph_;
    double unit_;
    std::vector<Labels> labels_;  // side by side, the labels of a sample are one read for all partitions
};

}  // namespace pathforest
