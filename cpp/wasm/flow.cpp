// The core of pages on which labels are given: neighbour lists are handed over once, labels after every
// change. It knows no features, so that it is small; what it finds is that of OPFSemiSupervisedClassifier.
#include "memory.hpp"
#include "pathforest/forest/geodesic.hpp"

#include <algorithm>

using namespace pathforest;

namespace {

// The paths of a class alone, which are kept as long as its labels stay.
struct OfClass {
    std::vector<Index> seeds;
    std::vector<double> cost;
    std::vector<double> next;  // per seed, the cost of the path to the nearest other seed
};

struct Flow {
    KnnGraph graph;
    Adjacency listed_by;
    std::span<const Index> elsewhere;  // per sample, the nearest of other components; ascending, then none
    Index n_elsewhere;
    std::vector<OfClass> classes;
};

// A path to another seed crosses to a sample that another seed has reached, and from there goes straight on.
std::vector<double> costs_to_others(const KnnGraph& graph, const GeodesicPaths& paths,
                                    const std::vector<Index>& seeds) {
    std::vector<double> nearest(as_size(graph.n_samples), infinity);
    for (Index u = 0; u < graph.n_samples; ++u) {
        for (Index c = 0; c < graph.k; ++c) {
            const Index v = graph.index(u, c), a = paths.root[as_size(u)], b = paths.root[as_size(v)];
            if (a == none || a == b) continue;
            const double cost = paths.cost[as_size(u)] + graph.distance(u, c) + paths.cost[as_size(v)];
            for (const Index seed : {a, b}) nearest[as_size(seed)] = std::min(nearest[as_size(seed)], cost);
        }
    }
    std::vector<double> of_seeds;
    for (const Index seed : seeds) of_seeds.push_back(nearest[as_size(seed)]);
    return of_seeds;
}

OfClass paths_of(const Flow& flow, std::vector<Index> seeds) {
    Control control;
    const std::vector<double> ones(seeds.size(), 1.0);
    GeodesicPaths paths = geodesic_paths(flow.graph, flow.listed_by, seeds, ones, control);
    std::vector<double> next = costs_to_others(flow.graph, paths, seeds);
    return {std::move(seeds), std::move(paths.cost), std::move(next)};
}

double to_eighth(double ratio) {
    const double fourth = (ratio * ratio) * (ratio * ratio);
    return fourth * fourth;
}

}  // namespace

// Takes the arrays over, whose memory stays theirs.
PATHFOREST_EXPORT(pf_graph)
Flow* pf_graph(const double* distances, const Index* indices, Index n, Index k, const Index* elsewhere,
               Index n_elsewhere) {
    const KnnGraph graph{{distances, at(n, k)}, {indices, at(n, k)}, n, k};
    return new Flow{graph, reversed_lists(graph), {elsewhere, at(n, n_elsewhere)}, n_elsewhere, {}};
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
    for (const auto& of_class : seeds) {
        const auto known = std::find_if(flow->classes.begin(), flow->classes.end(),
                                        [&](const OfClass& old) { return old.seeds == of_class; });
        found.push_back(known == flow->classes.end() ? paths_of(*flow, of_class) : std::move(*known));
    }
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
