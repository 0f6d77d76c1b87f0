// The minimum spanning tree of the complete graph, unique under the tie rule.
#pragma once

#include "pathforest/distances/engines/any.hpp"
#include "pathforest/ties.hpp"

#include <vector>

namespace pathforest {

// Its n - 1 arcs in ascending order. `graph` holds neighbour lists of the same engine, of any length k >= 1.
std::vector<Arc> spanning_tree(const AnyEngine& engine, const KnnGraph& graph, Control& control);

// The same for callers who have no lists: it makes its own, as short as suits the engine.
std::vector<Arc> spanning_tree(const AnyEngine& engine, Control& control);

// For each of some samples the nearest one of another component, by (distance, index); `none` and infinity if
// there is no other component.
void nearest_outsiders(const AnyEngine& engine, std::span<const Index> samples,
                       std::span<const Index> component, std::span<double> distances,
                       std::span<Index> indices, Control& control);

// For each query the nearest sample of a component other than its own and no farther than its reach, by
// (distance, index); `none` and infinity if there is no such sample.
template <class T>
void nearest_foreign(const AnyEngine& engine, Rows<T> queries, std::span<const Index> own,
                     std::span<const Index> component, std::span<const double> reach,
                     std::span<double> distances, std::span<Index> indices, Control& control);

}  // namespace pathforest
