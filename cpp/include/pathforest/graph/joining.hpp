// Components that are joined at once: the lightest arcs between them, each pair of samples looked at once.
#pragma once

#include "pathforest/distances/engines/any.hpp"
#include "pathforest/ties.hpp"

#include <span>
#include <vector>

namespace pathforest {

// The minimum spanning forest of components, from arcs between them in any order. Memory is the square of
// their number.
class Joining {
  public:
    // An arc between a and b that is longer than reach[a, b] does not count; no reach: all do.
    explicit Joining(Index n_components, std::span<const double> reach = {});

    Index n_components() const { return n_; }
    // Only an arc before this one may belong to the forest.
    const Arc& bar(Index a, Index b) const { return bars_[at(a, n_, b)]; }
    void offer(Index a, Index b, const Arc& arc);
    // Lowers the bars to what the offers have left open.
    void settle();
    // The forest of all offers, ascending, as of the last time they were settled.
    std::vector<Arc> arcs() const;

  private:
    struct Found {
        Arc arc;
        Index a, b;
    };
    void lower(Index a, Index b, const Arc& arc);

    Index n_;
    std::vector<Arc> bars_;
    std::vector<Found> found_;
    bool is_settled_ = true;
};

// The arcs that join components as a minimum spanning forest does, ascending. Components go by sample,
// numbered from 0; `reach` has one entry per pair of them, or none.
std::vector<Arc> joining_arcs(const AnyEngine& engine, std::span<const Index> component, Index n_components,
                              std::span<const double> reach, Control& control);

// The same, of the arcs between a query, whose component is its own, and a sample: `low` is the query, and
// queries come before samples where arcs are equally long.
template <class T>
std::vector<Arc> joining_arcs(const AnyEngine& engine, Rows<T> queries, std::span<const Index> own,
                              std::span<const Index> component, Index n_components,
                              std::span<const double> reach, Control& control);

}  // namespace pathforest
