#include "pathforest/graph/joining.hpp"

#include "pathforest/graph/disjoint_sets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pathforest {

Joining::Joining(Index n_components, std::span<const double> reach)
    : n_(n_components), bars_(at(n_components, n_components)) {
    constexpr Index last = std::numeric_limits<Index>::max();
    for (std::size_t pair = 0; pair < reach.size(); ++pair) {
        if (reach[pair] < infinity) bars_[pair] = {reach[pair], last, last};
    }
}

void Joining::lower(Index a, Index b, const Arc& arc) {
    for (Arc* bar : {&bars_[at(a, n_, b)], &bars_[at(b, n_, a)]}) *bar = std::min(*bar, arc);
}

void Joining::offer(Index a, Index b, const Arc& arc) {
    if (!(arc < bar(a, b))) return;
    lower(a, b, arc);
    found_.push_back({arc, a, b});
    is_settled_ = false;
}

// Kruskal's algorithm. The arc that joins two sets is the heaviest on the way between any members of theirs.
void Joining::settle() {
    if (std::exchange(is_settled_, true)) return;
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.arc < b.arc; });
    DisjointSets sets(n_);
    std::vector<std::vector<Index>> members(as_size(n_));
    for (Index c = 0; c < n_; ++c) members[as_size(c)] = {c};
    std::erase_if(found_, [&](const Found& found) {
        std::vector<Index>& of_a = members[as_size(sets.find(found.a))];
        std::vector<Index>& of_b = members[as_size(sets.find(found.b))];
        if (!sets.unite(found.a, found.b)) return true;
        for (const Index a : of_a) {
            for (const Index b : of_b) lower(a, b, found.arc);
        }
        std::vector<Index> all = std::move(of_a);
        all.insert(all.end(), of_b.begin(), of_b.end());
        members[as_size(sets.find(found.a))] = std::move(all);
        return false;
    });
}

std::vector<Arc> Joining::arcs() const {
    std::vector<Arc> arcs;
    for (const Found& found : found_) arcs.push_back(found.arc);
    return arcs;
}

namespace {

constexpr Index several = -1;  // components below a node

// Looks for the lightest arc from one sample to each component that it has to look at.
class Joiner : public PolicyDefaults {
  public:
    // What all searches of a round read.
    struct Round {
        const Joining& joining;
        std::span<const Index> component;         // per sample
        const std::vector<Index>& of_nodes;       // the component of all samples below; `several`
        const std::vector<Index>& last_of_nodes;  // the highest of them
        const std::vector<Index>& first_sample;   // per node
        Index n_queries;                          // their numbers come before those of samples
        bool looks_up;                            // whether only higher components matter
    };

    Joiner(Index number, Index own, const Round& round)
        : round_(&round), number_(number), own_(own), bars_(as_size(round.joining.n_components())) {
        for (Index c = 0; c < round.joining.n_components(); ++c)
            bars_[as_size(c)] = round.joining.bar(own, c);
        measure();
    }

    double limit(Index node) const {
        const Index c = round_->of_nodes[as_size(node)];
        if (c == several)
            return !round_->looks_up || matters(round_->last_of_nodes[as_size(node)]) ? farthest_ : -1;
        if (!matters(c)) return -1;
        const Arc& bar = bars_[as_size(c)];
        const Index first = round_->n_queries + round_->first_sample[as_size(node)];
        const bool wins_no_tie =
            std::min(number_, first) > bar.low || (number_ == bar.low && first > bar.high);
        return wins_no_tie ? strictly_below(bar.weight) : bar.weight;
    }

    bool wants(Index sample) const { return matters(round_->component[as_size(sample)]); }
    double limit_of(Index sample) const { return bars_[as_size(round_->component[as_size(sample)])].weight; }

    void offer(Index sample, double distance) {
        const Index c = round_->component[as_size(sample)];
        Arc& bar = bars_[as_size(c)];
        const Arc arc = Arc::between(distance, number_, round_->n_queries + sample);
        if (!matters(c) || !(arc < bar)) return;
        const bool was_farthest = bar.weight == farthest_;
        bar = arc;
        if (was_farthest) measure();
    }

    // Calls use(component, arc) for the arcs that were found.
    template <class Use>
    void report(Use use) const {
        for (Index c = 0; c < round_->joining.n_components(); ++c) {
            if (bars_[as_size(c)] < round_->joining.bar(own_, c)) use(c, bars_[as_size(c)]);
        }
    }

  private:
    bool matters(Index c) const { return round_->looks_up ? c > own_ : c != own_; }

    void measure() {
        farthest_ = -1;
        for (Index c = 0; c < round_->joining.n_components(); ++c) {
            if (matters(c)) farthest_ = std::max(farthest_, bars_[as_size(c)].weight);
        }
    }

    const Round* round_;
    Index number_;
    Index own_;
    std::vector<Arc> bars_;  // per component, as of the round, or what was found
    double farthest_ = -1;
};
static_assert(Policy<Joiner>);

// ask(i, query) states what is asked i-th, of the given number and component.
template <SearchEngine Engine, class Ask>
void search_arcs(const Engine& engine, Index tile, std::span<const Index> number, std::span<const Index> own,
                 std::span<const Index> component, Index n_queries, Joining& joining, Control& control,
                 Ask ask) {
    const auto component_at = [&](Index p) { return component[as_size(engine.sample_at(p))]; };
    const std::vector<Index> of_nodes =
        engine.summarise_positions(component_at, [](Index a, Index b) { return a == b ? a : several; });
    const std::vector<Index> last_of_nodes =
        engine.summarise_positions(component_at, [](Index a, Index b) { return std::max(a, b); });
    const std::vector<Index> first_sample = first_sample_of_nodes(engine);
    const Joiner::Round round{joining,      component, of_nodes,      last_of_nodes,
                              first_sample, n_queries, n_queries == 0};
    // A few from everywhere come first, and show the others how far to look.
    const auto count = static_cast<Index>(own.size());
    const Index first_few = 256, stride = count / first_few + 1;
    std::vector<Index> turn(own.size());
    std::iota(turn.begin(), turn.end(), Index{0});
    std::stable_partition(turn.begin(), turn.end(), [&](Index i) { return i % stride == 0; });
    std::vector<std::vector<std::pair<Index, Arc>>> found(own.size());
    for (Index begin = 0, step = first_few; begin < count; begin += step, step *= 4) {
        step = std::min(step, count - begin);
        const Index* const turns = turn.data() + begin;
        search_all(
            engine, tile, step, control, [&](Index i, auto& query) { ask(turns[i], query); },
            [&](Index i) { return Joiner(number[as_size(turns[i])], own[as_size(turns[i])], round); },
            [&](Index i, const Joiner& joiner) {
                joiner.report([&](Index c, const Arc& arc) { found[as_size(turns[i])].push_back({c, arc}); });
            });
        for (Index i = 0; i < step; ++i) {
            for (const auto& [c, arc] : std::exchange(found[as_size(turns[i])], {}))
                joining.offer(own[as_size(turns[i])], c, arc);
        }
        joining.settle();
    }
}

}  // namespace

std::vector<Arc> joining_arcs(const AnyEngine& any, std::span<const Index> component, Index n_components,
                              std::span<const double> reach, Control& control) {
    // Numbered anew by size: samples look for those of larger components, and those of the largest for none.
    std::vector<Index> size(as_size(n_components)), by_size(size.size()), rank(size.size());
    for (const Index c : component) ++size[as_size(c)];
    std::iota(by_size.begin(), by_size.end(), Index{0});
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](Index a, Index b) { return size[as_size(a)] < size[as_size(b)]; });
    for (Index r = 0; r < n_components; ++r) rank[as_size(by_size[as_size(r)])] = r;
    std::vector<double> reach_by_rank;
    for (Index a = 0; a < n_components && !reach.empty(); ++a) {
        for (Index b = 0; b < n_components; ++b)
            reach_by_rank.push_back(reach[at(by_size[as_size(a)], n_components, by_size[as_size(b)])]);
    }
    std::vector<Index> ranked;
    for (const Index c : component) ranked.push_back(rank[as_size(c)]);
    Joining joining(n_components, reach_by_rank);
    visit_samples(any, [&](const auto& engine) {
        // Those of a component together, and near ones side by side.
        const auto rank_at = [&](Index p) { return ranked[as_size(engine.sample_at(p))]; };
        std::vector<Index> positions = given_order(engine.n_samples()), samples, own;
        // Whether a component has to look at one after it.
        std::vector<char> asks(as_size(n_components), false);
        for (Index a = 0; a < n_components; ++a) {
            for (Index b = a + 1; b < n_components; ++b) asks[as_size(a)] |= joining.bar(a, b).weight >= 0;
        }
        std::erase_if(positions, [&](Index p) { return !asks[as_size(rank_at(p))]; });
        std::stable_sort(positions.begin(), positions.end(),
                         [&](Index a, Index b) { return rank_at(a) < rank_at(b); });
        for (const Index p : positions) {
            samples.push_back(engine.sample_at(p));
            own.push_back(rank_at(p));
        }
        search_arcs(engine, sample_tile<decltype(engine)>, samples, own, ranked, 0, joining, control,
                    [&](Index i, auto& query) { ask_at(engine, positions[as_size(i)], query); });
    });
    return joining.arcs();
}

template <class T>
std::vector<Arc> joining_arcs(const AnyEngine& any, Rows<T> queries, std::span<const Index> own,
                              std::span<const Index> component, Index n_components,
                              std::span<const double> reach, Control& control) {
    Joining joining(n_components, reach);
    std::vector<Index> number(own.size());
    std::iota(number.begin(), number.end(), Index{0});
    visit_with<T>(any, [&](const auto& engine) {
        search_arcs(engine, engine.tile, number, own, component, queries.count, joining, control,
                    [&](Index i, auto& query) { engine.ask(queries.row(i), query); });
    });
    std::vector<Arc> arcs = joining.arcs();
    for (Arc& arc : arcs) arc.high -= queries.count;
    return arcs;
}

template std::vector<Arc> joining_arcs(const AnyEngine&, Rows<float>, std::span<const Index>,
                                       std::span<const Index>, Index, std::span<const double>, Control&);
template std::vector<Arc> joining_arcs(const AnyEngine&, Rows<double>, std::span<const Index>,
                                       std::span<const Index>, Index, std::span<const double>, Control&);
template std::vector<Arc> joining_arcs(const AnyEngine&, Rows<SparseRow<float>>, std::span<const Index>,
                                       std::span<const Index>, Index, std::span<const double>, Control&);
template std::vector<Arc> joining_arcs(const AnyEngine&, Rows<SparseRow<double>>, std::span<const Index>,
                                       std::span<const Index>, Index, std::span<const double>, Control&);

}  // namespace pathforest
