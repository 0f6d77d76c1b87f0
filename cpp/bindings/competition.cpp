// The competition along a spanning tree, which needs no engine.
#include "arrays.hpp"
#include "pathforest/compete.hpp"

namespace pathforest {
namespace {

nb::tuple compete_along_tree(const Vector<Index>& source, const Vector<Index>& target, const Vector<double>& weight,
                             const Vector<Index>& prototypes, const Vector<double>& membership, bool source_side) {
    if (source.size() != target.size() || source.size() != weight.size()) {
        throw std::invalid_argument("source, target and weight differ in length");
    }
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
    m.def("compete_tree", compete_along_tree, "source"_a, "target"_a, "weight"_a, "prototypes"_a, "membership"_a,
          "source_side"_a, "The competition along tree arcs as (cost, predecessor, root, order).");
}

}  // namespace pathforest
