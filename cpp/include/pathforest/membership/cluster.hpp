// OPF clustering (Algorithm 2 of the paper): the f_min competition.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/membership/density_queue.hpp"
#include "pathforest/membership/plateaus.hpp"
#include "pathforest/types.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace pathforest {

// The competition, with its memory kept from one to the next.
class ClusterCompetition {
  public:
    explicit ClusterCompetition(const KnnGraph& graph);

    // What is known of a sample, side by side: an offer reads and writes most of it.
    struct Node {
        double density;     // scaled
        double cost;        // the path value
        Index predecessor;  // none at a root
        Index label;        // none as long as nothing has reached the sample
    };

    // Clusters the k-nn graph by its scaled densities. Given classes, arcs between them take no part.
    void run(Index k, std::span<const double> scaled, const Pause& pause, std::span<const Index> codes = {});

    // Of the last run.
    std::span<const Node> nodes() const { return nodes_; }
    std::span<const Index> roots() const { return roots_; }  // one per cluster
    Plateaus& plateaus() { return plateaus_; }

  private:
    void conquer(Index q, Index k, std::span<const Index> codes);
    void offer(Index q, Index u);

    bool is_settled(Index u) const { return settled_[as_size(u) / 64] >> (u % 64) & 1; }
    void settle(Index u) { settled_[as_size(u) / 64] |= std::uint64_t{1} << (u % 64); }

    KnnGraph graph_;
    DensityQueue queue_;
    Plateaus plateaus_;
    std::vector<Node> nodes_;
    std::vector<Index> roots_;
    // One bit per sample that no offer can raise any more, because it has left the queue or has all it can
    // have. Most visits end here, and the bits stay in the fastest cache where nodes would not.
    std::vector<std::uint64_t> settled_;
    std::vector<Index> open_;  // the neighbours an offer can still raise
};

// Clusters the k-nn graph by its scaled densities. Given the classes of the samples, none for one class, arcs
// between classes take no part.
Clustering cluster(const KnnGraph& graph, Index k, std::span<const double> scaled,
                   std::span<const Index> codes, const Pause& pause);

}  // namespace pathforest
