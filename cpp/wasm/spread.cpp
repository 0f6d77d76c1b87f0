#include "spread.hpp"

#include "pathforest/forest/geodesic.hpp"
#include "pathforest/graph/spanning_tree.hpp"

#include <numeric>

namespace pathforest::wasm {

void spread(Model& model, std::span<const Index> codes) {
    Control control;
    std::vector<Index> seeds, of_seed;
    for (Index i = 0; i < model.n_samples; ++i) {
        if (codes[as_size(i)] == none) continue;
        seeds.push_back(i);
        of_seed.push_back(codes[as_size(i)]);
    }
    std::vector<double> factors = balancing_factors(model.graph(), seeds, of_seed, model.n_classes, control);
    std::vector<double> seed_factors;
    for (const Index code : of_seed) seed_factors.push_back(factors[as_size(code)]);
    GeodesicPaths paths = geodesic_paths(model.graph(), seeds, seed_factors, control);
    std::vector<double>& cost = paths.cost;
    std::vector<Index>&predecessor = paths.predecessor, &root = paths.root;
    std::vector<Index> unreached, component;
    for (Index i = 0; i < model.n_samples; ++i) {
        component.push_back(root[as_size(i)] == none);
        if (component.back()) unreached.push_back(i);
    }
    std::vector<double> distances(unreached.size());
    std::vector<Index> nearest(unreached.size());
    nearest_outsiders(*model.engine, unreached, component, distances, nearest, control);
    for (std::size_t u = 0; u < unreached.size(); ++u) {
        const std::size_t i = as_size(unreached[u]), near = as_size(nearest[u]);
        predecessor[i] = nearest[u];
        root[i] = root[near];
        cost[i] = cost[near] + factors[as_size(codes[as_size(root[near])])] * distances[u];
    }
    std::vector<Index> order(cost.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return cost[as_size(a)] < cost[as_size(b)]; });
    model.keep("class_factors", std::move(factors));
    model.keep("prototypes", std::move(seeds));
    model.keep({std::move(cost), std::move(predecessor), std::move(root), std::move(order)});
}

}  // namespace pathforest::wasm
