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

template <class T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Those of every class, (query, class, place), as one row for each query and class.
template <class T>
Rows<T> rows_of(const Cube<T>& cube) {
    return {cube.data(), as_count(cube.shape(0) * cube.shape(1), "queries times classes"),
            as_count(cube.shape(2), "offers")};
}

MemberCosts costs_of_members(const Vector<double>& cost, const Vector<Index>& rank,
                             const Vector<Index>& code) {
    if (rank.size() != cost.size() || code.size() != cost.size())
        throw std::invalid_argument("cost, rank and code must have one entry per sample");
    return {as_span(cost), as_span(rank), as_span(code)};
}

std::tuple<Result<double>, Result<Index>>
costs_of_classes(const Cube<double>& distances, const Cube<Index>& samples, const Vector<Index>& sizes,
                 const Vector<double>& cost, const Vector<Index>& rank, const Vector<Index>& code,
                 const Cube<double>& further, const Matrix<Index>& further_first,
                 const Vector<Index>& n_conquerors, int n_threads) {
    const std::size_t m = distances.shape(0), n_classes = distances.shape(1);
    if (samples.shape(0) != m || samples.shape(1) != n_classes || samples.shape(2) != distances.shape(2))
        throw std::invalid_argument("distances and samples differ in shape");
    if (sizes.size() != n_classes) throw std::invalid_argument("sizes must have one entry per class");
    if (further.shape(0) != m || further.shape(1) != n_classes || further_first.shape(0) != m ||
        further_first.shape(1) != n_classes)
        throw std::invalid_argument("further and further_first must have one entry per query and class");
    const MemberCosts forest = costs_of_members(cost, rank, code);
    for (std::size_t i = 0; i < samples.size(); ++i) {  // none behind the last member of a class
        const std::size_t k = samples.shape(2), member = i % k,
                          size = as_size(sizes.data()[i / k % n_classes]);
        require_indices({samples.data() + i, std::size_t{member < size}}, as_count(cost.size()), "samples");
    }
    const std::span<const Index> counts = as_span(n_conquerors);
    require_counts(counts);
    std::vector<double> costs(counts.size() * m * n_classes);
    std::vector<Index> first(m * n_classes);
    run_interruptibly(n_threads, [&](Control& control) {
        class_costs({rows_of(distances), rows_of(samples), as_span(sizes)}, forest,
                    {rows_of(further), {further_first.data(), further_first.size()}}, counts, costs, first,
                    control);
    });
    return {to_numpy(std::move(costs), {counts.size(), m, n_classes}),
            to_numpy(std::move(first), {m, n_classes})};
}

Result<Index> winners(const Matrix<double>& offers, const Matrix<Index>& samples, bool all,
                      const Vector<Index>& rank, const Vector<Index>& code, const Vector<Index>& sizes) {
    if (samples.shape(0) != offers.shape(0) || samples.shape(1) != offers.shape(1))
        throw std::invalid_argument("offers and samples differ in shape");
    require_indices({samples.data(), samples.size()}, as_count(code.size()), "samples");
    require_indices(as_span(code), as_count(sizes.size()), "code");
    const auto rows = [&](const auto& array) {
        return Rows{array.data(), as_count(array.shape(0), "queries"), as_count(array.shape(1), "offers")};
    };
    std::vector<Index> conquerors(offers.shape(0));
    settle_winners({rows(offers), rows(samples), all}, {{}, as_span(rank), as_span(code)}, as_span(sizes),
                   conquerors);
    return to_numpy(std::move(conquerors));
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
    m.def("class_costs", costs_of_classes, "distances"_a.noconvert(), "samples"_a.noconvert(),
          "sizes"_a.noconvert(), "cost"_a.noconvert(), "rank"_a.noconvert(), "code"_a.noconvert(),
          "further"_a.noconvert(), "further_first"_a.noconvert(), "n_conquerors"_a.noconvert(),
          "n_threads"_a = 1,
          "What each class offers each query, for each number of conquerors, from its members nearest to it "
          "and further offers; and the rank of the smallest offer, -1 where other members could change it.");
    m.def("settle_winners", winners, "offers"_a.noconvert(), "samples"_a.noconvert(), "all"_a,
          "rank"_a.noconvert(), "code"_a.noconvert(), "sizes"_a.noconvert(),
          "From the smallest offers of all samples the one that makes the winner's smallest, -1 where others "
          "could change it.");
    m.def("mean_offers", means_of_offers, "offers"_a.noconvert(), "n_conquerors"_a.noconvert(),
          "For each number of conquerors the mean of so many ascending offers, row by row.");
}

}  // namespace pathforest
