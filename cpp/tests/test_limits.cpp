#include "check.hpp"
#include "pathforest/distances/engines/order.hpp"
#include "pathforest/limits.hpp"

#include <cstring>

namespace pathforest::tests {

void test_limits() {
    CHECK(as_count(0) == 0);
    CHECK(as_count(as_size(most_samples)) == most_samples);
    for (const std::size_t more : {as_size(most_samples) + 1, std::size_t{1} << 31, std::size_t{1} << 40})
        CHECK(throws<std::invalid_argument>([=] { as_count(more); }));
    try {
        as_count(std::size_t{1} << 31, "queries");
    } catch (const std::invalid_argument& error) {
        CHECK(std::strstr(error.what(), "2147483648 queries are more than the 2147482624") != nullptr);
    }
    // The end of the last block, panel and stretch between pauses, counted with room to spare.
    constexpr std::int64_t most = most_samples;
    constexpr std::int64_t largest = std::numeric_limits<Index>::max();
    for (const std::int64_t step :
         {std::int64_t{lanes}, std::int64_t{panel}, std::int64_t{samples_between_pauses}})
        CHECK((most + step - 1) / step * step <= largest && most + step - 1 <= largest);
    CHECK(blocks_for(most_samples) == most / lanes);
}

}  // namespace pathforest::tests
