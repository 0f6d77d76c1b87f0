// What classes offer new samples: the mean of the cheapest offers of a class; and the same for many forests
// over the same samples, with distances computed once.
#pragma once

#include "pathforest/distances/engines/any.hpp"

#include <span>

namespace pathforest {

// The distances of every query to every training sample, row by row, in the samples' own order.
template <class T>
void all_distances(const AnyEngine& engine, Rows<T> queries, std::span<double> distances, Control& control);

// What a class offers of its cheapest offers, ascending: their mean, terms added from the first; infinity if
// there are none.
double mean_offer(std::span<const double> ascending);

// A forest as a query sees it, one entry per training sample.
struct Rivals {
    std::span<const double> cost;
    std::span<const Index> order;  // samples by ascending cost; of equal offers the first wins
    std::span<const Index> code;   // propagated class, below n_classes
    Index n_classes;
};

// For each number of conquerors r the mean of the r smallest offers max{cost, distance} of each class, of all
// if it has fewer; infinity if it has none. `costs` is (r, query, class). `first` is (query, class): the
// place in `order` of the sample with the smallest offer, n_samples if there is no such sample.
void class_costs(Rows<double> distances, const Rivals& rivals, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control);

}  // namespace pathforest
