// The engine for few dimensions: a balanced k-d tree over blocks, pruned by bounding boxes.
#pragma once

#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/engines/concepts.hpp"
#include "pathforest/parallel.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace pathforest {

template <class T>
class KdTreeEngine {
  public:
    using Value = T;
    static constexpr const char* name = "kd_tree";
    static constexpr int tile = 1;             // a few new samples lie anywhere; of many see search_rows
    static constexpr int sample_tile = lanes;  // samples that lie side by side look into the same nodes

    struct Query {
        std::vector<double> values;
        Index block = none;  // where a sample of ours is kept
    };

    KdTreeEngine(const T* X, Index n_samples, Index n_features, Metric metric, Control& control)
        : metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          order_(spatial_order(X, n_samples, n_features, control)),
          blocks_(X, n_samples, n_features, order_) {
        lay_out(blocks_.count());
        box(X);
    }

    Index n_samples() const { return blocks_.n_samples; }
    Index n_features() const { return blocks_.n_features; }
    Index n_nodes() const { return static_cast<Index>(nodes_.size()); }
    const Metric& metric() const { return metric_; }
    const Kernels<T>& kernels() const { return kernels_; }
    const Blocks<T>& blocks() const { return blocks_; }

    // Neighbouring positions hold neighbouring samples: work in this order stays in cache.
    Index sample_at(Index position) const { return order_.sample[as_size(position)]; }
    const Order& order() const { return order_; }

    void ask_sample(Index sample, Query& query) const { ask_at(order_.position[as_size(sample)], query); }
    void ask_at(Index position, Query& query) const {
        blocks_.read(position, query.values);
        query.block = position / lanes;
    }

    void ask(const T* row, Query& query) const {
        query.values.assign(row, row + n_features());
        query.block = none;
    }

    // Per position a distance within which the sample has k others, found by looking into its own block
    // alone.
    std::vector<double> reaches(Index k) const {
        std::vector<double> reach(as_size(n_samples()), infinity);
        if (k >= lanes) return reach;
        for (Index b = 0; b < blocks_.count(); ++b) {
            double reduced[lanes];
            const Index first = blocks_.first_position(b), end = blocks_.end_position(b);
            kernels_.spacing(blocks_.block(b), n_features(), metric_.p, end - first, k, reduced);
            for (Index position = first; position < end; ++position)
                reach[as_size(position)] = metric_.distance(reduced[position - first], metric_.p);
        }
        return reach;
    }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause& pause) const {
        Breather breather(pause);
        if constexpr (P::sees_everything) {
            for (Index i = 0; i < count; ++i)
                show_everything(queries[i].values.data(), policies[i], breather);
            return;
        }
        for (; count > 1; count -= lanes, queries += lanes, policies += lanes)
            search_together(queries, policies, std::min<Index>(count, lanes), breather);
        for (Index i = 0; i < count; ++i) search_one(queries[i].values.data(), policies[i], breather);
    }

    template <class ValueAt, class Combine>
    auto summarise_positions(ValueAt value_at, Combine combine) const {
        std::vector<decltype(value_at(Index{}))> summary(nodes_.size());
        for (Index node = n_nodes() - 1; node >= 0; --node) update(node, value_at, combine, summary);
        return summary;
    }

    template <class V, class Combine>
    std::vector<V> summarise(const std::vector<V>& values, Combine combine) const {
        return summarise_positions([&](Index position) { return values[as_size(sample_at(position))]; },
                                   combine);
    }

    template <class V, class Combine>
    void refresh(Index sample, const std::vector<V>& values, Combine combine, std::vector<V>& summary) const {
        const auto value_at = [&](Index position) { return values[as_size(sample_at(position))]; };
        const Index block = order_.position[as_size(sample)] / lanes;
        for (Index node = leaf_of_block_[as_size(block)]; node != none; node = nodes_[as_size(node)].parent) {
            const V before = summary[as_size(node)];
            update(node, value_at, combine, summary);
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
    void show_everything(const double* query, P& policy, Breather& breather) const {
        for (Index b = 0; b < blocks_.count(); ++b) {
            breather(at(lanes, n_features()));
            blocks_.scan(b, query, infinity, kernels_, metric_, order_, policy);
        }
    }

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

    // Queries that go through the tree together, feature by feature.
    struct Packet {
        std::vector<double> values;
        std::array<double, lanes> limit;    // the largest distance that matters anywhere; negative: none
        std::array<double, lanes> reduced;  // the same as a reduced distance
    };

    // A node that some queries of a packet have still to look into.
    struct Shared {
        Index node;
        std::uint32_t queries;  // bits
        std::array<double, lanes> bounds;
    };

    // Up to `lanes` queries at once: the bounds of a box are computed for all of them by one kernel.
    template <Policy P>
    void search_together(const Query* queries, P* policies, Index count, Breather& breather) const {
        Packet packet{std::vector<double>(at(n_features(), lanes)), {}, {}};
        for (Index lane = 0; lane < lanes; ++lane) {
            const std::vector<double>& values = queries[std::min(lane, count - 1)].values;
            for (Index j = 0; j < n_features(); ++j) packet.values[at(j, lanes, lane)] = values[as_size(j)];
        }
        packet.limit.fill(-1);
        packet.reduced.fill(-1);
        for (Index lane = 0; lane < count; ++lane) narrow(packet, as_size(lane), policies[lane]);
        std::array<Shared, stack_size> stack;
        std::size_t size = descend(stack.data(), queries, count, packet);
        while (size > 0) {
            const Shared& top = stack[--size];
            const Index index = top.node;
            std::uint32_t active = still_open(top, packet, policies);
            if (active == 0) continue;
            const Node& node = nodes_[as_size(index)];
            breather(at(lanes, n_features()));
            if (node.n_blocks == 1) {
                for_each_bit(active, [&](std::size_t lane) {
                    narrow(packet, lane, policies[lane]);
                    blocks_.scan(node.first_block, queries[lane].values.data(), packet.reduced[lane],
                                 kernels_, metric_, order_, policies[lane]);
                    narrow(packet, lane, policies[lane]);
                });
                continue;
            }
            const bool has_right = bound(stack[size], node.right, packet, active);
            const bool has_left = bound(stack[size + has_right], index + 1, packet, active);
            if (has_left && has_right) {
                double nearer = 0;  // how much the left one is, in sum
                for_each_bit(active, [&](std::size_t lane) {
                    nearer += stack[size].bounds[lane] - stack[size + 1].bounds[lane];
                });
                if (nearer < 0) std::swap(stack[size], stack[size + 1]);
            }
            size += std::size_t{has_left} + std::size_t{has_right};
        }
    }

    // Puts the smallest node that holds all queries on the stack, and below it the nodes beside the way
    // there.
    std::size_t descend(Shared* stack, const Query* queries, Index count, const Packet& packet) const {
        const std::uint32_t all = (std::uint32_t{1} << count) - 1;
        const auto [first, last] = std::minmax_element(
            queries, queries + count, [](const Query& a, const Query& b) { return a.block < b.block; });
        Index home = 0;
        std::size_t size = 0;
        while (nodes_[as_size(home)].n_blocks > 1 && first->block != none) {
            const Index left = home + 1, right = nodes_[as_size(home)].right;
            const Index middle = nodes_[as_size(right)].first_block;
            if (first->block < middle && last->block >= middle) break;
            home = last->block < middle ? left : right;
            size += bound(stack[size], home == left ? right : left, packet, all);
        }
        stack[size].node = home;
        stack[size].queries = all;
        stack[size].bounds.fill(0);
        return size + 1;
    }

    template <class Visit>
    static void for_each_bit(std::uint32_t bits, Visit visit) {
        for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
    }

    // No node's limit is above the root's.
    template <Policy P>
    void narrow(Packet& packet, std::size_t lane, const P& policy) const {
        const double limit = policy.limit(0);
        if (limit == packet.limit[lane]) return;
        packet.limit[lane] = limit;
        packet.reduced[lane] = limit < 0 ? -1 : metric_.reduced_limit(limit, metric_.p);
    }

    template <Policy P>
    std::uint32_t still_open(const Shared& shared, const Packet& packet, const P* policies) const {
        std::uint32_t open = 0;
        for_each_bit(shared.queries, [&](std::size_t lane) {
            const double bound = shared.bounds[lane];
            if (bound > packet.reduced[lane]) return;
            const double limit = policies[lane].limit(shared.node);
            if (limit < 0) return;
            // A node's own limit lies only a tie below the root's.
            if (bound > packet.reduced[lane] * (1 - 1e-6) && bound > metric_.reduced_limit(limit, metric_.p))
                return;
            open |= std::uint32_t{1} << lane;
        });
        return open;
    }

    // False if no query need look into the node.
    bool bound(Shared& child, Index index, const Packet& packet, std::uint32_t queries) const {
        const T* low = boxes_.data() + at(2 * index, n_features());
        child.node = index;
        child.queries =
            queries & kernels_.box_of_many(packet.values.data(), low, low + n_features(), n_features(),
                                           metric_.p, packet.reduced.data(), child.bounds.data());
        return child.queries != 0;
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

    template <class ValueAt, class V, class Combine>
    void update(Index index, ValueAt value_at, Combine combine, std::vector<V>& summary) const {
        const Node& node = nodes_[as_size(index)];
        V& out = summary[as_size(index)];
        if (node.n_blocks > 1) {
            out = combine(summary[as_size(index + 1)], summary[as_size(node.right)]);
            return;
        }
        const Index first = blocks_.first_position(node.first_block);
        out = value_at(first);
        for (Index position = first + 1; position < blocks_.end_position(node.first_block); ++position) {
            out = combine(out, value_at(position));
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

static_assert(KnowsSamples<KdTreeEngine<float>> && KnowsSamples<KdTreeEngine<double>>);

}  // namespace pathforest
