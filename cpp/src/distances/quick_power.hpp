// The quick step of x^y and log(1 + x), for a double or a vector of them. The leading terms of each sum are
// cut so short that operations on them are exact, and the others are small.
#pragma once

#include "power.hpp"
#include "simd.hpp"

#include <array>

namespace pathforest {

// What is looked up: inverses of the numbers 1 + i / 128, the logarithms of these, and 2^(i / 128).
struct PowerTables {
    using Column = std::array<double, 128>;
    Column inverse;              // to 10 binary places
    Column log_high, log_low;    // of 1 / inverse; the high part to 42 binary places
    Column exp_high, exp_low;    // of i log(2) / 128; the high part to 34 binary places
    double log2_high, log2_low;  // log(2), the high part to 42 binary places
    double step_high, step_low;  // log(2) / 128, the high part to 42 binary places
    double steps_per_one;        // 128 / log(2)
};
extern const PowerTables power_tables;

namespace {

// The leading 26 binary digits.
template <class V>
constexpr V leading_half(V value) {
    return std::bit_cast<V>(std::bit_cast<WordsOf<V>>(value) & ~std::uint64_t{0} << 27);
}

// An exponent, prepared for many bases.
struct Exponent {
    double value;
    double high, low;  // two halves, the first of 26 binary digits
    double doubt;      // by which part of the result the quick step may be off

    explicit Exponent(double y)
        : value(y), high(leading_half(y)), low(y - high), doubt(0x1p-65 + y * 0x1p-74) {}
};

// A value known as the sum of two numbers, the second smaller by far.
template <class V>
struct Pair {
    V high, low;
};

// The sum of two numbers, exactly; the first is 0 or the larger one.
template <class V>
constexpr Pair<V> exact_sum(V large, V small) {
    const V sum = large + small;
    return {sum, small - (sum - large)};
}

// start + log(1 + r), where |r| < 2^-7.8 comes as its leading half and the rest: off by less than 2^-75, and
// 2^-69 of itself where start is 0.
template <class V>
inline Pair<V> add_log(Pair<V> start, V half, V rest) {
    const V r = half + rest;
    // log(1 + r) = r - r^2 / 2 + r^3 tail
    const V square = r * r;
    const V tail = (1.0 / 3 - (1.0 / 4) * r) + square * (1.0 / 5 - (1.0 / 6) * r) +
                   square * square * ((1.0 / 7 - (1.0 / 8) * r) + (1.0 / 9) * square);
    const Pair<V> first = exact_sum(start.high, half);
    const Pair<V> second = exact_sum<V>(first.high, -0.5 * half * half);
    const V small = r * square * tail - rest * (half + 0.5 * rest);
    return {second.high, start.low + first.low + second.low + (rest + small)};
}

// The logarithm of a normal number: with m = x / 2^e near 1 / inverse, that of 2^e, of 1 / inverse, and of
// 1 + r = m inverse.
template <class V>
inline Pair<V> quick_log(V x) {
    using Words = WordsOf<V>;
    const PowerTables& tables = power_tables;
    const Words bits = std::bit_cast<Words>(x);
    // Rounded to 7 binary places: numbers just below a power of two count as that power, so that around 1 all
    // terms but the last are 0.
    const Words rounded = bits + (std::uint64_t{1} << 44);
    const Words exponent = rounded >> 52;
    const Words place = (rounded >> 45) & std::uint64_t{127};
    const V m = std::bit_cast<V>(bits + (std::uint64_t{1023} << 52) - (exponent << 52));
    const V e =
        std::bit_cast<V>(exponent | std::uint64_t{0x433} << 52) - (0x1p52 + 1023);  // 0x1p52 + exponent
    const V inverse = look_up<V>(tables.inverse.data(), place);
    const V m_half = leading_half(m);
    const V r_high = m_half * inverse - 1;
    const V r_low = (m - m_half) * inverse;
    const V half = leading_half(r_high + r_low);
    const V rest = (r_high - half) + r_low;
    const Pair<V> start{e * tables.log2_high + look_up<V>(tables.log_high.data(), place),
                        e * tables.log2_low + look_up<V>(tables.log_low.data(), place)};
    return add_log(start, half, rest);
}

template <class V>
using Truth = decltype(V{} < V{});

template <class V>
struct QuickPower {
    V value;
    Truth<V> certain;  // false where the slow step must decide
};

// x^y = e^(y log(x)). With n the integer nearest to y log(x) / (log(2) / 128), that is 2^(n / 128) e^t, where
// |t| <= log(2) / 256.
template <class V>
inline QuickPower<V> quick_power(V x, const Exponent& y) {
    using Words = WordsOf<V>;
    const PowerTables& tables = power_tables;
    const Pair<V> log = quick_log(x);
    const V log_half = leading_half(log.high);
    const V high = y.high * log_half;
    const V low = y.high * (log.high - log_half) + y.low * log.high + y.value * log.low;
    // A number this large has no binary places left: adding it rounds to an integer, found in the lowest
    // bits.
    constexpr double shift = 0x1.8p52;
    constexpr std::uint64_t shift_bits = 0x4338000000000000;
    const V shifted = high * tables.steps_per_one + shift;
    const V n = shifted - shift;
    const V t_high = high - n * tables.step_high;
    const V t_low = low - n * tables.step_low;
    // t in two parts, the first to 26 binary places; e^t = 1 + part + small.
    constexpr double cut = 0x1.8p26;
    const V part = (t_high + t_low + cut) - cut;
    const V rest = (t_high - part) + t_low;
    const V t = part + rest;
    const V square = t * t;
    const V tail = (1.0 / 6 + (1.0 / 24) * t) + square * (1.0 / 120 + (1.0 / 720) * t);
    const V small = 0.5 * part * part + (rest + rest * (part + 0.5 * rest) + t * square * tail);
    // 2^(n / 128) is 2^e times an entry of the table.
    const Words steps = std::bit_cast<Words>(shifted) - (shift_bits - 1023 * 128);
    const Words place = steps & std::uint64_t{127};
    const V scale = std::bit_cast<V>(steps >> 7 << 52);
    const V entry = look_up<V>(tables.exp_high.data(), place);
    const V entry_low = look_up<V>(tables.exp_low.data(), place);
    const Pair<V> sum = exact_sum<V>(entry, entry * part);
    const V more = sum.low + (entry * small + entry_low * (1 + (part + small)));
    const V doubt = entry * y.doubt;
    const auto normal = (x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023) & (high > -700.0) & (high < 700.0);
    const V least = sum.high + (more - doubt);
    const V most = sum.high + (more + doubt);
    return {least * scale, static_cast<Truth<V>>(normal & (least == most))};
}

}  // namespace
}  // namespace pathforest
