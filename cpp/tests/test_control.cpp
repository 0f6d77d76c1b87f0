#include "check.hpp"
#include "pathforest/control.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/forest/geodesic.hpp"

#include <chrono>
#include <vector>

namespace pathforest::tests {
namespace {

// Kernels that run on one thread: each must ask, and end when told to. Two samples are work enough, as the
// question is due.
template <class Kernel>
bool ends_when_told(Kernel kernel) {
    Control control(1, [](double) { return true; });
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(110)) {
    }
    return throws<Interrupted>([&] { kernel(control); });
}

const std::vector<double> ones{1.0, 1.0};
const std::vector<Index> first{0};

void an_interruption_ends_geodesic_paths() {
    const std::vector<Index> nearest{1, 0};
    const KnnGraph graph{ones, nearest, 2, 1};
    CHECK(ends_when_told([&](Control& control) { geodesic_paths(graph, first, {&ones[0], 1}, control); }));
}

void an_interruption_ends_a_competition_along_a_tree() {
    const std::vector<Arc> tree{{1.0, 0, 1}};
    CHECK(ends_when_told([&](Control& control) { compete_tree(tree, first, {ones, false}, control); }));
}

}  // namespace

void test_control() {
    an_interruption_ends_geodesic_paths();
    an_interruption_ends_a_competition_along_a_tree();
}

}  // namespace pathforest::tests
