#include "check.hpp"
#include "pathforest/select.hpp"

#include <numeric>
#include <random>
#include <vector>

namespace pathforest::tests {

// Distinct keys in random order, ascending, descending and in two ascending halves; guesses miss in some.
void test_select() {
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
        std::vector<int> keys(1 + random() % 3000);
        std::iota(keys.begin(), keys.end(), 0);
        if (round % 4 == 0) std::shuffle(keys.begin(), keys.end(), random);
        if (round % 4 == 1) std::reverse(keys.begin(), keys.end());
        if (round % 4 == 2)
            std::rotate(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2),
                        keys.end());
        const auto nth = static_cast<std::ptrdiff_t>(random() % (keys.size() + 1));
        select(keys.data(), keys.data() + nth, keys.data() + keys.size());
        CHECK(std::all_of(keys.begin(), keys.begin() + nth, [&](int key) { return key < nth; }));
        CHECK(std::all_of(keys.begin() + nth, keys.end(), [&](int key) { return key >= nth; }));
    }
}

}  // namespace pathforest::tests
