// Copies and their originals: samples that have the same features.
#pragma once

#include "pathforest/distances/engines/concepts.hpp"

#include <vector>

namespace pathforest {

// Per sample, the first one in its list if that is a sample before it with the same features, as same(i, j)
// tells; else the sample itself. So all copies of a row have one original, which comes before them and is as
// far from everything as they are. Zeros of either sign are the same: distances do not tell them apart.
template <class Same>
std::vector<Index> find_originals(const KnnGraph& graph, Same same) {
    std::vector<Index> original(as_size(graph.n_samples));
    for (Index i = 0; i < graph.n_samples; ++i) {
        const bool is_near = graph.k > 0 && graph.distance(i, 0) == 0 && graph.index(i, 0) < i;
        original[as_size(i)] =
            is_near && same(i, graph.index(i, 0)) ? graph.index(i, 0) : i;  // no mere underflow
    }
    return original;
}

// A matrix of distances has no features, and costs n^2 anyway.
template <KnowsSamples Engine>
std::vector<Index> find_originals(const Engine& engine, const KnnGraph& graph) {
    typename Engine::Query a, b;
    return find_originals(graph, [&](Index i, Index j) {
        if constexpr (requires { a.values; }) {
            engine.ask_sample(i, a);
            engine.ask_sample(j, b);
            return a.values == b.values;
        } else {
            return false;
        }
    });
}

}  // namespace pathforest
