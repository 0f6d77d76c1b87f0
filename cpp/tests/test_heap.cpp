#include "check.hpp"
#include "pathforest/heap.hpp"

#include <algorithm>
#include <random>

namespace pathforest::tests {
namespace {

void equal_keys_leave_by_index() {
    IndexedHeap<double> heap(5);
    for (const Index i : {4, 1, 3, 0, 2}) heap.set(i, i == 2 ? 1.0 : 2.0);
    std::vector<Index> left;
    while (!heap.empty()) left.push_back(heap.pop());
    CHECK((left == std::vector<Index>{2, 0, 1, 3, 4}));
}

// Keys move up and down while their samples wait; a sorted vector says who is next.
void it_agrees_with_sorting() {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const Index n = 1 + static_cast<Index>(random() % 40);
        IndexedHeap<int> heap(n);
        std::vector<std::pair<int, Index>> waiting;
        for (int step = 0; step < 300; ++step) {
            if (random() % 3 == 0 && !waiting.empty()) {
                const auto next = std::min_element(waiting.begin(), waiting.end());
                CHECK(heap.top() == next->second && heap.top_key() == next->first);
                CHECK(heap.pop() == next->second);
                waiting.erase(next);
                continue;
            }
            const auto sample = static_cast<Index>(random() % static_cast<unsigned>(n));
            const int key = static_cast<int>(random() % 10);
            std::erase_if(waiting, [=](const auto& item) { return item.second == sample; });
            waiting.emplace_back(key, sample);
            heap.set(sample, key);
        }
        CHECK(heap.empty() == waiting.empty());
    }
}

}  // namespace

void test_heap() {
    equal_keys_leave_by_index();
    it_agrees_with_sorting();
}

}  // namespace pathforest::tests
