// The inner loops, compiled once per instruction set and chosen when the program runs.
#pragma once

#include "pathforest/distances/metrics.hpp"
#include "pathforest/limits.hpp"
#include "pathforest/types.hpp"

namespace pathforest {

// Samples are stored in blocks of this many, feature by feature, so that one vector instruction advances
// several samples while each sample's own sum still runs in feature order.
inline constexpr int lanes = 16;

// The filter takes this many samples and queries at a time: enough to load each value once for many sums, and
// to make what is done once per panel cheap.
inline constexpr int panel_blocks = 16;
inline constexpr int panel = panel_blocks * lanes;
inline constexpr int filter_queries = 6;
// The filter sums so many features at a time: the samples' part of them stays in the first-level cache for
// all queries, and a sum of such sums is rounded less than one long sum.
inline constexpr Index filter_features = 128;
static_assert(longest_step % panel == 0);

// The samples of a panel as queries too, where distances between samples are asked for: hits are the bits,
// query by query, of the values <= reach[query][sample] - shift[query].
template <class T>
struct OtherSide {
    const T* const* reach;
    const T* shift;
    std::uint64_t* hits;
};

// A value for each pair of query and sample, in T with all its rounding (see Estimate): fit to discard pairs,
// never to decide. Each group holds `filter_queries` queries, feature by feature; reach, values and hits go
// query by query. Sums of `filter_features` features each are added up; the first begins with `start`, one
// per sample of the panel, or with 0 where it is nullptr. Hits are the bits of the values <= reach; values
// are left undefined where there is no hit nearby. `other` may be nullptr.
template <class T>
using Filter = void (*)(const T* const* groups, Index n_groups, const T* blocks, const T* start,
                        Index n_features, const T* reach, const OtherSide<T>* other, T* values,
                        std::uint64_t* hits);

template <class T>
struct Filters {
    Filter<T> differences = nullptr;  // the reduced distances; nullptr where sums take more than that
    Filter<T> products = nullptr;     // start minus the inner product: half the work, coarser; for squares
};

template <class T>
struct Kernels {
    // The reduced distances of one query to the samples of a block, exactly as defined. Returns the bits of
    // those that are <= limit.
    std::uint32_t (*block)(const double* query, const T* block, Index n_features, const TermParameters& terms,
                           double limit, double* reduced);

    // A reduced distance no sample in the box can be below; nullptr where a box says nothing.
    double (*box)(const double* query, const T* low, const T* high, Index n_features, double p);

    // The same for `lanes` queries, feature by feature. Returns the bits of those that are <= their limits.
    std::uint32_t (*box_of_many)(const double* queries, const T* low, const T* high, Index n_features,
                                 double p, const double* limits, double* reduced);

    // For each of the first `count` samples of a block the k-th smallest reduced distance to the others of
    // them; infinity if there are fewer. nullptr as above; k < lanes.
    void (*spacing)(const T* block, Index n_features, double p, Index count, Index k, double* reduced);
};

template <class T>
Kernels<T> find_kernels(Sum sum);

template <class T>
Filters<T> find_filters(Sum sum);

// For each row of distances, `width` apart, the sum over its first k of exp(-d^2 / divisor), or of
// exp(-d / divisor) where they are squares already. Terms are added in order; divisor > 0.
using DensityRows = void (*)(const double* distances, Index width, Index k, Index n_rows, bool squared,
                             double divisor, double* density);
DensityRows find_density_rows();

// "avx512", "avx2" or "baseline": what this machine gets.
const char* simd_level();

}  // namespace pathforest
