#include "pathforest/forest/geodesic.hpp"

#include "pathforest/ties.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

namespace pathforest {

GeodesicPaths geodesic_paths(const KnnGraph& graph, std::span<const Index> seeds,
                             std::span<const double> factors, Control& control) {
    return geodesic_paths(graph, reversed_lists(graph), seeds, factors, control);
}

GeodesicPaths geodesic_paths(const KnnGraph& graph, const Adjacency& listed_by, std::span<const Index> seeds,
                             std::span<const double> factors, Control& control) {
    const auto n = as_size(graph.n_samples);
    GeodesicPaths paths{std::vector<double>(n, infinity), std::vector<Index>(n, none),
                        std::vector<Index>(n, none)};
    std::vector<Arc> last(n);                // of the path to each sample
    std::vector<double> factor(n);           // of the path's seed
    std::vector<double> limit(n, infinity);  // costlier offers are of no use
    // Waiting samples, each once for every cost that it has had: the lowest comes first.
    using Waiting = std::pair<double, Index>;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        const auto seed = as_size(seeds[i]);
        paths.cost[seed] = 0.0;
        paths.root[seed] = seeds[i];
        factor[seed] = factors[i];
        limit[seed] = -infinity;
        queue.emplace(0.0, seeds[i]);
    }
    const auto offer = [&](Index q, Index u, double distance) {
        const auto to = as_size(u);
        const double cost = paths.cost[as_size(q)] + factor[as_size(q)] * distance;
        if (cost > limit[to]) return;  // so are most, and nothing else is looked up for them
        const Arc arc = Arc::between(distance, q, u);
        if (cost == paths.cost[to] && arc > last[to]) return;
        if (cost < paths.cost[to]) queue.emplace(cost, u);
        limit[to] = paths.cost[to] = cost;
        paths.predecessor[to] = q;
        paths.root[to] = paths.root[as_size(q)];
        factor[to] = factor[as_size(q)];
        last[to] = arc;
    };
    for (Index step = 0; !queue.empty(); ++step) {
        if (step % samples_between_pauses == 0) control.check();
        const auto [cost, q] = queue.top();
        queue.pop();
        if (cost > paths.cost[as_size(q)]) continue;
        // A sample that leaves is final: those at distance 0 could become one another's predecessors.
        limit[as_size(q)] = -infinity;
        for (Index c = 0; c < graph.k; ++c) offer(q, graph.index(q, c), graph.distance(q, c));
        for (const Neighbour& listing : listed_by.of(q)) offer(q, listing.sample, listing.distance);
    }
    return paths;
}

std::vector<double> balancing_factors(const KnnGraph& graph, std::span<const Index> labelled,
                                      std::span<const Index> codes, Index n_classes, Control& control) {
    const Adjacency listed_by = reversed_lists(graph);
    std::vector<std::vector<Index>> seeds(as_size(n_classes));
    for (std::size_t i = 0; i < labelled.size(); ++i) seeds[as_size(codes[i])].push_back(labelled[i]);
    std::vector<std::vector<double>> costs;
    for (const auto& of_class : seeds) {
        const std::vector<double> ones(of_class.size(), 1.0);
        costs.push_back(geodesic_paths(graph, listed_by, of_class, ones, control).cost);
    }
    return balancing_factors(std::vector<std::span<const double>>(costs.begin(), costs.end()), seeds);
}

std::vector<double> balancing_factors(std::span<const std::span<const double>> costs,
                                      std::span<const std::vector<Index>> seeds) {
    const std::size_t n = costs.empty() ? 0 : costs[0].size(), classes = costs.size();
    std::vector<double> share(classes, 0.0), weight(classes), factors(classes, 1.0);
    std::vector<char> is_labelled(n, 0);
    double n_labels = 0, n_open = 0;
    for (const auto& of_class : seeds) {
        for (const Index i : of_class) is_labelled[as_size(i)] = 1;
        n_labels += static_cast<double>(of_class.size());
    }
    for (std::size_t i = 0; i < n; ++i) {
        double lowest = infinity, total = 0.0;
        for (const auto& cost : costs) lowest = std::min(lowest, cost[i]);
        if (is_labelled[i] || lowest == infinity) continue;
        for (std::size_t c = 0; c < classes; ++c) {
            const double ratio = costs[c][i] == lowest ? 1.0 : lowest / costs[c][i];
            weight[c] = (ratio * ratio) * (ratio * ratio);
            total += weight[c];
        }
        for (std::size_t c = 0; c < classes; ++c) share[c] += weight[c] / total;
        ++n_open;
    }
    for (std::size_t c = 0; c < classes; ++c) {
        const double wanted = static_cast<double>(seeds[c].size()) / n_labels;
        // Roots are rounded correctly on every machine, powers are not.
        if (share[c] > 0) factors[c] = std::sqrt(std::sqrt(share[c] / n_open / wanted));
    }
    return factors;
}

}  // namespace pathforest
