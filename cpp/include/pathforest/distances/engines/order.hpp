// The order in which an engine stores its samples: as given, or so that near ones share blocks.
#pragma once

#include "pathforest/distances/kernels.hpp"
#include "pathforest/parallel.hpp"
#include "pathforest/select.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace pathforest {

constexpr Index blocks_for(Index n_samples) { return (n_samples + lanes - 1) / lanes; }

struct Order {
    std::vector<Index> sample;    // position -> sample
    std::vector<Index> position;  // sample -> position

    explicit Order(std::vector<Index> samples) : sample(std::move(samples)), position(sample.size()) {
        for (std::size_t p = 0; p < sample.size(); ++p) {
            position[as_size(sample[p])] = static_cast<Index>(p);
        }
    }
};

// Offers a policy the sample at a position. One that has taken note of positions is spared to look them up.
template <class P>
void offer_at(P& policy, const Order& order, Index position, double distance) {
    const Index sample = order.sample[as_size(position)];
    if constexpr (requires { policy.offer(sample, distance, position); }) {
        policy.offer(sample, distance, position);
    } else {
        policy.offer(sample, distance);
    }
}

inline std::vector<Index> given_order(Index n_samples) {
    std::vector<Index> samples(as_size(n_samples));
    std::iota(samples.begin(), samples.end(), Index{0});
    return samples;
}

// Consecutive blocks, halved again and again. The left half gets the odd block.
struct BlockRange {
    Index first;
    Index count;

    BlockRange left() const { return {first, (count + 1) / 2}; }
    BlockRange right() const { return {first + (count + 1) / 2, count / 2}; }
};

// Parts the samples of a range between its halves, at the middle along the longest side of their box.
template <class T>
void part(BlockRange range, const T* X, Index n_features, std::vector<Index>& samples) {
    const auto begin = samples.begin() + range.first * lanes;
    const auto end =
        samples.begin() + std::min(static_cast<Index>(samples.size()), (range.first + range.count) * lanes);
    std::vector<T> low(X + at(*begin, n_features), X + at(*begin, n_features) + n_features);
    std::vector<T> high = low;
    for (auto sample = begin; sample != end; ++sample) {
        const T* row = X + at(*sample, n_features);
        for (std::size_t j = 0; j < low.size(); ++j) {
            low[j] = std::min(low[j], row[j]);
            high[j] = std::max(high[j], row[j]);
        }
    }
    Index longest = 0;
    for (Index j = 1; j < n_features; ++j) {
        const auto side = [&](Index f) { return high[as_size(f)] - low[as_size(f)]; };
        if (side(j) > side(longest)) longest = j;
    }
    // Equal values by index: of many duplicates the first ones are then found first, the others pruned.
    struct Key {
        T value;
        Index sample;
        bool operator<(const Key& other) const {
            return (value < other.value) | ((value == other.value) & (sample < other.sample));
        }
    };
    std::vector<Key> keys;
    keys.reserve(static_cast<std::size_t>(end - begin));
    for (auto sample = begin; sample != end; ++sample)
        keys.push_back({X[at(*sample, n_features, longest)], *sample});
    select(keys.data(), keys.data() + range.left().count * lanes, keys.data() + keys.size());
    std::transform(keys.begin(), keys.end(), begin, [](const Key& key) { return key.sample; });
}

// The order of the leaves of a balanced k-d tree with one block per leaf.
template <class T>
std::vector<Index> spatial_order(const T* X, Index n_samples, Index n_features, Control& control) {
    std::vector<Index> samples = given_order(n_samples);
    // Parts ranges until they hold at most `enough` blocks, and calls visit with those.
    const auto descend = [&](BlockRange root, Index enough, const Pause& pause, auto visit) {
        std::vector<BlockRange> pending{root};
        while (!pending.empty()) {
            const BlockRange range = pending.back();
            pending.pop_back();
            if (range.count <= enough) {
                visit(range);
                continue;
            }
            pause();
            part(range, X, n_features, samples);
            pending.push_back(range.right());
            pending.push_back(range.left());
        }
    };
    // The top on one thread, down to pieces small enough to share out; then one piece per task.
    const BlockRange all{0, blocks_for(n_samples)};
    std::vector<BlockRange> pieces;
    descend(all, std::max<Index>(8, all.count / 64), Pause(&control),
            [&](BlockRange range) { pieces.push_back(range); });
    parallel_for(
        static_cast<Index>(pieces.size()), control, [] { return 0; },
        [&](Index i, int&, const Pause& pause) { descend(pieces[as_size(i)], 1, pause, [](BlockRange) {}); });
    return samples;
}

}  // namespace pathforest
