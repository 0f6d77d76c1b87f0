#include "pathforest/membership/plateaus.hpp"

#include "pathforest/ties.hpp"

#include <algorithm>

namespace pathforest {

void Plateaus::find(const KnnGraph& graph, Index k, std::span<const double> scaled,
                    std::span<const Ranked> order) {
    arcs_.clear();
    const auto equal = [&](std::size_t a, std::size_t b) {
        return order[a].minus_value == order[b].minus_value;
    };
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        // A density of its own, as most samples have, needs no look at the neighbours.
        const bool shared =
            (rank > 0 && equal(rank - 1, rank)) || (rank + 1 < order.size() && equal(rank, rank + 1));
        if (!shared) continue;
        const Index i = order[rank].sample;
        for (Index c = 0; c < k; ++c) {
            const Index j = graph.index(i, c);
            if (scaled[as_size(j)] != order[rank].value()) continue;
            // j's list is sorted, so i is among its first k exactly if it does not come after the last of
            // them.
            const Neighbour seen_from_j{graph.distance(i, c), i};
            const Neighbour last{graph.distance(j, k - 1), graph.index(j, k - 1)};
            if (seen_from_j > last) arcs_.push_back({j, i, seen_from_j.distance});
        }
    }
    if (arcs_.empty()) return;
    std::sort(arcs_.begin(), arcs_.end(), [](const PlateauArc& a, const PlateauArc& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
    });
    first_.assign(order.size() + 1, 0);
    for (const PlateauArc& arc : arcs_) ++first_[as_size(arc.source) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

}  // namespace pathforest
