// One rule for ties: the total orders of arcs, path costs and neighbours, by which everything is compared.
#pragma once

#include "pathforest/types.hpp"

#include <bit>
#include <compare>
#include <cstdint>

namespace pathforest {

// The tie rule: arcs compare by weight, then lower endpoint, then higher endpoint.
struct Arc {
    double weight = infinity;
    Index low = none;
    Index high = none;

    static Arc between(double weight, Index a, Index b) {
        return a < b ? Arc{weight, a, b} : Arc{weight, b, a};
    }
    friend auto operator<=>(const Arc&, const Arc&) = default;
    // As above; but that one minds NaNs, which takes time where arcs are compared by the million.
    friend bool operator<(const Arc& a, const Arc& b) {
        if (a.weight != b.weight) return a.weight < b.weight;
        return a.low < b.low || (a.low == b.low && a.high < b.high);
    }
};

// What a path costs: a value, and the arc that set it. Memberships multiply the value; the arc keeps its own
// weight, which settles ties between values.
struct PathCost {
    double value = infinity;
    Arc arc;

    // Of a path that is this arc alone.
    static PathCost of(const Arc& arc) { return {arc.weight, arc}; }
    friend auto operator<=>(const PathCost&, const PathCost&) = default;
};

// A sample seen from somewhere else; neighbour lists are sorted by this order.
struct Neighbour {
    double distance;
    Index sample;

    friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
    // As above; but that one minds NaNs, which takes time where neighbours are compared by the billion.
    friend bool operator<(const Neighbour& a, const Neighbour& b) {
        return a.distance < b.distance || (a.distance == b.distance && a.sample < b.sample);
    }
};

// The largest distance below the given one, as a policy's limit: negative if there is none.
inline double strictly_below(double distance) {
    // The bits of positive doubles count up like integers; nextafter is a call too slow for the inner loops.
    return distance > 0 ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(distance) - 1) : -1.0;
}

}  // namespace pathforest
