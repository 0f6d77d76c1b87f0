#include "check.hpp"
#include "pathforest/graph/boruvka.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <random>

namespace pathforest::tests {
namespace {

struct Problem {
    Index n;
    std::vector<double> matrix;  // symmetric
    std::vector<double> distances;
    std::vector<Index> indices;

    double distance(Index a, Index b) const { return matrix[at(a, n, b)]; }
};

Problem make_problem(Index n, Index k, unsigned n_values, std::mt19937& random) {
    Problem problem{n, std::vector<double>(at(n, n)), {}, {}};
    for (Index a = 0; a < n; ++a) {
        for (Index b = 0; b < a; ++b)
            problem.matrix[at(a, n, b)] = problem.matrix[at(b, n, a)] =
                static_cast<double>(random() % n_values);
    }
    for (Index a = 0; a < n; ++a) {
        std::vector<Neighbour> row;
        for (Index b = 0; b < n; ++b) {
            if (b != a) row.push_back({problem.distance(a, b), b});
        }
        std::sort(row.begin(), row.end());
        for (Index c = 0; c < k; ++c) {
            problem.distances.push_back(row[as_size(c)].distance);
            problem.indices.push_back(row[as_size(c)].sample);
        }
    }
    return problem;
}

// Kruskal's algorithm.
std::vector<Arc> expected_tree(const Problem& problem) {
    std::vector<Arc> all;
    for (Index a = 0; a < problem.n; ++a) {
        for (Index b = a + 1; b < problem.n; ++b) all.push_back({problem.distance(a, b), a, b});
    }
    std::sort(all.begin(), all.end());
    DisjointSets sets(problem.n);
    std::erase_if(all, [&](const Arc& arc) { return !sets.unite(arc.low, arc.high); });
    return all;
}

Neighbour nearest_foreign(const Problem& problem, const std::vector<Index>& component, Index sample) {
    Neighbour best{infinity, none};
    for (Index other = 0; other < problem.n; ++other) {
        if (component[as_size(other)] == component[as_size(sample)]) continue;
        const Neighbour candidate{problem.distance(sample, other), other};
        if (candidate < best) best = candidate;
    }
    return best;
}

}  // namespace

void test_boruvka() {
    std::mt19937 random(4);
    Control control;
    for (int round = 0; round < 500; ++round) {
        const Index n = 2 + static_cast<Index>(random() % 40);
        // Short lists leave much to ask; few different values, many ties.
        const Index k = std::min(n - 1, 1 + static_cast<Index>(random() % 4));
        const Problem problem = make_problem(n, k, round % 2 == 0 ? 6 : 1000, random);
        Boruvka boruvka({problem.distances, problem.indices, n, k});
        bool joined = true;
        while (joined && boruvka.must_ask(control)) {
            for (const Index sample : boruvka.asking()) {
                const Neighbour nearest = nearest_foreign(problem, boruvka.component(), sample);
                const double reach = boruvka.reach(sample);
                boruvka.answer(sample, nearest.distance <= reach ? nearest : Neighbour{infinity, none},
                               reach);
            }
            joined = boruvka.merge_answers();
        }
        CHECK(joined);
        CHECK(boruvka.arcs() == expected_tree(problem));
    }
}

}  // namespace pathforest::tests
