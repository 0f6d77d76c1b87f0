// Paths along a spanning tree and over neighbour lists, which need no engine.
#include "arrays.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/forest/geodesic.hpp"
#include "pathforest/ties.hpp"

namespace pathforest {
namespace {

std::vector<Arc> as_arcs(const Vector<Index>& source, const Vector<Index>& target,
                         const Vector<double>& weight, const Vector<Index>& prototypes) {
    if (source.size() != target.size() || source.size() != weight.size()) {
        throw std::invalid_argument("source, target and weight differ in length");
    }
    const Index n_samples = as_count(source.size() + 1);
    require_indices(as_span(source), n_samples, "source");
    require_indices(as_span(target), n_samples, "target");
    require_indices(as_span(prototypes), n_samples, "prototypes");
    std::vector<Arc> arcs;
    arcs.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        arcs.push_back(Arc::between(weight.data()[i], source.data()[i], target.data()[i]));
    }
    require_lengths(arcs);
    return arcs;
}

ForestArrays follow_arcs(const Vector<Index>& source, const Vector<Index>& target,
                         const Vector<double>& weight, const Vector<Index>& prototypes) {
    const std::vector<Arc> tree = as_arcs(source, target, weight, prototypes);
    require_ascending(tree);
    Forest forest;
    run_interruptibly(1, [&](Control&) { forest = follow_tree(tree, as_span(prototypes)); });
    if (forest.order.empty()) require_tree(tree);  // which names the arc that closes a cycle
    return to_numpy(std::move(forest));
}

ForestArrays compete_along_tree(const Vector<Index>& source, const Vector<Index>& target,
                                const Vector<double>& weight, const Vector<Index>& prototypes,
                                const Vector<double>& membership, bool source_side) {
    const std::vector<Arc> tree = as_arcs(source, target, weight, prototypes);
    require_tree(tree);
    if (membership.size() != tree.size() + 1) {
        throw std::invalid_argument("membership must have one entry more than the tree has arcs");
    }
    require_not_negative(as_span(membership), "membership", "give each sample a factor, 1 for no effect");
    Forest forest;
    run_interruptibly(1, [&](Control& control) {
        forest = compete_tree(tree, as_span(prototypes), {as_span(membership), source_side}, control);
    });
    return to_numpy(std::move(forest));
}

std::tuple<Result<double>, Result<Index>, Result<Index>> geodesics(const Matrix<double>& distances,
                                                                   const Matrix<Index>& indices,
                                                                   const Vector<Index>& seeds,
                                                                   const Vector<double>& factors) {
    const KnnGraph graph = as_graph(distances, indices);
    require_indices(as_span(seeds), graph.n_samples, "seeds");
    if (factors.size() != seeds.size()) throw std::invalid_argument("factors must have one entry per seed");
    require_not_negative(as_span(factors), "factors", "give each seed a factor, 1 for no effect");
    GeodesicPaths paths;
    run_interruptibly(1, [&](Control& control) {
        paths = geodesic_paths(graph, as_span(seeds), as_span(factors), control);
    });
    return {to_numpy(std::move(paths.cost)), to_numpy(std::move(paths.predecessor)),
            to_numpy(std::move(paths.root))};
}

Result<double> factors_of_classes(const Matrix<double>& distances, const Matrix<Index>& indices,
                                  const Vector<Index>& labelled, const Vector<Index>& codes,
                                  Index n_classes) {
    const KnnGraph graph = as_graph(distances, indices);
    require_indices(as_span(labelled), graph.n_samples, "labelled");
    require_indices(as_span(codes), n_classes, "codes");
    if (codes.size() != labelled.size()) throw std::invalid_argument("codes must have one entry per label");
    std::vector<double> factors;
    run_interruptibly(1, [&](Control& control) {
        factors = balancing_factors(graph, as_span(labelled), as_span(codes), n_classes, control);
    });
    return to_numpy(std::move(factors));
}

}  // namespace

void bind_competition(nb::module_& m) {
    m.def("follow_tree", follow_arcs, "source"_a.noconvert(), "target"_a.noconvert(), "weight"_a.noconvert(),
          "prototypes"_a.noconvert(),
          "Plain OPF along ascending tree arcs as (cost, predecessor, root, order).");
    m.def("compete_tree", compete_along_tree, "source"_a.noconvert(), "target"_a.noconvert(),
          "weight"_a.noconvert(), "prototypes"_a.noconvert(), "membership"_a.noconvert(), "source_side"_a,
          "The competition along tree arcs as (cost, predecessor, root, order).");
    m.def("geodesic_paths", geodesics, "distances"_a.noconvert(), "indices"_a.noconvert(),
          "seeds"_a.noconvert(), "factors"_a.noconvert(),
          "Paths over neighbour lists that cost the sum of their arcs times the factor of their seed, as "
          "(cost, predecessor, root); inf, -1 and -1 where none leads.");
    m.def("balancing_factors", factors_of_classes, "distances"_a.noconvert(), "indices"_a.noconvert(),
          "labelled"_a.noconvert(), "codes"_a.noconvert(), "n_classes"_a,
          "A factor per class that makes its paths dearer if it would win more than its share.");
}

}  // namespace pathforest
