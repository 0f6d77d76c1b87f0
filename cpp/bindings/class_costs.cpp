// What each class offers new samples.
#include "pathforest/forest/class_costs.hpp"

#include "arrays.hpp"

namespace pathforest {
namespace {

void require_counts(std::span<const Index> n_conquerors) {
    if (n_conquerors.empty() || n_conquerors[0] < 1 ||
        !std::is_sorted(n_conquerors.begin(), n_conquerors.end())) {
        throw std::invalid_argument("n_conquerors must be one or more ascending numbers of at least 1");
    }
}

std::tuple<Result<double>, Result<Index>>
costs_of_class(const Matrix<double>& distances, const Matrix<Index>& members, const Vector<double>& cost,
               const Vector<Index>& rank, const Matrix<double>& further, const Vector<Index>& further_first,
               const Vector<Index>& n_conquerors, Index n_samples, int n_threads) {
    const std::size_t m = distances.shape(0);
    const std::span<const Index> listed{members.data(), members.size()};
    if (members.shape(0) != m || members.shape(1) != distances.shape(1))
        throw std::invalid_argument("distances and members differ in shape");
    if (rank.size() != cost.size())
        throw std::invalid_argument("cost and rank must have one entry per member");
    if (further.shape(0) != m || further_first.size() != m)
        throw std::invalid_argument("further and further_first must have one entry per query");
    require_indices(listed, as_count(cost.size()), "members");
    require_ascending_rows({distances.data(), distances.size()}, distances.shape(1));
    const std::span<const Index> counts = as_span(n_conquerors);
    require_counts(counts);
    const auto rows = [&](const auto& array) {
        return Rows{array.data(), as_count(m, "queries"), as_count(array.shape(1), "offers")};
    };
    std::vector<double> costs(counts.size() * m);
    std::vector<Index> first(m);
    run_interruptibly(n_threads, [&](Control& control) {
        class_costs({rows(distances), rows(members), distances.shape(1) == cost.size()},
                    {as_span(cost), as_span(rank)}, {rows(further), as_span(further_first)}, counts,
                    n_samples, costs, first, control);
    });
    return {to_numpy(std::move(costs), {counts.size(), m}), to_numpy(std::move(first))};
}

Result<double> means_of_offers(const Matrix<double>& offers, const Vector<Index>& n_conquerors) {
    const std::span<const Index> counts = as_span(n_conquerors);
    require_counts(counts);
    const std::size_t m = offers.shape(0);
    std::vector<double> means(counts.size() * m);
    for (std::size_t i = 0; i < m; ++i) {
        mean_offers({offers.data() + i * offers.shape(1), offers.shape(1)}, counts,
                    [&](std::size_t r, double mean) { means[r * m + i] = mean; });
    }
    return to_numpy(std::move(means), {counts.size(), m});
}

}  // namespace

void bind_class_costs(nb::module_& m) {
    m.def("class_costs", costs_of_class, "distances"_a.noconvert(), "members"_a.noconvert(),
          "cost"_a.noconvert(), "rank"_a.noconvert(), "further"_a.noconvert(), "further_first"_a.noconvert(),
          "n_conquerors"_a.noconvert(), "n_samples"_a, "n_threads"_a = 1,
          "What a class offers each query, for each number of conquerors, from the members nearest to it and "
          "further offers; and the rank of the smallest offer, -1 where other members could change it.");
    m.def("mean_offers", means_of_offers, "offers"_a.noconvert(), "n_conquerors"_a.noconvert(),
          "For each number of conquerors the mean of so many ascending offers, row by row.");
}

}  // namespace pathforest
