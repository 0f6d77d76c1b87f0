#include "pathforest/graph/spanning_tree.hpp"

#include "pathforest/graph/boruvka.hpp"
#include "pathforest/graph/joining.hpp"
#include "pathforest/graph/knn.hpp"
#include "pathforest/graph/originals.hpp"
#include "pathforest/graph/parts.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace pathforest {
namespace {

// Looks for the nearest sample of another component, no farther than `foresight` times the best arc any
// member has found.
class NearestForeign : public PolicyDefaults {
  public:
    // What all searches of a round read. Components go by sample, or by position if there are positions.
    struct Round {
        std::span<const Index> component;
        std::span<const Index> position;         // per sample
        std::vector<Index> of_nodes;             // none where several meet
        const std::vector<Index>& first_sample;  // per node
        double foresight = 1;
    };

    NearestForeign(Index own, const Round& round, std::atomic<double>& reach)
        : round_(&round), reach_(&reach), own_(own) {}

    double limit(Index node) const {
        if (round_->of_nodes[as_size(node)] == own_) return -1;
        const bool wins_no_tie = best_.sample != none && round_->first_sample[as_size(node)] > best_.sample;
        return std::min(wins_no_tie ? strictly_below(best_.distance) : best_.distance,
                        reach_->load(std::memory_order_relaxed));
    }

    // The position is `none` if the engine does not tell.
    bool wants(Index sample, Index position = none) const {
        Index number = sample;
        if (!round_->position.empty())
            number = position == none ? round_->position[as_size(sample)] : position;
        return round_->component[as_size(number)] != own_;
    }

    void offer(Index sample, double distance, Index position = none) {
        if (!wants(sample, position)) return;
        const Neighbour candidate{distance, sample};
        if (!(candidate < best_)) return;
        best_ = candidate;
        position_ = position;
        const double enough = round_->foresight * distance;
        double reach = reach_->load(std::memory_order_relaxed);
        while (enough < reach && !reach_->compare_exchange_weak(reach, enough, std::memory_order_relaxed)) {
        }
    }

    // Every outsider up to this distance has been seen, but for those that lose a tie to the best.
    double searched() const { return reach_->load(std::memory_order_relaxed); }
    const Neighbour& best() const { return best_; }
    Index position_of_best() const { return position_; }

  private:
    const Round* round_;
    std::atomic<double>* reach_;
    Index own_;
    Index position_ = none;
    Neighbour best_{infinity, none};
};
static_assert(Policy<NearestForeign>);

// One component, or none for several.
Index common(Index a, Index b) { return a == b ? a : none; }

// Whether to ask costs no more than to read lists.
template <class Engine>
constexpr bool answers_are_cheap = false;
template <class T>
constexpr bool answers_are_cheap<KdTreeEngine<T>> = true;

// Components find ever longer arcs, but not by much. Who has looked a little farther than this round needs
// is not asked again in the next ones.
constexpr double foresight = 1.15;

// Builds the tree from lists that name samples by position, or by index.
template <KnowsSamples Engine>
class Builder {
  public:
    // `parts` are those of the pass that made the lists, or nullptr.
    Builder(const AnyEngine& any, const Engine& engine, const KnnGraph& graph, bool by_position,
            const Parts* parts = nullptr)
        : any_(any), engine_(engine), parts_(parts), by_position_(by_position),
          first_sample_(first_sample_of_nodes(engine)),
          boruvka_(graph, find_originals(engine, graph, names()), names(), answers_are_cheap<Engine>) {}

    std::vector<Arc> build(Control& control) {
        while (boruvka_.must_ask(control)) {
            const std::vector<Arc> joining = leave_to_strays() ? std::vector<Arc>{} : find_joining(control);
            if (!(joining.empty() ? ask(control) : boruvka_.join(joining)))
                throw std::overflow_error(
                    "components are infinitely far from each other, so no tree joins them; rescale the "
                    "samples");
        }
        return std::move(boruvka_).arcs();
    }

  private:
    std::span<const Index> names() const {
        return by_position_ ? std::span<const Index>(engine_.order().sample) : std::span<const Index>{};
    }
    // The samples' numbers here are their positions, or their indices.
    Index number_at(Index position) const { return by_position_ ? position : engine_.sample_at(position); }
    Index number_of(Index sample) const {
        return by_position_ ? engine_.order().position[as_size(sample)] : sample;
    }
    Index position_of(Index i) const { return by_position_ ? i : engine_.order().position[as_size(i)]; }

    bool ask(Control& control) {
        const std::vector<Index>& component = boruvka_.component();
        const auto component_at = [&](Index p) { return component[as_size(number_at(p))]; };
        NearestForeign::Round round{
            component, {}, engine_.summarise_positions(component_at, common), first_sample_, foresight};
        if (by_position_) round.position = engine_.order().position;
        std::vector<Index> asking = boruvka_.asking();
        // Those that the engine keeps together are asked together.
        if (!by_position_) {
            std::sort(asking.begin(), asking.end(),
                      [&](Index a, Index b) { return position_of(a) < position_of(b); });
        }
        std::vector<std::atomic<double>> reach(as_size(boruvka_.n_components()));
        for (const Index i : asking) reach[as_size(component[as_size(i)])] = foresight * boruvka_.reach(i);
        search_all(
            engine_, sample_tile<Engine>, static_cast<Index>(asking.size()), control,
            [&](Index a, auto& query) { ask_at(engine_, position_of(asking[as_size(a)]), query); },
            [&](Index a) {
                const Index own = component[as_size(asking[as_size(a)])];
                return NearestForeign(own, round, reach[as_size(own)]);
            },
            [&](Index a, const NearestForeign& found) {
                const Index nearest = by_position_ ? found.position_of_best() : found.best().sample;
                boruvka_.answer(asking[as_size(a)], {found.best().distance, nearest}, found.searched());
            });
        return boruvka_.merge_answers();
    }

    std::vector<Index> component_of_samples() const {
        std::vector<Index> component;
        for (Index i = 0; i < engine_.n_samples(); ++i)
            component.push_back(boruvka_.component()[as_size(number_of(i))]);
        return component;
    }

    // Whether there are components that no part stands for. They are small, as pieces of a cluster are, and
    // are asked before the others are joined by what the pass has found between their parts.
    bool leave_to_strays() {
        if (!parts_) return false;
        const Index n_components = boruvka_.n_components();
        const std::vector<Index> homes = parts_->homes(component_of_samples(), n_components);
        std::vector<char> waits(as_size(n_components), false);
        for (const Index home : homes) waits[as_size(home)] = true;
        return !homes.empty() && boruvka_.let_wait(waits);
    }

    // The arcs that join all components; none if asking is less work.
    std::vector<Arc> find_joining(Control& control) const {
        const std::vector<Index> component = component_of_samples();
        const Index n_components = boruvka_.n_components();
        std::vector<Arc> arcs;
        const double n_asked_pairs =
            static_cast<double>(boruvka_.asking().size()) * static_cast<double>(component.size());
        if (parts_) arcs = parts_->join(component, n_components, n_asked_pairs, control);
        if (arcs.empty() && boruvka_.is_joined_sooner())
            arcs = joining_arcs(any_, component, n_components, {}, control);
        for (Arc& arc : arcs) arc = {arc.weight, number_of(arc.low), number_of(arc.high)};
        return arcs;
    }

    const AnyEngine& any_;
    const Engine& engine_;
    const Parts* parts_;
    bool by_position_;
    std::vector<Index> first_sample_;
    Boruvka boruvka_;
};

// Lists of this length leave few samples to ask. The tree answers so quickly that short ones do.
template <class Engine>
constexpr Index starting_length = 10;
template <class T>
constexpr Index starting_length<KdTreeEngine<T>> = 4;

// For each query that `ask` makes the nearest sample whose component is not its own, no farther than its
// reach.
template <SearchEngine Engine, class Ask>
void search_foreign(const Engine& engine, Ask ask, std::span<const Index> own,
                    std::span<const Index> component, std::span<const double> reach,
                    std::span<double> distances, std::span<Index> indices, Control& control) {
    const std::vector<Index> first_sample = first_sample_of_nodes(engine);
    const auto component_at = [&](Index p) { return component[as_size(engine.sample_at(p))]; };
    const NearestForeign::Round round{
        component, {}, engine.summarise_positions(component_at, common), first_sample};
    std::vector<std::atomic<double>> reaches(reach.size());
    for (std::size_t i = 0; i < reach.size(); ++i) reaches[i] = reach[i];
    search_all(
        engine, engine.tile, static_cast<Index>(own.size()), control, ask,
        [&](Index i) { return NearestForeign(own[as_size(i)], round, reaches[as_size(i)]); },
        [&](Index i, NearestForeign& found) {
            const bool is_near = found.best().distance <= reach[as_size(i)];
            distances[as_size(i)] = is_near ? found.best().distance : infinity;
            indices[as_size(i)] = is_near ? found.best().sample : none;
        });
}

}  // namespace

std::vector<Arc> spanning_tree(const AnyEngine& any, const KnnGraph& graph, Control& control) {
    std::vector<Arc> arcs = visit_samples(
        any, [&](const auto& engine) { return Builder(any, engine, graph, false).build(control); });
    sort_arcs(arcs);
    return arcs;
}

std::vector<Arc> spanning_tree(const AnyEngine& any, Control& control) {
    // Sorted when the lists are gone, and their memory is free.
    std::vector<Arc> arcs = visit_samples(any, [&](const auto& engine) {
        const Index n = engine.n_samples();
        const Index k = std::min(n - 1, starting_length<std::remove_cvref_t<decltype(engine)>>);
        std::vector<double> distances(at(n, k));
        std::vector<Index> positions(at(n, k));
        Parts parts(any, control);
        knn_by_position(any, k, parts.pairs(), distances, positions, control);
        return Builder(any, engine, {distances, positions, n, k}, true, &parts).build(control);
    });
    sort_arcs(arcs);
    return arcs;
}

void nearest_outsiders(const AnyEngine& any, std::span<const Index> samples, std::span<const Index> component,
                       std::span<double> distances, std::span<Index> indices, Control& control) {
    std::vector<Index> own;
    for (const Index sample : samples) own.push_back(component[as_size(sample)]);
    const std::vector<double> reach(samples.size(), infinity);
    visit_samples(any, [&](const auto& engine) {
        search_foreign(
            engine, [&](Index i, auto& query) { engine.ask_sample(samples[as_size(i)], query); }, own,
            component, reach, distances, indices, control);
    });
}

template <class T>
void nearest_foreign(const AnyEngine& any, Rows<T> queries, std::span<const Index> own,
                     std::span<const Index> component, std::span<const double> reach,
                     std::span<double> distances, std::span<Index> indices, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        search_foreign(
            engine, [&](Index i, auto& query) { engine.ask(queries.row(i), query); }, own, component, reach,
            distances, indices, control);
    });
}

template void nearest_foreign(const AnyEngine&, Rows<float>, std::span<const Index>, std::span<const Index>,
                              std::span<const double>, std::span<double>, std::span<Index>, Control&);
template void nearest_foreign(const AnyEngine&, Rows<double>, std::span<const Index>, std::span<const Index>,
                              std::span<const double>, std::span<double>, std::span<Index>, Control&);
template void nearest_foreign(const AnyEngine&, Rows<SparseRow<float>>, std::span<const Index>,
                              std::span<const Index>, std::span<const double>, std::span<double>,
                              std::span<Index>, Control&);
template void nearest_foreign(const AnyEngine&, Rows<SparseRow<double>>, std::span<const Index>,
                              std::span<const Index>, std::span<const double>, std::span<double>,
                              std::span<Index>, Control&);

}  // namespace pathforest
