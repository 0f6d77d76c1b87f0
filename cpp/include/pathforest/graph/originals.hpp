// Copies and their originals: samples that have the same features.
#pragma once

#include "pathforest/distances/engines/concepts.hpp"
#include "pathforest/distances/engines/order.hpp"

#include <span>
#include <vector>

namespace pathforest {

// Per sample, the first one in its list if that is a sample before it with the same features, as same(i, j)
// tells; else the sample itself. So all copies of a row have one original, which comes before them and is as
// far from everything as they are. Zeros of either sign are the same: distances do not tell them apart.
//
// Where the lists name samples by numbers of their own, `name` has those that `same` takes.
template <class Same>
std::vector<Index> find_originals(const KnnGraph& graph, std::span<const Index> name, Same same) {
    std::vector<Index> original = given_order(graph.n_samples);
    const auto name_of = [&](Index i) { return name.empty() ? i : name[as_size(i)]; };
    for (Index i = 0; i < graph.n_samples; ++i) {
        if (graph.k == 0 || graph.distance(i, 0) > 0) continue;
        const Index sample = name_of(i), nearest = name_of(graph.index(i, 0));
        if (nearest < sample && same(sample, nearest))  // no mere underflow
            original[as_size(i)] = graph.index(i, 0);
    }
    return original;
}

// A matrix of distances has no features, and costs n^2 anyway.
template <KnowsSamples Engine>
std::vector<Index> find_originals(const Engine& engine, const KnnGraph& graph,
                                  std::span<const Index> name = {}) {
    typename Engine::Query a, b;
    return find_originals(graph, name, [&](Index i, Index j) {
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
