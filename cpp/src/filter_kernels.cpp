// Fast approximate distances that discard: many queries against one block, in the samples' own precision and
// with fused multiply-add. Differences of the given values are formed directly, so the error is a few units
// in the last place of the distance itself; what survives is settled by the exact kernels.
#include "pathforest/kernels.hpp"
#include "simd.hpp"

namespace pathforest {
namespace {

struct Squares {
    template <class V>
    static V add(V sum, V difference) {
        return sum + difference * difference;
    }
};

struct Absolutes {
    template <class V>
    static V add(V sum, V difference) {
        return sum + absolute(difference);
    }
};

struct Largest {
    template <class V>
    static V add(V sum, V difference) {
        return larger(sum, absolute(difference));
    }
};

template <class T, int width>
T smallest_lane(typename VectorOf<T, width>::type value) {
    if constexpr (width == 2) {
        return value[1] < value[0] ? value[1] : value[0];
    } else {
        using Half = typename VectorOf<T, width / 2>::type;
        Half halves[2];
        std::memcpy(halves, &value, sizeof value);
        return smallest_lane<T, width / 2>(halves[1] < halves[0] ? halves[1] : halves[0]);
    }
}

template <class S, class T>
void filter_kernel(const T* const* queries, const T* block, Index n_features, T* nearest) {
    using V = Vector<T>;
    constexpr int width = native_width<T>;
    constexpr int n_vectors = lanes / width;
    // As many running sums as the registers hold beside the operands.
    constexpr int together =
        vector_bytes == 64 ? filter_group / n_vectors : 8 / (n_vectors < 4 ? n_vectors : 4);
    for (int first = 0; first < filter_group; first += together) {
        V sums[together][n_vectors] = {};
        for (Index j = 0; j < n_features; ++j) {
            V samples[n_vectors];
            for (int v = 0; v < n_vectors; ++v) samples[v] = load<V>(block + at(j, lanes, v * width));
#pragma GCC unroll 8
            for (int q = 0; q < together; ++q) {
                const V value = broadcast<V>(queries[first + q][j]);
#pragma GCC unroll 8
                for (int v = 0; v < n_vectors; ++v) sums[q][v] = S::add(sums[q][v], value - samples[v]);
            }
        }
        for (int q = 0; q < together; ++q) {
            V least = sums[q][0];
            for (int v = 1; v < n_vectors; ++v) least = sums[q][v] < least ? sums[q][v] : least;
            nearest[first + q] = smallest_lane<T, width>(least);
        }
    }
}

template <class T>
auto filter_of(Sum sum) -> decltype(Kernels<T>::filter) {
    switch (sum) {
    case Sum::squares: return filter_kernel<Squares, T>;
    case Sum::absolutes: return filter_kernel<Absolutes, T>;
    case Sum::largest: return filter_kernel<Largest, T>;
    default: return nullptr;
    }
}

}  // namespace

namespace PATHFOREST_ISA {
decltype(Kernels<float>::filter) filter_kernel_float(Sum sum) { return filter_of<float>(sum); }
decltype(Kernels<double>::filter) filter_kernel_double(Sum sum) { return filter_of<double>(sum); }
}  // namespace PATHFOREST_ISA

}  // namespace pathforest
