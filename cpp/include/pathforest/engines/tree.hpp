// The engine for few dimensions: a balanced k-d tree over blocks, pruned by bounding boxes.
//
// Every engine answers one request, `search`: show a policy every sample that may still matter to it. A
// policy has
//     double limit(Index node) const;          the largest distance that matters below a node, negative: none
//     void offer(Index sample, double distance);
//     double promise(Index node, double least_distance) const;   optional: smallest is searched first
// and the four questions of the design are four policies (knn, spanning_tree, compete, predict). Engines
// are immutable, so any number of threads may search one.
#pragma once

#include "pathforest/engines/blocks.hpp"
#include "pathforest/parallel.hpp"

#include <array>

namespace pathforest {

template <class T>
class TreeEngine {
  public:
    using Value = T;
    static constexpr int tile = 1;  // queries worth searching together

    struct Query {
        std::vector<double> values;
    };

    TreeEngine(const T* X, Index n_samples, Index n_features, Metric metric, Control& control)
        : metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          blocks_(X, n_samples, n_features, build(X, n_samples, n_features, control)) {
        position_.resize(static_cast<std::size_t>(n_samples));
        for (Index position = 0; position < n_samples; ++position) {
            position_[static_cast<std::size_t>(sample_at(position))] = position;
        }
    }

    Index n_samples() const { return blocks_.n_samples; }
    Index n_features() const { return blocks_.n_features; }
    Index n_nodes() const { return static_cast<Index>(nodes_.size()); }

    // Neighbouring positions hold neighbouring samples: work in this order stays in cache.
    Index sample_at(Index position) const { return blocks_.ids[static_cast<std::size_t>(position)]; }

    void ask_sample(Index sample, Query& query) const {
        const Index position = position_[static_cast<std::size_t>(sample)];
        const T* block = blocks_.block(position / lanes) + position % lanes;
        query.values.resize(static_cast<std::size_t>(n_features()));
        for (Index j = 0; j < n_features(); ++j) {
            query.values[static_cast<std::size_t>(j)] = static_cast<double>(block[at(j, lanes)]);
        }
    }

    void ask(const T* row, Query& query) const { query.values.assign(row, row + n_features()); }

    template <class Policy>
    void search(const Query* queries, Policy* policies, Index count, const Pause&) const {
        for (Index i = 0; i < count; ++i) search_one(queries[i].values.data(), policies[i]);
    }

    template <class V, class Combine>
    std::vector<V> summarise(const std::vector<V>& values, Combine combine) const {
        std::vector<V> summary(nodes_.size());
        for (Index node = n_nodes() - 1; node >= 0; --node) update(node, values, combine, summary);
        return summary;
    }

    template <class V, class Combine>
    void refresh(Index sample, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const Index block = position_[static_cast<std::size_t>(sample)] / lanes;
        for (Index node = leaf_of_block_[static_cast<std::size_t>(block)]; node != none;
             node = nodes_[static_cast<std::size_t>(node)].parent) {
            const V before = summary[static_cast<std::size_t>(node)];
            update(node, values, combine, summary);
            if (summary[static_cast<std::size_t>(node)] == before) break;
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

    template <class Policy>
    void search_one(const double* query, Policy& policy) const {
        std::array<Pending, stack_size> stack;
        ReducedLimit reduced_limit(metric_);
        std::size_t size = 0;
        stack[size++] = {0, 0.0};
        while (size > 0) {
            const auto [index, bound] = stack[--size];
            const double limit = policy.limit(index);
            if (limit < 0 || bound > reduced_limit(limit)) continue;
            const Node& node = nodes_[static_cast<std::size_t>(index)];
            if (node.n_blocks == 1) {
                blocks_.scan(node.first_block, query, reduced_limit(limit), kernels_, metric_, policy);
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
    template <class Policy>
    double promise(const Policy& policy, const Pending& child) const {
        if constexpr (requires { policy.promise(Index{}, double{}); }) {
            return policy.promise(child.node, metric_.distance(child.bound, metric_.p));
        } else {
            return child.bound;
        }
    }

    double box_bound(Index node, const double* query) const {
        const T* low = boxes_.data() + at(node, 2 * n_features());
        return kernels_.box(query, low, low + n_features(), n_features(), metric_.p);
    }

    template <class V, class Combine>
    void update(Index index, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const Node& node = nodes_[static_cast<std::size_t>(index)];
        V& out = summary[static_cast<std::size_t>(index)];
        if (node.n_blocks > 1) {
            out = combine(summary[static_cast<std::size_t>(index + 1)],
                          summary[static_cast<std::size_t>(node.right)]);
            return;
        }
        const Index first = blocks_.first_position(node.first_block);
        out = values[static_cast<std::size_t>(sample_at(first))];
        for (Index position = first + 1; position < blocks_.end_position(node.first_block); ++position) {
            out = combine(out, values[static_cast<std::size_t>(sample_at(position))]);
        }
    }

    // Lays out the nodes, whose shape depends on n alone, then sorts the samples into them; returns their
    // order.
    std::vector<Index> build(const T* X, Index n_samples, Index n_features, Control& control) {
        lay_out(blocks_for(n_samples));
        boxes_.resize(at(n_nodes(), 2 * n_features));
        std::vector<Index> order(static_cast<std::size_t>(n_samples));
        std::iota(order.begin(), order.end(), Index{0});

        // The top of the tree on one thread, down to pieces small enough to share out; then one piece per
        // task.
        const Index piece = std::max<Index>(8, blocks_for(n_samples) / 64);
        std::vector<Index> pieces;
        std::vector<Index> pending{0};
        while (!pending.empty()) {
            const Index index = pending.back();
            pending.pop_back();
            if (nodes_[static_cast<std::size_t>(index)].n_blocks <= piece) {
                pieces.push_back(index);
                continue;
            }
            split(index, X, n_samples, n_features, order);
            control.check();
            pending.push_back(index + 1);
            pending.push_back(nodes_[static_cast<std::size_t>(index)].right);
        }
        parallel_for(
            static_cast<Index>(pieces.size()), control, [] { return 0; },
            [&](Index i, int&, const Pause&) {
                const Index first = pieces[static_cast<std::size_t>(i)];
                const Index end = first + 2 * nodes_[static_cast<std::size_t>(first)].n_blocks - 1;
                for (Index index = first; index < end; ++index) split(index, X, n_samples, n_features, order);
            });
        return order;
    }

    void lay_out(Index n_blocks) {
        nodes_.reserve(static_cast<std::size_t>(2 * n_blocks - 1));
        leaf_of_block_.resize(static_cast<std::size_t>(n_blocks));
        std::vector<Node> pending{{none, none, 0, n_blocks}};
        while (!pending.empty()) {
            Node node = pending.back();
            pending.pop_back();
            const auto index = static_cast<Index>(nodes_.size());
            const Index n_left = (node.n_blocks + 1) / 2;
            if (node.n_blocks > 1) {
                node.right = index + 2 * n_left;
                pending.push_back({index, none, node.first_block + n_left, node.n_blocks - n_left});
                pending.push_back({index, none, node.first_block, n_left});
            } else {
                leaf_of_block_[static_cast<std::size_t>(node.first_block)] = index;
            }
            nodes_.push_back(node);
        }
    }

    // Boxes the node's samples and, unless it is a leaf, parts them at its middle along the longest side.
    void split(Index index, const T* X, Index n_samples, Index n_features, std::vector<Index>& order) {
        const Node& node = nodes_[static_cast<std::size_t>(index)];
        const auto begin = order.begin() + node.first_block * lanes;
        const auto end = order.begin() + std::min(n_samples, (node.first_block + node.n_blocks) * lanes);
        T* low = boxes_.data() + at(index, 2 * n_features);
        T* high = low + n_features;
        std::copy_n(X + at(*begin, n_features), n_features, low);
        std::copy_n(low, n_features, high);
        for (auto sample = begin; sample != end; ++sample) {
            const T* row = X + at(*sample, n_features);
            for (Index j = 0; j < n_features; ++j) {
                low[j] = std::min(low[j], row[j]);
                high[j] = std::max(high[j], row[j]);
            }
        }
        if (node.n_blocks == 1) return;
        Index longest = 0;
        for (Index j = 1; j < n_features; ++j) {
            if (high[j] - low[j] > high[longest] - low[longest]) longest = j;
        }
        std::nth_element(begin, begin + (node.n_blocks + 1) / 2 * lanes, end, [=](Index a, Index b) {
            // Equal values by index: of many duplicates the first ones are then found first, and the others
            // pruned.
            const T value_a = X[at(a, n_features, longest)];
            const T value_b = X[at(b, n_features, longest)];
            return value_a != value_b ? value_a < value_b : a < b;
        });
    }

    Metric metric_;
    Kernels<T> kernels_;
    std::vector<Node> nodes_;
    std::vector<T> boxes_;  // per node the low corner, then the high one
    std::vector<Index> leaf_of_block_;
    Blocks<T> blocks_;
    std::vector<Index> position_;  // sample -> position
};

}  // namespace pathforest
