// What classes offer new samples: the cheapest offers of each class and their mean; and the same for many
// forests over the same samples, with neighbours searched once.
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

// A forest as a query sees it, one entry per training sample.
struct Rivals {
    std::span<const double> cost;
    std::span<const Index> order;  // samples by ascending cost; of equal offers the first wins
    std::span<const Index> code;   // propagated class, below n_classes
    Index n_classes;
};

// For each query and class the r smallest offers max{cost, distance}, ascending, and the samples that make
// them, both (query, class, r); infinity and none where a class has fewer. One scan of all samples.
template <class T>
void class_offers(const AnyEngine& engine, Rows<T> queries, const Rivals& forest, Index r,
                  std::span<double> offers, std::span<Index> samples, Control& control);

// Which classes may win a query, and which of those whose costs tie.
struct WinRule {
    std::span<const Index> without;  // per query a class that is left out, or none; empty: all may win
    bool nearest_first;              // the smallest offer comes before its place in the order
};

// For each query the class with the smallest mean of its r smallest offers: these offers, ascending, and the
// samples that make them, both (query, r). Of equal means the class wins whose smallest offer comes first in
// the order. The same scan.
template <class T>
void cheapest_class(const AnyEngine& engine, Rows<T> queries, const Rivals& forest, const WinRule& rule,
                    Index r, std::span<double> offers, std::span<Index> samples, Control& control);

// For ascending numbers of conquerors r the mean of the r smallest offers of each class, as above: `costs` is
// (r, query, class). `first` is (query, class): the place in the order of the sample with the smallest offer,
// the number of samples if there is no offer. From the distances to all samples, in their order.
void class_costs(Rows<double> distances, const Rivals& forest, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control);

// The samples of each class of some grouping that are nearest to each query, ascending by distance: rows
// (query, class), as wide as the largest class or less; none where a class has fewer.
struct NearestMembers {
    Rows<double> distances;
    Rows<Index> samples;
    std::span<const Index> sizes;  // of the classes
};

// What a forest makes of them, one entry per training sample. Those that carry another class than that of
// their group make no offer.
struct MemberCosts {
    std::span<const double> cost;
    std::span<const Index> rank;  // place in the forest's order; of equal offers the first wins
    std::span<const Index> code;  // propagated class
};

// The cheapest offers to each query of samples that carry a class without being in its group, ascending: rows
// (query, class).
struct FurtherOffers {
    Rows<double> offers;
    std::span<const Index> first;  // rank of the sample with the smallest, per row
};

// The same from these. `first` is none where members that are not listed could change the answer: it is then
// left open.
void class_costs(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further,
                 std::span<const Index> n_conquerors, std::span<double> costs, std::span<Index> first,
                 Control& control);

// The smallest offers of all samples to each query, ascending, and the samples that make them.
struct SmallestOffers {
    Rows<double> offers;
    Rows<Index> samples;
    bool all;  // whether no sample is missing that could be among the smallest of its class
};

// For each query the sample that makes the smallest offer of the winner: of the class with the smallest mean
// of its `sizes` smallest offers, on ties of the one whose smallest offer comes first in the order. None
// where offers that are not listed could change the answer.
void settle_winners(const SmallestOffers& smallest, const MemberCosts& forest, std::span<const Index> sizes,
                    std::span<Index> conquerors);

}  // namespace pathforest
