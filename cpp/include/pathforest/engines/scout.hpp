// A search by estimates, ahead of the exact one.
#pragma once

#include "pathforest/engines/blocks.hpp"

#include <vector>

namespace pathforest {

struct Candidate {
    double least;  // the reduced distance is no smaller
    Index position;
};

// A copy of a query's policy that is offered the most each distance can be. Its limit is never below the one
// the exact distances would give, so what lies beyond it at the end is out, and only the few candidates left
// need their exact distance. A policy may say which samples matter to it at all:
//     bool wants(Index sample) const;   optional
template <class Policy>
class Scout {
  public:
    Scout(const Policy& policy, const Metric& metric)
        : policy_(policy), metric_(&metric), reduced_limit_(metric) {}

    // The largest reduced distance that matters in a node; negative: none.
    double reach(Index node) {
        const double limit = policy_.limit(node);
        return limit < 0 ? limit : reduced_limit_(limit);
    }

    // A sample whose reduced distance lies between these two.
    void meet(Index sample, Index position, double least, double most) {
        if constexpr (requires { policy_.wants(sample); }) {
            if (!policy_.wants(sample)) return;
        }
        if (candidates_.size() == room_) {
            drop_beyond_reach();
            room_ = std::max(2 * candidates_.size(), least_room);
            candidates_.reserve(room_);
        }
        candidates_.push_back({least, position});
        policy_.offer(sample, metric_->distance(most, metric_->p));
    }

    // Those that may still be within reach, once everyone has been met.
    const std::vector<Candidate>& candidates() {
        drop_beyond_reach();
        return candidates_;
    }

  private:
    static constexpr std::size_t least_room = 64;

    void drop_beyond_reach() {
        std::erase_if(candidates_, [this](const Candidate& candidate) {
            return !(candidate.least <= reach(candidate.position / lanes));
        });
    }

    Policy policy_;
    const Metric* metric_;
    ReducedLimit reduced_limit_;
    std::vector<Candidate> candidates_;
    std::size_t room_ = 0;  // so that they stay few even if the nearest come last
};

}  // namespace pathforest
