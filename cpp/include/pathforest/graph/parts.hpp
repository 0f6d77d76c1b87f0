// A guess of the components that neighbour lists will leave, and the arcs that join them: what a pass over
// all pairs of samples finds beside the lists, so that no second one is needed.
#pragma once

#include "pathforest/distances/engines/pairs_of_parts.hpp"
#include "pathforest/graph/joining.hpp"

#include <optional>
#include <span>
#include <vector>

namespace pathforest {

// From a few of the samples: the components that their lists leave are the parts, and each sample belongs to
// the part of those that are nearest to it. If these are of several, it belongs to no part: the lightest arcs
// between parts would begin at such samples, and say nothing of the others if the guess is wrong.
class Parts {
  public:
    // None if the few leave one component or very many, or if the engine makes no pass over all pairs.
    Parts(const AnyEngine& engine, Control& control);
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    // For the pass; nullptr without parts.
    PairsOfParts* pairs() { return joining_ ? &pairs_ : nullptr; }

    // After the pass: per part the component that most of its samples have; `component` goes by sample. None
    // if arcs cannot be joined.
    std::vector<Index> homes(std::span<const Index> component, Index n_components) const;

    // After the pass: the arcs that join all components, ascending, by sample.
    // What the guess has missed is looked for, if that takes no more pairs of samples than so many; else
    // none.
    std::vector<Arc> join(std::span<const Index> component, Index n_components, double most_pairs,
                          Control& control) const;

  private:
    template <class Engine>
    void guess(const Engine& engine, Control& control);
    template <class Engine>
    void take(const Engine& engine, std::vector<PairsOfParts::Pair>& pairs);
    void note_limits();

    const AnyEngine& any_;
    std::vector<Index> part_;  // per sample; the last one stands for none
    PairsOfParts pairs_;
    std::optional<Joining> joining_;
};

}  // namespace pathforest
