// Borůvka's algorithm, answered from the neighbour lists as far as they reach (question 2 beyond that).
//
// Each component must add its lightest outgoing arc. A sample's list names its nearest sample outside the
// component until all its entries lie inside; from then on only a lower bound is known, the arc to the
// list's last entry. A component whose best known arc is below all such bounds is settled for free, and since
// any settled component may merge, the others can wait. Only when none is settled are samples asked for their
// nearest outsider, and never those of the largest component, which the others will join.
#include "pathforest/spanning_tree.hpp"

#include "pathforest/disjoint_sets.hpp"

#include <atomic>

namespace pathforest {
namespace {

// Looks for the nearest sample of another component, no farther than the best arc any member has found.
class NearestForeign {
  public:
    // What all searches of a round read, per node of the engine.
    struct Nodes {
        std::vector<Index> component;  // none where several meet
        std::vector<Index> first_sample;
    };

    NearestForeign(Index self, const std::vector<Index>& component, const Nodes& nodes,
                   std::atomic<double>& reach)
        : component_(&component), nodes_(&nodes), reach_(&reach), own_(component[index(self)]) {}

    double limit(Index node) const {
        if (nodes_->component[index(node)] == own_) return -1;
        const bool wins_no_tie = best_.sample != none && nodes_->first_sample[index(node)] > best_.sample;
        return std::min(wins_no_tie ? strictly_below(best_.distance) : best_.distance,
                        reach_->load(std::memory_order_relaxed));
    }

    bool wants(Index sample) const { return (*component_)[index(sample)] != own_; }

    void offer(Index sample, double distance) {
        if (!wants(sample)) return;
        const Neighbour candidate{distance, sample};
        if (!(candidate < best_)) return;
        best_ = candidate;
        double reach = reach_->load(std::memory_order_relaxed);
        while (distance < reach &&
               !reach_->compare_exchange_weak(reach, distance, std::memory_order_relaxed)) {
        }
    }

    // Every outsider up to this distance has been seen, but for those that lose a tie to the best.
    double searched() const { return reach_->load(std::memory_order_relaxed); }
    const Neighbour& best() const { return best_; }

  private:
    static std::size_t index(Index i) { return static_cast<std::size_t>(i); }

    const std::vector<Index>* component_;
    const Nodes* nodes_;
    std::atomic<double>* reach_;
    Index own_;
    Neighbour best_{infinity, none};
};

// Before and, at a given weight, after every arc between samples.
constexpr Arc before_all{-1.0, none, none};
constexpr Index last = std::numeric_limits<Index>::max();

class Boruvka {
  public:
    Boruvka(const KnnGraph& graph, Control& control)
        : graph_(graph), control_(control), n_(graph.n_samples), sets_(n_), component_(size(n_)),
          cursor_(size(n_), 0), asked_(size(n_), Neighbour{infinity, none}), bound_(size(n_), before_all),
          best_(size(n_)), open_(size(n_)) {
        for (Index i = 0; i < n_ && graph.k > 0; ++i) {
            bound_[size(i)] = Arc::between(graph.distance(i, graph.k - 1), i, graph.index(i, graph.k - 1));
        }
        arcs_.reserve(size(n_));
    }

    template <class Engine>
    std::vector<Arc> run(const Engine& engine) {
        while (static_cast<Index>(arcs_.size()) < n_ - 1) {
            control_.check();
            label_components();
            read_lists();
            if (merge([this](Index c) { return open_[size(c)] == 0; })) continue;
            const Index largest = largest_component();
            ask_beyond_lists(engine, largest);
            merge([largest](Index c) { return c != largest; });
        }
        std::sort(arcs_.begin(), arcs_.end());
        return std::move(arcs_);
    }

  private:
    static std::size_t size(Index i) { return static_cast<std::size_t>(i); }

    void label_components() {
        for (Index i = 0; i < n_; ++i) component_[size(i)] = sets_.find(i);
    }

    // The nearest outsider this sample knows; false if it knows only that none is nearer than its bound.
    bool known_foreign(Index i, Neighbour& foreign) {
        const Index own = component_[size(i)];
        Index& cursor = cursor_[size(i)];
        while (cursor < graph_.k && component_[size(graph_.index(i, cursor))] == own) ++cursor;
        if (cursor < graph_.k) {
            foreign = {graph_.distance(i, cursor), graph_.index(i, cursor)};
            return true;
        }
        foreign = asked_[size(i)];
        return foreign.sample != none && component_[size(foreign.sample)] != own;
    }

    // Fills best_ with each component's lightest known arc and open_ with how many of its samples might have
    // a lighter one that nobody has looked for.
    void read_lists() {
        std::fill(best_.begin(), best_.end(), Arc{});
        std::fill(open_.begin(), open_.end(), Index{0});
        waiting_.clear();
        for (Index i = 0; i < n_; ++i) {
            Neighbour foreign;
            if (known_foreign(i, foreign)) {
                improve(i, foreign);
            } else {
                waiting_.push_back(i);
            }
        }
        for (const Index i : waiting_) {
            if (is_open(i)) ++open_[size(component_[size(i)])];
        }
    }

    bool is_open(Index i) const { return bound_[size(i)] < best_[size(component_[size(i)])]; }

    void improve(Index i, const Neighbour& foreign) {
        Arc& best = best_[size(component_[size(i)])];
        best = std::min(best, Arc::between(foreign.distance, i, foreign.sample));
    }

    Index largest_component() {
        Index largest = component_[0];
        for (Index i = 0; i < n_; ++i) {
            if (sets_.size_of(i) > sets_.size_of(largest)) largest = component_[size(i)];
        }
        return largest;
    }

    template <class Engine>
    void ask_beyond_lists(const Engine& engine, Index except) {
        const NearestForeign::Nodes nodes{
            engine.summarise(component_, [](Index a, Index b) { return a == b ? a : none; }),
            first_sample_of_nodes(engine)};
        std::vector<std::atomic<double>> reach(size(n_));
        for (Index c = 0; c < n_; ++c) reach[size(c)] = best_[size(c)].weight;
        std::vector<char> must_ask(size(n_), 0);
        for (const Index i : waiting_) must_ask[size(i)] = component_[size(i)] != except && is_open(i);
        std::vector<Index> asking;
        for (Index position = 0; position < n_; ++position) {
            const Index i = engine.sample_at(position);
            if (must_ask[size(i)]) asking.push_back(i);
        }
        search_all(
            engine, static_cast<Index>(asking.size()), control_,
            [&](Index a, auto& query) { engine.ask_sample(asking[size(a)], query); },
            [&](Index a) {
                const Index i = asking[size(a)];
                return NearestForeign(i, component_, nodes, reach[size(component_[size(i)])]);
            },
            [&](Index a, NearestForeign& found) {
                const Index i = asking[size(a)];
                const double searched = found.searched();
                if (found.best().distance <= searched) {
                    asked_[size(i)] = found.best();
                    bound_[size(i)] = Arc::between(found.best().distance, i, found.best().sample);
                } else {
                    bound_[size(i)] = Arc{searched, last, last};
                }
            });
        for (const Index i : asking) {
            const Neighbour& foreign = asked_[size(i)];
            if (foreign.sample != none && component_[size(foreign.sample)] != component_[size(i)])
                improve(i, foreign);
        }
    }

    // Adds the best arc of every component that may move; true if any did.
    template <class MayMove>
    bool merge(MayMove may_move) {
        const std::size_t before = arcs_.size();
        for (Index c = 0; c < n_; ++c) {
            const Arc& arc = best_[size(c)];
            if (component_[size(c)] != c || arc.low == none || !may_move(c)) continue;
            if (sets_.unite(arc.low, arc.high)) arcs_.push_back(arc);
        }
        return arcs_.size() > before;
    }

    const KnnGraph& graph_;
    Control& control_;
    Index n_;
    DisjointSets sets_;
    std::vector<Index> component_;
    std::vector<Index> cursor_;     // first list entry that may lie outside
    std::vector<Neighbour> asked_;  // the nearest outsider found beyond the list
    std::vector<Arc> bound_;        // every arc to an unknown outsider comes after this one
    std::vector<Arc> best_;         // per component
    std::vector<Index> open_;       // per component
    std::vector<Index> waiting_;    // samples whose lists are exhausted
    std::vector<Arc> arcs_;
};

}  // namespace

std::vector<Arc> spanning_tree(const AnyEngine& any, const KnnGraph& graph, Control& control) {
    return std::visit([&](const auto& engine) { return Boruvka(graph, control).run(engine); }, any);
}

}  // namespace pathforest
