// The engine for a distance matrix the caller owns: symmetric for training, one row per query afterwards.
#pragma once

#include "pathforest/distances/engines/rows.hpp"

namespace pathforest {

template <class T>
class PrecomputedEngine : public RowsEngine<T> {
  public:
    static constexpr const char* name = "precomputed";
    using Query = typename RowsEngine<T>::Query;

    PrecomputedEngine(const T* distances, Index n_samples)
        : RowsEngine<T>(n_samples), distances_(distances) {}

    void ask_sample(Index sample, Query& query) const {
        query.row = distances_ + at(sample, this->n_samples());
    }

  private:
    const T* distances_;
};

static_assert(KnowsSamples<PrecomputedEngine<float>> && KnowsSamples<PrecomputedEngine<double>>);

}  // namespace pathforest
