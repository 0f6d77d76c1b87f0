// A model as JavaScript sees it: samples, what is known of their neighbourhoods, and arrays by name.
#pragma once

#include "pathforest/distances/engines/any.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pathforest::wasm {

// Why the last call failed.
inline std::string error;

// So that a check can be followed by: return fails("why").
inline std::nullptr_t fails(std::string why) {
    error = std::move(why);
    return nullptr;
}

// The training samples that carry one class, cheap ones first.
struct Members {
    std::vector<Index> samples;
    std::vector<double> X, cost;
    std::unique_ptr<AnyEngine> engine;
};

struct Model {
    std::vector<double> X;
    Index n_samples, n_features;
    Metric metric;
    Index n_classes = 0;  // 0 for clusters
    Index n_offers = 0;   // how many neighbours make a new sample an offer; 0 for all
    std::unique_ptr<AnyEngine> engine;
    std::vector<double> distances;
    std::vector<Index> indices;
    std::vector<Arc> tree;
    std::vector<Members> members;  // one entry per class, made by the first prediction
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
    const std::vector<double>& values(std::string_view name) const { return find(doubles, name); }
    const std::vector<Index>& numbers(std::string_view name) const { return find(integers, name); }
    void keep(const char* name, std::vector<double> array) { doubles.emplace_back(name, std::move(array)); }
    void keep(const char* name, std::vector<Index> array) { integers.emplace_back(name, std::move(array)); }
    void keep(Forest forest) {
        keep("cost", std::move(forest.cost));
        keep("predecessor", std::move(forest.predecessor));
        keep("root", std::move(forest.root));
        keep("order", std::move(forest.order));
    }
};

bool are_valid(const double* X, Index n_samples, Index n_features, const Metric& metric, const char* what);

// The engine that suits the samples; it reads them wherever they lie as long as it is used.
std::unique_ptr<AnyEngine> make_engine(const std::vector<double>& X, Index n_features, const Metric& metric);

// The samples with their engine and lists of k neighbours, as far as there are others; nullptr if an argument
// is wrong.
std::unique_ptr<Model> start(const double* X, Index n_samples, Index n_features, const char* metric, double p,
                             Index k);

// Arrays source, target and weight.
void add_tree(Model& model);

// Array prototypes: the ends of arcs of the tree between classes.
void add_prototypes(Model& model, const Index* codes);

// Arrays density, cuts and best_k, from the best of the neighbourhoods up to k_max.
void add_density(Model& model, Index k_max);

// Array label: each sample's class is that of its root.
void add_labels(Model& model, const Index* codes);

}  // namespace pathforest::wasm
