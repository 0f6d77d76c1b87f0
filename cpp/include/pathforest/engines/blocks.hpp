// Samples in blocks of `lanes`, feature by feature, and summaries of a value per block.
#pragma once

#include "pathforest/engines/order.hpp"
#include "pathforest/kernels.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pathforest {

// A copy of the samples in the given order; the last block is padded with its last sample, never reported.
template <class T>
struct Blocks {
    Index n_samples;
    Index n_features;
    std::vector<T> values;  // block, then feature, then lane

    Blocks(const T* X, Index n_samples, Index n_features, const Order& order)
        : n_samples(n_samples), n_features(n_features) {
        values.resize(at(blocks_for(n_samples), n_features) * lanes);
        for (Index position = 0; position < blocks_for(n_samples) * lanes; ++position) {
            const Index id = order.sample[static_cast<std::size_t>(std::min(position, n_samples - 1))];
            for (Index j = 0; j < n_features; ++j) slot(position, j) = X[at(id, n_features, j)];
        }
    }

    T& slot(Index position, Index feature) {
        return values[at(position / lanes, n_features, feature) * lanes +
                      static_cast<std::size_t>(position % lanes)];
    }
    const T* block(Index b) const { return values.data() + at(b, n_features) * lanes; }
    Index count() const { return blocks_for(n_samples); }
    Index first_position(Index b) const { return b * lanes; }
    Index end_position(Index b) const { return std::min(n_samples, (b + 1) * lanes); }

    // Offers the block's samples that lie within the policy's reach of the query.
    template <class Policy>
    void scan(Index b, const double* query, double reduced_limit, const Kernels<T>& kernels,
              const Metric& metric, const Order& order, Policy& policy) const {
        double reduced[lanes];
        kernels.block(query, block(b), n_features, metric.p, reduced);
        const Index first = first_position(b);
        for (Index position = first; position < end_position(b); ++position) {
            const double value = reduced[position - first];
            if (value <= reduced_limit) {
                policy.offer(order.sample[static_cast<std::size_t>(position)],
                             metric.distance(value, metric.p));
            }
        }
    }
};

// The base of engines without hierarchy: one node per block of samples.
class FlatEngine {
  public:
    explicit FlatEngine(std::vector<Index> samples) : order_(std::move(samples)) {}

    Index n_samples() const { return static_cast<Index>(order_.sample.size()); }
    Index n_nodes() const { return blocks_for(n_samples()); }
    Index sample_at(Index position) const { return order_.sample[static_cast<std::size_t>(position)]; }
    const Order& order() const { return order_; }

    // One value per node from one per sample.
    template <class V, class Combine>
    std::vector<V> summarise(const std::vector<V>& values, Combine combine) const {
        std::vector<V> summary(static_cast<std::size_t>(n_nodes()));
        for (Index node = 0; node < n_nodes(); ++node) {
            summary[static_cast<std::size_t>(node)] = summary_of(node, values, combine);
        }
        return summary;
    }

    // Brings the summaries up to date after one sample's value changed.
    template <class V, class Combine>
    void refresh(Index sample, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const Index node = order_.position[static_cast<std::size_t>(sample)] / lanes;
        summary[static_cast<std::size_t>(node)] = summary_of(node, values, combine);
    }

  private:
    template <class V, class Combine>
    V summary_of(Index node, const std::vector<V>& values, Combine combine) const {
        const Index first = node * lanes;
        V summary = values[static_cast<std::size_t>(sample_at(first))];
        for (Index position = first + 1; position < std::min(n_samples(), first + lanes); ++position) {
            summary = combine(summary, values[static_cast<std::size_t>(sample_at(position))]);
        }
        return summary;
    }

    Order order_;
};

// The reduced form of a policy's limit, computed anew only when the limit has moved.
class ReducedLimit {
  public:
    explicit ReducedLimit(const Metric& metric) : metric_(&metric) {}

    double operator()(double limit) {
        if (limit != limit_) {
            limit_ = limit;
            reduced_ = metric_->reduced_limit(limit, metric_->p);
        }
        return reduced_;
    }

  private:
    const Metric* metric_;
    double limit_ = infinity;
    double reduced_ = infinity;
};

}  // namespace pathforest
