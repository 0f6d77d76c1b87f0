// What classes offer new samples: the mean of the cheapest offers of a class; and the same for many forests
// over the same samples, with neighbours searched once.
#pragma once

#include "pathforest/distances/engines/any.hpp"

#include <span>

namespace pathforest {

// The distances of every query to every training sample, row by row, in the samples' own order.
template <class T>
void all_distances(const AnyEngine& engine, Rows<T> queries, std::span<double> distances, Control& control);

// What a class offers of its cheapest offers, ascending, for each of the ascending numbers of conquerors r:
// the mean of the first r, of all if there are fewer, terms added from the first; infinity if there are none.
// Infinite offers stand for none. Calls write(place in n_conquerors, mean).
template <class Write>
void mean_offers(std::span<const double> ascending, std::span<const Index> n_conquerors, Write write) {
    double total = 0.0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n_conquerors.size(); ++i) {
        const std::size_t end = std::min(as_size(n_conquerors[i]), ascending.size());
        for (; count < end && ascending[count] < infinity; ++count) total += ascending[count];
        write(i, count == 0 ? infinity : total / static_cast<double>(count));
    }
}

// The members of a class that are nearest to each query, ascending by distance.
struct NearestMembers {
    Rows<double> distances;
    Rows<Index> members;
    bool all;  // whether no member is missing
};

// A class in one forest, one entry per member.
struct MemberCosts {
    std::span<const double> cost;  // infinity for a member that carries another class in this forest
    std::span<const Index> rank;   // place in the forest's order; of equal offers the first wins
};

// The cheapest offers to each query of samples that carry the class without being members, ascending.
struct FurtherOffers {
    Rows<double> offers;
    std::span<const Index> first;  // rank of the sample with the smallest, per query
};

// For each number of conquerors r the mean of the r smallest offers max{cost, distance} of the class, as
// above; `costs` is (r, query). `first` is the rank of the sample with the smallest offer, n_samples if
// there is no offer; none where members that are not listed could change the answer: it is then left open.
void class_costs(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further,
                 std::span<const Index> n_conquerors, Index n_samples, std::span<double> costs,
                 std::span<Index> first, Control& control);

// A forest as a query sees it, one entry per training sample.
struct Rivals {
    std::span<const double> cost;
    std::span<const Index> order;  // samples by ascending cost; of equal offers the first wins
    std::span<const Index> code;   // propagated class, below n_classes
    Index n_classes;
};

// The same for all classes of one forest, from the distances to all samples: for small models without an
// engine. `costs` is (r, query, class), for ascending r, and `first` (query, class).
void class_costs(Rows<double> distances, const Rivals& rivals, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control);

}  // namespace pathforest
