#include "pathforest/knn.hpp"

#include "pathforest/smallest.hpp"

namespace pathforest {
namespace {

class Nearest {
  public:
    Nearest(Index k, Index self, const std::vector<Index>& first_sample)
        : kept_(static_cast<std::size_t>(k)), self_(self), first_sample_(&first_sample) {}

    // A node whose samples all come after the worst kept one wins no tie against it.
    double limit(Index node) const {
        if (!kept_.full()) return infinity;
        const auto [distance, sample] = kept_.worst();
        return (*first_sample_)[static_cast<std::size_t>(node)] > sample ? strictly_below(distance)
                                                                         : distance;
    }

    bool wants(Index sample) const { return sample != self_; }

    void offer(Index sample, double distance) {
        if (wants(sample)) kept_.offer({distance, sample});
    }

    void write(double* distances, Index* indices) {
        for (const Neighbour& neighbour : kept_.sorted()) {
            *distances++ = neighbour.distance;
            *indices++ = neighbour.sample;
        }
    }

  private:
    Smallest<Neighbour> kept_;
    Index self_;
    const std::vector<Index>* first_sample_;
};

}  // namespace

void knn(const AnyEngine& any, Index k, std::span<double> distances, std::span<Index> indices,
         Control& control) {
    if (k == 0) return;
    std::visit(
        [&](const auto& engine) {
            const std::vector<Index> first = first_sample_of_nodes(engine);
            search_all(
                engine, engine.n_samples(), control,
                [&](Index i, auto& query) { engine.ask_sample(engine.sample_at(i), query); },
                [&](Index i) { return Nearest(k, engine.sample_at(i), first); },
                [&](Index i, Nearest& nearest) {
                    const std::size_t row = at(engine.sample_at(i), k);
                    nearest.write(distances.data() + row, indices.data() + row);
                });
        },
        any);
}

template <class T>
void query_knn(const AnyEngine& any, Rows<T> queries, Index k, std::span<double> distances,
               std::span<Index> indices, Control& control) {
    if (k == 0) return;
    visit_with<T>(any, [&](const auto& engine) {
        const std::vector<Index> first = first_sample_of_nodes(engine);
        search_all(
            engine, queries.count, control, [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index) { return Nearest(k, none, first); },
            [&](Index i, Nearest& nearest) {
                nearest.write(distances.data() + at(i, k), indices.data() + at(i, k));
            });
    });
}

template void query_knn(const AnyEngine&, Rows<float>, Index, std::span<double>, std::span<Index>, Control&);
template void query_knn(const AnyEngine&, Rows<double>, Index, std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
