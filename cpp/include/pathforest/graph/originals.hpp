// Copies and their originals: samples that have the same features.
#pragma once

#include "pathforest/distances/engines/concepts.hpp"
#include "pathforest/distances/engines/order.hpp"

#include <span>
#include <vector>

namespace pathforest {

// Per sample, the first one in its list if that is a sample before it with the same features; else the sample
// itself. So all copies of a row have one original, which comes before them and is as far from everything as
// they are. Zeros of either sign are the same: distances do not tell them apart. A matrix of distances has no
// features, and costs n^2 anyway.
//
// Where the lists name samples by numbers of their own, `name` has the engine's.
template <KnowsSamples Engine>
std::vector<Index> find_originals(const Engine& engine, const KnnGraph& graph,
                                  std::span<const Index> name = {}) {
    std::vector<Index> original = given_order(graph.n_samples);
    const auto name_of = [&](Index i) { return name.empty() ? i : name[as_size(i)]; };
    typename Engine::Query own, other;
    for (Index i = 0; i < graph.n_samples; ++i) {
        if constexpr (requires { own.values; }) {
            if (graph.k == 0 || graph.distance(i, 0) > 0) continue;
            const Index sample = name_of(i), nearest = name_of(graph.index(i, 0));
            if (nearest > sample) continue;
            engine.ask_sample(sample, own);
            engine.ask_sample(nearest, other);
            if (own.values == other.values) original[as_size(i)] = graph.index(i, 0);  // no mere underflow
        }
    }
    return original;
}

}  // namespace pathforest
