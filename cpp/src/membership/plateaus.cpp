#include "pathforest/membership/plateaus.hpp"

#include "pathforest/ties.hpp"

#include <numeric>

namespace pathforest {

void Plateaus::find(const KnnGraph& graph, Index k, std::span<const double> scaled,
                    std::span<const Ranked> order) {
    arcs_.clear();
    found_.clear();
    is_shared_.assign(order.size(), 0);
    const auto equal = [&](std::size_t a, std::size_t b) {
        return order[a].minus_value == order[b].minus_value;
    };
    for (std::size_t rank = 1; rank < order.size(); ++rank) {
        if (equal(rank - 1, rank))
            is_shared_[as_size(order[rank - 1].sample)] = is_shared_[as_size(order[rank].sample)] = 1;
    }
    for (Index i = 0; i < graph.n_samples; ++i) {
        // A density of its own, as most samples have, needs no look at the neighbours.
        if (!is_shared_[as_size(i)]) continue;
        for (Index c = 0; c < k; ++c) {
            const Index j = graph.index(i, c);
            if (scaled[as_size(j)] != scaled[as_size(i)]) continue;
            // j's list is sorted, so i is among its first k exactly if it does not come after the last of
            // them.
            const Neighbour seen_from_j{graph.distance(i, c), i};
            const Neighbour last{graph.distance(j, k - 1), graph.index(j, k - 1)};
            if (last < seen_from_j) found_.push_back({j, i, seen_from_j.distance});
        }
    }
    if (found_.empty()) return;
    // They come by target; put side by side where their source begins, they stay so.
    first_.assign(order.size() + 1, 0);
    for (const PlateauArc& arc : found_) ++first_[as_size(arc.source) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    arcs_.resize(found_.size());
    for (const PlateauArc& arc : found_) arcs_[next[as_size(arc.source)]++] = arc;
}

}  // namespace pathforest
