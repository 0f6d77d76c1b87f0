#include "pathforest/graph/knn.hpp"

#include "pathforest/smallest.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>

namespace pathforest {
namespace {

template <class Kept>
class Nearest : public PolicyDefaults {
  public:
    Nearest(const Kept& kept, Index k, Index self, double reach, const std::vector<Index>& first_sample)
        : kept_(kept), k_(k), self_(self), reach_(reach), first_sample_(&first_sample) {}

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

    template <class Name>
    void write(double* distances, Index* names, Name name) {
        const auto sorted = kept_.sorted();
        for (const Neighbour& neighbour : sorted) {
            *distances++ = neighbour.distance;
            *names++ = name(neighbour.sample);
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
static_assert(Policy<Nearest<Smallest<Neighbour>>>);

// Calls work(a container for k neighbours).
template <class Work>
void with_container(Index k, Work work) {
    constexpr std::size_t few = 8;
    if (as_size(k) <= few) {
        work(SmallestFew<Neighbour, few>(as_size(k)));
    } else {
        work(Smallest<Neighbour>(as_size(k)));
    }
}


// The lists of the samples asked about, who should stand as the engine keeps them.
template <KnowsSamples Engine, class Row, class Name>
void list_nearest(const Engine& engine, const std::vector<Index>& asking, Index k,
                  std::span<double> distances, std::span<Index> names, Control& control, Row row_of,
                  Name name) {
    const std::vector<Index> first = first_sample_of_nodes(engine);
    std::vector<double> reach;
    if constexpr (requires { engine.reaches(k); }) reach = engine.reaches(k);
    const auto reach_of = [&](Index sample) { return reach.empty() ? infinity : reach[as_size(sample)]; };
    with_container(k, [&](const auto& empty) {
        search_all(
            engine, sample_tile<Engine>, static_cast<Index>(asking.size()), control,
            [&](Index i, auto& query) { engine.ask_sample(asking[as_size(i)], query); },
            [&](Index i) { 
                const Index sample = asking[as_size(i)];
                return Nearest(empty, k, sample, reach_of(sample), first);
            },
            [&](Index i, auto& nearest) {
                const std::size_t row = at(row_of(i), k);
                nearest.write(distances.data() + row, names.data() + row, name);
            });
    });
}

}  // namespace

void knn(const AnyEngine& any, Index start, Index stop, Index k, std::span<double> distances,
         std::span<Index> indices, Control& control) {
    if (k == 0) return;
    visit_samples(any, [&](const auto& engine) {
        std::vector<Index> asking;
        for (const Index sample : engine.order().sample) {
            if (start <= sample && sample < stop) asking.push_back(sample);
        }
        list_nearest(
            engine, asking, k, distances, indices, control, [&](Index i) { return asking[as_size(i)] - start; },
            [](Index sample) { return sample; });
    });
}

void knn_by_position(const AnyEngine& any, Index k, std::span<double> distances, std::span<Index> positions,
                     Control& control) {
    if (k == 0) return;
    visit_samples(any, [&](const auto& engine) {
        const Order& order = engine.order();
        list_nearest(
            engine, order.sample, k, distances, positions, control, [](Index i) { return i; },
            [&](Index sample) { return order.position[as_size(sample)]; });
    });
}

template <class T>
void query_knn(const AnyEngine& any, Rows<T> queries, Index k, std::span<const double> reach,
               std::span<double> distances, std::span<Index> indices, Control& control) {
    if (k == 0) return;
    visit_with<T>(any, [&](const auto& engine) {
        const std::vector<Index> first = first_sample_of_nodes(engine);
        with_container(k, [&](const auto& empty) {
            search_all(
                engine, engine.tile, queries.count, control,
                [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
                [&](Index i) {
                    return Nearest(empty, k, none, reach.empty() ? infinity : reach[as_size(i)], first);
                },
                [&](Index i, auto& nearest) {
                    nearest.write(distances.data() + at(i, k), indices.data() + at(i, k),
                                  [](Index sample) { return sample; });
                });
        });
    });
}

template void query_knn(const AnyEngine&, Rows<float>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<double>, Index, std::span<const double>, std::span<double>,
                        std::span<Index>, Control&);

}  // namespace pathforest
