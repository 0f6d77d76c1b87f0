#include "check.hpp"
#include "pathforest/smallest.hpp"
#include "pathforest/ties.hpp"
#include "pathforest/types.hpp"

#include <random>

namespace pathforest::tests {

namespace {

// Against a full sort, many of the items equal but for their index.
template <class Container>
void test_container(std::size_t most) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        const std::size_t capacity = 1 + random() % most;
        Container smallest(capacity);
        std::vector<Neighbour> all;
        const std::size_t count = random() % 60;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back({static_cast<double>(random() % 5), static_cast<Index>(random() % 1000)});
            smallest.offer(all.back());
            CHECK(smallest.full() == (all.size() >= capacity));
            // What is thrown out must be beyond the worst kept.
            std::sort(all.begin(), all.end());
            if (smallest.full()) CHECK(!(smallest.worst() < all[capacity - 1]));
        }
        all.resize(std::min(all.size(), capacity));
        CHECK(std::ranges::equal(smallest.sorted(), all));
    }
}

}  // namespace

void test_smallest() {
    test_container<Smallest<Neighbour>>(12);
    test_container<SmallestFew<Neighbour, 8>>(8);
}

}  // namespace pathforest::tests
