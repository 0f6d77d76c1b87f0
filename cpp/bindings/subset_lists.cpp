// Neighbour lists of some of the samples.
#include "pathforest/graph/subset_lists.hpp"

#include "arrays.hpp"

namespace pathforest {
namespace {

std::tuple<Result<double>, Result<Index>, Result<Index>> lists_of_subset(const Matrix<double>& distances,
                                                                         const Matrix<Index>& indices,
                                                                         const Vector<Index>& chosen, Index k,
                                                                         int n_threads) {
    const KnnGraph all = as_graph(distances, indices);
    const std::span<const Index> subset = as_span(chosen);
    require_indices(subset, all.n_samples, "chosen");
    if (std::adjacent_find(subset.begin(), subset.end(), std::greater_equal<>{}) != subset.end())
        throw std::invalid_argument("chosen must ascend");
    if (k < 0 || as_size(k) >= std::max<std::size_t>(1, subset.size()))
        throw std::invalid_argument("k must be less than the number of samples chosen");
    std::vector<double> near(subset.size() * as_size(k));
    std::vector<Index> neighbours(near.size());
    std::vector<Index> too_short;
    run_interruptibly(n_threads, [&](Control& control) {
        too_short = subset_lists(all, subset, k, near, neighbours, control);
    });
    return {to_numpy(std::move(near), {subset.size(), as_size(k)}),
            to_numpy(std::move(neighbours), {subset.size(), as_size(k)}), to_numpy(std::move(too_short))};
}

}  // namespace

void bind_subset_lists(nb::module_& m) {
    m.def(
        "subset_lists", lists_of_subset, "distances"_a.noconvert(), "indices"_a.noconvert(),
        "chosen"_a.noconvert(), "k"_a, "n_threads"_a = 1,
        "Lists of the chosen samples among themselves, from lists of all; and which of them are too short.");
}

}  // namespace pathforest
