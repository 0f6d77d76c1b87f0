// A search by estimates, ahead of the exact one.
#pragma once

#include "pathforest/distances/engines/blocks.hpp"

#include <algorithm>
#include <vector>

namespace pathforest {

struct Candidate {
    double least;  // the reduced distance is no smaller
    Index position;
};

// A copy of a query's policy that is offered the most each distance can be. Its limit is never below the one
// the exact distances would give, so what lies beyond it at the end is out, and only the few candidates left
// need their exact distance. What policies share among them, such as the reach of a component, may use
// such upper bounds too.
template <Policy P>
class Scout {
  public:
    Scout(const P& policy, const Metric& metric)
        : Scout(policy, metric, 256 + 4 * as_size(policy.n_wanted())) {}

    // With room for so many candidates.
    Scout(const P& policy, const Metric& metric, std::size_t room)
        : policy_(policy), metric_(&metric), reduced_limit_(metric), room_(room) {}

    // The largest reduced distance that matters in a node; negative: none.
    double reach(Index node) {
        const double limit = policy_.limit(node);
        return limit < 0 ? limit : reduced_limit_(limit);
    }

    // A sample whose reduced distance lies between these two.
    void meet(Index sample, Index position, double least, double most) {
        if (!policy_.wants(sample)) return;
        if constexpr (requires { policy_.limit_of(sample); }) {
            if (metric_->distance(least, metric_->p) > policy_.limit_of(sample)) return;
        }
        if (candidates_.capacity() == 0) candidates_.reserve(16);
        candidates_.push_back({least, position});
        policy_.offer(sample, metric_->distance(most, metric_->p));
    }

    // Whether so many wait that they had better be settled: equal distances, which estimates cannot tell
    // apart. Exact ones can, and then whole nodes lose the tie.
    bool is_full() {
        if (candidates_.size() < room_) return false;
        drop_beyond_reach();
        return candidates_.size() > room_ / 2;
    }

    // Those that may still be within reach.
    const std::vector<Candidate>& candidates() {
        drop_beyond_reach();
        return candidates_;
    }

    // Goes on from a policy that was offered all candidates, by exact distances.
    void restart(const P& policy) {
        policy_ = policy;
        candidates_.clear();
    }

  private:
    bool may_matter(const Candidate& candidate) {
        const double most = reach(candidate.position / lanes);  // blocks are nodes
        return most >= 0 && candidate.least <= most;
    }

    void drop_beyond_reach() {
        std::erase_if(candidates_, [this](const Candidate& candidate) { return !may_matter(candidate); });
    }

    P policy_;
    const Metric* metric_;
    ReducedLimit reduced_limit_;
    std::size_t room_;
    std::vector<Candidate> candidates_;
};

}  // namespace pathforest
