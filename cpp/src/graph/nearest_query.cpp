#include "pathforest/graph/nearest_query.hpp"

#include "pathforest/ties.hpp"

#include <algorithm>
#include <vector>

namespace pathforest {
namespace {

// Looks for the samples within whose reach a query lies.
class Reaching : public PolicyDefaults {
  public:
    Reaching(const std::vector<double>& reach, const std::vector<double>& of_nodes)
        : reach_(&reach), of_nodes_(&of_nodes) {}

    double limit(Index node) const { return (*of_nodes_)[as_size(node)]; }

    void offer(Index sample, double distance) {
        if (distance <= (*reach_)[as_size(sample)]) found_.push_back({distance, sample});
    }

    std::vector<Neighbour>& found() { return found_; }

  private:
    const std::vector<double>* reach_;
    const std::vector<double>* of_nodes_;
    std::vector<Neighbour> found_;
};
static_assert(Policy<Reaching>);

}  // namespace

template <class T>
void nearest_query(const AnyEngine& any, Rows<T> queries, std::span<const double> reach,
                   std::span<double> distances, std::span<Index> indices, Control& control) {
    std::fill(distances.begin(), distances.end(), infinity);
    std::fill(indices.begin(), indices.end(), none);
    visit_with<T>(any, [&](const auto& engine) {
        std::vector<double> left(reach.begin(), reach.end());
        // Where many queries are near a sample the first few shorten its reach for all others.
        Index step = 16;
        for (Index first = 0; first < queries.count; first += step, step *= 4) {
            step = std::min(step, queries.count - first);
            const std::vector<double> of_nodes =
                engine.summarise(left, [](double a, double b) { return std::max(a, b); });
            std::vector<std::vector<Neighbour>> found(as_size(step));
            search_all(
                engine, engine.tile, step, control,
                [&](Index i, auto& query) { engine.ask(queries.row(first + i), query); },
                [&](Index) { return Reaching(left, of_nodes); },
                [&](Index i, Reaching& reaching) { found[as_size(i)] = std::move(reaching.found()); });
            for (Index i = 0; i < step; ++i) {
                for (const auto& [distance, sample] : found[as_size(i)]) {
                    if (distance > left[as_size(sample)]) continue;
                    distances[as_size(sample)] = distance;
                    indices[as_size(sample)] = first + i;
                    left[as_size(sample)] = strictly_below(distance);
                }
            }
        }
    });
}

template void nearest_query(const AnyEngine&, Rows<float>, std::span<const double>, std::span<double>,
                            std::span<Index>, Control&);
template void nearest_query(const AnyEngine&, Rows<double>, std::span<const double>, std::span<double>,
                            std::span<Index>, Control&);
template void nearest_query(const AnyEngine&, Rows<SparseRow<float>>, std::span<const double>,
                            std::span<double>, std::span<Index>, Control&);
template void nearest_query(const AnyEngine&, Rows<SparseRow<double>>, std::span<const double>,
                            std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
