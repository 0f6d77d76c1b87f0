// The spanning tree for engines that are not ours: it says which samples to ask about, and takes the answers.
#include "arrays.hpp"
#include "pathforest/graph/boruvka.hpp"
#include "pathforest/graph/originals.hpp"

namespace pathforest {
namespace {

std::vector<Arc> as_arcs(const Vector<Index>& source, const Vector<Index>& target,
                         const Vector<double>& weight, Index n_samples) {
    if (source.size() != weight.size() || target.size() != weight.size())
        throw std::invalid_argument("source, target and weight differ in length");
    require_indices(as_span(source), n_samples, "source");
    require_indices(as_span(target), n_samples, "target");
    std::vector<Arc> arcs(weight.size());
    for (std::size_t a = 0; a < weight.size(); ++a)
        arcs[a] = Arc::between(weight.data()[a], source.data()[a], target.data()[a]);
    if (!std::is_sorted(arcs.begin(), arcs.end())) throw std::invalid_argument("the arcs do not ascend");
    return arcs;
}

class TreeBuilder {
  public:
    // Without samples no copies are known.
    TreeBuilder(Matrix<double> distances, Matrix<Index> indices)
        : distances_(std::move(distances)), indices_(std::move(indices)), boruvka_(graph(), {}) {}

    template <class T>
    TreeBuilder(Matrix<double> distances, Matrix<Index> indices, const Matrix<T>& X)
        : distances_(std::move(distances)), indices_(std::move(indices)), boruvka_(graph(), originals(X)) {}

    void keep(const Vector<Index>& source, const Vector<Index>& target, const Vector<double>& weight) {
        boruvka_.keep(as_arcs(source, target, weight, n_samples()));
    }

    void know(const Joins& tree, const Vector<double>& distances, const Vector<Index>& indices,
              const Vector<double>& searched) {
        require_answers(distances, indices, as_size(n_samples()));
        if (searched.size() != distances.size()) throw std::invalid_argument("searched has another length");
        if (tree.tree.size() >= distances.size()) throw std::invalid_argument("the tree has more samples");
        for (Index i = 0; i < n_samples(); ++i) {
            const auto a = as_size(i);
            boruvka_.answer(i, {distances.data()[a], indices.data()[a]}, searched.data()[a]);
        }
        boruvka_.know(tree);
    }

    using Question = std::tuple<Result<Index>, Result<Index>, Result<double>>;

    // Samples to ask about, the component of every sample, and how far to look from each of those asked;
    // no samples when the tree is complete.
    Question ask() {
        bool must_ask = false;
        run_interruptibly(1, [&](Control& control) { must_ask = boruvka_.must_ask(control); });
        std::vector<Index> asking = must_ask ? boruvka_.asking() : std::vector<Index>{};
        std::vector<double> reach;
        for (const Index i : asking) reach.push_back(boruvka_.reach(i));
        n_asked_ = asking.size();
        std::vector<Index> component = boruvka_.component();
        return Question(to_numpy(std::move(asking)), to_numpy(std::move(component)),
                        to_numpy(std::move(reach)));
    }

    void answer(const Vector<double>& distances, const Vector<Index>& indices) {
        require_answers(distances, indices, n_asked_);
        for (std::size_t a = 0; a < n_asked_; ++a) {
            const Index sample = boruvka_.asking()[a];
            boruvka_.answer(sample, {distances.data()[a], indices.data()[a]}, boruvka_.reach(sample));
        }
        n_asked_ = 0;
        if (boruvka_.merge_answers()) return;
        throw std::invalid_argument(
            "the answers join no components, so the tree would never be complete; answer with the nearest "
            "sample "
            "whose component is not the own one, and -1 only if none is within reach");
    }

    bool is_joined_sooner() const { return n_asked_ > 0 && boruvka_.is_joined_sooner(); }

    void join(const Vector<Index>& source, const Vector<Index>& target, const Vector<double>& weight) {
        n_asked_ = 0;
        if (boruvka_.join(as_arcs(source, target, weight, n_samples()))) return;
        throw std::invalid_argument("the arcs do not join all components");
    }

    TreeArrays arcs() const {
        std::vector<Arc> sorted = boruvka_.arcs();
        sort_arcs(sorted);
        return as_arrays(sorted);
    }

  private:
    Index n_samples() const { return static_cast<Index>(boruvka_.component().size()); }

    void require_answers(const Vector<double>& distances, const Vector<Index>& indices,
                         std::size_t count) const {
        if (distances.size() != count || indices.size() != count)
            throw std::invalid_argument("there must be one answer per sample that was asked");
        const std::span<const Index> found = as_span(indices);
        if (!std::all_of(found.begin(), found.end(), [&](Index i) { return none <= i && i < n_samples(); }))
            throw std::invalid_argument("an answer is not a sample");
    }

    KnnGraph graph() const { return as_graph(distances_, indices_); }

    template <class T>
    std::vector<Index> originals(const Matrix<T>& X) const {
        if (X.shape(0) != indices_.shape(0)) throw std::invalid_argument("X must have one row per sample");
        const std::size_t width = X.shape(1);
        const auto row = [&](Index i) { return X.data() + as_size(i) * width; };
        return find_originals(graph(), {},
                              [&](Index i, Index j) { return std::equal(row(i), row(i) + width, row(j)); });
    }

    Matrix<double> distances_;
    Matrix<Index> indices_;
    Boruvka boruvka_;
    std::size_t n_asked_ = 0;
};

}  // namespace

void bind_tree_builder(nb::module_& m) {
    nb::class_<Joins>(m, "KnownTree", "The spanning tree of the first samples, ascending.")
        .def(
            "__init__",
            [](Joins* self, const Vector<Index>& source, const Vector<Index>& target,
               const Vector<double>& weight) {
                new (self) Joins(as_arcs(source, target, weight, as_count(weight.size() + 1)));
            },
            "source"_a.noconvert(), "target"_a.noconvert(), "weight"_a.noconvert())
        .def(
            "levels", [](const Joins& tree) { return to_numpy(tree.levels()); },
            "Per sample, how near a new sample must be to displace an arc of a component with it that joined "
            "one at least as large.");
    nb::class_<TreeBuilder>(
        m, "TreeBuilder", "The minimum spanning tree from neighbour lists, and from answers where they end.")
        .def(nb::init<Matrix<double>, Matrix<Index>>(), "distances"_a.noconvert(), "indices"_a.noconvert())
        .def(nb::init<Matrix<double>, Matrix<Index>, const Matrix<float>&>(), "distances"_a.noconvert(),
             "indices"_a.noconvert(), "X"_a.noconvert())
        .def(nb::init<Matrix<double>, Matrix<Index>, const Matrix<double>&>(), "distances"_a.noconvert(),
             "indices"_a.noconvert(), "X"_a.noconvert(), "With samples, of equal ones only one is asked.")
        .def("keep", &TreeBuilder::keep, "source"_a.noconvert(), "target"_a.noconvert(),
             "weight"_a.noconvert(), "Before any question: ascending arcs that belong to the tree.")
        .def("know", &TreeBuilder::know, "tree"_a, "distances"_a.noconvert(), "indices"_a.noconvert(),
             "searched"_a.noconvert(),
             "Before any question: the tree of some samples, and answers for all samples with how far was "
             "searched. Lists and answers need not concern arcs between samples of that tree.")
        .def("ask", &TreeBuilder::ask,
             "Samples to ask, component of every sample, and how far each of those asked must look; none "
             "when the tree is complete.")
        .def("answer", &TreeBuilder::answer, "distances"_a.noconvert(), "indices"_a.noconvert(),
             "The nearest sample of another component for each sample asked; -1 where none is in reach.")
        .def("is_joined_sooner", &TreeBuilder::is_joined_sooner,
             "After a question: whether arcs that join all components take less work than its answers.")
        .def("join", &TreeBuilder::join, "source"_a.noconvert(), "target"_a.noconvert(),
             "weight"_a.noconvert(), "Instead of answers: these arcs, ascending.")
        .def("arcs", &TreeBuilder::arcs, "The tree as (source, target, weight), ascending.");
}

}  // namespace pathforest
