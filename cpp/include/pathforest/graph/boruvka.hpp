// Borůvka's algorithm, answered from the neighbour lists as far as they reach (question 2 beyond that).
//
// Each component must add its lightest outgoing arc. A sample's list names its nearest sample outside the
// component until all its entries lie inside; from then on only a lower bound is known, the arc to the
// list's last entry. A component whose best known arc is below all such bounds is settled for free, and since
// any settled component may merge, the others can wait. Only when none is settled are samples asked for their
// nearest outsider, and never those of the largest component, which the others will join.
//
// A copy does not speak for its component after the first round. That round joined it to its original, along
// the arc of length 0 that is the first in its list; and of the equally long arcs from these two to an
// outsider, the original's comes first. So few distinct rows are few samples.
//
// Who is asked is left to the caller, so that engines of any kind, on any machine, can answer.
//
// The caller may number the samples by where they are kept, so that neighbours in space are neighbours in
// memory; ties are then settled by the names it gives them.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/ties.hpp"
#include "pathforest/types.hpp"

#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace pathforest {

// How the ascending arcs of a tree join components, the smaller to the larger.
struct Joins {
    explicit Joins(std::vector<Arc> arcs);

    // Per sample, the heaviest arc by which a component that it was in joined one at least as large; 0: none.
    std::vector<double> levels() const;

    std::vector<Arc> tree;
    // Per arc, a sample that stands for the smaller component until then, and the one for the larger.
    std::vector<Index> smaller;
    std::vector<Index> larger;
};

// Puts arcs into ascending order.
void sort_arcs(std::vector<Arc>& arcs);

// So many components can be joined at once: of more a table of all pairs would not be small.
inline constexpr Index most_joined = 1024;

class Boruvka {
  public:
    // The lists must outlive this. Per sample its original, as in originals.hpp; none for no copies. Per
    // sample its name; none for its number. If answers are cheap, samples are asked as soon as fewer than
    // half of the components are settled; reading the lists again would take longer.
    explicit Boruvka(const KnnGraph& graph, std::vector<Index> original = {},
                     std::span<const Index> name = {}, bool answers_are_cheap = false);

    // Before anything else: ascending arcs that belong to the tree. Copies are then not distinguished.
    void keep(std::span<const Arc> arcs);

    // Before anything else but answers for all samples: the tree of some samples. Lists and answers then need
    // not concern arcs between these. Copies are then not distinguished.
    void know(const Joins& tree);

    // Merges as far as is known. True if samples must be asked before it can go on, false if the tree is
    // complete.
    bool must_ask(Control& control);

    // The samples to ask, ascending, and what they are to be asked: the nearest sample of another component
    // that is no farther than `reach`.
    const std::vector<Index>& asking() const { return asking_; }
    // Components are numbered from 0.
    const std::vector<Index>& component() const { return component_; }
    Index n_components() const { return static_cast<Index>(size_.size()); }
    double reach(Index sample) const { return best_[as_size(component_[as_size(sample)])].arc.weight; }

    // Leaves the questions to components that do not wait, and says whether there are any; if not, all are
    // asked.
    bool let_wait(const std::vector<char>& waits);

    // No sample but `nearest` is at most `searched` away, or comes before it; `nearest` may be farther than
    // that, or none, and then says nothing.
    void answer(Index sample, const Neighbour& nearest, double searched);

    // Uses the answers; every sample that was to be asked has one. False if they join no components: right
    // answers always do.
    bool merge_answers();

    // When samples must be asked: whether to look at every pair of samples of two components once is less
    // work. `join` then takes the arcs that join all components as a minimum spanning tree does, between
    // samples' numbers, and completes the tree. False if they do not join them.
    bool is_joined_sooner() const;
    bool join(std::span<const Arc> arcs);

    // The n - 1 arcs of the complete tree between names, in no particular order.
    const std::vector<Arc>& arcs() const& { return arcs_; }
    std::vector<Arc> arcs() && { return std::move(arcs_); }

  private:
    // The lightest known arc out of a component, and where it leads.
    struct Exit {
        Arc arc;
        Index to = none;
    };
    // What one thread finds in some of the lists.
    struct Reading {
        std::vector<Exit> best;         // per component
        std::vector<Index> unfinished;  // samples whose lists are not exhausted
        std::vector<Index> finished;
    };

    Index name(Index i) const { return name_.empty() ? i : name_[as_size(i)]; }
    // After every arc of this weight.
    static Arc after_all(double weight) {
        constexpr Index last = std::numeric_limits<Index>::max();
        return {weight, last, last};
    }
    Arc arc_between(double weight, Index i, Index j) const { return Arc::between(weight, name(i), name(j)); }
    void join_nearest();
    void read_lists(Control& control);
    void read_on(Index i, Reading& reading);
    bool is_spoken_for(Index i) const {
        return !arcs_.empty() && !original_.empty() && original_[as_size(i)] != i;
    }
    // Whether what lies beyond the sample's list may be nearer than what its component knows.
    bool is_open(Index i) const {
        if (cursor_[as_size(i)] < graph_.k) return false;
        const Arc& best = best_[as_size(component_[as_size(i)])].arc;
        const double distance = beyond_[as_size(i)].distance;
        return distance < best.weight || (distance == best.weight && bound(i) < best);
    }
    // Every arc from the sample to an unknown outsider comes after this one.
    Arc bound(Index i) const {
        const auto& [distance, last] = beyond_[as_size(i)];
        return last == none ? after_all(distance) : arc_between(distance, i, last);
    }
    bool knows_outsider(Index i) const {
        const Index found = beyond_[as_size(i)].sample;
        return found != none && component_[as_size(found)] != component_[as_size(i)];
    }
    void improve(Index i, const Neighbour& foreign, std::vector<Exit>& best) const;
    template <class MayMove>
    bool merge(MayMove may_move);
    void number_anew(DisjointSets& sets);

    KnnGraph graph_;
    Index n_;
    std::vector<Index> original_;
    std::span<const Index> name_;
    bool answers_are_cheap_;
    std::vector<Index> component_;
    std::vector<Arc> known_;         // arcs beside lists and answers that may belong to the tree
    std::vector<Index> cursor_;      // first list entry that may lie outside
    std::vector<Neighbour> beyond_;  // the last one known: of the list, or the nearest outsider that an
                                     // answer named; none if the distance is all that is known
    std::vector<Index> size_;        // per component
    std::vector<Exit> best_;         // per component
    std::vector<char> is_open_;      // per component, whether samples might have a lighter arc
    std::vector<Index> reading_;     // samples whose lists are not exhausted
    std::vector<Index> answered_;    // samples that know an outsider beyond their lists
    std::vector<Index> asking_;
    std::vector<char> waits_;  // per component, whether it waits for others to join it
    std::vector<Arc> arcs_;
};

}  // namespace pathforest
