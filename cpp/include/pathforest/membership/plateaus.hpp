// The arcs that make a neighbour graph symmetric between neighbours of equal density.
#pragma once

#include "pathforest/membership/density_queue.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

struct PlateauArc {
    Index source;
    Index target;
    double length;
};

class Plateaus {
  public:
    // For the graph cut down to its k nearest neighbours. `order`: its samples by density, so that equal ones
    // are side by side.
    void find(const KnnGraph& graph, Index k, std::span<const double> scaled, std::span<const Ranked> order);

    // The added arcs of sample i, by target.
    std::span<const PlateauArc> of(Index i) const {
        if (arcs_.empty()) return {};
        const std::size_t first = first_[as_size(i)];
        return std::span(arcs_).subspan(first, first_[as_size(i) + 1] - first);
    }

  private:
    std::vector<PlateauArc> arcs_;    // by source, then target
    std::vector<std::size_t> first_;  // where the arcs of each source begin
    // Memory kept from one search to the next.
    std::vector<PlateauArc> found_;  // the arcs by target
    std::vector<char> is_shared_;    // per sample, whether another one has the same density
};

}  // namespace pathforest
