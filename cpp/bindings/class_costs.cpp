// What each class offers new samples, from their distances to the training samples.
#include "pathforest/forest/class_costs.hpp"

#include "arrays.hpp"

namespace pathforest {
namespace {

std::tuple<Result<double>, Result<Index>> costs_of_classes(const Matrix<double>& distances,
                                                           const Vector<double>& cost,
                                                           const Vector<Index>& order,
                                                           const Vector<Index>& code, Index n_classes,
                                                           const Vector<Index>& n_conquerors, int n_threads) {
    const std::size_t n = distances.shape(1);
    if (cost.size() != n || order.size() != n || code.size() != n) {
        throw std::invalid_argument("cost, order and code must have one entry per training sample");
    }
    const std::span<const Index> counts = as_span(n_conquerors);
    if (counts.empty() || std::any_of(counts.begin(), counts.end(), [](Index r) { return r < 1; })) {
        throw std::invalid_argument("n_conquerors must be one or more numbers of at least 1");
    }
    require_indices(as_span(order), as_count(n), "order");
    require_indices(as_span(code), n_classes, "code");
    const std::size_t m = distances.shape(0);
    const auto classes = as_size(n_classes);
    std::vector<double> costs(counts.size() * m * classes);
    std::vector<Index> first(m * classes);
    run_interruptibly(n_threads, [&](Control& control) {
        class_costs(Rows<double>{distances.data(), as_count(m, "queries"), as_count(n)},
                    {as_span(cost), as_span(order), as_span(code), n_classes}, counts, costs, first, control);
    });
    return {to_numpy(std::move(costs), {counts.size(), m, classes}),
            to_numpy(std::move(first), {m, classes})};
}

Result<double> mean_offers(const Matrix<double>& offers) {
    const std::size_t count = offers.shape(1);
    std::vector<double> means(offers.shape(0));
    for (std::size_t i = 0; i < means.size(); ++i) means[i] = mean_offer({offers.data() + i * count, count});
    return to_numpy(std::move(means));
}

}  // namespace

void bind_class_costs(nb::module_& m) {
    m.def(
        "class_costs", costs_of_classes, "distances"_a.noconvert(), "cost"_a.noconvert(),
        "order"_a.noconvert(), "code"_a.noconvert(), "n_classes"_a, "n_conquerors"_a.noconvert(),
        "n_threads"_a = 1,
        "The mean of the smallest offers of each class for each number of them, and the place in `order` of "
        "the smallest.");
    m.def("mean_offers", mean_offers, "offers"_a.noconvert(),
          "The mean of each row of ascending offers, terms added from the first; infinity for empty rows.");
}

}  // namespace pathforest
