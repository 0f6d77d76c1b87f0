// The engine for few dimensions: a balanced k-d tree over blocks, pruned by bounding boxes.
#pragma once

#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/engines/concepts.hpp"
#include "pathforest/parallel.hpp"

#include <array>

namespace pathforest {

template <class T>
class TreeEngine {
  public:
    using Value = T;
    static constexpr const char* name = "tree";
    static constexpr int tile = 1;  // queries worth searching together

    struct Query {
        std::vector<double> values;
    };

    TreeEngine(const T* X, Index n_samples, Index n_features, Metric metric, Control& control)
        : metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          order_(spatial_order(X, n_samples, n_features, control)),
          blocks_(X, n_samples, n_features, order_) {
        lay_out(blocks_.count());
        box(X);
    }

    Index n_samples() const { return blocks_.n_samples; }
    Index n_features() const { return blocks_.n_features; }
    Index n_nodes() const { return static_cast<Index>(nodes_.size()); }

    // Neighbouring positions hold neighbouring samples: work in this order stays in cache.
    Index sample_at(Index position) const { return order_.sample[as_size(position)]; }

    void ask_sample(Index sample, Query& query) const {
        blocks_.read(order_.position[as_size(sample)], query.values);
    }

    void ask(const T* row, Query& query) const { query.values.assign(row, row + n_features()); }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause& pause) const {
        Breather breather(pause);
        for (Index i = 0; i < count; ++i) search_one(queries[i].values.data(), policies[i], breather);
    }

    template <class V, class Combine>
    std::vector<V> summarise(const std::vector<V>& values, Combine combine) const {
        std::vector<V> summary(nodes_.size());
        for (Index node = n_nodes() - 1; node >= 0; --node) update(node, values, combine, summary);
        return summary;
    }

    template <class V, class Combine>
    void refresh(Index sample, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const Index block = order_.position[as_size(sample)] / lanes;
        for (Index node = leaf_of_block_[as_size(block)]; node != none; node = nodes_[as_size(node)].parent) {
            const V before = summary[as_size(node)];
            update(node, values, combine, summary);
            if (summary[as_size(node)] == before) break;
        }
    }

  private:
    // Nodes in preorder: the left child follows its parent. A node covers consecutive blocks; a leaf, one.
    struct Node {
        Index parent;
        Index right;
        Index first_block;
        Index n_blocks;
    };

    struct Pending {
        Index node;
        double bound;
    };

    // Halving the blocks makes the depth at most 27 for any Index, so fixed stacks suffice.
    static constexpr std::size_t stack_size = 64;

    template <Policy P>
    void search_one(const double* query, P& policy, Breather& breather) const {
        std::array<Pending, stack_size> stack;
        ReducedLimit reduced_limit(metric_);
        std::size_t size = 0;
        stack[size++] = {0, 0.0};
        while (size > 0) {
            const auto [index, bound] = stack[--size];
            const double limit = policy.limit(index);
            if (limit < 0 || bound > reduced_limit(limit)) continue;
            const Node& node = nodes_[as_size(index)];
            breather(at(lanes, n_features()));
            if (node.n_blocks == 1) {
                blocks_.scan(node.first_block, query, reduced_limit(limit), kernels_, metric_, order_,
                             policy);
                continue;
            }
            Pending near{index + 1, box_bound(index + 1, query)};
            Pending far{node.right, box_bound(node.right, query)};
            if (promise(policy, far) < promise(policy, near)) std::swap(near, far);
            stack[size++] = far;
            stack[size++] = near;
        }
    }

    // What the best sample below a node could be worth; the more promising child is searched first.
    template <Policy P>
    double promise(const P& policy, const Pending& child) const {
        if constexpr (P::nearest_first) {
            return child.bound;  // the order is that of distances, without the root or logarithm
        } else {
            return policy.promise(child.node, metric_.distance(child.bound, metric_.p));
        }
    }

    double box_bound(Index node, const double* query) const {
        const T* low = boxes_.data() + at(2 * node, n_features());
        return kernels_.box(query, low, low + n_features(), n_features(), metric_.p);
    }

    template <class V, class Combine>
    void update(Index index, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const Node& node = nodes_[as_size(index)];
        V& out = summary[as_size(index)];
        if (node.n_blocks > 1) {
            out = combine(summary[as_size(index + 1)], summary[as_size(node.right)]);
            return;
        }
        const Index first = blocks_.first_position(node.first_block);
        out = values[as_size(sample_at(first))];
        for (Index position = first + 1; position < blocks_.end_position(node.first_block); ++position) {
            out = combine(out, values[as_size(sample_at(position))]);
        }
    }

    void lay_out(Index n_blocks) {
        nodes_.reserve(as_size(2 * n_blocks - 1));
        leaf_of_block_.resize(as_size(n_blocks));
        struct Child {
            Index parent;
            BlockRange blocks;
        };
        std::vector<Child> pending{{none, {0, n_blocks}}};
        while (!pending.empty()) {
            const auto [parent, blocks] = pending.back();
            pending.pop_back();
            const auto index = static_cast<Index>(nodes_.size());
            nodes_.push_back({parent, none, blocks.first, blocks.count});
            if (blocks.count > 1) {
                nodes_.back().right = index + 2 * blocks.left().count;
                pending.push_back({index, blocks.right()});
                pending.push_back({index, blocks.left()});
            } else {
                leaf_of_block_[as_size(blocks.first)] = index;
            }
        }
    }

    // Children follow their parents, so going backwards every box is the union of boxes that are ready.
    void box(const T* X) {
        const auto width = as_size(n_features());
        boxes_.resize(nodes_.size() * 2 * width);
        for (Index index = n_nodes() - 1; index >= 0; --index) {
            const Node& node = nodes_[as_size(index)];
            T* low = boxes_.data() + at(2 * index, n_features());
            T* high = low + width;
            const auto include = [&](const T* other_low, const T* other_high) {
                for (std::size_t j = 0; j < width; ++j) {
                    low[j] = std::min(low[j], other_low[j]);
                    high[j] = std::max(high[j], other_high[j]);
                }
            };
            if (node.n_blocks > 1) {
                std::copy_n(low + at(2, n_features()), 2 * width, low);  // the left child comes next
                const T* right = boxes_.data() + at(2 * node.right, n_features());
                include(right, right + width);
                continue;
            }
            const Index first = blocks_.first_position(node.first_block);
            const T* row = X + at(sample_at(first), n_features());
            std::copy_n(row, width, low);
            std::copy_n(row, width, high);
            for (Index position = first + 1; position < blocks_.end_position(node.first_block); ++position) {
                row = X + at(sample_at(position), n_features());
                include(row, row);
            }
        }
    }

    Metric metric_;
    Kernels<T> kernels_;
    Order order_;
    Blocks<T> blocks_;
    std::vector<Node> nodes_;
    std::vector<T> boxes_;  // per node the low corner, then the high one
    std::vector<Index> leaf_of_block_;
};

static_assert(KnowsSamples<TreeEngine<float>> && KnowsSamples<TreeEngine<double>>);

}  // namespace pathforest
