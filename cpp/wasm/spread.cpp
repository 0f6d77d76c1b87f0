#include "spread.hpp"

#include "pathforest/forest/geodesic.hpp"
#include "pathforest/graph/spanning_tree.hpp"

#include <cmath>
#include <numeric>

namespace pathforest::wasm {
namespace {

// A factor per class that makes its paths dearer if it would win more than its share of the samples.
std::vector<double> balancing_factors(const Model& model, std::span<const Index> codes) {
    Control control;
    const auto n_classes = as_size(model.n_classes);
    std::vector<std::vector<double>> costs;
    std::vector<double> wanted, share(n_classes, 0.0), factors(n_classes, 1.0);
    double n_labelled = 0, n_open = 0;
    for (Index c = 0; c < model.n_classes; ++c) {
        std::vector<Index> seeds;
        for (Index i = 0; i < model.n_samples; ++i) {
            if (codes[as_size(i)] == c) seeds.push_back(i);
        }
        const std::vector<double> ones(seeds.size(), 1.0);
        costs.push_back(geodesic_paths(model.graph(), seeds, ones, control).cost);
        wanted.push_back(static_cast<double>(seeds.size()));
        n_labelled += wanted.back();
    }
    std::vector<double> weight(n_classes);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        double lowest = infinity, total = 0.0;
        for (const auto& cost : costs) lowest = std::min(lowest, cost[i]);
        if (codes[i] != none || lowest == infinity) continue;
        for (std::size_t c = 0; c < n_classes; ++c) {
            const double ratio = costs[c][i] == lowest ? 1.0 : lowest / costs[c][i];
            weight[c] = (ratio * ratio) * (ratio * ratio);
            total += weight[c];
        }
        for (std::size_t c = 0; c < n_classes; ++c) share[c] += weight[c] / total;
        ++n_open;
    }
    for (std::size_t c = 0; c < n_classes; ++c) {
        if (share[c] > 0) factors[c] = std::sqrt(std::sqrt(share[c] / n_open / (wanted[c] / n_labelled)));
    }
    return factors;
}

}  // namespace

void spread(Model& model, std::span<const Index> codes) {
    Control control;
    std::vector<double> factors = balancing_factors(model, codes), of_seeds;
    std::vector<Index> seeds;
    for (Index i = 0; i < model.n_samples; ++i) {
        if (codes[as_size(i)] == none) continue;
        seeds.push_back(i);
        of_seeds.push_back(factors[as_size(codes[as_size(i)])]);
    }
    GeodesicPaths paths = geodesic_paths(model.graph(), seeds, of_seeds, control);
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
