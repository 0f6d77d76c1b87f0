// Copies and their originals: samples that have the same features.
#pragma once

#include "pathforest/distances/engines/concepts.hpp"

#include <vector>

namespace pathforest {

// Per sample, the first one in its list if that is a sample before it with the same features; else the sample
// itself. So all copies of a row have one original, which comes before them and is as far from everything as
// they are. Zeros of either sign are the same: distances do not tell them apart. A matrix of distances has no
// features, and costs n^2 anyway.
template <KnowsSamples Engine>
std::vector<Index> find_originals(const Engine& engine, const KnnGraph& graph) {
    std::vector<Index> original(as_size(graph.n_samples));
    typename Engine::Query own, other;
    for (Index i = 0; i < graph.n_samples; ++i) {
        original[as_size(i)] = i;
        if constexpr (requires { own.values; }) {
            if (graph.k == 0 || graph.distance(i, 0) > 0 || graph.index(i, 0) > i) continue;
            engine.ask_sample(i, own);
            engine.ask_sample(graph.index(i, 0), other);
            if (own.values == other.values) original[as_size(i)] = graph.index(i, 0);  // no mere underflow
        }
    }
    return original;
}

}  // namespace pathforest
