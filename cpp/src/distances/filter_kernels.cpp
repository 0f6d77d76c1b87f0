// Fast approximate distances that discard: many queries against many samples, in the samples' own precision
// and with fused multiply-add. What survives is settled by the exact kernels.
#include "pathforest/distances/kernels.hpp"
#include "simd.hpp"

#include <algorithm>

namespace pathforest {
namespace {

// How a pair of feature values enters the sum. Differences of the given values are off by a few units in the
// last place of the distance itself; products, by as much of the squared lengths of query and sample.
struct Added {
    template <class V>
    static V join(V sum, V other) {
        return sum + other;
    }
};

struct Squares : Added {
    template <class V>
    static V add(V sum, V query, V sample) {
        const V difference = query - sample;
        return sum + difference * difference;
    }
};

struct Absolutes : Added {
    template <class V>
    static V add(V sum, V query, V sample) {
        return sum + absolute(query - sample);
    }
};

struct Largest {
    template <class V>
    static V add(V sum, V query, V sample) {
        return larger(sum, absolute(query - sample));
    }
    template <class V>
    static V join(V sum, V other) {
        return larger(sum, other);
    }
};

struct Products : Added {
    template <class V>
    static V add(V sum, V query, V sample) {
        return sum - query * sample;
    }
};

// As many running sums as the registers hold beside the operands.
constexpr int vectors_together = vector_bytes == 64 ? 4 : 2;

template <class S, class T>
void filter_kernel(const T* const* groups, Index n_groups, const T* blocks, const T* start, Index n_features,
                   const T* reach, const OtherSide<T>* other, T* values, std::uint64_t* hits) {
    using V = Vector<T>;
    constexpr int width = native_width<T>;
    constexpr int together = vectors_together * width;
    static_assert(panel % together == 0 && panel % 64 == 0 && 64 % together == 0);
    constexpr int words = panel / 64;
    std::fill_n(hits, n_groups * filter_queries * words, 0);
    if (other) std::fill_n(other->hits, n_groups * filter_queries * words, 0);
    for (int first = 0; first < panel; first += together) {
        for (Index feature = 0; feature == 0 || feature < n_features; feature += filter_features) {
            const Index end = std::min(n_features, feature + filter_features);
            for (Index g = 0; g < n_groups; ++g) {
                T* own_values = values + at(g, filter_queries * panel) + first;
                V sums[filter_queries][vectors_together];
                const T* from[vectors_together];  // each vector lies within one block
                for (int v = 0; v < vectors_together; ++v) {
                    const int lane = first + v * width;
                    from[v] = blocks + at(lane / lanes, n_features) * lanes + lane % lanes;
                    for (int q = 0; q < filter_queries; ++q)
                        sums[q][v] = start && feature == 0 ? load<V>(start + lane) : V{};
                }
                const T* query = groups[g] + at(feature, filter_queries);
                for (Index j = feature; j < end; ++j) {
                    V samples[vectors_together];
#pragma GCC unroll 8
                    for (int v = 0; v < vectors_together; ++v) samples[v] = load<V>(from[v] + at(j, lanes));
#pragma GCC unroll 8
                    for (int q = 0; q < filter_queries; ++q) {
                        const V value = broadcast<V>(query[q]);
#pragma GCC unroll 8
                        for (int v = 0; v < vectors_together; ++v)
                            sums[q][v] = S::add(sums[q][v], value, samples[v]);
                    }
                    query += filter_queries;
                }
                for (int q = 0; q < filter_queries; ++q) {
                    if (feature > 0) {
                        for (int v = 0; v < vectors_together; ++v)
                            sums[q][v] = S::join(load<V>(own_values + q * panel + v * width), sums[q][v]);
                    }
                    std::uint64_t bits = ~std::uint64_t{0};
                    if (end == n_features) {
                        const Index i = g * filter_queries + q;
                        const V most = broadcast<V>(reach[i]);
                        bits = 0;
                        for (int v = 0; v < vectors_together; ++v)
                            bits |= bits_not_above(sums[q][v], most) << (v * width);
                        hits[i * words + first / 64] |= bits << (first % 64);
                        if (other) {
                            std::uint64_t others = 0;
                            const V shift = broadcast<V>(other->shift[i]);
                            for (int v = 0; v < vectors_together; ++v) {
                                const V limit = load<V>(other->reach[i] + first + v * width) - shift;
                                others |= bits_not_above(sums[q][v], limit) << (v * width);
                            }
                            other->hits[i * words + first / 64] |= others << (first % 64);
                            bits |= others;
                        }
                    }
                    if (bits == 0) continue;
                    for (int v = 0; v < vectors_together; ++v)
                        std::memcpy(own_values + q * panel + v * width, &sums[q][v], sizeof(V));
                }
            }
        }
    }
}

template <class T>
Filters<T> filters_of(Sum sum) {
    switch (sum) {
    case Sum::squares: return {filter_kernel<Squares, T>, filter_kernel<Products, T>};
    case Sum::absolutes: return {filter_kernel<Absolutes, T>, nullptr};
    case Sum::largest: return {filter_kernel<Largest, T>, nullptr};
    default: return {};
    }
}

}  // namespace

namespace PATHFOREST_ISA {
Filters<float> filters_float(Sum sum) { return filters_of<float>(sum); }
Filters<double> filters_double(Sum sum) { return filters_of<double>(sum); }
}  // namespace PATHFOREST_ISA

}  // namespace pathforest
