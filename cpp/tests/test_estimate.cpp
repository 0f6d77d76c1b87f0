#include "check.hpp"
#include "pathforest/distances/engines/panels.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace pathforest::tests {
namespace {

// The filter's value of a pair, both rows of one panel.
template <class T>
T filtered(const Panels<T>& panels, bool by_differences) {
    const Index n_features = panels.blocks().n_features;
    std::vector<T> query(at(n_features, filter_queries)), values(at(filter_queries, panel));
    for (Index j = 0; j < n_features; ++j)
        std::fill_n(query.begin() + j * filter_queries, filter_queries, panels.row(0)[j]);
    const T* const group = query.data();
    std::array<T, filter_queries> reach;
    reach.fill(std::numeric_limits<T>::infinity());
    std::array<std::uint64_t, filter_queries * panel / 64> hits;
    panels.filter(by_differences, 0, std::span(&group, 1), reach.data(), nullptr, values.data(), hits.data());
    return values[1];
}

// In each sum, the features after the first add to just above 1, each half a unit in its last place and a
// little more, or a little less: all are rounded the same way, up by half a unit or down to nothing.
template <class T>
void test_worst_rounding(Index n_features, bool by_differences, bool up) {
    const T half_unit = std::numeric_limits<T>::epsilon() / 2;
    const T small = std::sqrt(half_unit) * (1 + (up ? T{1} : T{-1}) / 256);
    // Products begin with |b|^2 / 2. If there is one sum, it adds the first |a||b|: three halves of it are a
    // little above 1.
    const bool is_one_sum = n_features <= filter_features;
    const T first = by_differences || !is_one_sum ? T{1} : std::sqrt(T{2} / 3) * (1 + T{1} / 1024);
    std::vector<T> rows(at(2, n_features));
    for (Index j = 0; j < n_features; ++j) {
        const T size = j % filter_features == 0 ? first : small;
        rows[as_size(j)] = by_differences ? T{0} : -size;
        rows[at(1, n_features) + as_size(j)] = size;
    }
    long double sum = 0;
    for (Index j = n_features; j-- > 0;) {
        const double difference =
            static_cast<double>(rows[as_size(j)]) - static_cast<double>(rows[at(1, n_features) + as_size(j)]);
        sum += static_cast<long double>(difference) * difference;
    }
    const auto exact = static_cast<double>(sum);
    const Panels<T> panels(rows.data(), 2, n_features, Order(given_order(2)), Sum::squares);
    const T value = filtered(panels, by_differences);
    const std::vector<double> query(rows.begin(), rows.begin() + n_features);
    const Estimate estimate = by_differences ? panels.by_differences() : panels.by_products(query);

    // Otherwise the test would be idle.
    const double error = estimate.factor * static_cast<double>(value) + estimate.offset - exact;
    const double expected = estimate.factor * n_features * static_cast<double>(half_unit);
    CHECK(0.9 * expected < (up ? error : -error));

    CHECK(estimate.least(value) <= exact && exact <= estimate.most(value));
    CHECK(value <= estimate.template reach<T>(exact));
    if (!by_differences)
        CHECK(value <= panels.between_samples().template reach<T>(exact) - panels.shifts(0)[0]);
}

}  // namespace

void test_estimate() {
    for (const bool by_differences : {false, true}) {
        for (const bool up : {false, true}) {
            test_worst_rounding<float>(filter_features, by_differences, up);
            test_worst_rounding<float>(4000, by_differences, up);
            test_worst_rounding<double>(filter_features, by_differences, up);
        }
    }
}

}  // namespace pathforest::tests
