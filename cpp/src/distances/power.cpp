#include "power.hpp"

#include "pathforest/types.hpp"
#include "quick_power.hpp"

namespace pathforest {
namespace {

// Arithmetic on pairs: a little more than twice the digits of a double.
using Wide = Pair<double>;

constexpr Wide sum(double a, double b) {
    const double both = a + b;
    const double from_b = both - a;
    return {both, (a - (both - from_b)) + (b - from_b)};
}

constexpr Wide operator+(Wide a, Wide b) {
    const Wide high = sum(a.high, b.high);
    const Wide low = sum(a.low, b.low);
    const Wide first = exact_sum(high.high, high.low + low.high);
    return exact_sum(first.high, first.low + low.low);
}

constexpr Wide operator-(Wide a) { return {-a.high, -a.low}; }
constexpr Wide operator-(Wide a, Wide b) { return a + -b; }

constexpr Wide operator*(Wide a, Wide b) {
    const double product = a.high * b.high;
    const double a_half = leading_half(a.high);
    const double b_half = leading_half(b.high);
    const double a_rest = a.high - a_half;
    const double b_rest = b.high - b_half;
    const double error = ((a_half * b_half - product) + a_half * b_rest + a_rest * b_half) + a_rest * b_rest;
    return exact_sum(product, error + (a.high * b.low + a.low * b.high));
}

constexpr Wide operator/(Wide a, Wide b) {
    const double first = a.high / b.high;
    const Wide after_first = a - b * Wide{first, 0};
    const double second = after_first.high / b.high;
    const Wide after_second = after_first - b * Wide{second, 0};
    return exact_sum(first, second) + Wide{after_second.high / b.high, 0};
}

constexpr int n_terms = 72;
constexpr auto reciprocals = [] {
    std::array<Wide, n_terms> all{};
    for (int k = 1; k < n_terms; ++k) all[as_size(k)] = Wide{1, 0} / Wide{static_cast<double>(k), 0};
    return all;
}();

// log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (m - 1) / (m + 1), for m between 1/2 and 2.
constexpr Wide log_by_series(Wide m) {
    const Wide s = (m - Wide{1, 0}) / (m + Wide{1, 0});
    const Wide square = s * s;
    const bool near = s.high < 0.21 && s.high > -0.21;  // then fewer terms do
    Wide total{0, 0};
    for (int k = near ? 47 : n_terms - 1; k > 0; k -= 2) total = total * square + reciprocals[as_size(k)];
    return Wide{2 * s.high, 2 * s.low} * total;
}

// e^t - 1 = t (1 + t / 2 (1 + t / 3 (...))) for small t; as exact, compared to itself, as a pair can be.
constexpr Wide exp_less_one(Wide t) {
    Wide total{1, 0};
    for (int k = 27; k > 1; --k) total = total * t * reciprocals[as_size(k)] + Wide{1, 0};
    return total * t;
}

constexpr Wide log2 = log_by_series({2, 0});

// A positive value to some binary places, and what is left.
constexpr Wide cut(Wide value, double unit) {
    const double short_one = static_cast<double>(static_cast<std::int64_t>(value.high / unit)) * unit;
    const Wide rest = value - Wide{short_one, 0};
    return {short_one, rest.high};
}

constexpr PowerTables make_tables() {
    PowerTables tables{};
    const Wide log2_parts = cut(log2, 0x1p-42);
    const Wide step{log2.high / 128, log2.low / 128};
    const Wide step_parts = cut(step, 0x1p-42);
    tables.log2_high = log2_parts.high;
    tables.log2_low = log2_parts.low;
    tables.step_high = step_parts.high;
    tables.step_low = step_parts.low;
    tables.steps_per_one = (Wide{1, 0} / step).high;
    for (int i = 0; i < 128; ++i) {
        const int inverse = (1024 * 128 * 2 / (128 + i) + 1) / 2;  // rounded
        const Wide log = log_by_series(Wide{1024, 0} / Wide{static_cast<double>(inverse), 0});
        const Wide log_parts = cut(log, 0x1p-42);
        const Wide exp_parts =
            cut(exp_less_one(step * Wide{static_cast<double>(i), 0}) + Wide{1, 0}, 0x1p-34);
        tables.inverse[as_size(i)] = inverse / 1024.0;
        tables.log_high[as_size(i)] = log_parts.high;
        tables.log_low[as_size(i)] = log_parts.low;
        tables.exp_high[as_size(i)] = exp_parts.high;
        tables.exp_low[as_size(i)] = exp_parts.low;
    }
    return tables;
}

// The double nearest to base + more. Powers of short numbers may lie halfway between two doubles, which
// rounding to even settles; near 1 some come so close to halfway that only the last part of `more` tells.
double rounded(double base, Wide more, double doubt) {
    const Wide first = sum(base, more.high);
    const Wide second = sum(first.low, more.low);
    const Wide nearest = exact_sum(first.high, second.high);
    const Wide other = sum(nearest.high, 2 * nearest.low);  // if halfway, the double on the other side
    if (other.high == nearest.high) return nearest.high;
    const double beyond = other.low + 2 * second.low;
    if (-doubt <= beyond && beyond <= doubt) {
        return std::bit_cast<std::uint64_t>(nearest.high) % 2 == 0 ? nearest.high : other.high;
    }
    const bool on_the_other_side = other.low == 0 && (beyond > 0) == (nearest.low > 0);
    return on_the_other_side ? other.high : nearest.high;
}

// value 2^n, in two steps: 2^n itself need not be in range.
double scaled(double value, int n) {
    const auto power_of_two = [](int k) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
    };
    return value * power_of_two(n / 2) * power_of_two(n - n / 2);
}

// Of a number below 2^51: a larger one has no binary places left, and adding it rounds.
double nearest_integer(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

// x = 2^e m for a normal x, with m between 3/4 and 3/2.
int exponent_of(double x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + (std::uint64_t{1} << 51);
    return static_cast<int>(bits >> 52) - 1023;
}

}  // namespace

constinit const PowerTables power_tables = make_tables();

double power_slowly(double x, double y) {
    if (x == 0 || x == 1 || x == infinity) return x;
    if (y >= 0x1p64) return x < 1 ? 0.0 : infinity;  // even of the numbers next to 1
    const double normal = x < 0x1p-1022 ? x * 0x1p54 : x;
    const int e = exponent_of(normal);
    // x^y = 2^(y e) m^y, and the integer nearest to y e is put aside: what is left may be very small.
    const Wide power_of_two = Wide{y, 0} * Wide{static_cast<double>(x == normal ? e : e - 54), 0};
    const double aside = nearest_integer(power_of_two.high);
    const Wide rest = log2 * (power_of_two - Wide{aside, 0});
    const Wide z = log_by_series({scaled(normal, -e), 0}) * Wide{y, 0} + rest;
    const double steps = nearest_integer(z.high / log2.high);
    if (aside + steps > 1024) return infinity;
    if (aside + steps < -1076) return 0.0;
    const Wide more = exp_less_one(z - log2 * Wide{steps, 0});
    // The error is that of the largest term.
    const double doubt = (absolute(more.high) + absolute(rest.high) + absolute(steps)) * 0x1p-96;
    const int exponent = static_cast<int>(aside + steps);
    if (exponent > -1022 || (exponent == -1022 && more.high >= 0)) {
        return scaled(rounded(1, more, doubt), exponent);
    }
    // Subnormal numbers are multiples of 2^-1074, here of `unit`: with 2^52 units more it is the last digit.
    const double unit = scaled(1, -1074 - exponent);
    const Wide raised = sum(0x1p52 * unit, 1);
    const double units = rounded(raised.high, Wide{raised.low, 0} + more, doubt) - 0x1p52 * unit;
    return scaled(units, exponent);
}

double power(double x, double y) {
    if (x == 0) return 0.0;
    const QuickPower<double> quick = quick_power(x, Exponent(y));
    return quick.certain ? quick.value : power_slowly(x, y);
}

double log_of_one_plus(double x) {
    if (!(x < infinity)) return x;
    const Wide one_plus = sum(1, x);
    Wide log;
    if (x < 0x1p-8) {
        const double half = leading_half(x);
        log = add_log<double>({0, 0}, half, x - half);
    } else {
        log = quick_log(one_plus.high);
        log.low += one_plus.low / one_plus.high;
    }
    const double doubt = log.high * 0x1p-65;
    const double least = log.high + (log.low - doubt);
    if (least == log.high + (log.low + doubt)) return least;
    const int e = exponent_of(one_plus.high);
    const Wide m{scaled(one_plus.high, -e), scaled(one_plus.low, -e)};
    return (log_by_series(m) + log2 * Wide{static_cast<double>(e), 0}).high;
}

}  // namespace pathforest
