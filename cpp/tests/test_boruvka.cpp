#include "check.hpp"
#include "pathforest/graph/boruvka.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <numeric>
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

// Ties are settled by names.
Problem make_problem(Index n, Index k, unsigned n_values, const std::vector<Index>& name,
                     std::mt19937& random) {
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
        std::sort(row.begin(), row.end(), [&](const Neighbour& p, const Neighbour& q) {
            return std::pair(p.distance, name[as_size(p.sample)]) <
                   std::pair(q.distance, name[as_size(q.sample)]);
        });
        for (Index c = 0; c < k; ++c) {
            problem.distances.push_back(row[as_size(c)].distance);
            problem.indices.push_back(row[as_size(c)].sample);
        }
    }
    return problem;
}

// Kruskal's algorithm.
std::vector<Arc> expected_tree(const Problem& problem, const std::vector<Index>& name) {
    std::vector<Arc> all;
    for (Index a = 0; a < problem.n; ++a) {
        for (Index b = a + 1; b < problem.n; ++b)
            all.push_back(Arc::between(problem.distance(a, b), name[as_size(a)], name[as_size(b)]));
    }
    std::sort(all.begin(), all.end());
    DisjointSets sets(problem.n);
    std::erase_if(all, [&](const Arc& arc) { return !sets.unite(arc.low, arc.high); });
    return all;
}

Neighbour nearest_foreign(const Problem& problem, const std::vector<Index>& component,
                          const std::vector<Index>& name, Index sample) {
    Neighbour best{infinity, none};
    for (Index other = 0; other < problem.n; ++other) {
        if (component[as_size(other)] == component[as_size(sample)]) continue;
        const Neighbour candidate{problem.distance(sample, other), other};
        const bool wins_tie = candidate.distance == best.distance && best.sample != none &&
                              name[as_size(other)] < name[as_size(best.sample)];
        if (candidate.distance < best.distance || wins_tie) best = candidate;
    }
    return best;
}

}  // namespace

void test_boruvka() {
    std::mt19937 random(4);
    for (int round = 0; round < 500; ++round) {
        Control control(1 + round % 4);  // threads
        const Index n = 2 + static_cast<Index>(random() % 40);
        // Short lists leave much to ask; few different values, many ties.
        const Index k = std::min(n - 1, 1 + static_cast<Index>(random() % 4));
        std::vector<Index> name(as_size(n));
        std::iota(name.begin(), name.end(), Index{0});
        const bool renamed = round % 3 != 0;
        if (renamed) std::shuffle(name.begin(), name.end(), random);
        const Problem problem = make_problem(n, k, round % 2 == 0 ? 6 : 1000, name, random);
        Boruvka boruvka({problem.distances, problem.indices, n, k}, {},
                        renamed ? std::span<const Index>(name) : std::span<const Index>{}, round % 5 < 2);
        bool joined = true;
        while (joined && boruvka.must_ask(control)) {
            for (const Index sample : boruvka.asking()) {
                const Neighbour nearest = nearest_foreign(problem, boruvka.component(), name, sample);
                const double reach = boruvka.reach(sample);
                boruvka.answer(sample, nearest.distance <= reach ? nearest : Neighbour{infinity, none},
                               reach);
            }
            joined = boruvka.merge_answers();
        }
        CHECK(joined);
        std::vector<Arc> arcs = boruvka.arcs();
        sort_arcs(arcs);
        CHECK(arcs == expected_tree(problem, name));
    }
}

}  // namespace pathforest::tests
