// The inner loops over features, compiled once per instruction set and chosen when the program runs.
#pragma once

#include "pathforest/metrics.hpp"
#include "pathforest/types.hpp"

namespace pathforest {

// Samples are stored in blocks of this many, feature by feature, so that one vector instruction advances
// several samples while each sample's own sum still runs in feature order.
inline constexpr int lanes = 16;

// Queries the filter handles together, to load each block from cache once for all of them.
inline constexpr int filter_group = 8;

template <class T>
struct Kernels {
    // The reduced distances of one query to the samples of a block, exactly as defined.
    void (*block)(const double* query, const T* block, Index n_features, double p, double* reduced);

    // A reduced distance no sample in the box can be below; nullptr where a box says nothing.
    double (*box)(const double* query, const T* low, const T* high, Index n_features, double p);

    // The smallest reduced distance of each query to a block, in T with all its rounding: fit to discard
    // blocks (see filter_limit), never to decide. nullptr where there is none.
    void (*filter)(const T* const* queries, const T* block, Index n_features, T* nearest);
};

template <class T>
Kernels<T> find_kernels(Sum sum);

// If some sample's exact reduced distance is <= limit, the filter's value is <= this.
template <class T>
T filter_limit(double limit, Index n_features);

// For each row of distances, `width` apart, the sum over its first k of exp(-d^2 / divisor), or of
// exp(-d / divisor) where they are squares already. Terms are added in order; divisor > 0.
using DensityRows = void (*)(const double* distances, Index width, Index k, Index n_rows, bool squared,
                             double divisor, double* density);
DensityRows find_density_rows();

// "avx512", "avx2" or "baseline": what this machine gets.
const char* simd_level();

}  // namespace pathforest
