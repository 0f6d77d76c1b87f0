// Samples in blocks of `lanes`, feature by feature, and summaries of a value per block.
#pragma once

#include "pathforest/distances/engines/concepts.hpp"
#include "pathforest/distances/engines/order.hpp"
#include "pathforest/distances/kernels.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pathforest {

// Rows of samples to a block. Lane by lane within a feature, writes follow one another.
template <class T>
void transpose(const T* const* from, Index n_features, T* block) {
    for (Index j = 0; j < n_features; ++j) {
        for (int lane = 0; lane < lanes; ++lane) block[at(j, lanes, lane)] = from[lane][j];
    }
}

// A copy of the samples in the given order, padded with the last of them to a whole number of blocks or more.
template <class T>
struct Blocks {
    Index n_samples;
    Index n_features;
    std::vector<T> values;  // block, then feature, then lane

    Blocks(const T* X, Index n_samples, Index n_features, const Order& order, Index multiple = 1)
        : n_samples(n_samples), n_features(n_features) {
        const Index padded = (count() + multiple - 1) / multiple * multiple;
        values.resize(at(padded, n_features) * lanes);
        for (Index b = 0; b < padded; ++b) {
            const T* from[lanes];
            for (Index lane = 0; lane < lanes; ++lane) {
                const Index position = std::min(first_position(b) + lane, n_samples - 1);
                from[lane] = X + at(order.sample[as_size(position)], n_features);
            }
            transpose(from, n_features, values.data() + at(b, n_features) * lanes);
        }
    }

    // A sample's features lie `lanes` apart.
    const T* sample(Index position) const {
        return values.data() + at(position / lanes, n_features) * lanes + as_size(position % lanes);
    }
    void read(Index position, std::vector<double>& features) const {
        features.resize(as_size(n_features));
        const T* from = sample(position);
        for (Index j = 0; j < n_features; ++j) features[as_size(j)] = static_cast<double>(from[at(j, lanes)]);
    }
    const T* block(Index b) const { return values.data() + at(b, n_features) * lanes; }
    Index count() const { return blocks_for(n_samples); }
    Index first_position(Index b) const { return b * lanes; }
    Index end_position(Index b) const { return std::min(n_samples, (b + 1) * lanes); }

    // Offers the block's samples that lie within the policy's reach of the query.
    template <Policy P>
    void scan(Index b, const double* query, double reduced_limit, const Kernels<T>& kernels,
              const Metric& metric, const Order& order, P& policy) const {
        double reduced[lanes];
        std::uint32_t within =
            kernels.block(query, block(b), n_features, metric.terms(), reduced_limit, reduced);
        const Index first = first_position(b);
        within &= (std::uint32_t{1} << (end_position(b) - first)) - 1;  // padding does not count
        for (; within != 0; within &= within - 1) {
            const Index lane = std::countr_zero(within);
            offer_at(policy, order, first + lane, metric.distance(reduced[lane], metric.p));
        }
    }
};

// The base of engines that look at everything: nodes are the blocks, and after them the panels of
// `panel_blocks` blocks.
class FlatEngine {
  public:
    explicit FlatEngine(std::vector<Index> samples) : order_(std::move(samples)) {}

    Index n_samples() const { return static_cast<Index>(order_.sample.size()); }
    Index n_blocks() const { return blocks_for(n_samples()); }
    Index n_panels() const { return (n_blocks() + panel_blocks - 1) / panel_blocks; }
    Index n_nodes() const { return n_blocks() + n_panels(); }
    Index panel_node(Index p) const { return n_blocks() + p; }
    Index sample_at(Index position) const { return order_.sample[as_size(position)]; }
    const Order& order() const { return order_; }

    template <class ValueAt, class Combine>
    auto summarise_positions(ValueAt value_at, Combine combine) const {
        std::vector<decltype(value_at(Index{}))> summary(as_size(n_nodes()));
        for (Index node = 0; node < n_nodes(); ++node) update(node, value_at, combine, summary);
        return summary;
    }

    template <class V, class Combine>
    std::vector<V> summarise(const std::vector<V>& values, Combine combine) const {
        return summarise_positions([&](Index position) { return values[as_size(sample_at(position))]; },
                                   combine);
    }

    // Brings the summaries up to date after one sample's value changed.
    template <class V, class Combine>
    void refresh(Index sample, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const auto value_at = [&](Index position) { return values[as_size(sample_at(position))]; };
        const Index block = order_.position[as_size(sample)] / lanes;
        update(block, value_at, combine, summary);
        update(panel_node(block / panel_blocks), value_at, combine, summary);
    }

    // Calls visit(block, limit) for the blocks that matter to the policy.
    template <Policy P, class Visit>
    void for_each_block(const P& policy, Visit visit) const {
        for_each_block_within([&](Index node) { return policy.limit(node); }, visit);
    }

    // The same with any limit(node).
    template <class Limit, class Visit>
    void for_each_block_within(Limit limit, Visit visit) const {
        for (Index p = 0; p < n_panels(); ++p) {
            if (limit(panel_node(p)) < 0) continue;
            const Index end = std::min(n_blocks(), (p + 1) * panel_blocks);
            for (Index b = p * panel_blocks; b < end; ++b) {
                if (const double most = limit(b); most >= 0) visit(b, most);
            }
        }
    }

  private:
    // A panel is summarised from its blocks, a block from its samples.
    template <class ValueAt, class V, class Combine>
    void update(Index node, ValueAt value_at, Combine combine, std::vector<V>& summary) const {
        const bool is_block = node < n_blocks();
        const Index width = is_block ? lanes : panel_blocks;
        const Index first = (is_block ? node : node - n_blocks()) * width;
        const Index end = std::min(is_block ? n_samples() : n_blocks(), first + width);
        const auto value = [&](Index i) { return is_block ? value_at(i) : summary[as_size(i)]; };
        V combined = value(first);
        for (Index i = first + 1; i < end; ++i) combined = combine(combined, value(i));
        summary[as_size(node)] = combined;
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
