#include "../src/distances/power.hpp"
#include "check.hpp"

#include <bit>
#include <cstdint>
#include <random>

namespace pathforest::tests {

// The quick step against the slow one: any bits that are a number of ordinary size, and powers around 1.
void test_power() {
    std::mt19937_64 random(5);
    for (int round = 0; round < 30000; ++round) {
        const double exponent = std::bit_cast<double>((random() & 0x000f'ffff'ffff'ffff) + (0x3feull << 52));
        const double y = exponent * static_cast<double>(1 + random() % 9);
        const std::uint64_t scale = 1023 - 90 + random() % 180;
        const double x = std::bit_cast<double>((random() & 0x000f'ffff'ffff'ffff) + (scale << 52));
        CHECK(power(x, y) == power_slowly(x, y));
        const double near_one = 1 + (exponent - 0.75) * 0x1p-9;
        CHECK(power(near_one, y) == power_slowly(near_one, y));
    }
}

}  // namespace pathforest::tests
