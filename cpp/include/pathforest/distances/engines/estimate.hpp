// What the filter's value of a pair tells about its distance.
#pragma once

#include "pathforest/types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

// Each of the additions and multiplications is off by at most one part in 2^24 (2^53); four times that is
// safe, and the smallest normal number covers what underflows. The floor keeps estimates apart from distances
// by more than the last digits that a metric's root or logarithm may get wrong.
template <class T>
Estimate estimate_by_differences(Index n_features) {
    const double steps = static_cast<double>(n_features) + 8;
    return {1, 0, std::max(1e-12, 2 * steps * static_cast<double>(std::numeric_limits<T>::epsilon())),
            steps * static_cast<double>(std::numeric_limits<T>::min())};
}

// |a - b|^2 = 2 (|b|^2 / 2 - a.b) + |a|^2, where every step is off by a part of |a|^2, |a||b| or |b|^2; by
// anything where these overflow.
template <class T>
Estimate estimate_by_products(Index n_features, double length, double largest_length) {
    const double sum = length + largest_length;
    if (!(sum * sum < static_cast<double>(std::numeric_limits<T>::max()) / 4)) return {};
    const double steps = static_cast<double>(n_features) + 8;
    return {2, length * length, 1e-12,
            2 * steps *
                (static_cast<double>(std::numeric_limits<T>::epsilon()) * sum * sum +
                 static_cast<double>(std::numeric_limits<T>::min()))};
}

}  // namespace pathforest
