#include "pathforest/graph/boruvka.hpp"

#include "pathforest/ties.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace pathforest {
namespace {

// Before and, at a given weight, after every arc between samples.
constexpr Arc before_all{-1.0, none, none};
constexpr Index last = std::numeric_limits<Index>::max();

}  // namespace

Boruvka::Boruvka(const KnnGraph& graph, std::vector<Index> original)
    : graph_(graph), n_(graph.n_samples), original_(std::move(original)), sets_(n_), component_(as_size(n_)),
      cursor_(as_size(n_), 0), asked_(as_size(n_), Neighbour{infinity, none}),
      bound_(as_size(n_), before_all), best_(as_size(n_)), open_(as_size(n_)) {
    for (Index i = 0; i < n_ && graph.k > 0; ++i) {
        bound_[as_size(i)] = Arc::between(graph.distance(i, graph.k - 1), i, graph.index(i, graph.k - 1));
    }
    arcs_.reserve(as_size(n_));
}

bool Boruvka::must_ask(Control& control) {
    while (static_cast<Index>(arcs_.size()) < n_ - 1) {
        control.check();
        label_components();
        read_lists();
        if (merge([this](Index c) { return open_[as_size(c)] == 0; })) continue;
        largest_ = largest_component();
        asking_.clear();
        for (const Index i : waiting_) {
            if (component_[as_size(i)] != largest_ && is_open(i)) asking_.push_back(i);
        }
        return true;
    }
    return false;
}

void Boruvka::answer(Index sample, const Neighbour& nearest, double searched) {
    if (nearest.sample != none && nearest.distance <= searched) {
        asked_[as_size(sample)] = nearest;
        bound_[as_size(sample)] = Arc::between(nearest.distance, sample, nearest.sample);
    } else {
        bound_[as_size(sample)] = Arc{searched, last, last};
    }
}

bool Boruvka::merge_answers() {
    for (const Index i : asking_) {
        const Neighbour& foreign = asked_[as_size(i)];
        if (foreign.sample != none && component_[as_size(foreign.sample)] != component_[as_size(i)])
            improve(i, foreign);
    }
    return merge([this](Index c) { return c != largest_; });
}

std::vector<Arc> Boruvka::arcs() const {
    std::vector<Arc> sorted = arcs_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

void Boruvka::label_components() {
    for (Index i = 0; i < n_; ++i) component_[as_size(i)] = sets_.find(i);
}

// The nearest outsider this sample knows; false if it knows only that none is nearer than its bound.
bool Boruvka::known_foreign(Index i, Neighbour& foreign) {
    const Index own = component_[as_size(i)];
    Index& cursor = cursor_[as_size(i)];
    while (cursor < graph_.k && component_[as_size(graph_.index(i, cursor))] == own) ++cursor;
    if (cursor < graph_.k) {
        foreign = {graph_.distance(i, cursor), graph_.index(i, cursor)};
        return true;
    }
    foreign = asked_[as_size(i)];
    return foreign.sample != none && component_[as_size(foreign.sample)] != own;
}

// Fills best_ with each component's lightest known arc and open_ with how many of its samples might have a
// lighter one that has not been looked for.
void Boruvka::read_lists() {
    std::fill(best_.begin(), best_.end(), Arc{});
    std::fill(open_.begin(), open_.end(), Index{0});
    waiting_.clear();
    for (Index i = 0; i < n_; ++i) {
        if (is_spoken_for(i)) continue;
        Neighbour foreign;
        if (known_foreign(i, foreign)) {
            improve(i, foreign);
        } else {
            waiting_.push_back(i);
        }
    }
    for (const Index i : waiting_) {
        if (is_open(i)) ++open_[as_size(component_[as_size(i)])];
    }
}

void Boruvka::improve(Index i, const Neighbour& foreign) {
    Arc& best = best_[as_size(component_[as_size(i)])];
    best = std::min(best, Arc::between(foreign.distance, i, foreign.sample));
}

Index Boruvka::largest_component() {
    Index largest = component_[0];
    for (Index i = 0; i < n_; ++i) {
        if (sets_.size_of(i) > sets_.size_of(largest)) largest = component_[as_size(i)];
    }
    return largest;
}

// Adds the best arc of every component that may move; true if any did.
template <class MayMove>
bool Boruvka::merge(MayMove may_move) {
    const std::size_t before = arcs_.size();
    for (Index c = 0; c < n_; ++c) {
        const Arc& arc = best_[as_size(c)];
        if (component_[as_size(c)] != c || arc.low == none || !may_move(c)) continue;
        if (sets_.unite(arc.low, arc.high)) arcs_.push_back(arc);
    }
    return arcs_.size() > before;
}

}  // namespace pathforest
