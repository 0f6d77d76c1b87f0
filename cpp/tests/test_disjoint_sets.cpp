#include "check.hpp"
#include "pathforest/graph/disjoint_sets.hpp"

#include <algorithm>
#include <random>

namespace pathforest::tests {

// Against labels that are all rewritten at each union.
void test_disjoint_sets() {
    std::mt19937 random(2);
    for (int round = 0; round < 100; ++round) {
        const Index n = 1 + static_cast<Index>(random() % 30);
        DisjointSets sets(n);
        std::vector<Index> label(as_size(n));
        for (Index i = 0; i < n; ++i) label[as_size(i)] = i;
        for (int step = 0; step < 40; ++step) {
            const auto a = static_cast<Index>(random() % static_cast<unsigned>(n));
            const auto b = static_cast<Index>(random() % static_cast<unsigned>(n));
            const Index old = label[as_size(b)];
            const bool apart = label[as_size(a)] != old;
            CHECK(sets.unite(a, b) == apart);
            std::replace(label.begin(), label.end(), old, label[as_size(a)]);
            for (Index i = 0; i < n; ++i) {
                CHECK((sets.find(i) == sets.find(a)) == (label[as_size(i)] == label[as_size(a)]));
                CHECK(sets.size_of(i) == std::count(label.begin(), label.end(), label[as_size(i)]));
            }
        }
    }
}

}  // namespace pathforest::tests
