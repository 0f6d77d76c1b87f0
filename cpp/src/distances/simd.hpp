// Vectors of the width the current instruction set has, through the compiler's own vector types.
// Included only by the kernel files, each compiled once per instruction set: everything here has internal
// linkage, so no two builds of it can be mixed up by the linker.
#pragma once

#include "pathforest/distances/kernels.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
    #include <immintrin.h>
#endif

namespace pathforest {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T>
constexpr int native_width = vector_bytes / static_cast<int>(sizeof(T));

template <class T, int width = native_width<T>>
struct VectorOf {
    typedef T type __attribute__((vector_size(width * sizeof(T))));
};

template <class T>
using Vector = typename VectorOf<T>::type;

using Doubles = Vector<double>;
constexpr int double_width = native_width<double>;

template <class V, class T>
inline V load(const T* from) {
    V value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class V, class T>
inline V broadcast(T value) {
    return value - V{};  // x - 0 is x, whatever its sign
}

inline Doubles load_wide(const double* from) { return load<Doubles>(from); }

inline Doubles load_wide(const float* from) {
    using Floats = VectorOf<float, double_width>::type;
    return __builtin_convertvector(load<Floats>(from), Doubles);
}

template <class V>
inline V absolute(V value) {
    return value < 0 ? -value : value;
}

template <class V>
inline V larger(V a, V b) {
    return a < b ? b : a;
}

// The integers that go with doubles, one or a vector of them.
template <class V>
struct WordsFor {
    using type = std::uint64_t;
};
template <>
struct WordsFor<Doubles> {
    using type = Vector<std::uint64_t>;
};
template <class V>
using WordsOf = typename WordsFor<V>::type;

// Entries of a table.
template <class V>
inline V look_up(const double* table, WordsOf<V> places) {
    if constexpr (std::is_same_v<V, double>) {
        return table[places];
    } else {
        V entries;
        for (int i = 0; i < double_width; ++i) entries[i] = table[places[i]];
        return entries;
    }
}

// Bit i says whether a[i] <= b[i]. Compilers do not turn a loop over a comparison's lanes into the one
// instruction for it.
#if defined(__AVX512F__)
inline std::uint64_t bits_not_above(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
inline std::uint64_t bits_not_above(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
#elif defined(__AVX2__)
inline std::uint64_t bits_not_above(__m256 a, __m256 b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)));
}
inline std::uint64_t bits_not_above(__m256d a, __m256d b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ)));
}
#elif defined(__SSE2__)
inline std::uint64_t bits_not_above(__m128 a, __m128 b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmple_ps(a, b)));
}
inline std::uint64_t bits_not_above(__m128d a, __m128d b) {
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmple_pd(a, b)));
}
#else
template <class V>
inline std::uint64_t bits_not_above(V a, V b) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i)
        bits |= static_cast<std::uint64_t>(a[i] <= b[i]) << i;
    return bits;
}
#endif

}  // namespace
}  // namespace pathforest
