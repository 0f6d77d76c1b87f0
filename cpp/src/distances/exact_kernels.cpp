// Exact distances, as the library defines them: float64, terms added in feature order, no fused multiply-add.
// This file is compiled with floating-point contraction off; the lanes of a vector are different samples, so
// vectors change the speed of a sum and never its order.
#include "pathforest/distances/kernels.hpp"
#include "power.hpp"
#include "quick_power.hpp"
#include "simd.hpp"

#include <cmath>
#include <type_traits>

namespace pathforest {
namespace {

// Each sum says how a pair of feature values enters it; V is a vector of doubles, or a double for boxes.
struct Squares {
    static constexpr int n_sums = 1;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        const V difference = a - b;
        sums[0] += difference * difference;
    }
};

struct Absolutes {
    static constexpr int n_sums = 1;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        sums[0] += absolute(a - b);
    }
};

struct Largest {
    static constexpr int n_sums = 1;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        sums[0] = larger(sums[0], absolute(a - b));
    }
};

struct Powers {
    static constexpr int n_sums = 1;
    static void add(double* sums, double a, double b, const Exponent& p) {
        sums[0] += power(absolute(a - b), p.value);
    }
    static void add(Doubles* sums, Doubles a, Doubles b, const Exponent& p) {
        const Doubles difference = absolute(a - b);
        const QuickPower<Doubles> quick = quick_power(difference, p);
        Doubles powers = difference == 0 ? Doubles{} : quick.value;
        const Doubles doubtful = quick.certain | (difference == 0) ? Doubles{} : broadcast<Doubles>(1.0);
        if (bits_not_above(broadcast<Doubles>(1.0), doubtful)) {
            for (int i = 0; i < double_width; ++i) {
                if (doubtful[i] > 0) powers[i] = power_slowly(difference[i], p.value);
            }
        }
        sums[0] += powers;
    }
};

struct Cosine {
    static constexpr int n_sums = 3;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        sums[0] += a * b;
        sums[1] += a * a;
        sums[2] += b * b;
    }
    static double combine(const double* sums, Index) { return cosine_distance(sums[0], sums[1], sums[2]); }
};

// Terms whose divisor is 0 count as 0: both values are 0 there.
template <class V>
V divided(V numerator, V divisor) {
    return divisor > 0 ? numerator / divisor : V{};
}

struct Chi2 {
    static constexpr int n_sums = 1;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        const V difference = a - b;
        sums[0] += divided(difference * difference, a + b);
    }
};

struct Canberra {
    static constexpr int n_sums = 1;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        sums[0] += divided(absolute(a - b), absolute(a) + absolute(b));
    }
};

struct BrayCurtis {
    static constexpr int n_sums = 2;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        sums[0] += absolute(a - b);
        sums[1] += a + b;
    }
    static double combine(const double* sums, Index) { return divided(sums[0], sums[1]); }
};

// Missing values are NaN, and so is their difference from anything.
template <class V>
V if_present(V difference, V term) {
    return difference == difference ? term : V{};
}

// What the features in common leave of a distance is scaled up to all of them.
struct NanSquares {
    static constexpr int n_sums = 2;
    template <class V>
    static void add(V* sums, V a, V b, const Exponent&) {
        const V difference = a - b;
        sums[0] += if_present(difference, difference * difference);
        sums[1] += if_present(difference, broadcast<V>(1.0));
    }
    static double combine(const double* sums, Index n_features) {
        return sums[1] > 0 ? sums[0] / (sums[1] / static_cast<double>(n_features)) : infinity;
    }
};

struct Gower {
    static constexpr int n_sums = 2;
    template <class V>
    static void add(V* sums, V a, V b, double range, double weight) {
        const V difference = absolute(a - b);
        const V one = broadcast<V>(1.0);
        const V term = range > 0 ? difference / range : (difference > 0 ? one : V{});
        sums[0] += if_present(difference, term * weight);
        sums[1] += if_present(difference, one * weight);
    }
    static double combine(const double* sums, Index) { return sums[1] > 0 ? sums[0] / sums[1] : 1.0; }
};

template <class S, class T>
std::uint32_t block_kernel(const double* query, const T* block, Index n_features, const TermParameters& terms,
                           double limit, double* reduced) {
    constexpr int n_vectors = lanes / double_width;
    Doubles sums[n_vectors][S::n_sums] = {};
    const Exponent exponent(terms.p);
    for (Index j = 0; j < n_features; ++j) {
        const Doubles a = broadcast<Doubles>(query[j]);
#pragma GCC unroll 8
        for (int v = 0; v < n_vectors; ++v) {
            const Doubles b = load_wide(block + v * double_width);
            if constexpr (std::is_same_v<S, Gower>) {
                S::add(sums[v], a, b, terms.ranges[j], terms.weights[j]);
            } else {
                S::add(sums[v], a, b, exponent);
            }
        }
        block += lanes;
    }
    if constexpr (S::n_sums == 1) {
        for (int v = 0; v < n_vectors; ++v) {
            std::memcpy(reduced + v * double_width, &sums[v][0], sizeof(Doubles));
        }
    } else {
        for (int lane = 0; lane < lanes; ++lane) {
            double own[S::n_sums];
            for (int s = 0; s < S::n_sums; ++s) own[s] = sums[lane / double_width][s][lane % double_width];
            reduced[lane] = S::combine(own, n_features);
        }
    }
    std::uint64_t within = 0;
    for (int v = 0; v < n_vectors; ++v) {
        within |= bits_not_above(load<Doubles>(reduced + v * double_width), broadcast<Doubles>(limit))
                  << (v * double_width);
    }
    return static_cast<std::uint32_t>(within);
}

// The same operations in the same order on the gap to the box. Rounding is monotone, so the result is below
// the exact distance of every sample inside with no allowance needed. Correctly rounded powers would need
// none either, but that they are is not proven.
template <class S, class V>
void add_gap(V* sum, V query, V low, V high, const Exponent& exponent) {
    S::add(sum, larger(larger(low - query, query - high), V{}), V{}, exponent);
}

template <class S, class V>
V box_bound(V sum, double p) {
    if constexpr (std::is_same_v<S, Powers>) return sum * (1 - 1e-12 * (p + 1)) - 1e-300;
    return sum;
}

template <class S, class T>
double box_kernel(const double* query, const T* low, const T* high, Index n_features, double p) {
    double sum = 0;
    const Exponent exponent(p);
    for (Index j = 0; j < n_features; ++j) {
        add_gap<S>(&sum, query[j], static_cast<double>(low[j]), static_cast<double>(high[j]), exponent);
    }
    return box_bound<S>(sum, p);
}

template <class S, class T>
std::uint32_t many_box_kernel(const double* queries, const T* low, const T* high, Index n_features, double p,
                              const double* limits, double* reduced) {
    constexpr int n_vectors = lanes / double_width;
    Doubles sums[n_vectors] = {};
    const Exponent exponent(p);
    for (Index j = 0; j < n_features; ++j) {
        const Doubles least = broadcast<Doubles>(static_cast<double>(low[j]));
        const Doubles most = broadcast<Doubles>(static_cast<double>(high[j]));
#pragma GCC unroll 8
        for (int v = 0; v < n_vectors; ++v) {
            add_gap<S>(&sums[v], load<Doubles>(queries + v * double_width), least, most, exponent);
        }
        queries += lanes;
    }
    std::uint64_t within = 0;
    for (int v = 0; v < n_vectors; ++v) {
        const Doubles bound = box_bound<S>(sums[v], p);
        std::memcpy(reduced + v * double_width, &bound, sizeof bound);
        within |= bits_not_above(bound, load<Doubles>(limits + v * double_width)) << (v * double_width);
    }
    return static_cast<std::uint32_t>(within);
}

// The lanes are samples that wait for their k smallest; each sample in turn is shown to all of them.
template <class S, class T>
void spacing_kernel(const T* block, Index n_features, double p, Index count, Index k, double* reduced) {
    constexpr int n_vectors = lanes / double_width;
    const Exponent exponent(p);
    Doubles kept[lanes][n_vectors];
    for (auto& vectors : kept)
        for (Doubles& vector : vectors) vector = broadcast<Doubles>(infinity);
    for (Index shown = 0; shown < count; ++shown) {
        Doubles sums[n_vectors] = {};
        for (Index j = 0; j < n_features; ++j) {
            const T* values = block + at(j, lanes);
            const Doubles a = broadcast<Doubles>(static_cast<double>(values[shown]));
            for (int v = 0; v < n_vectors; ++v)
                S::add(&sums[v], a, load_wide(values + v * double_width), exponent);
        }
        sums[shown / double_width][shown % double_width] = infinity;  // itself
        for (int v = 0; v < n_vectors; ++v) {
            for (Index place = 0; place < k; ++place) {
                const Doubles before = kept[place][v];
                kept[place][v] = before < sums[v] ? before : sums[v];
                sums[v] = larger(before, sums[v]);
            }
        }
    }
    std::memcpy(reduced, kept[k - 1], sizeof kept[k - 1]);
}

template <class S, class T>
Kernels<T> with_box() {
    return {block_kernel<S, T>, box_kernel<S, T>, many_box_kernel<S, T>, spacing_kernel<S, T>};
}

template <class S, class T>
Kernels<T> without_box() {
    return {block_kernel<S, T>, nullptr, nullptr, nullptr};
}

template <class T>
Kernels<T> kernels_of(Sum sum) {
    switch (sum) {
    case Sum::squares: return with_box<Squares, T>();
    case Sum::absolutes: return with_box<Absolutes, T>();
    case Sum::largest: return with_box<Largest, T>();
    case Sum::powers: return with_box<Powers, T>();
    case Sum::cosine: return without_box<Cosine, T>();
    case Sum::chi2: return without_box<Chi2, T>();
    case Sum::canberra: return without_box<Canberra, T>();
    case Sum::braycurtis: return without_box<BrayCurtis, T>();
    case Sum::nan_squares: return without_box<NanSquares, T>();
    case Sum::gower: return without_box<Gower, T>();
    }
    return {};
}

}  // namespace

// One namespace per instruction set: the names the dispatcher tells apart.
namespace PATHFOREST_ISA {
Kernels<float> exact_kernels_float(Sum sum) { return kernels_of<float>(sum); }
Kernels<double> exact_kernels_double(Sum sum) { return kernels_of<double>(sum); }
}  // namespace PATHFOREST_ISA

}  // namespace pathforest
