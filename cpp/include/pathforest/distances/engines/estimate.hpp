// What the filter's value of a pair tells about its distance.
#pragma once

#include "pathforest/distances/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace pathforest {

// The reduced distance is factor * value + offset, give or take `absolute` and the part `relative` of itself.
struct Estimate {
    double factor = 1;
    double offset = 0;
    double relative = 0;
    double absolute = infinity;

    // A value that overflowed says only that the distance is large.
    template <class T>
    double least(T value) const {
        const auto finite = static_cast<double>(std::min(value, std::numeric_limits<T>::max()));
        return (factor * finite + offset - absolute) * std::max(0.0, 1 - relative);
    }

    template <class T>
    double most(T value) const {
        return std::max(0.0, factor * static_cast<double>(value) + offset + absolute) * (1 + relative);
    }

    // No pair within the limit has a larger value.
    template <class T>
    T reach(double reduced_limit) const {
        const double value = (reduced_limit * (1 + relative) + absolute - offset) / factor;
        if (!(value < static_cast<double>(std::numeric_limits<T>::max())))
            return std::numeric_limits<T>::infinity();
        // Rounded up, without the call that nextafter is.
        return static_cast<T>(value +
                              std::abs(value) * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }
};

// How much roundings change a filter's sum, as a part of what its terms add up to, all taken as positive. A
// term takes part in as many additions as its own sum has features, and then in one for each further sum;
// each changes it by half an epsilon at most. For floats one half covers that, and the other is room for
// steps before and after, which are few or in float64. For doubles, lengths and the distances themselves are
// sums over all features: the four halves cover one such sum for the filter, one for lengths and one for
// distances.
template <class T>
double rounding_part(Index n_features) {
    const Index in_parts = std::min(n_features, filter_features + n_features / filter_features);
    const double steps = std::is_same_v<T, double> ? 2.0 * n_features + 16 : in_parts + 8.0;
    return steps * static_cast<double>(std::numeric_limits<T>::epsilon());
}

// The smallest normal number covers what underflows in a step. The floor keeps estimates apart from distances
// by more than the last digits that a metric's root or logarithm may get wrong.
template <class T>
Estimate estimate_by_differences(Index n_features) {
    return {1, 0, std::max(1e-12, rounding_part<T>(n_features)),
            (static_cast<double>(n_features) + 8) * static_cast<double>(std::numeric_limits<T>::min())};
}

// |a - b|^2 = 2 (|b|^2 / 2 - a.b) + |a|^2. The terms add up to |b|^2 + 2 |a||b| + |a|^2; they may be anything
// where these overflow.
template <class T>
Estimate estimate_by_products(Index n_features, double length, double largest_length) {
    const double sum = length + largest_length;
    if (!(sum * sum < static_cast<double>(std::numeric_limits<T>::max()) / 4)) return {};
    return {2, length * length, 1e-12,
            rounding_part<T>(n_features) * sum * sum +
                2 * (static_cast<double>(n_features) + 8) *
                    static_cast<double>(std::numeric_limits<T>::min())};
}

}  // namespace pathforest
