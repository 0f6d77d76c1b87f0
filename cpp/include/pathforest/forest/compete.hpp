// The competition of prototypes for all other samples (Algorithms 1 and 3 of the paper).
#pragma once

#include "pathforest/distances/engines/any.hpp"
#include "pathforest/ties.hpp"

#include <span>

namespace pathforest {

// A sample u offered max{C(q), d(q, u)} takes it times F(u), or times F(q) with `source_side` (Eq. 6).
struct Membership {
    std::span<const double> values;
    bool source_side;
};

// Plain OPF. For f_max the optimum forest follows the spanning tree, whose arcs must ascend. Empty if the
// arcs close a cycle, or if there are no prototypes.
Forest follow_tree(std::span<const Arc> tree, std::span<const Index> prototypes);

// Offers along the given tree arcs only. With memberships of one the result is that of follow_tree.
Forest compete_tree(std::span<const Arc> tree, std::span<const Index> prototypes,
                    const Membership& membership, Control& control);

// Offers along every arc of the complete graph (question 3). `graph` holds neighbour lists of the same
// engine; longer lists answer more without a search.
Forest compete_complete(const AnyEngine& engine, const KnnGraph& graph, std::span<const Index> prototypes,
                        const Membership& membership, Control& control);

}  // namespace pathforest
