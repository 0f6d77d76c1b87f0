// The core of pages on which labels are given: neighbour lists are handed over once, labels after every
// change. It knows no features, so that it is small; what it finds is that of OPFSemiSupervisedClassifier.
#include "memory.hpp"
#include "pathforest/forest/geodesic.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

using namespace pathforest;

namespace {

// The paths of a class alone, which are kept as long as its labels stay.
struct OfClass {
    std::vector<Index> seeds;
    std::vector<double> cost;
    std::vector<Index> root;
    std::vector<double> next;  // per seed, the cost of the path to the nearest other seed
};

struct Flow {
    KnnGraph graph;
    Adjacency listed_by;               // without those who are listed themselves
    std::span<const Index> elsewhere;  // per sample, the nearest of other components; ascending, then none
    Index n_elsewhere;
    std::span<const double> features;  // none if elsewhere knows all components
    std::vector<OfClass> classes;
};

Adjacency listed_by_others(const KnnGraph& graph) {
    return Adjacency(graph.n_samples, [&](auto visit) {
        for (Index u = 0; u < graph.n_samples; ++u) {
            for (Index c = 0; c < graph.k; ++c) {
                const Index v = graph.index(u, c);
                const auto own = graph.indices.subspan(at(v, graph.k), as_size(graph.k));
                if (std::find(own.begin(), own.end(), u) == own.end()) visit(v, {graph.distance(u, c), u});
            }
        }
    });
}

// Lets a class have more seeds: their paths run as far as they are cheaper.
void extend(const Flow& flow, OfClass& of_class, const std::vector<Index>& seeds) {
    using Waiting = std::pair<double, Index>;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
    const auto offer = [&](Index u, double cost, Index root) {
        if (cost >= of_class.cost[as_size(u)]) return;
        of_class.cost[as_size(u)] = cost;
        of_class.root[as_size(u)] = root;
        queue.emplace(cost, u);
    };
    for (const Index seed : seeds) {
        if (of_class.root[as_size(seed)] == seed) continue;
        of_class.root[as_size(seed)] = seed;  // at cost 0 it may have been reached before
        of_class.cost[as_size(seed)] = infinity;
        offer(seed, 0.0, seed);
    }
    while (!queue.empty()) {
        const auto [cost, q] = queue.top();
        queue.pop();
        if (cost > of_class.cost[as_size(q)]) continue;
        const Index root = of_class.root[as_size(q)];
        for (Index c = 0; c < flow.graph.k; ++c)
            offer(flow.graph.index(q, c), cost + flow.graph.distance(q, c), root);
        for (const Neighbour& listing : flow.listed_by.of(q))
            offer(listing.sample, cost + listing.distance, root);
    }
    of_class.seeds = seeds;
}

// A path to another seed crosses to a sample that another seed has reached, and from there goes straight on.
void find_next(const KnnGraph& graph, OfClass& of_class) {
    std::vector<double> nearest(as_size(graph.n_samples), infinity);
    for (Index u = 0; u < graph.n_samples; ++u) {
        const Index a = of_class.root[as_size(u)];
        for (Index c = 0; c < graph.k && a != none; ++c) {
            const Index v = graph.index(u, c), b = of_class.root[as_size(v)];
            if (a == b) continue;
            const double cost = of_class.cost[as_size(u)] + graph.distance(u, c) + of_class.cost[as_size(v)];
            for (const Index seed : {a, b}) nearest[as_size(seed)] = std::min(nearest[as_size(seed)], cost);
        }
    }
    of_class.next.clear();
    for (const Index seed : of_class.seeds) of_class.next.push_back(nearest[as_size(seed)]);
}

// The paths of a class from these seeds, by those of the old class that has most of them and no other.
OfClass paths_of(Flow& flow, const std::vector<Index>& seeds) {
    OfClass* best = nullptr;
    for (OfClass& old : flow.classes) {
        if (!old.seeds.empty() &&
            std::includes(seeds.begin(), seeds.end(), old.seeds.begin(), old.seeds.end()) &&
            !(best && best->seeds.size() >= old.seeds.size()))
            best = &old;
    }
    const auto n = as_size(flow.graph.n_samples);
    OfClass found = best ? std::move(*best)
                         : OfClass{{}, std::vector<double>(n, infinity), std::vector<Index>(n, none), {}};
    if (best) best->seeds.clear();
    if (found.seeds == seeds) return found;
    extend(flow, found, seeds);
    find_next(flow.graph, found);
    return found;
}

// The nearest of some samples, ascending, by their features; `none` if these are not known.
Index nearest_of(const Flow& flow, const std::vector<Index>& samples, Index own) {
    const std::size_t d = flow.features.size() / as_size(flow.graph.n_samples);
    const double* x = flow.features.data() + as_size(own) * d;
    Index nearest = none;
    double least = infinity;
    for (std::size_t place = 0; d > 0 && place < samples.size(); ++place) {
        const double* other = flow.features.data() + as_size(samples[place]) * d;
        double distance = 0.0;
        for (std::size_t f = 0; f < d; ++f) distance += (x[f] - other[f]) * (x[f] - other[f]);
        if (distance < least) least = distance, nearest = samples[place];
    }
    return nearest;
}

double to_eighth(double ratio) {
    const double fourth = (ratio * ratio) * (ratio * ratio);
    return fourth * fourth;
}

}  // namespace

// Takes the arrays over, whose memory stays theirs.
PATHFOREST_EXPORT(pf_graph)
Flow* pf_graph(Index n, const double* distances, const Index* indices, Index k, const Index* elsewhere,
               Index n_elsewhere, const double* features, Index n_features) {
    const KnnGraph graph{{distances, at(n, k)}, {indices, at(n, k)}, n, k};
    return new Flow{graph,       listed_by_others(graph),       {elsewhere, at(n, n_elsewhere)},
                    n_elsewhere, {features, at(n, n_features)}, {}};
}

// Spreads the labels of the samples with a code, the others have -1; every class has one. Per sample:
//
// - label, predecessor (-1 at given labels) and cost of the path that its label took. A sample that no path
//   reaches takes the label of the nearest that one reached, at cost infinity; -1 if that is not known;
// - confidence, from the costs of the paths of each class alone, times their factors: probabilities as of
//   predict_proba; 1 at given labels, 0 where no path leads. And rival, the most probable other class;
// - checked, at given labels: the class that it would get without its own label, factors as they are; -1 if
//   no path leads there or it is the only label of its class.
PATHFOREST_EXPORT(pf_flow)
void pf_flow(Flow* flow, const Index* codes, Index n_classes, Index* label, Index* predecessor, double* cost,
             double* confidence, Index* rival, Index* checked, double* factors) {
    const Index n = flow->graph.n_samples;
    const std::size_t classes = as_size(n_classes);
    std::vector<std::vector<Index>> seeds(classes);
    for (Index i = 0; i < n; ++i) {
        if (codes[i] != none) seeds[as_size(codes[i])].push_back(i);
    }
    std::vector<OfClass> found;
    for (const auto& of_class : seeds) found.push_back(paths_of(*flow, of_class));
    flow->classes = std::move(found);
    std::vector<std::span<const double>> costs;
    for (const OfClass& of_class : flow->classes) costs.push_back(of_class.cost);
    const std::vector<double> factor = balancing_factors(costs, seeds);
    std::copy(factor.begin(), factor.end(), factors);

    std::vector<Index> starts;
    std::vector<double> start_factors;
    for (Index i = 0; i < n; ++i) {
        if (codes[i] == none) continue;
        starts.push_back(i);
        start_factors.push_back(factor[as_size(codes[i])]);
    }
    Control control;
    const GeodesicPaths paths = geodesic_paths(flow->graph, flow->listed_by, starts, start_factors, control);
    std::vector<Index> reached;
    for (Index i = 0; i < n; ++i) {
        if (paths.root[as_size(i)] != none) reached.push_back(i);
    }
    for (Index i = 0; i < n; ++i) {
        const auto s = as_size(i);
        Index from = i;  // the sample whose root counts
        predecessor[i] = paths.predecessor[s];
        if (paths.root[s] == none) {
            from = none;
            for (Index j = 0; j < flow->n_elsewhere && from == none; ++j) {
                const Index near = flow->elsewhere[at(i, flow->n_elsewhere, j)];
                if (near == none) break;
                if (paths.root[as_size(near)] != none) from = near;
            }
            if (from == none) from = nearest_of(*flow, reached, i);
            predecessor[i] = from;
        }
        label[i] = from == none ? none : codes[paths.root[as_size(from)]];
        cost[i] = paths.cost[s];
    }

    std::vector<double> offers(classes);
    std::vector<std::size_t> at_seed(classes, 0);
    for (Index i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < classes; ++c) offers[c] = factor[c] * costs[c][as_size(i)];
        const Index own = label[i];
        rival[i] = checked[i] = none;
        confidence[i] = codes[i] == none ? 0.0 : 1.0;
        if (codes[i] != none) {
            const OfClass& of_class = flow->classes[as_size(own)];
            offers[as_size(own)] = factor[as_size(own)] * of_class.next[at_seed[as_size(own)]++];
            const auto best = std::min_element(offers.begin(), offers.end());
            if (of_class.seeds.size() > 1 && *best < infinity)
                checked[i] = static_cast<Index>(best - offers.begin());
            continue;
        }
        const double lowest = *std::min_element(offers.begin(), offers.end());
        if (lowest == infinity) continue;
        double total = 0.0, most = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            const double weight = offers[c] == lowest ? 1.0 : to_eighth(lowest / offers[c]);
            total += weight;
            if (c == as_size(own))
                confidence[i] = weight;
            else if (weight > most)
                most = weight, rival[i] = static_cast<Index>(c);
        }
        confidence[i] /= total;
    }
}
