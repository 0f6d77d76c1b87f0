#include "check.hpp"
#include "pathforest/distances/engines/order.hpp"
#include "pathforest/membership/density_queue.hpp"
#include "pathforest/ties.hpp"

#include <random>

namespace pathforest::tests {
namespace {

void arcs_compare_by_weight_then_ends() {
    CHECK(Arc::between(1.0, 5, 2) == (Arc{1.0, 2, 5}));
    CHECK((Arc{1.0, 8, 9}) < (Arc{2.0, 0, 1}));
    CHECK((Arc{1.0, 0, 9}) < (Arc{1.0, 1, 2}));
    CHECK((Arc{1.0, 0, 2}) < (Arc{1.0, 0, 3}));
}

void path_costs_compare_by_value_then_arc() {
    CHECK((PathCost{1.0, {9.0, 0, 1}}) < (PathCost{2.0, {1.0, 0, 1}}));
    CHECK((PathCost{1.0, {2.0, 7, 8}}) < (PathCost{1.0, {3.0, 0, 1}}));
    CHECK((PathCost{1.0, {2.0, 0, 1}}) < (PathCost{1.0, {2.0, 0, 2}}));
}

void a_limit_below_a_distance_is_the_number_before_it() {
    CHECK(strictly_below(1.0) < 1.0 && std::nextafter(strictly_below(1.0), 2.0) == 1.0);
    CHECK(strictly_below(0.0) < 0);
}

// Whether some feature parts the samples of each range's left half from those of its right half.
bool is_parted(BlockRange range, const std::vector<float>& X, const std::vector<Index>& samples) {
    if (range.count == 1) return true;
    const auto begin = samples.begin() + range.first * lanes;
    const auto middle = begin + range.left().count * lanes;
    const auto end =
        samples.begin() + std::min(static_cast<Index>(samples.size()), (range.first + range.count) * lanes);
    for (Index feature = 0; feature < 2; ++feature) {
        const auto by_feature = [&](Index a, Index b) { return X[at(a, 2, feature)] < X[at(b, 2, feature)]; };
        if (by_feature(*std::min_element(middle, end, by_feature),
                       *std::max_element(begin, middle, by_feature)))
            continue;
        return is_parted(range.left(), X, samples) && is_parted(range.right(), X, samples);
    }
    return false;
}

void spatial_order_parts_all_samples() {
    std::mt19937 random(5);
    Control control(2);
    for (const Index n : {1, 2, 15, 16, 17, 200, 1000}) {
        std::vector<float> X(as_size(n) * 2);
        for (float& value : X) value = static_cast<float>(random() % 20);
        const Order order(spatial_order(X.data(), n, 2, control));
        std::vector<Index> sorted = order.sample;
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == given_order(n));
        CHECK(is_parted({0, blocks_for(n)}, X, order.sample));
        for (Index i = 0; i < n; ++i) CHECK(order.sample[as_size(order.position[as_size(i)])] == i);
    }
}

// Samples are parted by how far they lie from the lowest one, whatever their signs.
void spatial_order_parts_samples_around_and_far_from_zero() {
    std::mt19937 random(7);
    Control control(2);
    for (const float offset : {-16000000.0F, -250.0F, 16000000.0F}) {
        std::vector<float> X(2000);
        for (float& value : X) value = offset + static_cast<float>(random() % 500);
        CHECK(is_parted({0, blocks_for(1000)}, X, spatial_order(X.data(), 1000, 2, control)));
    }
}

// Values only rise, to the density at most; the highest leaves first, then the lower index.
void the_density_queue_agrees_with_sorting() {
    std::mt19937 random(6);
    for (int round = 0; round < 300; ++round) {
        const Index n = 1 + static_cast<Index>(random() % 30);
        std::vector<double> density, value;
        for (Index i = 0; i < n; ++i) {
            density.push_back(1.0 + static_cast<double>(random() % 12) / 2);
            value.push_back(density.back() - delta);
        }
        DensityQueue queue(n);
        queue.fill(density);
        std::vector<bool> has_left(as_size(n), false);
        for (Index step = 0; step < n; ++step) {
            for (int raises = 0; raises < 3; ++raises) {
                const auto i = static_cast<std::size_t>(random() % static_cast<unsigned>(n));
                const double raised = std::min(density[i], value[i] + static_cast<double>(random() % 3) / 2);
                if (has_left[i] || raised == value[i]) continue;
                value[i] = raised;
                queue.raise(static_cast<Index>(i), raised, density[i]);
            }
            Index expected = none;
            for (Index i = 0; i < n; ++i) {
                if (has_left[as_size(i)]) continue;
                if (expected == none || value[as_size(i)] > value[as_size(expected)]) expected = i;
            }
            CHECK(queue.pop() == expected);
            has_left[as_size(expected)] = true;
        }
        CHECK(queue.pop() == none);
    }
}

}  // namespace

void test_order() {
    arcs_compare_by_weight_then_ends();
    path_costs_compare_by_value_then_arc();
    a_limit_below_a_distance_is_the_number_before_it();
    spatial_order_parts_all_samples();
    spatial_order_parts_samples_around_and_far_from_zero();
    the_density_queue_agrees_with_sorting();
}

}  // namespace pathforest::tests
