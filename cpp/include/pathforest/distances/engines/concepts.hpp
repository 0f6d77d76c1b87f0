// The contract between engines and those who search them.
//
// An engine answers one request, `search`: show a policy every sample that may still matter to it. The four
// questions of the design are four policies (knn, spanning_tree, compete, predict), so a stage is written
// once for all engines and an engine once for all stages. Engines are immutable, so any number of threads may
// search one.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <concepts>
#include <vector>

namespace pathforest {

// What most policies answer; a policy derives from this and hides what it answers otherwise.
struct PolicyDefaults {
    // Whether the limit is infinite always, so that nothing is worth discarding.
    static constexpr bool sees_everything = false;
    // Whether the nearer of two nodes is searched first. If not, the one with the smaller promise is, where
    //     double promise(Index node, double least_distance) const;
    // is the least that a sample below the node could be worth.
    static constexpr bool nearest_first = true;
    // Whether a sample matters at all, whatever its distance.
    bool wants(Index) const { return true; }
    // How many samples it looks for.
    Index n_wanted() const { return 1; }
};

// Scouts search with copies of a policy, hence copyable. Where nodes mix samples that matter up to different
// distances, limit_of(sample) may be the one of a sample that the policy wants: candidates beyond it are not
// kept.
template <class P>
concept Policy =
    std::copyable<P> && requires(P policy, const P asked, Index node, Index sample, double distance) {
        // The largest distance that matters below a node; negative: none.
        { asked.limit(node) } -> std::same_as<double>;
        policy.offer(sample, distance);
        { asked.wants(sample) } -> std::same_as<bool>;
        { asked.n_wanted() } -> std::same_as<Index>;
        { P::sees_everything } -> std::convertible_to<bool>;
        { P::nearest_first } -> std::convertible_to<bool>;
        requires P::nearest_first || requires {
            { asked.promise(node, distance) } -> std::same_as<double>;
        };
    };

// Stands for any policy where engines are held to their contract.
struct AnyPolicy : PolicyDefaults {
    double limit(Index) const { return infinity; }
    void offer(Index, double) {}
};
static_assert(Policy<AnyPolicy>);

// Stands for any way to make one value of two.
struct AnyCombination {
    double operator()(double a, double) const { return a; }
};

// An engine keeps its samples below nodes, each of which a policy may pass over as a whole.
template <class E>
concept SearchEngine =
    requires(const E engine, typename E::Query& query, const typename E::Value* row, Index i,
             AnyPolicy* policies, const Pause& pause, std::vector<double>& values) {
        { E::name } -> std::convertible_to<const char*>;
        { E::tile } -> std::convertible_to<int>;  // queries worth searching together
        { engine.n_samples() } -> std::same_as<Index>;
        { engine.n_features() } -> std::same_as<Index>;  // the width of a row
        { engine.n_nodes() } -> std::same_as<Index>;
        // Which sample is kept where: near ones side by side, if the engine can tell.
        { engine.sample_at(i) } -> std::same_as<Index>;
        // Makes the query of a new sample.
        engine.ask(row, query);
        // Offers each of the policies every sample within its limit, by exact distances.
        engine.search(&query, policies, i, pause);
        // One value per node from one per position, or from one per sample; and the latter brought up to
        // date when one sample's has changed.
        {
            engine.summarise_positions([](Index) { return 0.0; }, AnyCombination{})
        } -> std::same_as<std::vector<double>>;
        { engine.summarise(values, AnyCombination{}) } -> std::same_as<std::vector<double>>;
        engine.refresh(i, values, AnyCombination{}, values);
    };

// Most engines can also be asked about the samples they hold.
template <class E>
concept KnowsSamples = SearchEngine<E> && requires(const E engine, typename E::Query& query, Index sample) {
    // Makes the query of a training sample.
    engine.ask_sample(sample, query);
};

// How many samples that an engine keeps side by side are worth searching together.
template <class E>
constexpr int sample_tile = std::remove_cvref_t<E>::tile;
template <class E>
    requires requires { std::remove_cvref_t<E>::sample_tile; }
constexpr int sample_tile<E> = std::remove_cvref_t<E>::sample_tile;

}  // namespace pathforest
