#include "model.hpp"

#include "pathforest/graph/knn.hpp"
#include "pathforest/graph/spanning_tree.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/search_k.hpp"

namespace pathforest::wasm {

bool are_valid(const double* X, Index n_samples, Index n_features, const Metric& metric, const char* what) {
    const bool no_negative = metric.sum == Sum::chi2 || metric.sum == Sum::braycurtis;
    for (Index i = 0; i < n_samples * n_features; ++i) {
        // Beyond this, squares of differences leave the range of doubles.
        const bool in_range = -1e150 < X[i] && X[i] < 1e150;
        if (in_range && !(no_negative && X[i] < 0)) continue;
        fails(std::string(what) + "[" + std::to_string(i / n_features) + ", " +
              std::to_string(i % n_features) + "] is " + std::to_string(X[i]) +
              (in_range ? ", but this metric needs values of at least 0"
                        : ", not a finite number of ordinary size"));
        return false;
    }
    return true;
}

std::unique_ptr<AnyEngine> make_engine(const std::vector<double>& X, Index n_features, const Metric& metric) {
    Control control;
    const auto n_samples = static_cast<Index>(X.size()) / n_features;
    if (metric.in_tree && n_features <= 8) {
        return std::make_unique<AnyEngine>(std::in_place_type<KdTreeEngine<double>>, X.data(), n_samples,
                                           n_features, metric, control);
    }
    return std::make_unique<AnyEngine>(std::in_place_type<BruteEngine<double>>, X.data(), n_samples,
                                       n_features, metric, false, control);
}

std::unique_ptr<Model> start(const double* X, Index n_samples, Index n_features, const char* metric, double p,
                             Index k) {
    const std::vector<std::string> known = metric_names(false);
    if (std::find(known.begin(), known.end(), metric) == known.end())
        return fails(std::string("metric '") + metric + "' is not known; take euclidean or manhattan");
    if (n_samples < 2 || n_features < 1) return fails("two samples or more are needed");
    if (!(p >= 1 && p < 1000)) return fails("p must be from 1 to 1000");
    if (k < 1) return fails("k must be at least 1");
    const Metric found = find_metric(metric, p);
    if (found.sum == Sum::gower) return fails("metric 'gower' needs ranges of features; scale them");
    if (!are_valid(X, n_samples, n_features, found, "X")) return nullptr;
    auto model = std::make_unique<Model>();
    model->X.assign(X, X + at(n_samples, n_features));
    model->n_samples = n_samples;
    model->n_features = n_features;
    model->metric = found;
    model->engine = make_engine(model->X, n_features, found);
    k = std::min(k, n_samples - 1);
    model->distances.resize(at(n_samples, k));
    model->indices.resize(at(n_samples, k));
    Control control;
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
    model.keep("source", std::move(source));
    model.keep("target", std::move(target));
    model.keep("weight", std::move(weight));
}

void add_prototypes(Model& model, const Index* codes) {
    std::vector<Index> prototypes;
    for (const Arc& arc : model.tree) {
        if (codes[arc.low] != codes[arc.high]) prototypes.insert(prototypes.end(), {arc.low, arc.high});
    }
    if (prototypes.empty()) prototypes.push_back(0);
    std::sort(prototypes.begin(), prototypes.end());
    prototypes.erase(std::unique(prototypes.begin(), prototypes.end()), prototypes.end());
    model.keep("prototypes", std::move(prototypes));
}

void add_density(Model& model, Index k_max) {
    Control control;
    const KnnGraph graph = model.graph();
    std::vector<double> cuts = search_k(graph, std::min(k_max, graph.k), model.squared(), control);
    const auto best = static_cast<Index>(std::min_element(cuts.begin(), cuts.end()) - cuts.begin()) + 1;
    model.keep("density", density(graph, best, model.squared(), Pause(&control)));
    model.keep("cuts", std::move(cuts));
    model.keep("best_k", std::vector<Index>{best});
}

void add_labels(Model& model, const Index* codes) {
    std::vector<Index> label;
    for (const Index root : model.numbers("root")) label.push_back(codes[root]);
    model.keep("label", std::move(label));
}

}  // namespace pathforest::wasm
