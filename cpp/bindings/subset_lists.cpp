// Neighbour lists of some of the samples, and those of two parts in one.
#include "pathforest/graph/subset_lists.hpp"

#include "arrays.hpp"
#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/ties.hpp"

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

using ListArrays = std::tuple<Result<double>, Result<Index>>;

ListArrays merged_lists(const Matrix<double>& distances, const Matrix<Index>& indices,
                        const Matrix<double>& further_distances, const Matrix<Index>& further_indices) {
    const std::size_t n = distances.shape(0), k = distances.shape(1), more = further_distances.shape(1);
    if (indices.shape(0) != n || indices.shape(1) != k || further_distances.shape(0) != n ||
        further_indices.shape(0) != n || further_indices.shape(1) != more) {
        throw std::invalid_argument("lists to be merged differ in shape");
    }
    std::vector<double> values(n * k);
    std::vector<Index> samples(n * k);
    run_interruptibly(1, [&](Control& control) {
        for (std::size_t i = 0; i < n; ++i) {
            if (i % samples_between_pauses == 0) control.check();
            const double *one = distances.data() + i * k, *other = further_distances.data() + i * more;
            const Index *of_one = indices.data() + i * k, *of_other = further_indices.data() + i * more;
            for (std::size_t j = i * k, a = 0, b = 0; j < (i + 1) * k; ++j) {
                const bool is_other =
                    b < more && Neighbour{other[b], of_other[b]} < Neighbour{one[a], of_one[a]};
                values[j] = is_other ? other[b] : one[a];
                samples[j] = is_other ? of_other[b++] : of_one[a++];
            }
        }
    });
    return {to_numpy(std::move(values), {n, k}), to_numpy(std::move(samples), {n, k})};
}

Result<Index> parts_of_lists(const Matrix<double>& distances, const Matrix<Index>& indices,
                             const Vector<Index>& codes) {
    const KnnGraph graph = as_graph(distances, indices);
    if (codes.size() != as_size(graph.n_samples))
        throw std::invalid_argument("codes must have one entry per list");
    std::vector<Index> parts;
    run_interruptibly(1, [&](Control&) { parts = parts_of_classes(graph, as_span(codes)); });
    return to_numpy(std::move(parts));
}

}  // namespace

void bind_subset_lists(nb::module_& m) {
    m.def(
        "subset_lists", lists_of_subset, "distances"_a.noconvert(), "indices"_a.noconvert(),
        "chosen"_a.noconvert(), "k"_a, "n_threads"_a = 1,
        "Lists of the chosen samples among themselves, from lists of all; and which of them are too short.");
    m.def("merge_lists", merged_lists, "distances"_a.noconvert(), "indices"_a.noconvert(),
          "further_distances"_a.noconvert(), "further_indices"_a.noconvert(),
          "The nearest of two lists per sample, as many as the first has.");
    m.def("parts_of_classes", parts_of_lists, "distances"_a.noconvert(), "indices"_a.noconvert(),
          "codes"_a.noconvert(), "One sample of each sample's part: those of a class that lists join.");
}

}  // namespace pathforest
