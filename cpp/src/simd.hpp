// Vectors of the width the current instruction set has, through the compiler's own vector types.
// Included only by the kernel files, each compiled once per instruction set: everything here has internal
// linkage, so no two builds of it can be mixed up by the linker.
#pragma once

#include "pathforest/kernels.hpp"

#include <cstring>

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

}  // namespace
}  // namespace pathforest
