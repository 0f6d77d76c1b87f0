#include "pathforest/graph/subset_lists.hpp"

#include "pathforest/parallel.hpp"

namespace pathforest {

std::vector<Index> subset_lists(const KnnGraph& all, std::span<const Index> chosen, Index k,
                                std::span<double> distances, std::span<Index> indices, Control& control) {
    std::vector<Index> place(as_size(all.n_samples), none);
    for (std::size_t i = 0; i < chosen.size(); ++i) place[as_size(chosen[i])] = static_cast<Index>(i);
    const auto n_chosen = static_cast<Index>(chosen.size());
    std::vector<char> is_short(chosen.size());
    constexpr Index step = samples_between_pauses;
    parallel_for((n_chosen + step - 1) / step, control, [] { return 0; },
                 [&](Index task, int&, const Pause&) {
                     const Index end = std::min(n_chosen, (task + 1) * step);
                     for (Index i = task * step; i < end; ++i) {
                         const Index sample = chosen[as_size(i)];
                         Index found = 0;
                         for (Index j = 0; j < all.k && found < k; ++j) {
                             const Index neighbour = place[as_size(all.index(sample, j))];
                             if (neighbour == none) continue;
                             distances[at(i, k, found)] = all.distance(sample, j);
                             indices[at(i, k, found++)] = neighbour;
                         }
                         is_short[as_size(i)] = found < k;
                     }
                 });
    std::vector<Index> too_short;
    for (Index i = 0; i < n_chosen; ++i) {
        if (is_short[as_size(i)]) too_short.push_back(i);
    }
    return too_short;
}

}  // namespace pathforest
