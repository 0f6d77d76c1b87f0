#include "pathforest/graph/knn.hpp"

#include "pathforest/distances/engines/own_samples.hpp"
#include "pathforest/smallest.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>

namespace pathforest {
namespace {

class Nearest : public PolicyDefaults {
  public:
    Nearest(Index k, Index self, double reach, const std::vector<Index>& first_sample)
        : kept_(as_size(k)), k_(k), self_(self), reach_(reach), first_sample_(&first_sample) {}

    // A node whose samples all come after the worst kept one wins no tie against it.
    double limit(Index node) const {
        if (!kept_.full()) return reach_;
        const auto [distance, sample] = kept_.worst();  // within reach
        return (*first_sample_)[as_size(node)] > sample ? strictly_below(distance) : distance;
    }

    bool wants(Index sample) const { return sample != self_; }
    Index n_wanted() const { return k_; }

    void offer(Index sample, double distance) {
        if (wants(sample) && distance <= reach_) kept_.offer({distance, sample});
    }

    void write(double* distances, Index* indices) {
        const std::vector<Neighbour>& sorted = kept_.sorted();
        for (const Neighbour& neighbour : sorted) {
            *distances++ = neighbour.distance;
            *indices++ = neighbour.sample;
        }
        const Index missing = k_ - static_cast<Index>(sorted.size());
        std::fill_n(distances, missing, infinity);
        std::fill_n(indices, missing, none);
    }

  private:
    Smallest<Neighbour> kept_;
    Index k_;
    Index self_;
    double reach_;
    const std::vector<Index>* first_sample_;
};
static_assert(Policy<Nearest>);

// The order in which queries go through an engine. Near ones one after the other find in the cache what they
// need of a tree; for a few neighbours that gains less than the sort takes.
template <SearchEngine Engine, class T>
std::vector<Index> asking_order(const Engine&, Rows<T> queries, Index k, Control& control) {
    if constexpr (std::is_same_v<Engine, TreeEngine<T>>) {
        if (k > 8) return spatial_order(queries.values, queries.count, queries.width, control);
    }
    return given_order(queries.count);
}

}  // namespace

void knn(const AnyEngine& any, Index start, Index stop, Index k, std::span<double> distances,
         std::span<Index> indices, Control& control) {
    visit_samples(any, [&](const auto& engine) {
        if (k == 0) return;
        const std::vector<Index> first = first_sample_of_nodes(engine);
        const auto write = [&](Index sample, Nearest& nearest) {
            const std::size_t row = at(sample - start, k);
            nearest.write(distances.data() + row, indices.data() + row);
        };
        if constexpr (requires { engine.panels(); }) {
            using Search = OwnSamples<std::remove_cvref_t<decltype(engine)>, Nearest>;
            if (stop - start == engine.n_samples() && Search::is_worth_it(engine, k, control.n_threads())) {
                Search(engine, control, [&](Index sample) {
                    return Nearest(k, sample, infinity, first);
                }).search(write);
                return;
            }
        }
        std::vector<Index> asking;  // those that the engine keeps together one after the other
        for (Index position = 0; position < engine.n_samples(); ++position) {
            const Index sample = engine.sample_at(position);
            if (start <= sample && sample < stop) asking.push_back(sample);
        }
        const auto sample_of = [&](Index i) { return asking[as_size(i)]; };
        search_all(
            engine, static_cast<Index>(asking.size()), control,
            [&](Index i, auto& query) { engine.ask_sample(sample_of(i), query); },
            [&](Index i) { return Nearest(k, sample_of(i), infinity, first); },
            [&](Index i, Nearest& nearest) { write(sample_of(i), nearest); });
    });
}

template <class T>
void query_knn(const AnyEngine& any, Rows<T> queries, Index k, std::span<const double> reach,
               std::span<double> distances, std::span<Index> indices, Control& control) {
    if (k == 0 || queries.count == 0) return;
    visit_with<T>(any, [&](const auto& engine) {
        const std::vector<Index> first = first_sample_of_nodes(engine);
        const std::vector<Index> asking = asking_order(engine, queries, k, control);
        search_all(
            engine, queries.count, control,
            [&](Index i, auto& query) { engine.ask(queries.row(asking[as_size(i)]), query); },
            [&](Index i) {
                return Nearest(k, none, reach.empty() ? infinity : reach[as_size(asking[as_size(i)])], first);
            },
            [&](Index i, Nearest& nearest) {
                const std::size_t row = at(asking[as_size(i)], k);
                nearest.write(distances.data() + row, indices.data() + row);
            });
    });
}

template void query_knn(const AnyEngine&, Rows<float>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<double>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);

}  // namespace pathforest
