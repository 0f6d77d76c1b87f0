// The samples as the filter takes them, and what its values tell about distances.
#pragma once

#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/engines/estimate.hpp"

#include <span>

namespace pathforest {

template <class T>
class Panels {
  public:
    Panels(const T* X, Index n_samples, Index n_features, const Order& order, Sum sum)
        : blocks_(X, n_samples, n_features, order, panel_blocks), filters_(find_filters<T>(sum)),
          by_differences_(estimate_by_differences<T>(n_features)) {
        if (!filterable()) return;
        rows_.reserve(at(n_samples, n_features));
        for (const Index sample : order.sample)
            rows_.insert(rows_.end(), X + at(sample, n_features), X + at(sample, n_features) + n_features);
        if (filters_.products != nullptr) measure_lengths();
    }

    const Blocks<T>& blocks() const { return blocks_; }
    const T* row(Index position) const { return rows_.data() + at(position, blocks_.n_features); }

    bool filterable() const { return filters_.differences != nullptr; }
    const Estimate& by_differences() const { return by_differences_; }

    // Infinitely coarse where there are no products to go by.
    Estimate by_products(const std::vector<double>& query) const {
        if (filters_.products == nullptr) return {};
        return estimate_by_products<T>(blocks_.n_features, length_of(query.data()), largest_length_);
    }

    // For any two samples, with the squared length of neither in it: those are the shifts. Its allowance is
    // many times what rounding these may be off by.
    Estimate between_samples() const {
        Estimate estimate = estimate_by_products<T>(blocks_.n_features, largest_length_, largest_length_);
        estimate.offset = 0;
        return estimate;
    }
    const T* shifts(Index p) const { return half_squares_.data() + at(p, panel); }

    void filter(bool by_differences, Index p, std::span<const T* const> groups, const T* reach,
                const OtherSide<T>* other, T* values, std::uint64_t* hits) const {
        (by_differences ? filters_.differences : filters_.products)(
            groups.data(), static_cast<Index>(groups.size()), blocks_.block(p * panel_blocks),
            by_differences ? nullptr : shifts(p), blocks_.n_features, reach, other, values, hits);
    }

  private:
    template <class V>
    double length_of(const V* values) const {
        double squares = 0;
        for (Index j = 0; j < blocks_.n_features; ++j) {
            const auto value = static_cast<double>(values[j]);
            squares += value * value;
        }
        return std::sqrt(squares);
    }

    void measure_lengths() {
        half_squares_.resize(blocks_.values.size() / as_size(blocks_.n_features));
        for (Index position = 0; position < blocks_.n_samples; ++position) {
            const double length = length_of(row(position));
            half_squares_[as_size(position)] = static_cast<T>(length * length / 2);
            largest_length_ = std::max(largest_length_, length);
        }
    }

    Blocks<T> blocks_;
    std::vector<T> rows_;  // the same row by row, for samples picked one by one
    Filters<T> filters_;
    Estimate by_differences_;
    std::vector<T> half_squares_;  // per position, half the squared length
    double largest_length_ = 0;
};

}  // namespace pathforest
