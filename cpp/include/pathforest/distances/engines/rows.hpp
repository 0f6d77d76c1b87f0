// The engine for queries that come as rows of distances to training samples that are no longer needed.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/blocks.hpp"

namespace pathforest {

// It knows no distances between its samples, so it answers queries only.
template <class T>
class RowsEngine : public FlatEngine {
  public:
    using Value = T;
    static constexpr const char* name = "rows";
    static constexpr int tile = 1;

    struct Query {
        const T* row;
    };

    explicit RowsEngine(Index n_samples) : FlatEngine(given_order(n_samples)) {}

    Index n_features() const { return n_samples(); }

    void ask(const T* row, Query& query) const { query.row = row; }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause&) const {
        for (Index i = 0; i < count; ++i) {
            for_each_block(policies[i], [&](Index b, double limit) {
                for (Index j = b * lanes; j < std::min(n_samples(), (b + 1) * lanes); ++j) {
                    const auto distance = static_cast<double>(queries[i].row[j]);
                    if (distance <= limit) offer_at(policies[i], order(), j, distance);
                }
            });
        }
    }
};

static_assert(SearchEngine<RowsEngine<float>> && SearchEngine<RowsEngine<double>>);
static_assert(!KnowsSamples<RowsEngine<float>> && !KnowsSamples<RowsEngine<double>>);

}  // namespace pathforest
