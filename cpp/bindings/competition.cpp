// The competition along a spanning tree, which needs no engine.
#include "arrays.hpp"
#include "pathforest/compete.hpp"

namespace pathforest {
namespace {

ForestArrays compete_along_tree(const Vector<Index>& source, const Vector<Index>& target,
                                const Vector<double>& weight, const Vector<Index>& prototypes,
                                const Vector<double>& membership, bool source_side) {
    if (source.size() != target.size() || source.size() != weight.size()) {
        throw std::invalid_argument("source, target and weight differ in length");
    }
    if (membership.size() != source.size() + 1) {
        throw std::invalid_argument("membership must have one entry more than the tree has arcs");
    }
    const Index n_samples = as_index(membership.size());
    require_indices(as_span(source), n_samples, "source");
    require_indices(as_span(target), n_samples, "target");
    require_indices(as_span(prototypes), n_samples, "prototypes");
    std::vector<Arc> tree;
    for (std::size_t i = 0; i < source.size(); ++i) {
        tree.push_back(Arc::between(weight.data()[i], source.data()[i], target.data()[i]));
    }
    Forest forest;
    run_interruptibly(1, [&](Control& control) {
        forest = compete_tree(tree, as_span(prototypes), {as_span(membership), source_side}, control);
    });
    return to_numpy(std::move(forest));
}

}  // namespace

void bind_competition(nb::module_& m) {
    m.def("compete_tree", compete_along_tree, "source"_a.noconvert(), "target"_a.noconvert(),
          "weight"_a.noconvert(), "prototypes"_a.noconvert(), "membership"_a.noconvert(), "source_side"_a,
          "The competition along tree arcs as (cost, predecessor, root, order).");
}

}  // namespace pathforest
