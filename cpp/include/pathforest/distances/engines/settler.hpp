// The last word on what estimates have left: exact distances.
#pragma once

#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/engines/scout.hpp"

#include <array>
#include <span>

namespace pathforest {

template <class Engine>
class Settler {
  public:
    explicit Settler(const Engine& engine) : engine_(engine), block_(at(engine.n_features(), lanes)) {}

    // Offers the policy the candidates of its scout by their exact distances, a block of them at a time.
    template <Policy P>
    void operator()(Scout<P>& scout, const double* query, P& policy) {
        const std::vector<Candidate>& candidates = scout.candidates();
        ReducedLimit reduced_limit(engine_.metric());
        std::array<Index, lanes> positions;
        std::size_t count = 0;
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            // By now some may be out of the policy's own reach.
            const double limit = policy.limit(candidates[c].position / lanes);
            if (limit >= 0 && candidates[c].least <= reduced_limit(limit))
                positions[count++] = candidates[c].position;
            if (count == lanes || (count > 0 && c + 1 == candidates.size())) {
                offer(std::span(positions).first(count), query, policy);
                count = 0;
            }
        }
    }

    // Offers the policy the samples at a few positions, a block of them at most.
    template <Policy P>
    void offer(std::span<const Index> positions, const double* query, P& policy) {
        for (std::size_t lane = 0; lane < positions.size(); ++lane) {
            const typename Engine::Value* row = engine_.panels().row(positions[lane]);
            for (Index j = 0; j < engine_.n_features(); ++j) block_[at(j, lanes) + lane] = row[j];
        }
        double reduced[lanes];
        const Metric& metric = engine_.metric();
        engine_.kernels().block(query, block_.data(), engine_.n_features(), metric.terms(), infinity,
                                reduced);
        for (std::size_t lane = 0; lane < positions.size(); ++lane)
            offer_at(policy, engine_.order(), positions[lane], metric.distance(reduced[lane], metric.p));
    }

  private:
    const Engine& engine_;
    std::vector<typename Engine::Value>
        block_;  // those to be settled, gathered from anywhere; other lanes hold earlier ones
};

}  // namespace pathforest
