// The sums of Eq. 3, with an exponential of our own: the C library's differs from one machine to the next,
// and takes one number at a time. This file is compiled with floating-point contraction off and every lane
// does the same IEEE operations, so all instruction sets give the same bits.
#include "pathforest/distances/kernels.hpp"
#include "simd.hpp"

namespace pathforest {
namespace {

using Words = WordsOf<Doubles>;

inline void store(Doubles values, double* to) { std::memcpy(to, &values, sizeof values); }

// exp(x) for x <= 0, -inf included, within one unit in the last place. With n the integer nearest to
// x / log(2), exp(x) = 2^n exp(r), where |r| <= log(2) / 2.
Doubles exponential(Doubles x) {
    const Doubles nearly_zero = broadcast<Doubles>(-746.0);  // from here on the result rounds to 0
    x = larger(x, nearly_zero);
    // A number this large has no binary places left: adding it rounds to an integer, found in the lowest
    // bits.
    constexpr double shift = 0x1.8p52;
    constexpr std::uint64_t shift_bits = 0x4338000000000000;
    const Doubles shifted = x * 0x1.71547652b82fep+0 + shift;
    const Doubles n = shifted - shift;
    // log(2) in two parts, the first so short that its product with n is exact.
    const Doubles r = (x - n * 0x1.62e42fefa3p-1) - n * 0x1.3de6af278ece6p-42;
    // The polynomial of degree 9 nearest to (exp(r) - 1 - r) / r^2, by Remez' algorithm: exp(r) is then off
    // by less than 2^-57. Odd and even powers apart are two shorter chains of operations.
    const Doubles square = r * r;
    const Doubles odd =
        (((0x1.ad7f6f0799ee2p-26 * square + 0x1.71df2552390c2p-19) * square + 0x1.a01a012a57b51p-13) *
             square +
         0x1.1111111127be5p-7) *
            square +
        0x1.55555555554fap-3;
    const Doubles even =
        (((0x1.28ad72cc30daap-22 * square + 0x1.a0199a0c677acp-16) * square + 0x1.6c16c1842a11dp-10) *
             square +
         0x1.555555555087cp-5) *
            square +
        0x1.000000000000ap-1;
    const Doubles power = 1.0 + (r + square * (even + odd * r));
    // 2^n as a product of two, each in the range of normal numbers even if the result is not.
    const Words biased = std::bit_cast<Words>(shifted) - (shift_bits - 2 * 1023);
    const Words half = biased >> 1;
    return power * std::bit_cast<Doubles>(half << 52) * std::bit_cast<Doubles>((biased - half) << 52);
}

// The exponentials of one row's distances.
struct Terms {
    double divisor;
    bool squared;

    Doubles of(Doubles d) const { return exponential(-(squared ? d : d * d) / divisor); }

    void write(const double* distances, int count, double* terms) const {
        if (count < double_width) {
            double padded[double_width] = {};
            for (int c = 0; c < count; ++c) padded[c] = distances[c];
            store(of(load<Doubles>(padded)), terms);
            return;
        }
        for (int c = 0; c < count - double_width; c += double_width) {
            store(of(load<Doubles>(distances + c)), terms + c);
        }
        const int last = count - double_width;  // may overlap the vector before, with the same results
        store(of(load<Doubles>(distances + last)), terms + last);
    }
};

// Terms are added one after the other, in neighbour order; several rows at once keep the adder busy.
constexpr int rows_together = 8;
constexpr int columns_together = 128;

}  // namespace

namespace PATHFOREST_ISA {

void density_rows(const double* distances, Index width, Index k, Index n_rows, bool squared, double divisor,
                  double* density) {
    const Terms terms{divisor, squared};
    double buffer[rows_together][columns_together] = {};
    for (Index first = 0; first < n_rows; first += rows_together) {
        const Index rows = n_rows - first < rows_together ? n_rows - first : rows_together;
        const double* row = distances + as_size(first) * as_size(width);
        double sums[rows_together] = {};
        for (Index column = 0; column < k; column += columns_together) {
            const int columns = k - column < columns_together ? k - column : columns_together;
            for (Index r = 0; r < rows; ++r) {
                terms.write(row + r * static_cast<std::ptrdiff_t>(width) + column, columns, buffer[r]);
            }
            for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 8
                for (int r = 0; r < rows_together; ++r) sums[r] += buffer[r][c];
            }
        }
        for (Index r = 0; r < rows; ++r) density[first + r] = sums[r];
    }
}

}  // namespace PATHFOREST_ISA

}  // namespace pathforest
