// Samples in blocks of `lanes`, feature by feature, and summaries of a value per block.
#pragma once

#include "pathforest/kernels.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pathforest {

constexpr Index blocks_for(Index n_samples) { return (n_samples + lanes - 1) / lanes; }

// A copy of the samples in the order `ids`; the last block is padded with its last sample, never reported.
template <class T>
struct Blocks {
    Index n_samples;
    Index n_features;
    std::vector<Index> ids;  // position -> sample
    std::vector<T> values;   // block, then feature, then lane

    Blocks(const T* X, Index n_samples, Index n_features, std::vector<Index> order)
        : n_samples(n_samples), n_features(n_features), ids(std::move(order)) {
        values.resize(at(blocks_for(n_samples), n_features) * lanes);
        for (Index position = 0; position < blocks_for(n_samples) * lanes; ++position) {
            const Index id = ids[static_cast<std::size_t>(std::min(position, n_samples - 1))];
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
              const Metric& metric, Policy& policy) const {
        double reduced[lanes];
        kernels.block(query, block(b), n_features, metric.p, reduced);
        const Index first = first_position(b);
        for (Index position = first; position < end_position(b); ++position) {
            const double value = reduced[position - first];
            if (value <= reduced_limit) {
                policy.offer(ids[static_cast<std::size_t>(position)], metric.distance(value, metric.p));
            }
        }
    }
};

// The base of engines without hierarchy: samples in their own order, one node per block of them.
class FlatEngine {
  public:
    explicit FlatEngine(Index n_samples) : n_samples_(n_samples) {}

    Index n_samples() const { return n_samples_; }
    Index n_nodes() const { return blocks_for(n_samples_); }
    Index sample_at(Index position) const { return position; }

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
        summary[static_cast<std::size_t>(sample / lanes)] = summary_of(sample / lanes, values, combine);
    }

  private:
    template <class V, class Combine>
    V summary_of(Index node, const std::vector<V>& values, Combine combine) const {
        const Index first = node * lanes;
        V summary = values[static_cast<std::size_t>(first)];
        for (Index i = first + 1; i < std::min(n_samples_, first + lanes); ++i) {
            summary = combine(summary, values[static_cast<std::size_t>(i)]);
        }
        return summary;
    }

    Index n_samples_;
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
