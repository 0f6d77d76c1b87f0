// One type for all engines. Stages are written once as templates over an engine and entered through this.
#pragma once

#include "pathforest/distances/engines/brute.hpp"
#include "pathforest/distances/engines/kd_tree.hpp"
#include "pathforest/distances/engines/precomputed.hpp"
#include "pathforest/distances/engines/rows.hpp"
#include "pathforest/distances/engines/sparse.hpp"

#include <stdexcept>
#include <type_traits>
#include <variant>

namespace pathforest {

using AnyEngine =
    std::variant<KdTreeEngine<float>, KdTreeEngine<double>, BruteEngine<float>, BruteEngine<double>,
                 PrecomputedEngine<float>, PrecomputedEngine<double>, RowsEngine<float>, RowsEngine<double>,
                 SparseEngine<float>, SparseEngine<double>>;

inline Index n_samples(const AnyEngine& engine) {
    return std::visit([](const auto& e) { return e.n_samples(); }, engine);
}

inline const char* name_of(const AnyEngine& engine) {
    return std::visit([](const auto& e) { return std::remove_cvref_t<decltype(e)>::name; }, engine);
}

inline Index n_features(const AnyEngine& engine) {
    return std::visit([](const auto& e) { return e.n_features(); }, engine);
}

// Per node the smallest index below it, to settle ties for whole nodes.
template <SearchEngine Engine>
std::vector<Index> first_sample_of_nodes(const Engine& engine) {
    return engine.summarise_positions([&](Index position) { return engine.sample_at(position); },
                                      [](Index a, Index b) { return std::min(a, b); });
}

// Makes the query of the sample at a position.
template <KnowsSamples Engine>
void ask_at(const Engine& engine, Index position, typename Engine::Query& query) {
    if constexpr (requires { engine.ask_at(position, query); }) {
        engine.ask_at(position, query);
    } else {
        engine.ask_sample(engine.sample_at(position), query);
    }
}

// Rows of new samples, or for a precomputed engine rows of distances to the training samples. Those of a
// sparse engine are SparseRow<T>, one value wide.
template <class T>
struct Rows {
    const T* values;
    Index count;
    Index width;

    const T* row(Index i) const { return values + at(i, width); }
};

// Calls work(engine) with the concrete engine, which must know the distances between its samples.
template <class Work>
auto visit_samples(const AnyEngine& engine, Work work) {
    using Result = std::invoke_result_t<Work, const KdTreeEngine<float>&>;
    return std::visit(
        [&](const auto& e) -> Result {
            if constexpr (KnowsSamples<std::remove_cvref_t<decltype(e)>>) {
                return work(e);
            } else {
                throw std::invalid_argument("this engine knows no distances between its samples");
            }
        },
        engine);
}

// Calls work(engine) with the concrete engine, which must hold samples of type T.
template <class T, class Work>
void visit_with(const AnyEngine& engine, Work work) {
    std::visit(
        [&](const auto& e) {
            using Engine = std::remove_cvref_t<decltype(e)>;
            if constexpr (std::is_same_v<typename Engine::Value, T>) {
                work(e);
            } else {
                throw std::invalid_argument("the queries are of another type than the engine's samples");
            }
        },
        engine);
}

// Runs one search per query in tiles: ask(i, query) states query i, start(i) gives its policy and finish(i,
// policy) takes the result.
template <SearchEngine Engine, class Ask, class Start, class Finish>
void search_all(const Engine& engine, Index tile, Index count, Control& control, Ask ask, Start start,
                Finish finish) {
    using P = decltype(start(Index{}));
    static_assert(Policy<P>);
    struct Scratch {
        std::vector<typename Engine::Query> queries;
        std::vector<P> policies;
    };
    // A task is big enough to hide the counter it is taken from, and small enough for every thread to get
    // one.
    const Index share = (count - 1) / control.n_threads() + 1;
    const Index task = std::clamp<Index>(share, 1, std::max<Index>(32, tile));
    parallel_for((count + task - 1) / task, control, [] { return Scratch{}; },
                 [&](Index t, Scratch& scratch, const Pause& pause) {
                     const Index end = std::min(count, (t + 1) * task);
                     for (Index first = t * task; first < end; first += tile) {
                         const Index size = std::min(tile, end - first);
                         scratch.queries.resize(as_size(size));
                         scratch.policies.clear();
                         for (Index i = 0; i < size; ++i) {
                             ask(first + i, scratch.queries[as_size(i)]);
                             scratch.policies.push_back(start(first + i));
                         }
                         engine.search(scratch.queries.data(), scratch.policies.data(), size, pause);
                         for (Index i = 0; i < size; ++i) finish(first + i, scratch.policies[as_size(i)]);
                     }
                 });
}

// The same for new samples, one per row. An engine that keeps near samples together may search several at
// once: worth it where they are not much sparser than its own.
template <SearchEngine Engine, class T, class Start, class Finish>
void search_rows(const Engine& engine, Rows<T> queries, Control& control, Start start, Finish finish) {
    std::vector<Index> turn;
    if constexpr (Engine::tile != sample_tile<Engine>) {
        if (queries.count > lanes && queries.count >= engine.n_samples() / 8)
            turn = spatial_order(queries.values, queries.count, queries.width, control);
    }
    const auto row = [&](Index i) { return turn.empty() ? i : turn[as_size(i)]; };
    search_all(
        engine, turn.empty() ? Engine::tile : sample_tile<Engine>, queries.count, control,
        [&](Index i, auto& query) { engine.ask(queries.row(row(i)), query); },
        [&](Index i) { return start(row(i)); }, [&](Index i, auto& policy) { finish(row(i), policy); });
}

}  // namespace pathforest
