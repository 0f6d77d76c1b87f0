// The core for JavaScript: forests, clusters, spread labels and predictions. Arrays are written into memory
// from pf_allocate and read from the pointers returned. A function that fails returns 0 (false) and
// pf_error() says why. float64 and int32 throughout; metrics, ties and answers are those of the Python
// package.
#include "../src/distances/power.hpp"
#include "memory.hpp"
#include "model.hpp"
#include "offers.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/domes.hpp"
#include "spread.hpp"

#include <array>

using namespace pathforest;
using namespace pathforest::wasm;

namespace {

constexpr Index tree_neighbours = 10;
constexpr Index competition_neighbours = 30;

bool are_classes(const Index* y, Index n_samples, Index lowest, Index n_classes) {
    for (Index i = 0; i < n_samples; ++i) {
        if (lowest <= y[i] && y[i] < n_classes) continue;
        fails("y[" + std::to_string(i) + "] is " + std::to_string(y[i]) + ", not a class below " +
              std::to_string(n_classes));
        return false;
    }
    return true;
}

// Eq. 5 of the paper.
std::vector<double> membership_of(const std::vector<double>& density, double sigma) {
    const auto [low, high] = std::minmax_element(density.begin(), density.end());
    std::vector<double> membership(density.size(), 1.0);
    for (std::size_t i = 0; i < density.size() && *low != *high; ++i) {
        const double t = (density[i] - *low) / (*high - *low);
        membership[i] = (1 - sigma) * (t * t) + sigma;
    }
    return membership;
}

// Joins clusters whose dome is lower than threshold to their neighbours, and lists the roots that are left.
std::vector<Index> merge_low_domes(const KnnGraph& graph, std::span<const double> scaled, double threshold,
                                   Clustering& clusters) {
    std::vector<Index> founders;
    for (std::size_t i = 0; i < clusters.root.size(); ++i) {
        if (clusters.predecessor[i] == none) founders.push_back(static_cast<Index>(i));
    }
    std::sort(founders.begin(), founders.end(),
              [&](Index a, Index b) { return clusters.label[as_size(a)] < clusters.label[as_size(b)]; });
    Control control;
    const DomeTree tree =
        dome_tree(graph, graph.k, scaled, clusters.label, founders, Measure::height, Pause(&control));
    std::size_t n_low = 0;
    while (n_low < tree.child.size() && tree.level[n_low] > 0 && tree.height[n_low] < threshold) ++n_low;
    MergedClusters merged = merge_domes(std::span(tree.child).first(n_low),
                                        std::span(tree.parent).first(n_low), founders, clusters.root);
    clusters.label = std::move(merged.label);
    for (std::size_t i = 0; i < clusters.root.size(); ++i)
        clusters.root[i] = merged.roots[as_size(clusters.label[i])];
    return std::move(merged.roots);
}

// Memberships of 1 are the plain forest, along the tree.
Forest compete(const Model& model, const std::vector<double>& membership, bool along_tree) {
    Control control;
    const auto& prototypes = model.numbers("prototypes");
    const Membership factors{membership, false};
    if (std::all_of(membership.begin(), membership.end(), [](double f) { return f == 1; }))
        return follow_tree(model.tree, prototypes);
    return along_tree ? compete_tree(model.tree, prototypes, factors, control)
                      : compete_complete(*model.engine, model.graph(), prototypes, factors, control);
}

}  // namespace

PATHFOREST_EXPORT(pf_error) const char* pf_error() { return error.c_str(); }

// A plain forest for k_max = 0; otherwise a fuzzy one with the best of the neighbourhoods up to k_max, and
// sigma. Arrays: source, target, weight, prototypes, cost, predecessor, root, order, label; and for a fuzzy
// one density, cuts, best_k, membership.
PATHFOREST_EXPORT(pf_fit)
Model* pf_fit(const double* X, const Index* y, Index n_samples, Index n_features, Index n_classes,
              const char* metric, double p, Index k_max, double sigma, bool along_tree) {
    if (!are_classes(y, n_samples, 0, n_classes)) return nullptr;
    if (k_max < 0) return fails("k_max must be at least 0");
    if (!(sigma > 0 && sigma < infinity)) return fails("sigma must be a positive number");
    if (along_tree && sigma > 1) return fails("along the tree, sigma must be at most 1");
    auto model = start(X, n_samples, n_features, metric, p,
                       k_max == 0 ? tree_neighbours : std::max(k_max, competition_neighbours));
    if (!model) return nullptr;
    model->n_classes = n_classes;
    add_tree(*model);
    add_prototypes(*model, y);
    if (k_max == 0) {
        model->keep(follow_tree(model->tree, model->numbers("prototypes")));
    } else {
        add_density(*model, k_max);
        model->keep("membership", membership_of(model->values("density"), sigma));
        model->keep(compete(*model, model->values("membership"), along_tree));
    }
    add_labels(*model, y);
    return model.release();
}

// Clusters of a density of n_neighbors, 0 for as many as suit the number of samples. Those lower than
// threshold join others; 0 leaves those that are clear of chance. Arrays: density, best_k, label,
// predecessor, root, cost, cluster_roots.
PATHFOREST_EXPORT(pf_cluster)
Model* pf_cluster(const double* X, Index n_samples, Index n_features, const char* metric, double p,
                  Index n_neighbors, double threshold) {
    if (n_neighbors < 0) return fails("n_neighbors must be at least 0");
    if (!(threshold >= 0)) return fails("threshold must be at least 0");
    auto model = start(X, n_samples, n_features, metric, p,
                       n_neighbors == 0 ? clear_neighborhood(n_samples) : n_neighbors);
    if (!model) return nullptr;
    Control control;
    const Pause pause(&control);
    const KnnGraph graph = model->graph();
    std::vector<double> values = density(graph, graph.k, model->squared(), pause);
    if (threshold == 0) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        std::array<double, 2> extremes{*low, *high};
        log_density(extremes, graph.k);
        threshold = clear_height(graph, graph.k, model->squared(), extremes[0], extremes[1]);
    }
    model->keep("density", values);
    model->keep("best_k", std::vector<Index>{graph.k});
    log_density(values, graph.k);
    scale_density(values);
    Clustering found = cluster(graph, graph.k, values, {}, pause);
    model->keep("cluster_roots", merge_low_domes(graph, values, threshold, found));
    model->keep("label", std::move(found.label));
    model->keep("predecessor", std::move(found.predecessor));
    model->keep("root", std::move(found.root));
    model->keep("cost", std::move(found.cost));
    return model.release();
}

// Labels that spread along neighbour lists to the samples where y is -1; squares of Euclidean distances
// count. Arrays: class_factors, prototypes, cost, predecessor, root, order, label.
PATHFOREST_EXPORT(pf_spread)
Model* pf_spread(const double* X, const Index* y, Index n_samples, Index n_features, Index n_classes,
                 const char* metric, double p, Index n_neighbors) {
    if (!are_classes(y, n_samples, none, n_classes)) return nullptr;
    for (Index c = 0; c < n_classes; ++c) {
        if (std::find(y, y + n_samples, c) == y + n_samples)
            return fails("class " + std::to_string(c) + " has no sample with a label");
    }
    if (n_classes < 1) return fails("at least one sample needs a label");
    if (std::string_view(metric) == "euclidean") metric = "sqeuclidean";
    auto model = start(X, n_samples, n_features, metric, p, n_neighbors);
    if (!model) return nullptr;
    model->n_classes = n_classes;
    model->n_offers = std::min(n_neighbors, n_samples);
    spread(*model, {y, as_size(n_samples)});
    add_labels(*model, y);
    return model.release();
}

PATHFOREST_EXPORT(pf_delete) void pf_delete(Model* model) { delete model; }

// The array of that name: where it lies and how long it is; nullptr and 0 if the model has none.
PATHFOREST_EXPORT(pf_array) const void* pf_array(const Model* model, const char* name, Index* length) {
    *length = 0;
    const auto look_into = [&](const auto& arrays) -> const void* {
        for (const auto& [own, values] : arrays) {
            if (std::string_view(name) != own) continue;
            *length = static_cast<Index>(values.size());
            return values.data();
        }
        return nullptr;
    };
    const void* found = look_into(model->doubles);
    return found ? found : look_into(model->integers);
}

// For each query its class; and for each class its cost, the mean of its n_conquerors cheapest offers, and
// the training sample that makes the cheapest of them, -1 if there is none.
PATHFOREST_EXPORT(pf_predict)
bool pf_predict(Model* model, const double* queries, Index n_queries, Index n_conquerors, Index* classes,
                double* costs, Index* conquerors) {
    if (model->n_classes == 0) return fails("clusters have no classes; use pf_join") != nullptr;
    if (n_conquerors < 1) return fails("n_conquerors must be at least 1") != nullptr;
    if (!are_valid(queries, n_queries, model->n_features, model->metric, "queries")) return false;
    const Offers offers = class_offers(*model, {queries, n_queries, model->n_features}, n_conquerors);
    const std::vector<Index> won = winners(*model, offers);
    std::copy(won.begin(), won.end(), classes);
    std::copy(offers.cost.begin(), offers.cost.end(), costs);
    std::copy(offers.conqueror.begin(), offers.conqueror.end(), conquerors);
    return true;
}

// The probability of each class from the costs that pf_predict returns, in place.
PATHFOREST_EXPORT(pf_probabilities)
bool pf_probabilities(double* costs, Index n_queries, Index n_classes, double beta) {
    if (!(beta > 0 && beta < infinity)) return fails("beta must be a positive number") != nullptr;
    for (Index i = 0; i < n_queries; ++i) {
        const std::span row(costs + at(i, n_classes), as_size(n_classes));
        const double best = *std::min_element(row.begin(), row.end());
        double total = 0;
        for (double& cost : row) total += cost = cost == best ? 1.0 : power(best / cost, beta);
        for (double& share : row) share /= total;
    }
    return true;
}

// For each query the training sample whose cluster it joins, and the lowest density on the path to it.
PATHFOREST_EXPORT(pf_join)
bool pf_join(const Model* model, const double* queries, Index n_queries, Index* conquerors, double* values) {
    if (model->n_classes != 0) return fails("only clusters can be joined; use pf_predict") != nullptr;
    if (!are_valid(queries, n_queries, model->n_features, model->metric, "queries")) return false;
    join_clusters(*model, {queries, n_queries, model->n_features}, conquerors, values);
    return true;
}
