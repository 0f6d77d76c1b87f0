// The core for JavaScript: plain and fuzzy forests, predictions and clusters. Arrays are written into memory
// from pf_allocate and read from the pointers returned. A function that fails returns 0 (false) and
// pf_error() says why. float64 and int32 throughout; metrics, ties and answers are those of the Python
// package.
#include "../src/distances/power.hpp"
#include "pathforest/distances/engines/any.hpp"
#include "pathforest/forest/class_costs.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/graph/knn.hpp"
#include "pathforest/graph/spanning_tree.hpp"
#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/search_k.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The name under which JavaScript finds a function.
#define PATHFOREST_EXPORT(name) extern "C" __attribute__((export_name(#name)))

using namespace pathforest;

namespace {

std::string error;

bool fails(std::string why) {
    error = std::move(why);
    return false;
}

// Samples, what is known of their neighbourhoods, and the arrays of the model, by name.
struct Model {
    std::vector<double> X;
    Index n_samples, n_features;
    Metric metric;
    Index n_classes = 0;
    std::unique_ptr<AnyEngine> engine;
    std::vector<double> distances;
    std::vector<Index> indices;
    std::vector<Arc> tree;
    std::vector<std::pair<const char*, std::vector<double>>> doubles;
    std::vector<std::pair<const char*, std::vector<Index>>> integers;

    template <class Arrays>
    static auto& find(Arrays& arrays, std::string_view name) {
        return std::find_if(arrays.begin(), arrays.end(), [&](auto& a) { return name == a.first; })->second;
    }
    KnnGraph graph() const {
        return {distances, indices, n_samples, static_cast<Index>(distances.size()) / n_samples};
    }
    bool squared() const { return metric.sum == Sum::squares && metric.name != "euclidean"; }
    std::vector<double>& values(std::string_view name) { return find(doubles, name); }
    std::vector<Index>& numbers(std::string_view name) { return find(integers, name); }

    void keep(Forest forest) {
        doubles.emplace_back("cost", std::move(forest.cost));
        integers.emplace_back("predecessor", std::move(forest.predecessor));
        integers.emplace_back("root", std::move(forest.root));
        integers.emplace_back("order", std::move(forest.order));
    }
};

bool are_valid(const double* X, Index n_samples, Index n_features, const Metric& metric, const char* what) {
    const bool no_negative = metric.sum == Sum::chi2 || metric.sum == Sum::braycurtis;
    for (Index i = 0; i < n_samples * n_features; ++i) {
        // Beyond this, squares of differences leave the range of doubles.
        const bool in_range = -1e150 < X[i] && X[i] < 1e150;
        if (in_range && !(no_negative && X[i] < 0)) continue;
        return fails(std::string(what) + "[" + std::to_string(i / n_features) + ", " +
                     std::to_string(i % n_features) + "] is " + std::to_string(X[i]) +
                     (in_range ? ", but this metric needs values of at least 0"
                               : ", not a finite number of ordinary size"));
    }
    return true;
}

// The samples with their engine and lists of at least k neighbours, as far as there are others.
std::unique_ptr<Model> start(const double* X, Index n_samples, Index n_features, const char* metric, double p,
                             Index k) {
    const std::vector<std::string> known = metric_names(false);
    if (std::find(known.begin(), known.end(), metric) == known.end()) {
        return fails(std::string("metric '") + metric + "' is not known; take euclidean or manhattan"),
               nullptr;
    }
    if (n_samples < 2 || n_features < 1) return fails("two samples or more are needed"), nullptr;
    if (!(p >= 1 && p < 1000)) return fails("p must be from 1 to 1000"), nullptr;
    if (k < 1) return fails("k must be at least 1"), nullptr;
    const Metric found = find_metric(metric, p);
    if (found.sum == Sum::gower) return fails("metric 'gower' needs ranges of features; scale them"), nullptr;
    if (!are_valid(X, n_samples, n_features, found, "X")) return nullptr;
    auto model = std::make_unique<Model>();
    model->X.assign(X, X + at(n_samples, n_features));
    model->n_samples = n_samples;
    model->n_features = n_features;
    model->metric = found;
    Control control;
    if (found.in_tree && n_features <= 8) {
        model->engine = std::make_unique<AnyEngine>(std::in_place_type<TreeEngine<double>>, model->X.data(),
                                                    n_samples, n_features, found, control);
    } else {
        model->engine = std::make_unique<AnyEngine>(std::in_place_type<BruteEngine<double>>, model->X.data(),
                                                    n_samples, n_features, found, false, control);
    }
    k = std::min(k, n_samples - 1);
    model->distances.resize(at(n_samples, k));
    model->indices.resize(at(n_samples, k));
    knn(*model->engine, 0, n_samples, k, model->distances, model->indices, control);
    return model;
}

void add_tree(Model& model) {
    Control control;
    model.tree = spanning_tree(*model.engine, model.graph(), control);
    std::vector<Index> source, target;
    std::vector<double> weight;
    for (const Arc& arc : model.tree) {
        source.push_back(arc.low);
        target.push_back(arc.high);
        weight.push_back(arc.weight);
    }
    model.integers.emplace_back("source", std::move(source));
    model.integers.emplace_back("target", std::move(target));
    model.doubles.emplace_back("weight", std::move(weight));
}

void add_prototypes(Model& model, const Index* codes) {
    std::vector<Index> prototypes;
    for (const Arc& arc : model.tree) {
        if (codes[arc.low] != codes[arc.high]) prototypes.insert(prototypes.end(), {arc.low, arc.high});
    }
    if (prototypes.empty()) prototypes.push_back(0);
    std::sort(prototypes.begin(), prototypes.end());
    prototypes.erase(std::unique(prototypes.begin(), prototypes.end()), prototypes.end());
    model.integers.emplace_back("prototypes", std::move(prototypes));
}

void add_density(Model& model, Index k_max) {
    Control control;
    const KnnGraph graph = model.graph();
    std::vector<double> cuts = search_k(graph, std::min(k_max, graph.k), model.squared(), control);
    const auto best = static_cast<Index>(std::min_element(cuts.begin(), cuts.end()) - cuts.begin()) + 1;
    model.doubles.emplace_back("density", density(graph, best, model.squared(), Pause(&control)));
    model.doubles.emplace_back("cuts", std::move(cuts));
    model.integers.emplace_back("best_k", std::vector<Index>{best});
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

constexpr Index tree_neighbours = 10;
constexpr Index competition_neighbours = 30;

}  // namespace

PATHFOREST_EXPORT(pf_allocate) void* pf_allocate(std::size_t bytes) { return std::malloc(bytes); }
PATHFOREST_EXPORT(pf_free) void pf_free(void* memory) { std::free(memory); }
PATHFOREST_EXPORT(pf_error) const char* pf_error() { return error.c_str(); }

// A plain forest for k_max = 0; otherwise a fuzzy one with the best of the neighbourhoods up to k_max, and
// sigma. Arrays: source, target, weight, prototypes, cost, predecessor, root, order, label; and for a fuzzy
// one density, cuts, best_k, membership.
PATHFOREST_EXPORT(pf_fit)
Model* pf_fit(const double* X, const Index* y, Index n_samples, Index n_features, Index n_classes,
              const char* metric, double p, Index k_max, double sigma, bool along_tree) {
    for (Index i = 0; i < n_samples; ++i) {
        if (0 <= y[i] && y[i] < n_classes) continue;
        return fails("y[" + std::to_string(i) + "] is " + std::to_string(y[i]) + ", not a class below " +
                     std::to_string(n_classes)),
               nullptr;
    }
    if (k_max < 0) return fails("k_max must be at least 0"), nullptr;
    if (!(sigma > 0 && sigma < infinity)) return fails("sigma must be a positive number"), nullptr;
    if (along_tree && sigma > 1) return fails("along the tree, sigma must be at most 1"), nullptr;
    auto model = start(X, n_samples, n_features, metric, p,
                       k_max == 0 ? tree_neighbours : std::max(k_max, competition_neighbours));
    if (!model) return nullptr;
    model->n_classes = n_classes;
    add_tree(*model);
    add_prototypes(*model, y);
    Control control;
    if (k_max == 0) {
        model->keep(follow_tree(model->tree, model->numbers("prototypes")));
    } else {
        add_density(*model, k_max);
        model->doubles.emplace_back("membership", membership_of(model->values("density"), sigma));
        const Membership factors{model->values("membership"), false};
        const std::vector<Index>& prototypes = model->numbers("prototypes");
        model->keep(along_tree
                        ? compete_tree(model->tree, prototypes, factors, control)
                        : compete_complete(*model->engine, model->graph(), prototypes, factors, control));
    }
    std::vector<Index> label;
    for (const Index root : model->numbers("root")) label.push_back(y[root]);
    model->integers.emplace_back("label", std::move(label));
    return model.release();
}

// Clusters of the best neighbourhood up to k_max. Arrays: source, target, weight, density, cuts, best_k,
// label, predecessor, root, cost.
PATHFOREST_EXPORT(pf_cluster)
Model* pf_cluster(const double* X, Index n_samples, Index n_features, const char* metric, double p,
                  Index k_max) {
    auto model = start(X, n_samples, n_features, metric, p, k_max);
    if (!model) return nullptr;
    add_tree(*model);
    add_density(*model, k_max);
    Control control;
    std::vector<double> scaled = model->values("density");
    scale_density(scaled);
    Clustering found = cluster(model->graph(), model->numbers("best_k")[0], scaled, {}, Pause(&control));
    model->integers.emplace_back("label", std::move(found.label));
    model->integers.emplace_back("predecessor", std::move(found.predecessor));
    model->integers.emplace_back("root", std::move(found.root));
    model->doubles.emplace_back("cost", std::move(found.cost));
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

// For each query its class and the training sample that makes the cheapest offer of that class; and for each
// class its cost, the mean of its n_conquerors cheapest offers, and its probability.
PATHFOREST_EXPORT(pf_predict)
bool pf_predict(const Model* model, const double* queries, Index n_queries, Index n_conquerors, double beta,
                Index* classes, Index* conquerors, double* costs, double* probabilities) {
    if (model->n_classes == 0) return fails("clusters do not predict; fit a forest");
    if (n_conquerors < 1) return fails("n_conquerors must be at least 1");
    if (!(beta > 0 && beta < infinity)) return fails("beta must be a positive number");
    if (!are_valid(queries, n_queries, model->n_features, model->metric, "queries")) return false;
    Control control;
    const auto& cost = Model::find(model->doubles, "cost");
    const auto& order = Model::find(model->integers, "order");
    const auto& label = Model::find(model->integers, "label");
    const Index n_classes = model->n_classes;
    std::vector<double> distances(at(n_queries, model->n_samples));
    std::vector<Index> first(at(n_queries, n_classes));
    all_distances(*model->engine, Rows<double>{queries, n_queries, model->n_features}, distances, control);
    class_costs({distances.data(), n_queries, model->n_samples}, {cost, order, label, n_classes},
                {&n_conquerors, 1}, {costs, first.size()}, first, control);
    for (Index i = 0; i < n_queries; ++i) {
        const double* row = costs + at(i, n_classes);
        const Index* rank = first.data() + at(i, n_classes);
        Index best = 0;
        for (Index c = 1; c < n_classes; ++c) {
            if (row[c] < row[best] || (row[c] == row[best] && rank[c] < rank[best])) best = c;
        }
        classes[i] = best;
        conquerors[i] = order[as_size(rank[best])];
        double total = 0;
        for (Index c = 0; c < n_classes; ++c) {
            const double ratio = row[c] == row[best] ? 1.0 : power(row[best] / row[c], beta);
            probabilities[at(i, n_classes, c)] = ratio;
            total += ratio;
        }
        for (Index c = 0; c < n_classes; ++c) probabilities[at(i, n_classes, c)] /= total;
    }
    return true;
}
