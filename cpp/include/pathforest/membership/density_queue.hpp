// The queue of the f_min competition: samples leave by path value, highest first.
#pragma once

#include "pathforest/heap.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pathforest {

// A sample with a value; these sort by value, highest first, then by index.
struct Ranked {
    double minus_value;
    Index sample;

    double value() const { return -minus_value; }
    friend auto operator<=>(const Ranked&, const Ranked&) = default;
};

// Nearly all samples leave either untouched, with value ρ - δ, or raised at once to all they can have, ρ
// itself. Both kinds leave in order of density, so one sort serves them; only the others need a heap.
class DensityQueue {
  public:
    explicit DensityQueue(Index n_samples) : order_(as_size(n_samples)), heap_(n_samples) {}

    // All samples, untouched. Densities are scaled: being at least δ, none loses digits when δ is taken off.
    void fill(std::span<const double> scaled) {
        sort(scaled);
        state_.assign(scaled.size(), State::untouched);
        next_untouched_ = next_full_ = 0;
    }

    // The samples by density.
    std::span<const Ranked> order() const { return order_; }

    // The sample that will probably leave after some more.
    Index upcoming(std::size_t ahead) const {
        return order_[std::min(next_full_ + ahead, order_.size() - 1)].sample;
    }

    // Raises the value of a sample that waits; it never exceeds the sample's density.
    void raise(Index sample, double value, double density) {
        State& state = state_[as_size(sample)];
        if (value == density && state == State::untouched && !is_passed({-density, sample})) {
            state = State::full;
        } else {
            state = State::in_heap;
            heap_.set(sample, -value);
        }
    }

    // The next sample, or `none`.
    Index pop() {
        while (next_untouched_ < order_.size() && state_of(next_untouched_) != State::untouched) {
            ++next_untouched_;
        }
        Ranked best{infinity, none};
        if (next_untouched_ < order_.size()) {
            best = order_[next_untouched_];
            best.minus_value += delta;
        }
        const bool from_heap = !heap_.empty() && Ranked{heap_.top_key(), heap_.top()} < best;
        if (from_heap) best = {heap_.top_key(), heap_.top()};
        // No further than needed: a sample this scan has passed needs the heap when it becomes full.
        while (next_full_ < order_.size() && order_[next_full_] < best) {
            const std::size_t rank = next_full_++;
            if (state_of(rank) == State::full) return order_[rank].sample;
        }
        if (from_heap) return heap_.pop();
        if (best.sample != none) ++next_untouched_;
        return best.sample;
    }

  private:
    enum class State : std::uint8_t { untouched, full, in_heap };

    State state_of(std::size_t rank) const { return state_[as_size(order_[rank].sample)]; }

    bool is_passed(const Ranked& sample) const {
        return next_full_ == order_.size() || sample < order_[next_full_];
    }

    // Into as many buckets of density as there are samples first, which leaves little to sort.
    void sort(std::span<const double> scaled) {
        const std::size_t n = scaled.size();
        if (n == 0) return;
        const auto [low, high] = std::minmax_element(scaled.begin(), scaled.end());
        const double per_unit = *low < *high ? static_cast<double>(n - 1) / (*high - *low) : 0.0;
        const auto bucket = [&, top = *high](double value) {
            return std::min(static_cast<std::size_t>((top - value) * per_unit), n - 1);
        };
        bucket_end_.assign(n + 1, 0);
        for (const double value : scaled) ++bucket_end_[bucket(value) + 1];
        for (std::size_t b = 1; b <= n; ++b) bucket_end_[b] += bucket_end_[b - 1];
        for (std::size_t i = 0; i < n; ++i) {
            order_[as_size(bucket_end_[bucket(scaled[i])]++)] = {-scaled[i], static_cast<Index>(i)};
        }
        Index begin = 0;
        for (std::size_t b = 0; b < n; ++b) {
            const Index end = bucket_end_[b];
            if (end - begin > 1) std::sort(order_.begin() + begin, order_.begin() + end);
            begin = end;
        }
    }

    std::vector<Ranked> order_;
    std::vector<State> state_;
    std::vector<Index> bucket_end_;
    std::size_t next_untouched_ = 0;  // no untouched sample comes before this one in order
    std::size_t next_full_ = 0;       // no full sample comes before this one in order
    IndexedHeap<double> heap_;        // by minus the value
};

}  // namespace pathforest
