// The same answers on every platform: runs every stage with every metric, engine and dtype on data that are
// made to hurt, and prints a hash of all arrays for each combination. Compare with hashes.txt.
#include "pathforest/distances/engines/any.hpp"
#include "pathforest/distances/kernels.hpp"
#include "pathforest/forest/class_costs.hpp"
#include "pathforest/forest/compete.hpp"
#include "pathforest/forest/predict.hpp"
#include "pathforest/graph/knn.hpp"
#include "pathforest/graph/spanning_tree.hpp"
#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/membership/search_k.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pathforest;

constexpr Index n_queries = 37;
constexpr Index n_classes = 3;
constexpr Index k = 12;

// Random bits by integers alone (splitmix64), and numbers from them without rounding.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    Index below(Index bound) { return static_cast<Index>(bits() >> 40) % bound; }
    double fraction() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

// 64-bit FNV-1a over words, so that the order of bytes in memory does not matter.
class Hash {
  public:
    void add(std::uint64_t word) {
        for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (word >> (8 * byte) & 255)) * 0x100000001b3;
    }
    template <class Values>
    void add_all(const Values& values) {
        add(std::size(values));
        for (const double value : values) add(std::bit_cast<std::uint64_t>(value));
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

// Data: none is negative, because some metrics forbid that, and squares are in the range of float32.
struct Recipe {
    const char* name;
    Index n_samples, n_features;
    double (*value)(Random& random, Index sample, Index feature);
};

constexpr Recipe recipes[] = {
    {"spread", 83, 3, [](Random& random, Index, Index) { return random.fraction(); }},
    {"ties", 64, 2, [](Random& random, Index, Index) { return static_cast<double>(random.below(4)); }},
    {"copies", 50, 4,
     [](Random&, Index sample, Index feature) {
         return Random(static_cast<std::uint64_t>(sample % 9 * 8 + feature)).fraction();
     }},
    {"tiny", 33, 2, [](Random& random, Index, Index) { return random.fraction() * 0x1p-60; }},
    {"huge", 33, 2, [](Random& random, Index, Index) { return random.fraction() * 0x1p+60; }},
    {"mixed", 49, 5,
     [](Random& random, Index, Index feature) {
         constexpr double scales[] = {0x1p-40, 0x1p-10, 1, 0x1p+10, 0x1p+40};
         return random.fraction() * scales[feature];
     }},
    {"many features", 300, 19, [](Random& random, Index, Index) { return random.fraction(); }},
};

struct Case {
    const char* name;
    const char* metric;
    double p;
};

constexpr Case cases[] = {
    {"euclidean", "euclidean", 2},
    {"sqeuclidean", "sqeuclidean", 2},
    {"log_sqeuclidean", "log_sqeuclidean", 2},
    {"manhattan", "manhattan", 1},
    {"chebyshev", "chebyshev", 1},
    {"minkowski-3", "minkowski", 3},
    {"minkowski-1.5", "minkowski", 1.5},
    {"cosine", "cosine", 2},
    {"chi2", "chi2", 2},
    {"canberra", "canberra", 1},
    {"braycurtis", "braycurtis", 1},
    {"nan_euclidean", "nan_euclidean", 2},
    {"gower", "gower", 1},
};

template <class T>
std::vector<T> draw(const Recipe& recipe, Index count, std::uint64_t seed) {
    Random random(seed);
    std::vector<T> values;
    for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < recipe.n_features; ++j)
            values.push_back(static_cast<T>(recipe.value(random, i, j)));
    }
    return values;
}

// The first feature stays, so that samples have something in common.
template <class T>
void make_gaps(std::vector<T>& values, Index n_features) {
    Random random(3);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (random.below(5) == 0 && i % as_size(n_features) != 0)
            values[i] = std::numeric_limits<T>::quiet_NaN();
    }
}

// Some features are categories, one has no weight.
void set_features(Metric& metric, Index n_features) {
    for (Index j = 0; j < n_features; ++j) {
        metric.ranges.push_back(j % 3 == 1 ? 0.0 : 3.0 / (j + 1));
        metric.weights.push_back(j == 3 ? 0.0 : 1 + j / 7.0);
    }
}

void add_forest(Hash& hash, const Forest& forest) {
    hash.add_all(forest.cost);
    hash.add_all(forest.predecessor);
    hash.add_all(forest.root);
    hash.add_all(forest.order);
}

std::vector<Index> boundary_prototypes(const std::vector<Arc>& tree) {
    std::vector<Index> prototypes;
    for (const Arc& arc : tree) {
        if (arc.low % n_classes == arc.high % n_classes) continue;
        prototypes.push_back(arc.low);
        prototypes.push_back(arc.high);
    }
    std::sort(prototypes.begin(), prototypes.end());
    prototypes.erase(std::unique(prototypes.begin(), prototypes.end()), prototypes.end());
    return prototypes;
}

// Questions about new samples, given a forest of the engine's samples.
template <class T>
void add_predictions(Hash& hash, const AnyEngine& engine, Rows<T> queries, const Forest& forest,
                     Control& control) {
    const std::size_t n = forest.cost.size();
    const std::size_t m = as_size(queries.count);
    std::vector<double> values(m * 4), distances(m * n), costs(2 * m * as_size(n_classes));
    std::vector<Index> indices(m * 4), first(m * as_size(n_classes)), code(n);
    conquer(engine, queries, forest.cost, forest.order, 4, values, indices, control);
    hash.add_all(values);
    hash.add_all(indices);
    query_knn(engine, queries, 4, {}, values, indices, control);
    hash.add_all(values);
    hash.add_all(indices);
    all_distances(engine, queries, distances, control);
    hash.add_all(distances);
    for (std::size_t i = 0; i < n; ++i) code[i] = forest.root[i] % n_classes;
    const Index n_conquerors[] = {1, 5};
    class_costs({distances.data(), queries.count, static_cast<Index>(n)},
                {forest.cost, forest.order, code, n_classes}, n_conquerors, costs, first, control);
    hash.add_all(costs);
    hash.add_all(first);
}

// Every stage from neighbour lists to predictions; the forest is handed out.
template <class T>
Forest add_stages(Hash& hash, const AnyEngine& engine, Rows<T> queries, bool squared, Control& control) {
    const Index n = n_samples(engine);
    std::vector<double> distances(at(n, k));
    std::vector<Index> indices(at(n, k));
    knn(engine, 0, n, k, distances, indices, control);
    hash.add_all(distances);
    hash.add_all(indices);
    const KnnGraph graph{distances, indices, n, k};
    const std::vector<Arc> tree = spanning_tree(engine, graph, control);
    for (const Arc& arc : tree) {
        const double parts[] = {arc.weight, static_cast<double>(arc.low), static_cast<double>(arc.high)};
        hash.add_all(parts);
    }
    const std::vector<Index> prototypes = boundary_prototypes(tree);
    Forest plain = follow_tree(tree, prototypes);
    add_forest(hash, plain);

    hash.add_all(search_k(graph, k, squared, control));
    std::vector<double> scaled = density(graph, k, squared, Pause(&control));
    hash.add_all(scaled);
    scale_density(scaled);
    const Clustering clusters = cluster(graph, k, scaled, {}, Pause(&control));
    hash.add_all(clusters.label);
    hash.add_all(clusters.predecessor);
    hash.add_all(clusters.root);
    hash.add_all(clusters.cost);

    std::vector<double> membership;
    for (const double density : scaled) membership.push_back(0.3 + 0.7 * (density / 1000));
    for (const bool source_side : {false, true}) {
        const Membership factors{membership, source_side};
        add_forest(hash, compete_tree(tree, prototypes, factors, control));
        add_forest(hash, compete_complete(engine, graph, prototypes, factors, control));
    }
    add_predictions(hash, engine, queries, plain, control);
    return plain;
}

// The same rows, each value with its feature; zeros too, which engines leave out.
template <class T>
std::vector<SparseRow<T>> sparse_rows(const std::vector<T>& values, const std::vector<Index>& features) {
    std::vector<SparseRow<T>> rows;
    for (std::size_t start = 0; start < values.size(); start += features.size())
        rows.push_back({features, std::span(values).subspan(start, features.size())});
    return rows;
}

void print(const Case& metric, const Recipe& recipe, const char* dtype, const char* engine,
           const Hash& hash) {
    std::printf("%016llx %s, %s, %s, %s\n", static_cast<unsigned long long>(hash.value()), metric.name,
                recipe.name, dtype, engine);
}

template <class T>
void run(const Case& chosen, const Recipe& recipe, const char* dtype) {
    Control control;
    Metric metric = find_metric(chosen.metric, chosen.p);
    set_features(metric, recipe.n_features);
    const bool squared = metric.sum == Sum::squares && std::strcmp(chosen.metric, "euclidean") != 0;
    const Index n = recipe.n_samples;
    std::vector<T> X = draw<T>(recipe, n, 1);
    std::vector<T> Q = draw<T>(recipe, n_queries, 2);
    if (metric.sum == Sum::nan_squares || metric.sum == Sum::gower) {
        make_gaps(X, recipe.n_features);
        make_gaps(Q, recipe.n_features);
    }
    std::copy_n(X.begin(), 10 * recipe.n_features, Q.begin());  // some queries are training samples
    const Rows<T> queries{Q.data(), n_queries, recipe.n_features};

    const AnyEngine brute(std::in_place_type<BruteEngine<T>>, X.data(), n, recipe.n_features, metric, false,
                          control);
    Hash by_brute;
    const Forest forest = add_stages(by_brute, brute, queries, squared, control);
    print(chosen, recipe, dtype, "brute", by_brute);
    if (metric.in_tree) {
        const AnyEngine tree(std::in_place_type<KdTreeEngine<T>>, X.data(), n, recipe.n_features, metric,
                             control);
        Hash by_tree;
        add_stages(by_tree, tree, queries, squared, control);
        print(chosen, recipe, dtype, "kd_tree", by_tree);
    }
    if (SparseEngine<T>::serves(metric)) {
        std::vector<Index> features(as_size(recipe.n_features));
        std::iota(features.begin(), features.end(), 0);
        const auto samples = sparse_rows(X, features), asked = sparse_rows(Q, features);
        const AnyEngine sparse(std::in_place_type<SparseEngine<T>>, samples, recipe.n_features, metric);
        Hash by_columns;
        add_stages(by_columns, sparse, Rows<SparseRow<T>>{asked.data(), n_queries, 1}, squared, control);
        print(chosen, recipe, dtype, "sparse", by_columns);
    }
    // Matrices of T, which rounds the distances.
    const auto matrix = [&](Rows<T> rows) {
        std::vector<double> exact(at(rows.count, n));
        all_distances(brute, rows, exact, control);
        return std::vector<T>(exact.begin(), exact.end());
    };
    const std::vector<T> between = matrix({X.data(), n, recipe.n_features});
    const std::vector<T> to_queries = matrix(queries);
    const Rows<T> distance_rows{to_queries.data(), n_queries, n};
    const AnyEngine precomputed(std::in_place_type<PrecomputedEngine<T>>, between.data(), n);
    Hash by_matrix;
    add_stages(by_matrix, precomputed, distance_rows, squared, control);
    print(chosen, recipe, dtype, "precomputed", by_matrix);
    Hash by_rows;
    add_predictions(by_rows, AnyEngine(RowsEngine<T>(n)), distance_rows, forest, control);
    print(chosen, recipe, dtype, "rows", by_rows);
}

}  // namespace

// With an argument, only the instruction set in use.
int main(int n_arguments, char**) {
    if (n_arguments > 1) {
        std::puts(simd_level());
        return 0;
    }
    for (const Case& metric : cases) {
        for (const Recipe& recipe : recipes) {
            // Powers take long in emulators, and have no filter that would need many samples.
            if (recipe.n_samples > panel && std::strcmp(metric.metric, "minkowski") == 0) continue;
            run<float>(metric, recipe, "float32");
            run<double>(metric, recipe, "float64");
        }
    }
}
