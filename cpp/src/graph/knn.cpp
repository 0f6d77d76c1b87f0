#include "pathforest/graph/knn.hpp"

#include "pathforest/distances/engines/own_samples.hpp"
#include "pathforest/smallest.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>

namespace pathforest {
namespace {

// A neighbour, and where the engine keeps it.
struct Found {
    double distance;
    Index sample;
    Index position;

    friend bool operator<(const Found& a, const Found& b) {
        return a.distance < b.distance || (a.distance == b.distance && a.sample < b.sample);
    }
};

template <class Kept>
class Nearest : public PolicyDefaults {
  public:
    Nearest(const Kept& kept, Index k, Index self, double reach, const std::vector<Index>& first_sample)
        : kept_(kept), k_(k), self_(self), reach_(reach), first_sample_(&first_sample) {}

    // A node whose samples all come after the worst kept one wins no tie against it.
    double limit(Index node) const {
        if (!kept_.full()) return reach_;
        const Found& worst = kept_.worst();  // within reach
        return (*first_sample_)[as_size(node)] > worst.sample ? strictly_below(worst.distance)
                                                              : worst.distance;
    }

    bool wants(Index sample) const { return sample != self_; }
    Index n_wanted() const { return k_; }

    void offer(Index sample, double distance, Index position = none) {
        if (wants(sample) && distance <= reach_) kept_.offer({distance, sample, position});
    }

    void write(double* distances, Index* names, Index Found::* name) {
        const auto sorted = kept_.sorted();
        for (const Found& neighbour : sorted) {
            *distances++ = neighbour.distance;
            *names++ = neighbour.*name;
        }
        const Index missing = k_ - static_cast<Index>(sorted.size());
        std::fill_n(distances, missing, infinity);
        std::fill_n(names, missing, none);
    }

  private:
    Kept kept_;
    Index k_;
    Index self_;
    double reach_;
    const std::vector<Index>* first_sample_;
};
static_assert(Policy<Nearest<Smallest<Found>>>);

// Calls work(a container for k neighbours).
template <class Work>
void with_container(Index k, Work work) {
    constexpr std::size_t few = 8;
    if (as_size(k) <= few) {
        work(SmallestFew<Found, few>(as_size(k)));
    } else {
        work(Smallest<Found>(as_size(k)));
    }
}

// The lists of the samples at the given positions, which ascend.
template <KnowsSamples Engine, class Row>
void list_nearest(const Engine& engine, const std::vector<Index>& positions, Index k, PairsOfParts* parts,
                  std::span<double> distances, std::span<Index> names, Control& control, Row row_of,
                  Index Found::* name) {
    const std::vector<Index> first = first_sample_of_nodes(engine);
    std::vector<double> reach;
    if constexpr (requires { engine.reaches(k); }) reach = engine.reaches(k);
    const auto reach_of = [&](Index p) { return reach.empty() ? infinity : reach[as_size(p)]; };
    with_container(k, [&](const auto& empty) {
        const auto start = [&](Index p) {
            return Nearest(empty, k, engine.sample_at(p), reach_of(p), first);
        };
        const auto finish = [&](Index i, auto& nearest) {
            const std::size_t row = at(row_of(i), k);
            nearest.write(distances.data() + row, names.data() + row, name);
        };
        if constexpr (requires { engine.panels(); }) {
            using Search = OwnSamples<Engine, decltype(start(Index{}))>;
            if (as_size(engine.n_samples()) == positions.size() &&
                Search::is_worth_it(engine, k, control.n_threads())) {
                Search(engine, control, parts, start).search(finish);
                return;
            }
        }
        search_all(
            engine, sample_tile<Engine>, static_cast<Index>(positions.size()), control,
            [&](Index i, auto& query) { ask_at(engine, positions[as_size(i)], query); },
            [&](Index i) { return start(positions[as_size(i)]); }, finish);
    });
}

}  // namespace

void knn(const AnyEngine& any, Index start, Index stop, Index k, std::span<double> distances,
         std::span<Index> indices, Control& control) {
    visit_samples(any, [&](const auto& engine) {  // which refuses engines that cannot answer, whatever k is
        if (k == 0) return;
        std::vector<Index> positions;
        for (Index p = 0; p < engine.n_samples(); ++p) {
            if (start <= engine.sample_at(p) && engine.sample_at(p) < stop) positions.push_back(p);
        }
        list_nearest(
            engine, positions, k, nullptr, distances, indices, control,
            [&](Index i) { return engine.sample_at(positions[as_size(i)]) - start; }, &Found::sample);
    });
}

void knn_by_position(const AnyEngine& any, Index k, PairsOfParts* parts, std::span<double> distances,
                     std::span<Index> positions, Control& control) {
    if (k == 0) return;
    visit_samples(any, [&](const auto& engine) {
        list_nearest(
            engine, given_order(engine.n_samples()), k, parts, distances, positions, control,
            [](Index i) { return i; }, &Found::position);
    });
}

template <class T>
void query_knn(const AnyEngine& any, Rows<T> queries, Index k, std::span<const double> reach,
               std::span<double> distances, std::span<Index> indices, Control& control) {
    if (k == 0 || queries.count == 0) return;
    visit_with<T>(any, [&](const auto& engine) {
        const std::vector<Index> first = first_sample_of_nodes(engine);
        with_container(k, [&](const auto& empty) {
            search_rows(
                engine, queries, control,
                [&](Index i) {
                    return Nearest(empty, k, none, reach.empty() ? infinity : reach[as_size(i)], first);
                },
                [&](Index i, auto& nearest) {
                    const std::size_t row = at(i, k);
                    nearest.write(distances.data() + row, indices.data() + row, &Found::sample);
                });
        });
    });
}

template void query_knn(const AnyEngine&, Rows<float>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<double>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<SparseRow<float>>, Index, std::span<const double>,
                        std::span<double>, std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<SparseRow<double>>, Index, std::span<const double>,
                        std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
