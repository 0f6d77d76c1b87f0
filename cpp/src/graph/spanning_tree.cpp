#include "pathforest/graph/spanning_tree.hpp"

#include "pathforest/graph/boruvka.hpp"
#include "pathforest/graph/originals.hpp"
#include "pathforest/ties.hpp"

#include <atomic>

namespace pathforest {
namespace {

// Looks for the nearest sample of another component, no farther than the best arc any member has found.
class NearestForeign : public PolicyDefaults {
  public:
    // What all searches of a round read, per node of the engine.
    struct Nodes {
        std::vector<Index> component;  // none where several meet
        std::vector<Index> first_sample;
    };

    NearestForeign(Index own, std::span<const Index> component, const Nodes& nodes,
                   std::atomic<double>& reach)
        : component_(component), nodes_(&nodes), reach_(&reach), own_(own) {}

    double limit(Index node) const {
        if (nodes_->component[as_size(node)] == own_) return -1;
        const bool wins_no_tie = best_.sample != none && nodes_->first_sample[as_size(node)] > best_.sample;
        return std::min(wins_no_tie ? strictly_below(best_.distance) : best_.distance,
                        reach_->load(std::memory_order_relaxed));
    }

    bool wants(Index sample) const { return component_[as_size(sample)] != own_; }

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
    std::span<const Index> component_;
    const Nodes* nodes_;
    std::atomic<double>* reach_;
    Index own_;
    Neighbour best_{infinity, none};
};
static_assert(Policy<NearestForeign>);

template <SearchEngine Engine>
NearestForeign::Nodes summarise(const Engine& engine, const std::vector<Index>& component) {
    return {engine.summarise(component, [](Index a, Index b) { return a == b ? a : none; }),
            first_sample_of_nodes(engine)};
}

// Asks the samples that must be asked, those that the engine keeps together one after the other.
template <KnowsSamples Engine>
void ask(const Engine& engine, Boruvka& boruvka, Control& control) {
    const std::vector<Index>& component = boruvka.component();
    const NearestForeign::Nodes nodes = summarise(engine, component);
    std::vector<std::atomic<double>> reach(component.size());
    std::vector<char> must_ask(component.size(), 0);
    for (const Index i : boruvka.asking()) {
        reach[as_size(component[as_size(i)])] = boruvka.reach(i);
        must_ask[as_size(i)] = 1;
    }
    std::vector<Index> asking;
    for (Index position = 0; position < engine.n_samples(); ++position) {
        const Index i = engine.sample_at(position);
        if (must_ask[as_size(i)]) asking.push_back(i);
    }
    search_all(
        engine, static_cast<Index>(asking.size()), control,
        [&](Index a, auto& query) { engine.ask_sample(asking[as_size(a)], query); },
        [&](Index a) {
            const Index own = component[as_size(asking[as_size(a)])];
            return NearestForeign(own, component, nodes, reach[as_size(own)]);
        },
        [&](Index a, NearestForeign& found) {
            boruvka.answer(asking[as_size(a)], found.best(), found.searched());
        });
}

}  // namespace

std::vector<Arc> spanning_tree(const AnyEngine& any, const KnnGraph& graph, Control& control) {
    return visit_samples(any, [&](const auto& engine) {
        Boruvka boruvka(graph, find_originals(engine, graph));
        while (boruvka.must_ask(control)) {
            ask(engine, boruvka, control);
            boruvka.merge_answers();
        }
        return boruvka.arcs();
    });
}

void nearest_outsiders(const AnyEngine& any, std::span<const Index> samples, std::span<const Index> component,
                       std::span<double> distances, std::span<Index> indices, Control& control) {
    visit_samples(any, [&](const auto& engine) {
        const NearestForeign::Nodes nodes = summarise(engine, {component.begin(), component.end()});
        std::vector<std::atomic<double>> reach(samples.size());
        for (std::atomic<double>& one : reach) one = infinity;
        search_all(
            engine, static_cast<Index>(samples.size()), control,
            [&](Index i, auto& query) { engine.ask_sample(samples[as_size(i)], query); },
            [&](Index i) {
                const Index own = component[as_size(samples[as_size(i)])];
                return NearestForeign(own, component, nodes, reach[as_size(i)]);
            },
            [&](Index i, NearestForeign& found) {
                distances[as_size(i)] = found.best().distance;
                indices[as_size(i)] = found.best().sample;
            });
    });
}

template <class T>
void nearest_foreign(const AnyEngine& any, Rows<T> queries, std::span<const Index> own,
                     std::span<const Index> component, std::span<const double> reach,
                     std::span<double> distances, std::span<Index> indices, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        const NearestForeign::Nodes nodes = summarise(engine, {component.begin(), component.end()});
        std::vector<std::atomic<double>> reaches(reach.size());
        for (std::size_t i = 0; i < reach.size(); ++i) reaches[i] = reach[i];
        search_all(
            engine, queries.count, control, [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index i) { return NearestForeign(own[as_size(i)], component, nodes, reaches[as_size(i)]); },
            [&](Index i, NearestForeign& found) {
                const bool is_near = found.best().distance <= reach[as_size(i)];
                distances[as_size(i)] = is_near ? found.best().distance : infinity;
                indices[as_size(i)] = is_near ? found.best().sample : none;
            });
    });
}

template void nearest_foreign(const AnyEngine&, Rows<float>, std::span<const Index>, std::span<const Index>,
                              std::span<const double>, std::span<double>, std::span<Index>, Control&);
template void nearest_foreign(const AnyEngine&, Rows<double>, std::span<const Index>, std::span<const Index>,
                              std::span<const double>, std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
