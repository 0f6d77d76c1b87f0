// Containers and orders on their own, where a mistake is easier to find than in a forest.
#include "check.hpp"

int main() {
    using namespace pathforest::tests;
    test_boruvka();
    test_control();
    test_disjoint_sets();
    test_estimate();
    test_heap();
    test_limits();
    test_order();
    test_parallel();
    test_power();
    test_select();
    test_smallest();
    if (n_failed == 0) std::puts("all checks passed");
    return n_failed == 0 ? 0 : 1;
}
