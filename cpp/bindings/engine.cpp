// The Engine class: the four questions, asked from Python.
#include "arrays.hpp"
#include "pathforest/distances/copy_numbers.hpp"
#include "pathforest/distances/engines/any.hpp"
#include "pathforest/forest/class_costs.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/forest/predict.hpp"
#include "pathforest/graph/joining.hpp"
#include "pathforest/graph/knn.hpp"
#include "pathforest/graph/nearest_query.hpp"
#include "pathforest/graph/spanning_tree.hpp"
#include "pathforest/ties.hpp"
#include "sparse_samples.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace pathforest {
namespace {

struct Engine {
    AnyEngine any;
    nb::object kept_alive;  // the caller's matrix, for the precomputed engine
};

const char* dtype_of(const Engine& engine) {
    return std::visit(
        [](const auto& e) {
            using Value = typename std::remove_cvref_t<decltype(e)>::Value;
            const bool is_float = std::is_same_v<Value, float> || std::is_same_v<Value, SparseRow<float>>;
            return is_float ? "float32" : "float64";
        },
        engine.any);
}

const char* takes_of(const Engine& engine) {
    const std::string name = name_of(engine.any);
    return name == "precomputed" || name == "rows" ? "distances" : "features";
}

template <class T>
void require_samples(const Matrix<T>& X) {
    if (X.shape(0) == 0 || X.shape(1) == 0)
        throw std::invalid_argument("an engine needs samples and features");
    as_count(X.shape(0));
    as_count(X.shape(1), "features");
}

template <class T>
Engine make_kd_tree(const Matrix<T>& X, const std::string& metric_name, double p, int n_threads) {
    require_samples(X);
    const Metric metric = find_metric(metric_name, p);
    if (!metric.in_tree)
        throw std::invalid_argument("the tree engine does not serve metric '" + metric_name + "'");
    std::optional<AnyEngine> any;
    run_interruptibly(n_threads, [&](Control& control) {
        any.emplace(std::in_place_type<KdTreeEngine<T>>, X.data(), as_count(X.shape(0)),
                    as_count(X.shape(1), "features"), metric, control);
    });
    return {std::move(*any), nb::none()};
}

// One value per feature, 1 where none are given.
std::vector<double> per_feature(const std::optional<Vector<double>>& given, std::size_t n_features,
                                const char* what) {
    if (!given) return std::vector<double>(n_features, 1.0);
    if (given->size() != n_features)
        throw std::invalid_argument(std::string(what) + " must have one entry per feature");
    return {given->data(), given->data() + given->size()};
}

template <class T>
Engine make_brute(const Matrix<T>& X, const std::string& metric_name, double p, bool keep_order,
                  int n_threads, const std::optional<Vector<double>>& ranges,
                  const std::optional<Vector<double>>& weights) {
    require_samples(X);
    Metric metric = find_metric(metric_name, p);
    metric.ranges = per_feature(ranges, X.shape(1), "ranges");
    metric.weights = per_feature(weights, X.shape(1), "weights");
    std::optional<AnyEngine> any;
    run_interruptibly(n_threads, [&](Control& control) {
        any.emplace(std::in_place_type<BruteEngine<T>>, X.data(), as_count(X.shape(0)),
                    as_count(X.shape(1), "features"), metric, keep_order, control);
    });
    return {std::move(*any), nb::none()};
}

template <class T>
Engine make_sparse(const SparseSamples<T>& X, const std::string& metric_name) {
    const Metric metric = find_metric(metric_name, 2);
    if (!SparseEngine<T>::serves(metric))
        throw std::invalid_argument("the sparse engine does not serve metric '" + metric_name + "'");
    const std::vector<SparseRow<T>> rows = X.rows();
    if (rows.empty() || X.n_features == 0)
        throw std::invalid_argument("an engine needs samples and features");
    as_count(rows.size());
    std::optional<AnyEngine> any;
    run_interruptibly(1, [&](Control&) {
        any.emplace(std::in_place_type<SparseEngine<T>>, rows, as_count(X.n_features, "features"), metric);
    });
    return {std::move(*any), nb::none()};
}

template <class T>
Engine make_precomputed(const Matrix<T>& distances) {
    require_samples(distances);
    if (distances.shape(0) != distances.shape(1))
        throw std::invalid_argument("the distance matrix is not square");
    return {
        AnyEngine(std::in_place_type<PrecomputedEngine<T>>, distances.data(), as_count(distances.shape(0))),
        nb::cast(distances)};
}

Engine make_rows(std::size_t count, const std::string& dtype) {
    if (count == 0) throw std::invalid_argument("an engine needs samples");
    const Index n_samples = as_count(count);
    if (dtype == "float32") return {RowsEngine<float>(n_samples), nb::none()};
    return {RowsEngine<double>(n_samples), nb::none()};
}

void require_k(Index k, Index most) {
    if (k < 0 || k > most) {
        throw std::invalid_argument("k=" + std::to_string(k) + " is not between 0 and " +
                                    std::to_string(most));
    }
}

void require_length(std::size_t length, const Engine& engine, const char* what) {
    if (length != as_size(n_samples(engine.any))) {
        throw std::invalid_argument(std::string(what) + " must have one entry per training sample");
    }
}

void require_width(std::size_t width, const Engine& engine) {
    if (width != as_size(n_features(engine.any)))
        throw std::invalid_argument("the queries have another width than the engine");
}

// Rows of queries, and what they point to if that is not the caller's.
template <class V>
struct QueryRows {
    std::vector<V> kept;
    Rows<V> rows;

    std::size_t count() const { return as_size(rows.count); }
};

template <class T>
QueryRows<T> as_rows(const Matrix<T>& queries, const Engine& engine) {
    require_width(queries.shape(1), engine);
    const Index count = as_count(queries.shape(0), "queries");
    return {{}, {queries.data(), count, as_count(queries.shape(1), "features")}};
}

template <class T>
QueryRows<SparseRow<T>> as_rows(const SparseSamples<T>& queries, const Engine& engine) {
    require_width(queries.n_features, engine);
    std::vector<SparseRow<T>> kept = queries.rows();
    const Rows<SparseRow<T>> rows{kept.data(), as_count(kept.size(), "queries"), 1};
    return {std::move(kept), rows};
}

using ListArrays = std::tuple<Result<double>, Result<Index>>;

// An n x k pair of arrays, filled by a kernel.
struct Lists {
    std::size_t rows;
    std::size_t columns;
    std::vector<double> values = std::vector<double>(rows * columns);
    std::vector<Index> indices = std::vector<Index>(rows * columns);

    ListArrays to_python() && {
        return ListArrays(to_numpy(std::move(values), {rows, columns}),
                          to_numpy(std::move(indices), {rows, columns}));
    }
};

ListArrays knn_of_samples(const Engine& engine, Index k, int n_threads, Index start,
                          std::optional<Index> stop) {
    const Index n = n_samples(engine.any);
    const Index end = stop.value_or(n);
    require_k(k, n - 1);
    if (start < 0 || end < start || end > n)
        throw std::invalid_argument("start and stop are not in order, or not among the samples");
    Lists lists{as_size(end - start), as_size(k)};
    run_interruptibly(n_threads, [&](Control& control) {
        knn(engine.any, start, end, k, lists.values, lists.indices, control);
    });
    return std::move(lists).to_python();
}

template <class Samples>
ListArrays knn_of_queries(const Engine& engine, const Samples& queries, Index k, int n_threads,
                          const std::optional<Vector<double>>& reach) {
    require_k(k, n_samples(engine.any));
    const auto given = as_rows(queries, engine);
    if (reach && reach->size() != given.count())
        throw std::invalid_argument("reach must have one entry per query");
    const std::span<const double> reaches = reach ? as_span(*reach) : std::span<const double>{};
    Lists lists{given.count(), as_size(k)};
    run_interruptibly(n_threads, [&](Control& control) {
        query_knn(engine.any, given.rows, k, reaches, lists.values, lists.indices, control);
    });
    return std::move(lists).to_python();
}

using Graph = std::tuple<Matrix<double>, Matrix<Index>>;

// Without lists it makes its own, as short as suits the engine.
TreeArrays spanning_tree_of(const Engine& engine, const std::optional<Graph>& lists, int n_threads) {
    std::vector<Arc> arcs;
    if (lists) {
        const auto& [distances, indices] = *lists;
        const KnnGraph graph = as_graph(distances, indices);
        require_length(distances.shape(0), engine, "the neighbour lists");
        run_interruptibly(n_threads,
                          [&](Control& control) { arcs = spanning_tree(engine.any, graph, control); });
    } else {
        run_interruptibly(n_threads, [&](Control& control) { arcs = spanning_tree(engine.any, control); });
    }
    return as_arrays(arcs);
}

template <class Samples>
ListArrays nearest_foreign_of(const Engine& engine, const Samples& queries, const Vector<Index>& own,
                              const Vector<Index>& component, const Vector<double>& reach, int n_threads) {
    require_length(component.size(), engine, "component");
    const auto given = as_rows(queries, engine);
    if (own.size() != given.count() || reach.size() != given.count())
        throw std::invalid_argument("own and reach must have one entry per query");
    Lists lists{given.count(), 1};
    run_interruptibly(n_threads, [&](Control& control) {
        nearest_foreign(engine.any, given.rows, as_span(own), as_span(component), as_span(reach),
                        lists.values, lists.indices, control);
    });
    return std::move(lists).to_python();
}

// How many components there are, by a table that has a row for each, or by the highest number.
Index count_components(std::span<const Index> component, std::span<const Index> own,
                       const std::optional<Matrix<double>>& reach) {
    Index highest = 0;
    for (const std::span<const Index> numbers : {component, own}) {
        for (const Index c : numbers) {
            if (c < 0) throw std::invalid_argument("components are numbered from 0");
            highest = std::max(highest, c);
        }
    }
    if (!reach) return highest + 1;
    if (reach->shape(0) != reach->shape(1) || reach->shape(0) <= as_size(highest))
        throw std::invalid_argument("reach must have a row and a column per component");
    return as_count(reach->shape(0), "components");
}

std::span<const double> as_table(const std::optional<Matrix<double>>& reach) {
    return reach ? std::span<const double>{reach->data(), reach->size()} : std::span<const double>{};
}

TreeArrays joining_arcs_of_samples(const Engine& engine, const Vector<Index>& component, int n_threads,
                                   const std::optional<Matrix<double>>& reach) {
    require_length(component.size(), engine, "component");
    const Index count = count_components(as_span(component), {}, reach);
    std::vector<Arc> arcs;
    run_interruptibly(n_threads, [&](Control& control) {
        arcs = joining_arcs(engine.any, as_span(component), count, as_table(reach), control);
    });
    return as_arrays(arcs);
}

template <class Samples>
TreeArrays joining_arcs_of(const Engine& engine, const Vector<Index>& component, int n_threads,
                           const std::optional<Matrix<double>>& reach, const Samples& queries,
                           const Vector<Index>& own) {
    require_length(component.size(), engine, "component");
    const auto given = as_rows(queries, engine);
    if (own.size() != given.count()) throw std::invalid_argument("own must have one entry per query");
    const Index count = count_components(as_span(component), as_span(own), reach);
    std::vector<Arc> arcs;
    run_interruptibly(n_threads, [&](Control& control) {
        arcs = joining_arcs(engine.any, given.rows, as_span(own), as_span(component), count, as_table(reach),
                            control);
    });
    return as_arrays(arcs);
}

template <class Samples>
std::tuple<Result<double>, Result<Index>> nearest_query_of(const Engine& engine, const Samples& queries,
                                                           const Vector<double>& reach, int n_threads) {
    require_length(reach.size(), engine, "reach");
    const auto given = as_rows(queries, engine);
    std::vector<double> distances(reach.size());
    std::vector<Index> indices(reach.size());
    run_interruptibly(n_threads, [&](Control& control) {
        nearest_query(engine.any, given.rows, as_span(reach), distances, indices, control);
    });
    return {to_numpy(std::move(distances)), to_numpy(std::move(indices))};
}

ListArrays nearest_outsiders_of(const Engine& engine, const Vector<Index>& samples,
                                const Vector<Index>& component, int n_threads) {
    require_length(component.size(), engine, "component");
    require_indices(as_span(samples), n_samples(engine.any), "samples");
    Lists lists{samples.size(), 1};
    run_interruptibly(n_threads, [&](Control& control) {
        nearest_outsiders(engine.any, as_span(samples), as_span(component), lists.values, lists.indices,
                          control);
    });
    return std::move(lists).to_python();
}

ForestArrays compete(const Engine& engine, const Matrix<double>& distances, const Matrix<Index>& indices,
                     const Vector<Index>& prototypes, const Vector<double>& membership, bool source_side) {
    const KnnGraph graph = as_graph(distances, indices);
    require_length(distances.shape(0), engine, "the neighbour lists");
    require_length(membership.size(), engine, "membership");
    require_not_negative(as_span(membership), "membership", "give each sample a factor, 1 for no effect");
    require_indices(as_span(prototypes), n_samples(engine.any), "prototypes");
    Forest forest;
    run_interruptibly(1, [&](Control& control) {
        forest = compete_complete(engine.any, graph, as_span(prototypes), {as_span(membership), source_side},
                                  control);
    });
    return to_numpy(std::move(forest));
}

void require_forest(const Engine& engine, const Vector<double>& cost, const Vector<Index>& order) {
    require_length(cost.size(), engine, "cost");
    require_length(order.size(), engine, "order");
    require_indices(as_span(order), n_samples(engine.any), "order");
    require_not_negative(as_span(cost), "cost", "take the costs of a forest", true);
    require_ascending_costs(as_span(cost), as_span(order));
}

template <class Samples>
ListArrays conquer_queries(const Engine& engine, const Samples& queries, const Vector<double>& cost,
                           const Vector<Index>& order, Index n_conquerors, int n_threads) {
    require_forest(engine, cost, order);
    if (n_conquerors < 1) throw std::invalid_argument("n_conquerors must be at least 1");
    const Index kept = std::min(n_conquerors, n_samples(engine.any));
    const auto given = as_rows(queries, engine);
    Lists lists{given.count(), as_size(kept)};
    run_interruptibly(n_threads, [&](Control& control) {
        conquer(engine.any, given.rows, as_span(cost), as_span(order), kept, lists.values, lists.indices,
                control);
    });
    return std::move(lists).to_python();
}

// Calls work(queries, forest) with a forest that suits the engine; the number of classes comes from `code`.
template <class Samples, class Work>
auto with_classes(const Engine& engine, const Samples& queries, const Vector<double>& cost,
                  const Vector<Index>& order, const Vector<Index>& code, Index r, Work work) {
    require_forest(engine, cost, order);
    require_length(code.size(), engine, "code");
    const Index n_classes = 1 + *std::max_element(code.data(), code.data() + code.size());
    require_indices(as_span(code), n_classes, "code");
    if (r < 1) throw std::invalid_argument("r must be at least 1");
    return work(as_rows(queries, engine), Rivals{as_span(cost), as_span(order), as_span(code), n_classes},
                std::min(r, n_samples(engine.any)));
}

template <class Samples>
ListArrays class_offers_to(const Engine& engine, const Samples& queries, const Vector<double>& cost,
                           const Vector<Index>& order, const Vector<Index>& code, Index r, int n_threads) {
    return with_classes(
        engine, queries, cost, order, code, r, [&](const auto& given, const Rivals& forest, Index kept) {
            const auto n_classes = as_size(forest.n_classes);
            const std::size_t size = given.count() * n_classes * as_size(kept);
            std::vector<double> offers(size);
            std::vector<Index> samples(size);
            run_interruptibly(n_threads, [&](Control& control) {
                class_offers(engine.any, given.rows, forest, kept, offers, samples, control);
            });
            return ListArrays(to_numpy(std::move(offers), {given.count(), n_classes, as_size(kept)}),
                              to_numpy(std::move(samples), {given.count(), n_classes, as_size(kept)}));
        });
}

template <class Samples>
ListArrays cheapest_class_for(const Engine& engine, const Samples& queries, const Vector<double>& cost,
                              const Vector<Index>& order, const Vector<Index>& code, Index r, int n_threads,
                              const std::optional<Vector<Index>>& without, bool nearest_first) {
    return with_classes(
        engine, queries, cost, order, code, r, [&](const auto& given, const Rivals& forest, Index kept) {
            if (without && without->size() != given.count())
                throw std::invalid_argument("without must have one entry per query");
            const std::span<const Index> left_out = without ? as_span(*without) : std::span<const Index>{};
            Lists lists{given.count(), as_size(kept)};
            run_interruptibly(n_threads, [&](Control& control) {
                cheapest_class(engine.any, given.rows, forest, {left_out, nearest_first}, kept, lists.values,
                               lists.indices, control);
            });
            return std::move(lists).to_python();
        });
}

template <class Samples>
Result<double> distances_of_queries(const Engine& engine, const Samples& queries, int n_threads) {
    const auto given = as_rows(queries, engine);
    const std::size_t width = as_size(n_samples(engine.any));
    std::vector<double> distances(given.count() * width);
    run_interruptibly(n_threads,
                      [&](Control& control) { all_distances(engine.any, given.rows, distances, control); });
    return to_numpy(std::move(distances), {given.count(), width});
}

Result<double> distances_of_sums(const std::string& metric_name, const Vector<double>& sums, double p) {
    const Metric metric = find_metric(metric_name, p);
    std::vector<double> distances(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) distances[i] = metric.distance(sums.data()[i], metric.p);
    return to_numpy(std::move(distances));
}

using Groups = std::optional<Vector<Index>>;

std::span<const Index> groups_of(const Groups& groups, std::size_t n_rows) {
    if (!groups) return {};
    if (groups->size() != n_rows) throw std::invalid_argument("groups must have one entry per row");
    return as_span(*groups);
}

template <class T>
Result<Index> copy_numbers_of(const Matrix<T>& X, const Groups& groups) {
    const Index n_rows = as_count(X.shape(0));
    const Index n_features = as_count(X.shape(1), "features");
    const std::span<const Index> known = groups_of(groups, X.shape(0));
    std::vector<Index> numbers;
    run_interruptibly(1, [&](Control&) { numbers = copy_numbers(X.data(), n_rows, n_features, known); });
    return to_numpy(std::move(numbers));
}

template <class T>
Result<Index> copy_numbers_of_sparse(const SparseSamples<T>& X, const Groups& groups) {
    const std::vector<SparseRow<T>> rows = X.rows();
    as_count(rows.size());
    const std::span<const Index> known = groups_of(groups, rows.size());
    std::vector<Index> numbers;
    run_interruptibly(1,
                      [&](Control&) { numbers = copy_numbers(std::span<const SparseRow<T>>(rows), known); });
    return to_numpy(std::move(numbers));
}

// What is asked of queries, dense or sparse.
template <class Samples>
void bind_queries(nb::class_<Engine>& engine) {
    engine
        .def("query", knn_of_queries<Samples>, "queries"_a.noconvert(), "k"_a, "n_threads"_a = 1,
             "reach"_a.noconvert() = nb::none(),
             "The k nearest samples of each query, by (distance, index); inf and -1 beyond its reach.")
        .def("nearest_foreign", nearest_foreign_of<Samples>, "queries"_a.noconvert(), "own"_a.noconvert(),
             "component"_a.noconvert(), "reach"_a.noconvert(), "n_threads"_a = 1,
             "For each query the nearest sample whose component is not its own, no farther than its reach.")
        .def("joining_arcs", joining_arcs_of<Samples>, "component"_a.noconvert(), "n_threads"_a,
             "reach"_a.noconvert().none(), "queries"_a.noconvert(), "own"_a.noconvert(),
             "The same of arcs between queries, which come first, and samples.")
        .def("nearest_query", nearest_query_of<Samples>, "queries"_a.noconvert(), "reach"_a.noconvert(),
             "n_threads"_a = 1,
             "For each sample the nearest query no farther than its reach, the first of equally near ones.")
        .def("distances", distances_of_queries<Samples>, "queries"_a.noconvert(), "n_threads"_a = 1,
             "The distance of each query to each training sample.")
        .def("conquer", conquer_queries<Samples>, "queries"_a.noconvert(), "cost"_a.noconvert(),
             "order"_a.noconvert(), "n_conquerors"_a = 1, "n_threads"_a = 1,
             "The smallest offers max(cost, distance) to each query, and who makes them.")
        .def("class_offers", class_offers_to<Samples>, "queries"_a.noconvert(), "cost"_a.noconvert(),
             "order"_a.noconvert(), "code"_a.noconvert(), "r"_a = 1, "n_threads"_a = 1,
             "The r smallest offers of each class to each query, and who makes them; inf and -1 where a "
             "class has fewer.")
        .def("cheapest_class", cheapest_class_for<Samples>, "queries"_a.noconvert(), "cost"_a.noconvert(),
             "order"_a.noconvert(), "code"_a.noconvert(), "r"_a = 1, "n_threads"_a = 1,
             "without"_a.noconvert() = nb::none(), "nearest_first"_a = false,
             "The r smallest offers to each query of the class whose mean of them is smallest, and who makes "
             "them.");
}

template <class T>
void bind_for_dtype(nb::module_& m, nb::class_<Engine>& engine) {
    m.def("copy_numbers", copy_numbers_of<T>, "X"_a.noconvert(), "groups"_a.noconvert() = nb::none(),
          "How many rows before each row are the same, bit by bit, and of the same group.");
    m.def("copy_numbers", copy_numbers_of_sparse<T>, "X"_a.noconvert(), "groups"_a.noconvert() = nb::none());
    engine
        .def_static("kd_tree", make_kd_tree<T>, "X"_a.noconvert(), "metric"_a, "p"_a = 2.0, "n_threads"_a = 1,
                    "A k-d tree over the samples, for few dimensions.")
        .def_static(
            "brute", make_brute<T>, "X"_a.noconvert(), "metric"_a, "p"_a = 2.0, "keep_order"_a = false,
            "n_threads"_a = 1, "ranges"_a.noconvert() = nb::none(), "weights"_a.noconvert() = nb::none(),
            "A blocked scan of the samples, for many dimensions. For 'gower' with a range per feature, "
            "0 for categories, and a weight.")
        .def_static("precomputed", make_precomputed<T>, "distances"_a.noconvert(),
                    "A symmetric distance matrix, kept by reference.")
        .def_static("sparse", make_sparse<T>, "X"_a.noconvert(), "metric"_a,
                    "Columns of sparse samples, for 'cosine', 'euclidean' and 'sqeuclidean'.");
    bind_queries<Matrix<T>>(engine);
    bind_queries<SparseSamples<T>>(engine);
}

}  // namespace

void bind_engine(nb::module_& m) {
    nb::class_<Engine> engine(m, "Engine", "Answers every question about distances between samples.");
    engine
        .def_static("rows", make_rows, "n_samples"_a, "dtype"_a,
                    "No samples at all: queries come as rows of distances to them.")
        .def_prop_ro("name", [](const Engine& e) { return name_of(e.any); })
        .def_prop_ro("dtype", dtype_of)
        .def_prop_ro("n_samples", [](const Engine& e) { return n_samples(e.any); })
        .def_prop_ro("n_features", [](const Engine& e) { return n_features(e.any); })
        .def_prop_ro("takes", takes_of, "What queries are: \"features\", or \"distances\" to the samples.")
        .def_prop_ro(
            "concurrent", [](const Engine&) { return true; },
            "Whether several threads gain from asking at once.")
        .def("knn", knn_of_samples, "k"_a, "n_threads"_a = 1, "start"_a = 0, "stop"_a = nb::none(),
             "The k nearest others of each sample, or of those from start to stop, by (distance, index).")
        .def("spanning_tree", spanning_tree_of, "graph"_a.noconvert() = nb::none(), "n_threads"_a = 1,
             "The minimum spanning tree from neighbour lists, its own if there are none, as (source, target, "
             "weight), ascending.")
        .def("joining_arcs", joining_arcs_of_samples, "component"_a.noconvert(), "n_threads"_a = 1,
             "reach"_a.noconvert() = nb::none(),
             "The arcs that join components as a minimum spanning forest does, no longer than reach[a, b] "
             "between two of them, as (source, target, weight), ascending.")
        .def("nearest_outsiders", nearest_outsiders_of, "samples"_a.noconvert(), "component"_a.noconvert(),
             "n_threads"_a = 1,
             "For each of some samples the nearest one whose component is another, by (distance, index).")
        .def("compete", compete, "distances"_a.noconvert(), "indices"_a.noconvert(),
             "prototypes"_a.noconvert(), "membership"_a.noconvert(), "source_side"_a,
             "The competition over the complete graph as (cost, predecessor, root, order).");
    bind_for_dtype<float>(m, engine);
    bind_for_dtype<double>(m, engine);
    m.def("distances_of_sums", distances_of_sums, "metric"_a, "sums"_a.noconvert(), "p"_a = 2.0,
          "Distances from the sums that a metric is built from, such as squared differences.");
}

}  // namespace pathforest
