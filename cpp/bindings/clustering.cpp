// Densities, clusters, their domes and the search for k*.
#include "arrays.hpp"
#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/domes.hpp"
#include "pathforest/membership/search_k.hpp"

#include <nanobind/stl/optional.h>

#include <array>
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

double clear_height_of(const Matrix<double>& distances, Index k, bool squared, double low, double high) {
    const KnnGraph graph = distances_only(distances);
    require_k(graph, k);
    if (k == 0) return infinity;
    std::array<double, 2> extremes{low, high};
    log_density(extremes, k);
    return clear_height(graph, k, squared, extremes[0], extremes[1]);
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

Measure measure_called(const std::string& name) {
    if (name == "height") return Measure::height;
    if (name == "area") return Measure::area;
    if (name == "volume") return Measure::volume;
    throw std::invalid_argument("measure '" + name + "' is not height, area or volume");
}

using DomeArrays =
    std::tuple<Result<Index>, Result<Index>, Result<double>, Result<double>, Result<Index>, Result<double>>;

DomeArrays find_domes(const Matrix<double>& distances, const Matrix<Index>& indices, Index k,
                      const Vector<double>& scaled, const Vector<Index>& labels,
                      const Vector<Index>& founders, const std::string& measure) {
    const KnnGraph graph = as_graph(distances, indices);
    require_k(graph, k);
    if (scaled.size() != distances.shape(0) || labels.size() != distances.shape(0))
        throw std::invalid_argument("scaled_density and labels must have one entry per sample");
    for (const double density : as_span(scaled)) {
        if (!(1 <= density && density <= 1000)) throw std::invalid_argument("densities go from 1 to 1000");
    }
    require_indices(as_span(founders), graph.n_samples, "founders");
    require_indices(as_span(labels), as_count(founders.size()), "labels");
    const Measure by = measure_called(measure);
    DomeTree tree;
    run_interruptibly(1, [&](Control& control) {
        tree = dome_tree(graph, k, as_span(scaled), as_span(labels), as_span(founders), by, Pause(&control));
    });
    return DomeArrays(to_numpy(std::move(tree.child)), to_numpy(std::move(tree.parent)),
                      to_numpy(std::move(tree.level)), to_numpy(std::move(tree.height)),
                      to_numpy(std::move(tree.area)), to_numpy(std::move(tree.volume)));
}

std::tuple<Result<Index>, Result<Index>> merge(const Vector<Index>& child, const Vector<Index>& parent,
                                               const Vector<Index>& founders, const Vector<Index>& root) {
    if (child.size() != parent.size()) throw std::invalid_argument("child and parent differ in length");
    std::vector<char> is_founder(root.size(), 0);
    require_indices(as_span(founders), as_count(root.size()), "founders");
    for (const Index founder : as_span(founders)) is_founder[as_size(founder)] = 1;
    for (const auto& samples : {as_span(child), as_span(parent), as_span(root)}) {
        require_indices(samples, as_count(root.size()), "the tree");
        for (const Index sample : samples) {
            if (!is_founder[as_size(sample)]) throw std::invalid_argument("only founders have a dome");
        }
    }
    MergedClusters merged = merge_domes(as_span(child), as_span(parent), as_span(founders), as_span(root));
    return {to_numpy(std::move(merged.label)), to_numpy(std::move(merged.roots))};
}

Result<double> search_best_k(const Matrix<double>& distances, const Matrix<Index>& indices, Index k_max,
                             bool squared, int n_threads) {
    const KnnGraph graph = as_graph(distances, indices);
    require_k(graph, k_max);
    std::vector<double> cuts;
    run_interruptibly(n_threads, [&](Control& control) { cuts = search_k(graph, k_max, squared, control); });
    return to_numpy(std::move(cuts));
}

Result<double> scale(const Vector<double>& density, std::optional<double> low, std::optional<double> high,
                     std::optional<Index> k) {
    if (low.has_value() != high.has_value()) throw std::invalid_argument("low and high go together");
    require_finite(as_span(density), "density", "estimate densities from finite distances");
    if (density.size() == 0 && !low) throw std::invalid_argument("no densities to scale");
    std::vector<double> scaled(density.data(), density.data() + density.size());
    std::array<double, 2> extremes{low.value_or(0), high.value_or(0)};
    if (k) {
        log_density(scaled, *k);
        log_density(extremes, *k);
    }
    low ? scale_density(scaled, extremes[0], extremes[1]) : scale_density(scaled);
    return to_numpy(std::move(scaled));
}

}  // namespace

void bind_clustering(nb::module_& m) {
    m.def("density", density_of, "distances"_a.noconvert(), "k"_a, "squared"_a,
          "Eq. 3 without its constant factor.");
    m.def("query_density", query_density, "distances"_a.noconvert(), "largest_arc"_a, "squared"_a,
          "Eq. 3 for new samples, from the distances to their nearest training samples.");
    m.def("scale_density", scale, "density"_a.noconvert(), "low"_a = nb::none(), "high"_a = nb::none(),
          "k"_a = nb::none(),
          "Densities, or given k their logarithms, scaled to [1, 1000] between the extremes given, or their "
          "own.");
    m.def("clear_neighborhood", clear_neighborhood, "n_samples"_a,
          "The neighbourhood of a density whose clear domes are clusters.");
    m.def("clear_height", clear_height_of, "distances"_a.noconvert(), "k"_a, "squared"_a, "low"_a, "high"_a,
          "The height that makes a dome clear of chance, of scaled logarithms; low and high are densities.");
    m.def("cluster", cluster_graph, "distances"_a.noconvert(), "indices"_a.noconvert(), "k"_a,
          "scaled_density"_a.noconvert(), "codes"_a.noconvert() = nb::none(),
          "Clusters of the k-nn graph as (labels, predecessor, root, cost). Given classes, arcs between them "
          "take "
          "no part.");
    m.def("dome_tree", find_domes, "distances"_a.noconvert(), "indices"_a.noconvert(), "k"_a,
          "scaled_density"_a.noconvert(), "labels"_a.noconvert(), "founders"_a.noconvert(), "measure"_a,
          "Domes that others absorb, smallest first, as (child, parent, level, height, area, volume).");
    m.def("merge_domes", merge, "child"_a.noconvert(), "parent"_a.noconvert(), "founders"_a.noconvert(),
          "root"_a.noconvert(), "Labels and founders that are left once rows of a tree take effect.");
    m.def("search_k", search_best_k, "distances"_a.noconvert(), "indices"_a.noconvert(), "k_max"_a,
          "squared"_a, "n_threads"_a = 1, "The normalised cut of every k, up to the first that is 0.");
}

}  // namespace pathforest
