// The engine for a distance matrix the caller owns: symmetric for training, one row per query afterwards.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/blocks.hpp"

namespace pathforest {

template <class T>
class PrecomputedEngine : public FlatEngine {
  public:
    using Value = T;
    static constexpr int tile = 1;

    struct Query {
        const T* row;
    };

    PrecomputedEngine(const T* distances, Index n_samples)
        : FlatEngine(given_order(n_samples)), distances_(distances) {}

    Index n_features() const { return n_samples(); }

    void ask_sample(Index sample, Query& query) const { query.row = distances_ + at(sample, n_samples()); }
    void ask(const T* row, Query& query) const { query.row = row; }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause&) const {
        for (Index i = 0; i < count; ++i) {
            for_each_block(policies[i], [&](Index b, double limit) {
                for (Index j = b * lanes; j < std::min(n_samples(), (b + 1) * lanes); ++j) {
                    const auto distance = static_cast<double>(queries[i].row[j]);
                    if (distance <= limit) policies[i].offer(j, distance);
                }
            });
        }
    }

  private:
    const T* distances_;
};

static_assert(SearchEngine<PrecomputedEngine<float>> && SearchEngine<PrecomputedEngine<double>>);

}  // namespace pathforest
