#include "pathforest/membership/cluster.hpp"

#include <algorithm>

namespace pathforest {
namespace {

constexpr std::size_t pops_ahead = 20;  // longer than a fetch from memory takes, as measured
constexpr Index per_cache_line = 64 / sizeof(Index);

}  // namespace

ClusterCompetition::ClusterCompetition(const KnnGraph& graph)
    : graph_(graph), queue_(graph.n_samples), nodes_(as_size(graph.n_samples)), open_(as_size(graph.k) + 1) {}

void ClusterCompetition::run(Index k, std::span<const double> scaled, const Pause& pause,
                             std::span<const Index> codes) {
    const std::size_t n = scaled.size();
    queue_.fill(scaled);
    plateaus_.find(graph_, k, scaled, queue_.order());
    for (std::size_t i = 0; i < n; ++i) nodes_[i] = {scaled[i], scaled[i] - delta, none, none};
    roots_.clear();
    settled_.assign(n / 64 + 1, 0);

    Index step = 0;
    for (Index q = queue_.pop(); q != none; q = queue_.pop()) {
        if (step++ % samples_between_pauses == 0) pause();
        Node& node = nodes_[as_size(q)];
        if (node.predecessor == none) {
            node.cost = node.density;
            node.label = static_cast<Index>(roots_.size());
            roots_.push_back(q);
        }
        settle(q);
        conquer(q, k, codes);
    }
}

void ClusterCompetition::conquer(Index q, Index k, std::span<const Index> codes) {
    // Samples leave in an order no processor foresees; what they need, in far memory, would be waited for.
    const Index upcoming = queue_.upcoming(pops_ahead);
    __builtin_prefetch(&nodes_[as_size(upcoming)], 1);
    const Index* upcoming_row = graph_.indices.data() + at(upcoming, graph_.k);
    for (Index c = 0; c < k; c += per_cache_line) __builtin_prefetch(upcoming_row + c);
    if (k > 0) __builtin_prefetch(upcoming_row + k - 1);  // rows do not begin with a cache line

    const Index* row = graph_.indices.data() + at(q, graph_.k);
    const std::uint64_t* settled = settled_.data();
    Index* open = open_.data();
    for (Index c = 0; c < k; ++c) {
        const Index u = row[c];
        *open = u;
        open += ~(settled[as_size(u) / 64] >> (u % 64)) & 1;
    }
    const auto is_foreign = [&](Index u) { return !codes.empty() && codes[as_size(u)] != codes[as_size(q)]; };
    if (!codes.empty()) open = std::remove_if(open_.data(), open, is_foreign);
    for (const Index* u = open_.data(); u != open; ++u) __builtin_prefetch(&nodes_[as_size(*u)], 1);
    for (const Index* u = open_.data(); u != open; ++u) offer(q, *u);
    for (const PlateauArc& arc : plateaus_.of(q)) {
        if (!is_settled(arc.target) && !is_foreign(arc.target)) offer(q, arc.target);
    }
}

void ClusterCompetition::offer(Index q, Index u) {
    const Node& conqueror = nodes_[as_size(q)];
    Node& node = nodes_[as_size(u)];
    const double value = std::min(conqueror.cost, node.density);
    if (value <= node.cost) return;
    node.cost = value;
    node.predecessor = q;
    node.label = conqueror.label;
    if (value == node.density) settle(u);
    queue_.raise(u, value, node.density);
}

Clustering cluster(const KnnGraph& graph, Index k, std::span<const double> scaled,
                   std::span<const Index> codes, const Pause& pause) {
    ClusterCompetition competition(graph);
    competition.run(k, scaled, pause, codes);
    Clustering result;
    for (const ClusterCompetition::Node& node : competition.nodes()) {
        result.label.push_back(node.label);
        result.predecessor.push_back(node.predecessor);
        result.root.push_back(competition.roots()[as_size(node.label)]);
        result.cost.push_back(node.cost);
    }
    return result;
}

}  // namespace pathforest
