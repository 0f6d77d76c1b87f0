// Densities, clusters and the search for k*.
#include "arrays.hpp"
#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/search_k.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace pathforest {
namespace {

void require_k(const KnnGraph& graph, Index k) {
    if (k < 0 || k > graph.k) {
        throw std::invalid_argument("k=" + std::to_string(k) + " exceeds the lists' length " +
                                    std::to_string(graph.k));
    }
}

// Densities need distances only.
KnnGraph distances_only(const Matrix<double>& distances) {
    require_ascending_rows({distances.data(), distances.size()}, distances.shape(1));
    return {{distances.data(), distances.size()},
            {},
            as_count(distances.shape(0)),
            as_count(distances.shape(1), "neighbours")};
}

Result<double> density_of(const Matrix<double>& distances, Index k, bool squared) {
    const KnnGraph graph = distances_only(distances);
    require_k(graph, k);
    std::vector<double> result;
    run_interruptibly(1, [&](Control& control) { result = density(graph, k, squared, Pause(&control)); });
    return to_numpy(std::move(result));
}

Result<double> query_density(const Matrix<double>& distances, double largest_arc, bool squared) {
    const DensityKernel kernel(largest_arc, squared);
    const Index k = as_count(distances.shape(1), "neighbours");
    std::vector<double> result(distances.shape(0));
    kernel.sum_rows({distances.data(), distances.size()}, k, k, result);
    return to_numpy(std::move(result));
}

using ClusterArrays = std::tuple<Result<Index>, Result<Index>, Result<Index>, Result<double>>;

ClusterArrays cluster_graph(const Matrix<double>& distances, const Matrix<Index>& indices, Index k,
                            const Vector<double>& scaled, const std::optional<Vector<Index>>& codes) {
    const KnnGraph graph = as_graph(distances, indices);
    require_k(graph, k);
    if (scaled.size() != distances.shape(0))
        throw std::invalid_argument("scaled_density must have one entry per sample");
    require_finite(as_span(scaled), "scaled_density", "scale finite densities with scale_density");
    if (codes && codes->size() != distances.shape(0))
        throw std::invalid_argument("codes must have one entry per sample");
    const std::span<const Index> classes = codes ? as_span(*codes) : std::span<const Index>{};
    Clustering result;
    run_interruptibly(
        1, [&](Control& control) { result = cluster(graph, k, as_span(scaled), classes, Pause(&control)); });
    return ClusterArrays(to_numpy(std::move(result.label)), to_numpy(std::move(result.predecessor)),
                         to_numpy(std::move(result.root)), to_numpy(std::move(result.cost)));
}

Result<double> search_best_k(const Matrix<double>& distances, const Matrix<Index>& indices, Index k_max,
                             bool squared, int n_threads) {
    const KnnGraph graph = as_graph(distances, indices);
    require_k(graph, k_max);
    std::vector<double> cuts;
    run_interruptibly(n_threads, [&](Control& control) { cuts = search_k(graph, k_max, squared, control); });
    return to_numpy(std::move(cuts));
}

Result<double> scale(const Vector<double>& density, std::optional<double> low, std::optional<double> high) {
    if (low.has_value() != high.has_value()) throw std::invalid_argument("low and high go together");
    require_finite(as_span(density), "density", "estimate densities from finite distances");
    if (density.size() == 0 && !low) throw std::invalid_argument("no densities to scale");
    std::vector<double> scaled(density.data(), density.data() + density.size());
    low ? scale_density(scaled, *low, *high) : scale_density(scaled);
    return to_numpy(std::move(scaled));
}

}  // namespace

void bind_clustering(nb::module_& m) {
    m.def("density", density_of, "distances"_a.noconvert(), "k"_a, "squared"_a,
          "Eq. 3 without its constant factor.");
    m.def("query_density", query_density, "distances"_a.noconvert(), "largest_arc"_a, "squared"_a,
          "Eq. 3 for new samples, from the distances to their nearest training samples.");
    m.def("scale_density", scale, "density"_a.noconvert(), "low"_a = nb::none(), "high"_a = nb::none(),
          "Densities scaled to [1, 1000] between the extremes given, or their own.");
    m.def("cluster", cluster_graph, "distances"_a.noconvert(), "indices"_a.noconvert(), "k"_a,
          "scaled_density"_a.noconvert(), "codes"_a.noconvert() = nb::none(),
          "Clusters of the k-nn graph as (labels, predecessor, root, cost). Given classes, arcs between them "
          "take "
          "no part.");
    m.def("search_k", search_best_k, "distances"_a.noconvert(), "indices"_a.noconvert(), "k_max"_a,
          "squared"_a, "n_threads"_a = 1, "The normalised cut of every k, up to the first that is 0.");
}

}  // namespace pathforest
