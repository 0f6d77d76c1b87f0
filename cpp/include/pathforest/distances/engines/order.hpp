// The order in which an engine stores its samples: as given, or so that near ones share blocks.
#pragma once

#include "pathforest/distances/kernels.hpp"
#include "pathforest/parallel.hpp"
#include "pathforest/select.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
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

// Parts the samples of a range between its halves, at the middle along the longest side of their box. `keys`
// is scratch space.
template <class T>
void part(BlockRange range, const T* X, Index n_features, std::vector<Index>& samples,
          std::vector<std::uint64_t>& keys) {
    const auto begin = samples.begin() + range.first * lanes;
    const auto end =
        samples.begin() + std::min(static_cast<Index>(samples.size()), (range.first + range.count) * lanes);
    std::vector<T> low(X + at(*begin, n_features), X + at(*begin, n_features) + n_features);
    std::vector<T> high = low;
    for (auto first = begin; first != end;) {
        // A few rows at a time stay in the cache, and feature by feature both ends in registers.
        const auto last = first + std::min<std::ptrdiff_t>(32, end - first);
        for (Index j = 0; j < n_features; ++j) {
            T least = low[as_size(j)], most = high[as_size(j)];
            for (auto sample = first; sample != last; ++sample) {
                const T value = X[at(*sample, n_features, j)];
                least = std::min(least, value);
                most = std::max(most, value);
            }
            low[as_size(j)] = least;
            high[as_size(j)] = most;
        }
        first = last;
    }
    const auto side = [&](Index j) { return high[as_size(j)] - low[as_size(j)]; };
    Index longest = 0;
    for (Index j = 1; j < n_features; ++j) {
        if (side(j) > side(longest)) longest = j;
    }
    // One integer per sample: how far along the side it lies, whose last bits give way to the index. So equal
    // values go by index: of many duplicates the first ones are then found first, the others pruned. The bits
    // of doubles that are not negative count up like integers.
    const std::uint64_t index_bits = std::bit_ceil(samples.size()) - 1;
    const double from = low[as_size(longest)];
    keys.clear();
    for (auto sample = begin; sample != end; ++sample) {
        const double along = X[at(*sample, n_features, longest)] - from;
        keys.push_back((std::bit_cast<std::uint64_t>(along) & ~index_bits) |
                       static_cast<std::uint64_t>(*sample));
    }
    select(keys.data(), keys.data() + range.left().count * lanes, keys.data() + keys.size());
    std::transform(keys.begin(), keys.end(), begin,
                   [=](std::uint64_t key) { return static_cast<Index>(key & index_bits); });
}

// The order of the leaves of a balanced k-d tree with one block per leaf.
template <class T>
std::vector<Index> spatial_order(const T* X, Index n_samples, Index n_features, Control& control) {
    std::vector<Index> samples = given_order(n_samples);
    using Keys = std::vector<std::uint64_t>;
    const auto make_keys = [] { return Keys{}; };
    // Level by level down to pieces small enough to share out; then each piece on one thread.
    const BlockRange all{0, blocks_for(n_samples)};
    std::vector<BlockRange> pieces{all};
    while (pieces.front().count > std::max<Index>(8, all.count / 64)) {
        std::vector<BlockRange> halves;
        for (const BlockRange range : pieces) halves.insert(halves.end(), {range.left(), range.right()});
        parallel_for(static_cast<Index>(pieces.size()), control, make_keys,
                     [&](Index i, Keys& keys, const Pause&) {
                         part(pieces[as_size(i)], X, n_features, samples, keys);
                     });
        pieces = std::move(halves);
    }
    parallel_for(static_cast<Index>(pieces.size()), control, make_keys,
                 [&](Index i, Keys& keys, const Pause& pause) {
                     std::vector<BlockRange> pending{pieces[as_size(i)]};
                     while (!pending.empty()) {
                         const BlockRange range = pending.back();
                         pending.pop_back();
                         if (range.count == 1) continue;
                         pause();
                         part(range, X, n_features, samples, keys);
                         pending.push_back(range.right());
                         pending.push_back(range.left());
                     }
                 });
    return samples;
}

}  // namespace pathforest
